import { ValidationError } from "../../../errors.ts";

/** For engines whose time is worth a limit. */
export function refuseLonger(text: string, most: number): void {
  if (text.length <= most) return;
  throw new ValidationError([
    {
      loc: ["body", "input", "text"],
      msg: `The local engine takes at most ${most.toLocaleString("en")} characters, and the text has ${text.length.toLocaleString("en")}. Send it in parts.`,
      type: "string_too_long",
    },
  ]);
}
