import { ValidationError } from "../../../errors.ts";

// The fastest engines read it within some ten seconds. Without a limit, a longer text would end at the time limit instead.
const usualMost = 2_000_000;

/** Refuses a text that is longer than the engine takes. */
export function refuseLonger(text: string, most = usualMost): void {
  if (text.length <= most) return;
  throw new ValidationError([
    {
      loc: ["body", "input", "text"],
      msg: `The local engine takes at most ${most.toLocaleString("en")} characters, and the text has ${text.length.toLocaleString("en")}. Send it in parts.`,
      type: "string_too_long",
    },
  ]);
}
