// The sandbox's tokens: a word with the white space before it, long words in pieces. Joined they are the text again.

/** Code points, so that no surrogate pair is ever split; long runs without spaces still stream in several deltas. */
const tokenPattern = /\s*\S{1,12}|\s+/gu;

export function splitTokens(text: string): readonly string[] {
  return text.match(tokenPattern) ?? [];
}

export function countTokens(text: string): number {
  let count = 0;
  for (const _ of text.matchAll(tokenPattern)) count++;
  return count;
}

export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
}

export interface RankedTokenLogprob extends TokenLogprob {
  readonly top_logprobs: readonly TokenLogprob[];
}

/** Invented and constant: the chosen token about 0.9, each alternative less likely than the one before, 1 never passed. */
export function toLogprob(token: string, alternatives: number): RankedTokenLogprob {
  const chosen = rate(token, -0.1);
  const others = Array.from({ length: Math.max(0, alternatives - 1) }, (_, index) =>
    rate(` other${index + 1}`, -4 - index),
  );
  return { ...chosen, top_logprobs: alternatives === 0 ? [] : [chosen, ...others] };
}

function rate(token: string, logprob: number): TokenLogprob {
  return { token, logprob, bytes: Array.from(new TextEncoder().encode(token)) };
}
