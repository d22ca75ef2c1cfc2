// Scans the text of a JSON document once, before JSON.parse: its depth and complexity, and the positions of the members of its top-level
// object, so that single members can be replaced while the other text stays the same. It does not check the syntax, which JSON.parse does;
// the positions are meaningful only for a document that parses.
//
// It works on text, not bytes: valid UTF-8 is encoded to the same bytes again, and string slices are cheaper than array views.

export interface Member {
  readonly name: string;
  /** Index of the opening quote of the name. */
  readonly start: number;
  readonly valueStart: number;
  /** Index after the last character of the value. */
  valueEnd: number;
}

export interface JsonScan {
  readonly members: readonly Member[];
  /** Index of the brace that closes the top-level object, or -1. */
  readonly end: number;
  /** The member in which `maxDepth` was exceeded, `""` when the member is unknown, null when the limit was not exceeded. */
  readonly tooDeepIn: string | null;
  readonly tooComplex: boolean;
  /** Whether a number may be too large for a double and has to be checked. */
  readonly hasLongNumber: boolean;
}

interface Limits {
  readonly maxDepth: number;
  readonly maxTokens: number;
}

const noLimits: Limits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };

// The scan stops at this depth, so that a million brackets cost little.
const hopelessDepth = 1_000;
const longNumber = 300;

const quote = 0x22;
const backslash = 0x5c;

export function scanJson(text: string, limits: Limits = noLimits): JsonScan {
  const members: Member[] = [];
  const length = text.length;
  let depth = 0;
  let tokens = 0;
  let end = -1;
  let tooDeepIn: string | null = null;
  let hasLongNumber = false;
  let expectsName = false;
  let current: Member | null = null;
  let name: { text: string; start: number } | null = null;
  let numberStart = -1;
  // The end of the last character that is not white space, so that a value does not include the space after it.
  let lastEnd = 0;

  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code <= 0x20) {
      numberStart = -1;
      continue;
    }
    switch (code) {
      case quote: {
        const close = endOfString(text, index);
        if (depth === 1 && expectsName) {
          name = { text: readName(text, index, close), start: index };
          expectsName = false;
        }
        index = close;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        tokens++;
        depth++;
        if (depth === 1) expectsName = code === 0x7b;
        if (depth > limits.maxDepth && tooDeepIn === null) tooDeepIn = current?.name ?? "";
        if (depth > hopelessDepth) return { members, end, tooDeepIn: "", tooComplex: false, hasLongNumber };
        break;
      case 0x7d: // }
      case 0x5d: // ]
        tokens++;
        depth--;
        if (depth === 0) {
          if (current !== null) current.valueEnd = lastEnd;
          current = null;
          end = index;
        }
        break;
      case 0x3a: // :
        tokens++;
        if (depth === 1 && name !== null) {
          current = { name: name.text, start: name.start, valueStart: skipSpace(text, index + 1), valueEnd: -1 };
          members.push(current);
          name = null;
        }
        break;
      case 0x2c: // ,
        tokens++;
        if (depth === 1) {
          if (current !== null) current.valueEnd = lastEnd;
          current = null;
          expectsName = true;
        }
        break;
      default:
        if (code >= 0x30 && code <= 0x39) {
          if (numberStart < 0) numberStart = index;
          else if (index - numberStart > longNumber) hasLongNumber = true;
        } else if (code === 0x65 || code === 0x45) {
          // An exponent, and not the end of `true` or `false`.
          if (numberStart >= 0) hasLongNumber = true;
        } else if (code !== 0x2e) {
          numberStart = -1;
        }
        lastEnd = index + 1;
        continue;
    }
    numberStart = -1;
    lastEnd = index + 1;
    if (tokens > limits.maxTokens) return { members, end, tooDeepIn, tooComplex: true, hasLongNumber };
  }
  return { members, end, tooDeepIn, tooComplex: false, hasLongNumber };
}

export type Replacement = readonly [name: string, text: string];

/** Changes to a document: members replaced by other JSON text, members removed, text inserted before the closing brace. */
export interface MemberEdits {
  /** New values by name: a map, or a list on the hot path. */
  readonly replace: Iterable<Replacement>;
  readonly remove: ReadonlySet<string>;
  readonly append: readonly string[];
}

/** Applies edits to the top-level members; all other text stays the same. */
export function editMembers(text: string, scan: JsonScan, edits: MemberEdits): string {
  let result = "";
  let from = 0;
  let kept = 0;
  let isSkipping = false;
  /** The end of the previous member: the text between two members belongs to the second. */
  let previousEnd = -1;
  for (const member of scan.members) {
    if (edits.remove.has(member.name)) {
      if (!isSkipping) result += text.slice(from, previousEnd < 0 ? member.start : previousEnd);
      isSkipping = true;
    } else {
      if (isSkipping) from = kept > 0 ? previousEnd : member.start;
      isSkipping = false;
      kept++;
      for (const [name, replacement] of edits.replace) {
        if (name !== member.name) continue;
        result += text.slice(from, member.valueStart) + replacement;
        from = member.valueEnd;
      }
    }
    previousEnd = member.valueEnd;
  }
  if (isSkipping) from = previousEnd;
  if (edits.append.length > 0) {
    const separator = kept > 0 ? "," : "";
    result += text.slice(from, scan.end) + separator + edits.append.join(",");
    from = scan.end;
  }
  return result + text.slice(from);
}

/** The index of the quote that closes the string that opens at `open`. */
export function endOfString(text: string, open: number): number {
  for (let from = open + 1; ; ) {
    const close = text.indexOf('"', from);
    if (close < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return close;
    from = close + 1;
  }
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index++;
  return index;
}

function readName(text: string, open: number, close: number): string {
  const name = text.slice(open + 1, close);
  if (!name.includes("\\")) return name;
  try {
    return JSON.parse(`"${name}"`);
  } catch {
    return name; // not JSON, as JSON.parse of the whole will say
  }
}
