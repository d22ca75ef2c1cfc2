// Reads JSON from vendors without trusting its shape: a missing value, or a value of another type, becomes null or an empty value.

import { isObject, type JsonObject } from "../lib/lenient-json.ts";

const nothing: JsonObject = {};

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

export function objectOrNull(value: unknown): JsonObject | null {
  return isObject(value) ? value : null;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The elements of a list that are objects. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return asList(value).filter(isObject);
}

/** The texts of a member of each object in a list. */
export function textsIn(value: unknown, member: string): readonly string[] {
  return objectsIn(value).map((item) => asString(item[member]));
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The arguments of a tool call as JSON text: some servers send the object itself. */
export function asArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Null for an empty string as well. */
export function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

export function finiteNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** Reads a number in a string as well: some vendors send numbers as text. */
export function asNumber(value: unknown): number | null {
  return finiteNumber(typeof value === "string" && value.trim() !== "" ? Number(value) : value);
}

/** A whole number that is never negative. */
export function asCount(value: unknown): number {
  return Math.max(0, Math.round(asNumber(value) ?? 0));
}

/** The value at a path of members and positions. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Readonly<Record<string | number, unknown>>)[step];
  }
  return found;
}

/** A score within 0..1; null when the vendor sent none. */
export function asScore(value: unknown): number | null {
  const number = asNumber(value);
  return number === null ? null : limitToOne(number);
}

/** A score that the vendor sends as a percentage, within 0..1; null when the vendor sent none. */
export function fromPercentage(value: unknown): number | null {
  const number = asNumber(value);
  return number === null ? null : limitToOne(number / 100);
}

/** The nearest number within 0..1. */
export function limitToOne(number: number): number {
  return Math.min(1, Math.max(0, number));
}

/** Scores and boxes have six decimals, more than any model is exact to. */
export function rounded(value: number, decimals = 6): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor;
}
