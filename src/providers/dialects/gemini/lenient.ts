// Reading values of which nothing is promised.

import { type Problem, ValidationError } from "../../../errors.ts";
import type { JsonObject } from "../../dialect.ts";

export function asObject(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsIn(value: unknown): JsonObject[] {
  const found: JsonObject[] = [];
  for (const element of asList(value)) {
    const object = asObject(element);
    if (object !== null) found.push(object);
  }
  return found;
}

/** Null for what is no string, and for the empty one. */
export function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function asNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** How many: never negative, and 0 for what is no number. */
export function asCount(value: unknown): number {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number > 0 ? Math.floor(number) : 0;
}

export function refuse(loc: Problem["loc"], msg: string, type = "value_error"): never {
  throw new ValidationError([{ loc: ["body", ...loc], msg, type }]);
}
