// The tokens of the sandbox: a word with its leading white space; long words are split. Joined, the tokens are the text.

/** In code points, so that no surrogate pair is split. Long runs without spaces still stream in several deltas. */
const tokenPattern = /\s*\S{1,12}|\s+/gu;

export function splitTokens(text: string): readonly string[] {
  return text.match(tokenPattern) ?? [];
}

const maxTokenLength = 12;

/** Counts the tokens without creating them, because a request may have megabytes. */
export function countTokens(text: string): number {
  let count = 0;
  let left = 0;
  let endsInSpace = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    endsInSpace = isSpace(unit);
    if (endsInSpace) {
      left = 0;
      continue;
    }
    if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(at + 1))) at++;
    if (left === 0) {
      count++;
      left = maxTokenLength;
    }
    left--;
  }
  return endsInSpace ? count + 1 : count;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** What `\s` matches. */
function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return unit === 0xa0 || unit === 0xfeff || (unit >= 0x1680 && otherSpaces.has(unit));
}

const otherSpaces: ReadonlySet<number> = new Set([
  ...[0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a],
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
]);

/** Fixed values: about 0.9 for the chosen token, less for each alternative, at most 1 in total. */
export function toLogprob(token: string, alternatives: number) {
  const chosen = rate(token, -0.1);
  const others = Array.from({ length: Math.max(0, alternatives - 1) }, (_, index) =>
    rate(` other${index + 1}`, -4 - index),
  );
  return { ...chosen, top_logprobs: alternatives === 0 ? [] : [chosen, ...others] };
}

function rate(token: string, logprob: number) {
  return { token, logprob, bytes: Array.from(new TextEncoder().encode(token)) };
}
