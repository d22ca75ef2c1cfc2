// Merges two schemas that must both match into one, for schema-example.ts. Where no keyword can express both (two patterns, two formats), the
// first is used; the finished value is still checked against both.

import { canonicalText, listOf, type SchemaDocument } from "../../lib/json-schema/schema.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";

const maxPairs = 64;

type Fold = (one: unknown, other: unknown) => unknown;

/** `false`: no value can match both. */
export function mergeSchemas(
  one: JsonObject | false,
  other: JsonObject | false,
  document: SchemaDocument,
): JsonObject | false {
  if (one === false || other === false) return false;
  const merged = new Map(Object.entries(one));
  document.spend(merged.size);
  for (const [keyword, value] of Object.entries(other)) {
    if (value === undefined) continue;
    const present = merged.get(keyword);
    document.spend(lengthOf(present) + lengthOf(value));
    merged.set(keyword, present === undefined ? value : (folds.get(keyword) ?? keepFirst)(present, value));
  }
  const isContradiction = isEmptyList(merged.get("type")) || isEmptyList(merged.get("enum"));
  return isContradiction ? false : Object.fromEntries(merged);
}

function lengthOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 1;
}

const keepFirst: Fold = (one) => one;
const larger = foldNumbers(Math.max);
const smaller = foldNumbers(Math.min);
const both: Fold = (one, other) => ({ allOf: [one, other] });
const either: Fold = (one, other) => ({ anyOf: [one, other] });
const union: Fold = (one, other) => [...new Set([...listOf(one), ...listOf(other)])];

function foldNumbers(choose: (one: number, other: number) => number): Fold {
  return (one, other) => (typeof one === "number" && typeof other === "number" ? choose(one, other) : one);
}

const members: Fold = (one, other) => {
  if (!isObject(one) || !isObject(other)) return one;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(
    Array.from(names, (name) => {
      if (!Object.hasOwn(other, name)) return [name, one[name]];
      return [name, Object.hasOwn(one, name) ? both(one[name], other[name]) : other[name]];
    }),
  );
};

const commonValues: Fold = (one, other) => {
  const texts = new Set(listOf(other).map(canonicalText));
  return listOf(one).filter((value) => texts.has(canonicalText(value)));
};

const commonTypes: Fold = (one, other) => {
  const first = Array.isArray(one) ? one : [one];
  const second = Array.isArray(other) ? other : [other];
  const common = first.filter((type) => second.includes(type) || (type === "integer" && second.includes("number")));
  return !common.includes("integer") && first.includes("number") && second.includes("integer")
    ? [...common, "integer"]
    : common;
};

/** The first pairs of branches, which are the most likely to match; the check of the value decides. */
const pairs: Fold = (one, other) => {
  const seconds = listOf(other).slice(0, maxPairs);
  const all = listOf(one)
    .slice(0, maxPairs)
    .flatMap((first) => seconds.map((second) => both(first, second)));
  return all.slice(0, maxPairs);
};

const commonMultiple: Fold = (one, other) => {
  if (!Number.isInteger(one) || !Number.isInteger(other)) return larger(one, other);
  const [first, second] = [Number(one), Number(other)];
  return (first / greatestDivisor(first, second)) * second;
};

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

const keywords: readonly (readonly [Fold, ...string[]])[] = [
  [commonTypes, "type"],
  [commonValues, "enum"],
  [union, "required"],
  [members, "properties", "patternProperties", "dependentSchemas"],
  [both, "items", "contains", "additionalProperties", "propertyNames"],
  [either, "not"],
  [pairs, "anyOf", "oneOf"],
  [larger, "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"],
  [smaller, "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"],
  [commonMultiple, "multipleOf"],
];
/** A map, because a keyword comes from the caller and may be `constructor`. */
const folds: ReadonlyMap<string, Fold> = new Map(
  keywords.flatMap(([fold, ...names]) => names.map((name) => [name, fold] as const)),
);
