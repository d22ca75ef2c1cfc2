// JSON Schemas for the vendor's structured answers, which support a subset of the language.

import type { JsonObject } from "../../dialect.ts";
import { isObjectSchema, resolveReference, type StrictRules, toStrictSchema } from "../strict-schema.ts";

const formats = "date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" ");
const supported = new Set(["type", "description", "title", "const", "enum", "required", "$ref"]);

const rules: StrictRules = {
  // The vendor refuses more than 24, and its grammar fails from 13 on.
  maxOptionalProperties: 12,
  lists: new Map([
    ["anyOf", "anyOf"],
    ["oneOf", "anyOf"],
    ["allOf", "allOf"],
  ]),
  treat(keyword, value) {
    if (supported.has(keyword)) return "keep";
    if (keyword === "format" && formats.includes(String(value))) return "keep";
    if (keyword === "minItems" && (value === 0 || value === 1)) return "keep";
    if (keyword === "patternProperties" || keyword === "prefixItems") return "refuse";
    return keyword.startsWith("$") || keyword === "default" || keyword === "examples" ? "drop" : "describe";
  },
};

/** Null when the vendor cannot express the schema, or when it is not the schema of an object. */
export function toNativeSchema(schema: JsonObject): JsonObject | null {
  const native = toStrictSchema(schema, rules);
  if (native === null) return null;
  const root = typeof schema["$ref"] === "string" ? resolveReference(schema, schema["$ref"]) : schema;
  return isObjectSchema(root) ? native : null;
}

/** Whether the vendor supports the schema without any loss, as the arguments of strict tools require. */
export function isNativeSchema(schema: JsonObject): boolean {
  return Bun.deepEquals(toNativeSchema(schema), schema);
}
