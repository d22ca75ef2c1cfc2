// Values of `metadata`: any JSON value of a limited size.

import { z } from "zod";
import { addProblem } from "./problems.ts";

const maxTextLength = 512;
const maxJsonLength = 4_096;

export const metadataValue = z
  .unknown()
  .check((payload) => {
    const { value } = payload;
    const isText = typeof value === "string";
    if (isText && value.length > maxTextLength)
      addProblem(payload, "string_too_long", `String should have at most ${maxTextLength} characters`);
    if (!isText && (JSON.stringify(value) ?? "").length > maxJsonLength)
      addProblem(payload, "too_long", `Value should have at most ${maxJsonLength} characters as JSON`);
  })
  .describe(
    `A text of at most ${maxTextLength} characters, or another value of at most ${maxJsonLength} characters as JSON.`,
  );
