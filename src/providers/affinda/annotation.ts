import type { JsonObject } from "../dialect.ts";
import { asObject } from "../lenient.ts";

/** What was read, as the vendor understood it, else as it is written. Older kinds of documents have bare values. */
export function readValue(annotation: unknown): unknown {
  if (typeof annotation !== "object" || annotation === null) return annotation;
  const { parsed, raw } = annotation as JsonObject;
  if (typeof parsed === "string" || typeof parsed === "number") return parsed;
  return raw;
}

/** An amount as the vendor understood it: what it could not make sense of is none. */
export function readAmount(annotation: unknown): unknown {
  return typeof annotation === "object" && annotation !== null ? (annotation as JsonObject)["parsed"] : annotation;
}

/** As it is written in the document. */
export function readRaw(annotation: unknown): unknown {
  return typeof annotation === "object" && annotation !== null ? (annotation as JsonObject)["raw"] : annotation;
}

/** The members of an address. */
export function readPlace(annotation: unknown): JsonObject {
  const members = asObject(annotation);
  return "parsed" in members ? asObject(members["parsed"]) : members;
}
