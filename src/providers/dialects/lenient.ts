// Reading what a vendor sent without trusting its shape: what is missing or of another type becomes a harmless value.

import type { JsonObject } from "../dialect.ts";

const nothing: JsonObject = {};

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A number of tokens: never negative, never a fraction. */
export function asCount(value: unknown): number {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? Math.round(value) : 0;
}

/** Without members that are absent: a vendor's schema may refuse a null. */
export function present(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
}

export function createId(prefix: string): string {
  return prefix + Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000);
}
