// Reads the texts of a call and enforces the limits.

import { type Problem, ValidationError } from "../../../errors.ts";
import type { JsonObject } from "../../../providers/dialect.ts";
import type { SentenceModel } from "./sentence-model.ts";

const mostTexts = 2_048;
const mostCharacters = 200_000;
const mostTokensOfText = 8_192;
// A window of 256 tokens takes about 25 ms, so a call takes at most half a minute.
const mostTokens = 300_000;

/** The schema requires at least one text. */
export function textsOf(input: JsonObject): string[] {
  const texts = input["texts"];
  return Array.isArray(texts) ? texts.map(String) : [];
}

/** The tokens of each text. Throws a ValidationError with the location of a text that exceeds a limit. */
export function toTokens(texts: readonly string[], model: SentenceModel, member: string): (readonly number[])[] {
  if (texts.length > mostTexts) throw refusal([member], `at most ${count(mostTexts)} texts`, count(texts.length));
  let sum = 0;
  return texts.map((text, index) => {
    const place = [member, index];
    if (text.length > mostCharacters)
      throw refusal(place, `at most ${count(mostCharacters)} characters of a text`, count(text.length));
    const tokens = model.toTokens(text);
    if (tokens.length > mostTokensOfText)
      throw refusal(place, `at most ${count(mostTokensOfText)} tokens of a text`, count(tokens.length));
    sum += tokens.length;
    if (sum > mostTokens) throw refusal([member], `at most ${count(mostTokens)} tokens in all`, "more");
    return tokens;
  });
}

export function charactersOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function refusal(place: readonly (string | number)[], most: string, given: string): ValidationError {
  const problem: Problem = {
    loc: ["body", "input", ...place],
    msg: `The local engine accepts ${most}, but got ${given}. Split the input.`,
    type: "value_error",
  };
  return new ValidationError([problem]);
}

function count(number: number): string {
  return number.toLocaleString("en");
}
