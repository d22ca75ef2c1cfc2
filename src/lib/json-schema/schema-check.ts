// Checks whether a value matches a schema. The example generator proposes values and uses the first that matches.
// `format` and `unevaluated...` are not checked.

import { isObject, type JsonObject } from "../lenient-json.ts";
import type { Json, Schema, SchemaDocument } from "./schema.ts";
import { areEqual, asSchema, canonicalText, entriesOf, itemsOf, listOf, numberOf, own, typesOf } from "./schema.ts";

export function fitsSchema(value: Json, schema: Schema, document: SchemaDocument): boolean {
  document.step();
  if (typeof schema === "boolean") return schema;
  return document.nest(() => fitsKeywords(value, schema, document));
}

function fitsKeywords(value: Json, schema: JsonObject, document: SchemaDocument): boolean {
  return (
    fitsType(value, schema, document) &&
    fitsValues(value, schema, document) &&
    fitsCombination(value, schema, document) &&
    (typeof value !== "number" || fitsNumber(value, schema)) &&
    (typeof value !== "string" || fitsString(value, schema, document)) &&
    (!Array.isArray(value) || fitsArray(value, schema, document)) &&
    (!isObject(value) || fitsObject(value as Readonly<Record<string, Json>>, schema, document))
  );
}

function fitsType(value: Json, schema: JsonObject, document: SchemaDocument): boolean {
  const types = typesOf(schema);
  document.spend(types?.length ?? 0);
  return types === undefined || types.some((type) => isOfType(value, type));
}

function isOfType(value: Json, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  if (type === "object") return isObject(value);
  return typeof value === type;
}

function fitsValues(value: Json, schema: JsonObject, document: SchemaDocument): boolean {
  const isEqual = (allowed: unknown) => {
    document.spend(unitsOf(allowed));
    return areEqual(allowed, value);
  };
  if (schema["const"] !== undefined && !isEqual(schema["const"])) return false;
  return !Array.isArray(schema["enum"]) || schema["enum"].some(isEqual);
}

function unitsOf(value: unknown): number {
  if (Array.isArray(value)) return value.length + 1;
  return isObject(value) ? Object.keys(value).length + 1 : 1;
}

function fitsCombination(value: Json, schema: JsonObject, document: SchemaDocument): boolean {
  const fits = (candidate: unknown) => fitsSchema(value, asSchema(candidate), document);
  const { $ref: reference, allOf, anyOf, oneOf, not, if: condition } = schema;
  if (typeof reference === "string" && !fits(document.resolve(reference))) return false;
  if (Array.isArray(allOf) && !allOf.every(fits)) return false;
  if (Array.isArray(anyOf) && !anyOf.some(fits)) return false;
  if (Array.isArray(oneOf) && oneOf.filter(fits).length !== 1) return false;
  if (not !== undefined && fits(not)) return false;
  return condition === undefined || fits(fits(condition) ? schema["then"] : schema["else"]);
}

function fitsNumber(value: number, schema: JsonObject): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && (exclusiveMinimum === true ? value <= minimum : value < minimum)) return false;
  if (typeof maximum === "number" && (exclusiveMaximum === true ? value >= maximum : value > maximum)) return false;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) return false;
  if (typeof multipleOf !== "number") return true;
  const times = value / multipleOf;
  return Math.abs(times - Math.round(times)) < 1e-9;
}

function fitsString(value: string, schema: JsonObject, document: SchemaDocument): boolean {
  const { minLength, maxLength, pattern } = schema;
  if (minLength !== undefined || maxLength !== undefined) {
    document.spend(value.length);
    const length = [...value].length;
    if (typeof minLength === "number" && length < minLength) return false;
    if (typeof maxLength === "number" && length > maxLength) return false;
  }
  // A pattern that cannot be applied does not count against a value.
  return typeof pattern !== "string" || document.matches(value, pattern) !== false;
}

function fitsArray(value: readonly Json[], schema: JsonObject, document: SchemaDocument): boolean {
  if (value.length < (numberOf(schema["minItems"]) ?? 0)) return false;
  if (value.length > (numberOf(schema["maxItems"]) ?? Number.POSITIVE_INFINITY)) return false;
  document.spend(value.length);
  if (schema["uniqueItems"] === true && new Set(value.map(canonicalText)).size < value.length) return false;

  const { prefix, rest } = itemsOf(schema);
  if (!value.every((item, index) => fitsSchema(item, prefix[index] ?? rest, document))) return false;
  if (schema["contains"] === undefined) return true;
  const contained = value.filter((item) => fitsSchema(item, asSchema(schema["contains"]), document)).length;
  const least = numberOf(schema["minContains"]) ?? 1;
  return contained >= least && contained <= (numberOf(schema["maxContains"]) ?? Number.POSITIVE_INFINITY);
}

function fitsObject(value: Readonly<Record<string, Json>>, schema: JsonObject, document: SchemaDocument): boolean {
  const keys = Object.keys(value);
  if (keys.length < (numberOf(schema["minProperties"]) ?? 0)) return false;
  if (keys.length > (numberOf(schema["maxProperties"]) ?? Number.POSITIVE_INFINITY)) return false;
  const hasKey = (key: unknown) => typeof key === "string" && Object.hasOwn(value, key);
  const required = listOf(schema["required"]);
  document.spend(keys.length + required.length);
  if (!required.every(hasKey)) return false;

  for (const key of keys) {
    if (!schemasOfKey(key, schema, document).every((one) => fitsSchema(value[key] ?? null, one, document)))
      return false;
    if (!fitsSchema(key, asSchema(schema["propertyNames"]), document)) return false;
    const dependent = listOf(own(schema["dependentRequired"], key));
    document.spend(dependent.length);
    if (!dependent.every(hasKey)) return false;
    if (!fitsSchema(value, asSchema(own(schema["dependentSchemas"], key)), document)) return false;
  }
  return true;
}

/** Every schema that applies to this key of an object. */
export function schemasOfKey(key: string, schema: JsonObject, document: SchemaDocument): readonly Schema[] {
  const named = own(schema["properties"], key);
  const found = named === undefined ? [] : [asSchema(named)];
  let isKnown = true;
  const patterns = entriesOf(schema["patternProperties"]);
  document.spend(patterns.length);
  for (const [pattern, patterned] of patterns) {
    const matches = document.matches(key, pattern);
    if (matches === true) found.push(patterned);
    isKnown &&= matches !== null;
  }
  if (found.length > 0) return found;
  // A pattern that cannot be applied may allow the key.
  return isKnown ? [asSchema(schema["additionalProperties"])] : [true];
}

/** The patterns of a schema that the checker cannot apply, and therefore ignores. */
export function findUnappliedPatterns(schema: unknown, document: SchemaDocument): readonly string[] {
  const found = new Set<string>();
  const note = (pattern: string) => {
    if (document.matches("", pattern) === null) found.add(pattern);
  };
  const look = (part: unknown): void => {
    document.step();
    if (Array.isArray(part)) for (const item of part) look(item);
    if (!isObject(part)) return;
    if (typeof part["pattern"] === "string") note(part["pattern"]);
    if (isObject(part["patternProperties"]))
      for (const pattern of Object.keys(part["patternProperties"])) note(pattern);
    for (const member of Object.values(part)) look(member);
  };
  look(schema);
  return [...found];
}
