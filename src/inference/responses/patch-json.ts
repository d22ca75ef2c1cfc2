// Changes single values of a JSON text and leaves every other character as it is: spelling of numbers, order, white space.
// The two values describe the change: the value that the text has, and the value that it should have.

import { endOfString } from "../../lib/json-scan.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member extends Span {
  readonly name: string;
}

/** `from` is the parsed `text`. JsonObject that `to` lacks stay. */
export function patchJson(text: string, from: unknown, to: unknown): string {
  const edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];

  function patch(span: Span, before: unknown, after: unknown): void {
    if (before === after || Object.is(before, after)) return;
    if (isObject(before) && isObject(after)) patchMembers(span, before, after);
    else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
      for (const [index, element] of childrenOf(text, span.start).entries())
        patch(element, before[index], after[index]);
    else edits.push({ ...span, text: JSON.stringify(after) });
  }

  function patchMembers(span: Span, before: JsonObject, after: JsonObject): void {
    const members = childrenOf(text, span.start);
    const last = new Map(members.map((member) => [member.name, member]));
    for (const member of members) {
      const { name } = member;
      if (!Object.hasOwn(after, name) || before[name] === after[name]) continue;
      // Of a name that occurs twice, the last member counts.
      if (last.get(name) === member) patch(member, before[name], after[name]);
      else edits.push({ start: member.start, end: member.end, text: JSON.stringify(after[name]) });
    }
    const missing = Object.keys(after).filter((name) => after[name] !== undefined && !last.has(name));
    if (missing.length === 0) return;
    const added = missing.map((name) => `${JSON.stringify(name)}:${JSON.stringify(after[name])}`).join(",");
    edits.push({ start: span.end - 1, end: span.end - 1, text: members.length > 0 ? `,${added}` : added });
  }

  const start = skipSpace(text, 0);
  patch({ start, end: endOfValue(text, start) }, from, to);
  edits.sort((one, other) => one.start - other.start);
  let result = "";
  let at = 0;
  for (const edit of edits) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** The texts of the elements of a list. */
export function elementTexts(text: string): string[] {
  return childrenOf(text, skipSpace(text, 0)).map(({ start, end }) => text.slice(start, end));
}

const quote = 0x22;
const brace = 0x7b;
const isOpening = (code: number) => code === brace || code === 0x5b;
const isClosing = (code: number) => code === 0x7d || code === 0x5d;
const comma = 0x2c;

/** The values inside an object or a list. In a list their names are empty. */
function childrenOf(text: string, open: number): Member[] {
  const children: Member[] = [];
  const isNamed = text.charCodeAt(open) === brace;
  let at = skipSpace(text, open + 1);
  while (at < text.length && !isClosing(text.charCodeAt(at))) {
    const nameEnd = isNamed ? endOfString(text, at) + 1 : at;
    const start = isNamed ? skipSpace(text, skipSpace(text, nameEnd) + 1) : at;
    const end = endOfValue(text, start);
    children.push({ name: readName(text, at, nameEnd), start, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== comma) break;
    at = skipSpace(text, at + 1);
  }
  return children;
}

function readName(text: string, start: number, end: number): string {
  const name = text.slice(start + 1, end - 1);
  return name.includes("\\") ? JSON.parse(`"${name}"`) : name;
}

/** Counts brackets instead of descending, so that no depth of nesting can exhaust the stack. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at) + 1;
    else {
      if (isOpening(code)) depth++;
      else if (isClosing(code)) {
        // The closing bracket around the value.
        if (depth === 0) return at;
        depth--;
      } else if (depth === 0) {
        if (code === comma || code <= 0x20) return at;
        at++;
        continue;
      }
      at++;
    }
    if (depth === 0) return at;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index++;
  return index;
}
