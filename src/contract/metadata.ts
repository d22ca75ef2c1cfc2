// Values of `metadata`: any JSON value where the gateway keeps it itself.

import { z } from "zod";

const longestText = 512;
// Of the JSON of a value that is no text.
const longestJson = 4_096;

export const metadataValue = z
  .unknown()
  .check(({ value, issues }) => {
    if (typeof value === "string") {
      if (value.length <= longestText) return;
      const message = `String should have at most ${longestText} characters`;
      issues.push({ code: "custom", input: value, message, params: { type: "string_too_long" } });
    } else if ((JSON.stringify(value) ?? "").length > longestJson) {
      const message = `Value should have at most ${longestJson} characters as JSON`;
      issues.push({ code: "custom", input: value, message, params: { type: "too_long" } });
    }
  })
  .meta({
    description: `A text of at most ${longestText} characters, or another value of at most ${longestJson} characters as JSON`,
  });
