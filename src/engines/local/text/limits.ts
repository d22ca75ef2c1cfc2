import { ValidationError } from "../../../errors.ts";

// The fastest engines need about ten seconds for it. Longer texts would run into the time limit.
const defaultMaxCharacters = 2_000_000;

/** Throws a ValidationError if the text is longer than the engine accepts. */
export function refuseLonger(text: string, maxCharacters = defaultMaxCharacters): void {
  if (text.length <= maxCharacters) return;
  throw new ValidationError([
    {
      loc: ["body", "input", "text"],
      msg: `The local engine accepts at most ${maxCharacters.toLocaleString("en")} characters, but the text has ${text.length.toLocaleString("en")}. Split the text.`,
      type: "string_too_long",
    },
  ]);
}
