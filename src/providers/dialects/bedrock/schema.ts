// JSON Schemas for Bedrock's constrained decoding: https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html

import type { JsonObject } from "../../dialect.ts";
import { type StrictRules, toStrictSchema as toStrict } from "../strict-schema.ts";

const numberBounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const unsupportedKeywords = new Set([...numberBounds, "maxItems", "uniqueItems", "contains"]);
/** Lookaround, and backreferences by number or by name. */
const unsupportedPattern = /\(\?<?[=!]|\\\d|\\k</;

const rules: StrictRules = {
  maxOptionalProperties: 24,
  lists: new Map(["anyOf", "allOf", "oneOf", "prefixItems"].map((keyword) => [keyword, keyword])),
  treat(keyword, value) {
    if (keyword === "$schema") return "drop";
    if (keyword === "patternProperties") return "refuse";
    const isUnsupported =
      unsupportedKeywords.has(keyword) ||
      (keyword === "minItems" && typeof value === "number" && value > 1) ||
      (keyword === "pattern" && typeof value === "string" && unsupportedPattern.test(value));
    return isUnsupported ? "describe" : "keep";
  },
};

/** Null when Bedrock cannot express the schema. */
export function toStrictSchema(schema: JsonObject): JsonObject | null {
  return toStrict(schema, rules);
}
