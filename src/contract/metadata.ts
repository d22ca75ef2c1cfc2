// Values of `metadata`: any JSON value of a limited size.

import { z } from "zod";

const maxTextLength = 512;
const maxJsonLength = 4_096;

export const metadataValue = z
  .unknown()
  .check(({ value, issues }) => {
    if (typeof value === "string") {
      if (value.length <= maxTextLength) return;
      const message = `String should have at most ${maxTextLength} characters`;
      issues.push({ code: "custom", input: value, message, params: { type: "string_too_long" } });
    } else if ((JSON.stringify(value) ?? "").length > maxJsonLength) {
      const message = `Value should have at most ${maxJsonLength} characters as JSON`;
      issues.push({ code: "custom", input: value, message, params: { type: "too_long" } });
    }
  })
  .describe(
    `A text of at most ${maxTextLength} characters, or another value of at most ${maxJsonLength} characters as JSON.`,
  );
