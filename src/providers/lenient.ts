// Reading what a vendor sent without trusting its shape: what is missing or of another type becomes a harmless value.

import type { JsonObject } from "./dialect.ts";

const nothing: JsonObject = {};

export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : nothing;
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The elements of a list that are objects. */
export function objectsIn(value: unknown): readonly JsonObject[] {
  return asList(value).filter((one) => typeof one === "object" && one !== null && !Array.isArray(one)) as JsonObject[];
}

/** Null for what is no text, and for the empty one. */
export function asText(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Numbers are taken in text as well: some vendors write them so. */
export function asNumber(value: unknown): number | null {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

export function asCount(value: unknown): number {
  return Math.max(0, Math.round(asNumber(value) ?? 0));
}

/** What lies behind a path of members and positions. */
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

/** As scores and boxes are told: six decimals are more than any model knows. */
export function rounded(value: number, decimals = 6): number {
  const factor = 10 ** decimals;
  return Math.round(value * factor) / factor;
}
