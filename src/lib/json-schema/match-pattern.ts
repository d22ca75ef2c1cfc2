// Matches a `pattern` of a JSON Schema with RE2, whose time grows in proportion to the length of the text. A caller's expression never
// runs in the runtime's own matcher, where a hostile one can take minutes.
//
// Two differences from ECMAScript remain: `\s` knows ASCII white space only, and `.` excludes the line feed only.

import { RE2JS } from "re2js";

/** Null: the expression cannot be applied. */
export type Matcher = ((text: string) => boolean) | null;

export interface CompiledPattern {
  readonly matches: Matcher;
  /** Time per character of a text, in instructions of the matcher. */
  readonly size: number;
}

const maxPatternLength = 1_000;
/** RE2 writes a repeated part once for each repetition, and in the worst case visits all instructions for each character. */
const maxExpandedLength = 5_000;

/** Look-ahead, back-references, more than 1,000 repetitions, and whatever is not ECMAScript cannot be applied. */
export function compilePattern(source: string): CompiledPattern {
  if (estimateSize(source) === null || !isEcmaScript(source)) return cannotBeApplied;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), RE2JS.LOOKBEHINDS);
    return { matches: (text) => compiled.test(text), size: compiled.programSize() };
  } catch {
    return cannotBeApplied;
  }
}

const cannotBeApplied: CompiledPattern = { matches: null, size: 0 };

/** RE2 gives some spellings a meaning that ECMAScript does not have: `\A`, `\z`, `\Q`, `[[:alpha:]]`. The expression is parsed, not run. */
function isEcmaScript(source: string): boolean {
  if (isRegExp(source, "u")) return true;
  return isRegExp(source, "") && !source.includes("[[:") && !/\\[^dDwWsSbBtnvfr0-9xucpPk\W_]/.test(source);
}

function isRegExp(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

/** About the number of instructions, found without compiling. Null: the pattern is too long to be applied. */
export function estimateSize(source: string): number | null {
  if (source.length > maxPatternLength) return null;
  const token = /\\.|\[(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gsu;
  const enclosing: number[] = [];
  let length = 0;
  let last = 0;
  for (const [text, least, most] of source.matchAll(token)) {
    if (text === "(") {
      enclosing.push(length);
      length = 0;
    } else if (text === ")") {
      last = length + 1;
      length = (enclosing.pop() ?? 0) + last;
    } else if (least !== undefined) {
      const added = last * (Math.max(Number(least), Number(most ?? 0), 1) - 1);
      last += added;
      length += added;
    } else {
      last = 1;
      length++;
    }
  }
  return length > maxExpandedLength ? null : length;
}
