// Values that arrive as text: query parameters, path parameters, fields of a form, and names that people read.

import { z } from "zod";
import { refuse } from "./problems.ts";

/** The text of an integer. Its problems are worded like those of a number in a JSON body. */
export function wholeNumberText(min: number, max: number) {
  return z
    .string()
    .transform((text, context) => {
      const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : null;
      if (value === null) return refuse(context, "int_parsing", "Input should be a valid integer");
      if (value < min) return refuse(context, "greater_than_equal", `Input should be greater than or equal to ${min}`);
      if (value > max) return refuse(context, "less_than_equal", `Input should be less than or equal to ${max}`);
      return value;
    })
    .meta({ type: "integer", minimum: min, maximum: max });
}

export const booleanText = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .meta({ type: "boolean", enum: undefined });

/** A UUID of any version, in lower case: the gateway's own ids are. */
export const uuidText = z
  .string()
  .transform((text, context) => {
    if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase();
    return refuse(context, "uuid_parsing", "Input should be a valid UUID");
  })
  .meta({ format: "uuid" });

/** Text that people read: without control characters. PostgreSQL stores neither NUL nor halves of surrogate pairs. */
export function plainText(maxLength: number, minLength = 1) {
  const text = z.string().min(minLength).max(maxLength);
  return text
    .refine((value) => !/[\u0000-\u001f\u007f-\u009f]/.test(value), "Text must not contain control characters")
    .refine((value) => value.isWellFormed(), "Text must be valid Unicode");
}

/** May be null or absent. */
export function optionalText(maxLength: number) {
  return z.string().max(maxLength).nullish();
}
