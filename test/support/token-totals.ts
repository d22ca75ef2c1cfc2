// The three counts that every vendor publishes, from the parts of a usage.

import { countInput, type TokenParts } from "../../src/usage/tokens.ts";

export function totalsOf(parts: TokenParts) {
  const inputTokens = countInput(parts);
  const outputTokens = parts.output + parts.reasoning + parts.audioOutput + parts.imageOutput;
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
