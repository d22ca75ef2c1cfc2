// Creates a value that matches a JSON Schema (2020-12 and common older forms), for tool arguments and structured answers. The same schema always
// gives the same value. Each type proposes candidates, and the first that passes the check is used. If none passes, the first is used anyway:
// a simulated model may be wrong, but it answers.

import { parsePattern, samplePattern } from "../../lib/json-schema/pattern.ts";
import {
  asSchema,
  canonicalText,
  entriesOf,
  eventLoopUnits,
  itemsOf,
  type Json,
  listOf,
  numberOf,
  own,
  type Schema,
  SchemaDocument,
  SchemaProblem,
  typesOf,
  WorkBudget,
} from "../../lib/json-schema/schema.ts";
import { fitsSchema, schemasOfKey } from "../../lib/json-schema/schema-check.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { mergeSchemas } from "./schema-merge.ts";

export function makeExample(schema: unknown, budget = new WorkBudget(eventLoopUnits)): Json {
  const document = new SchemaDocument(schema, budget);
  const found = findExample(document.root, { document, depth: 0, turns: 0, variant: 0 });
  if (found === undefined) throw new SchemaProblem("nothing fits the schema");
  return found;
}

const limits = { candidates: 40, depth: 40, turns: 12, stringLength: 100_000 };
/** Beyond these limits, only required members are created, which ends recursive schemas. */
const generous = { depth: 4, steps: 3_000 };
/** Bounds the total length of texts, which cost memory and time. */
const unitsPerCharacter = 10;

interface Context {
  readonly document: SchemaDocument;
  readonly depth: number;
  /** The number of choices since the last step into a value, because a choice may be recursive. */
  readonly turns: number;
  /** Different numbers lead to different values, for unique items. */
  readonly variant: number;
}

function findExample(schema: Schema, context: Context): Json | undefined {
  if (context.depth > limits.depth) return undefined;
  let tried = 0;
  let first: Json | undefined;
  for (const candidate of candidatesOf(schema, context)) {
    if (fitsSchema(candidate, schema, context.document)) return candidate;
    first ??= candidate;
    if (++tried === limits.candidates) break;
  }
  return first;
}

function* candidatesOf(schema: Schema, context: Context): Generator<Json> {
  context.document.step();
  const flat = flatten(schema, context.document);
  if (flat === false || context.turns > limits.turns) return;

  const turned = { ...context, turns: context.turns + 1 };
  const { const: constant, enum: choices, anyOf, oneOf, if: condition, ...base } = flat;
  if (constant !== undefined) return yield constant as Json;
  if (Array.isArray(choices)) return yield* rotate(choices as Json[], context.variant);
  if (context.variant === 0) yield* suggestionsOf(flat);

  if (Array.isArray(anyOf)) return yield* branchesOf(anyOf, { ...flat, anyOf: undefined }, turned);
  if (Array.isArray(oneOf)) return yield* branchesOf(oneOf, { ...flat, oneOf: undefined }, turned);
  if (condition !== undefined) {
    const { then: consequence, else: alternative, ...rest } = base;
    yield* candidatesOf({ allOf: [rest, asSchema(condition), asSchema(consequence)] }, turned);
    return yield* candidatesOf({ allOf: [rest, asSchema(alternative)] }, turned);
  }

  for (const type of orderTypes(typesOf(flat) ?? guessTypes(flat), context)) {
    yield* candidatesOfType(type, flat, context);
  }
}

/** Examples of the schema's author come first; the check rejects those that do not match. */
function* suggestionsOf(schema: JsonObject): Generator<Json> {
  for (const suggestion of [...listOf(schema["examples"]), schema["example"], schema["default"]]) {
    if (suggestion !== undefined && suggestion !== null) yield suggestion as Json;
  }
}

function* branchesOf(branches: readonly unknown[], base: JsonObject, context: Context): Generator<Json> {
  const schemas = branches.map(asSchema);
  const ordered = isGenerous(context)
    ? schemas
    : schemas.toSorted((one, other) => weigh(one, context) - weigh(other, context));
  for (const branch of ordered) yield* candidatesOf({ allOf: [base, branch] }, context);
}

/** Containers last, so that a recursive choice ends. */
function weigh(schema: Schema, { document }: Context): number {
  const flat = flatten(schema, document);
  if (flat === false) return 2;
  return (typesOf(flat) ?? guessTypes(flat)).some((type) => type === "object" || type === "array") ? 1 : 0;
}

/** References and allOf folded in; `false` when the parts contradict each other. */
function flatten(schema: Schema, document: SchemaDocument): JsonObject | false {
  document.step();
  if (schema === true) return {};
  if (schema === false) return false;
  return document.nest(() => fold(schema, document));
}

function fold(schema: JsonObject, document: SchemaDocument): JsonObject | false {
  const { $ref: reference, allOf, ...rest } = schema;
  let flat: JsonObject | false = rest;
  if (typeof reference === "string")
    flat = mergeSchemas(flat, flatten(document.resolve(reference), document), document);
  for (const part of listOf(allOf)) flat = mergeSchemas(flat, flatten(asSchema(part), document), document);
  return flat;
}

const keywordTypes: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"]],
  ["array", ["items", "prefixItems", "minItems", "uniqueItems", "contains"]],
  ["string", ["minLength", "maxLength", "pattern", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function guessTypes(schema: JsonObject): readonly string[] {
  const guessed = keywordTypes.filter(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined));
  return guessed.length > 0
    ? guessed.map(([type]) => type)
    : ["string", "integer", "boolean", "object", "array", "null"];
}

/** Prefers values to null within the limits, and the smallest value beyond them. */
function orderTypes(types: readonly string[], context: Context): readonly string[] {
  const last = isGenerous(context) ? ["null"] : ["object", "array"];
  const isLast = (type: string) => last.includes(type);
  return types.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other)));
}

function* candidatesOfType(type: string, schema: JsonObject, context: Context): Generator<Json> {
  if (type === "null") yield null;
  if (type === "boolean") yield* rotate([true, false], context.variant);
  if (type === "string") yield* stringsOf(schema, context);
  if (type === "number" || type === "integer") yield* numbersOf(schema, type === "integer", context.variant);
  if (type === "array") yield* arraysOf(schema, context);
  if (type === "object") yield* objectsOf(schema, context);
}

type Format = (variant: number) => string;

const email: Format = (variant) => `person${variant + 1}@example.com`;
const hostname: Format = (variant) => `host${variant + 1}.example.com`;
const url: Format = (variant) => `https://example.com/${variant + 1}`;
const path: Format = (variant) => `/${variant + 1}`;
const formats: Readonly<Record<string, Format>> = {
  "date-time": (variant) => `2026-01-${pad(variant)}T09:30:00Z`,
  date: (variant) => `2026-01-${pad(variant)}`,
  time: (variant) => `09:${pad(variant)}:00Z`,
  duration: (variant) => `PT${variant + 1}H`,
  ...{ email, "idn-email": email, hostname, "idn-hostname": hostname },
  ...{ uri: url, url, iri: url, "uri-reference": path, "iri-reference": path, "json-pointer": path },
  "uri-template": (variant) => `${url(variant)}/{id}`,
  ipv4: (variant) => `192.0.2.${(variant % 254) + 1}`,
  ipv6: (variant) => `2001:db8::${(variant + 1).toString(16)}`,
  uuid: (variant) => `00000000-0000-4000-8000-${(variant + 1).toString(16).padStart(12, "0")}`,
  "relative-json-pointer": (variant) => `${variant + 1}`,
  regex: (variant) => `^${variant + 1}$`,
  byte: (variant) => btoa(`sandbox${variant + 1}`),
};

function pad(variant: number): string {
  return String((variant % 28) + 1).padStart(2, "0");
}

function* stringsOf(schema: JsonObject, { document, variant }: Context): Generator<Json> {
  const min = numberOf(schema["minLength"]) ?? 0;
  const max = numberOf(schema["maxLength"]) ?? Number.POSITIVE_INFINITY;
  if (min > limits.stringLength) throw new SchemaProblem(`a minLength of ${min} is more than the sandbox writes`);

  const pattern = typeof schema["pattern"] === "string" ? parsePattern(schema["pattern"]) : null;
  if (pattern !== null) {
    // Three repetitions read well; a maxLength may need fewer, a minLength more.
    let tooMany = Number.POSITIVE_INFINITY;
    for (const repeats of [3, 1, 0, 2, 6, 12, 25, 50, 100, 400]) {
      if (repeats >= tooMany) continue;
      const sample = samplePattern(pattern, repeats, variant);
      if (sample === null) tooMany = repeats;
      document.spend(sample?.length ?? limits.stringLength);
      if (sample !== null) yield* [sample, sample.padEnd(min, "x")];
    }
  }
  const format = own(formats, String(schema["format"])) as Format | undefined;
  if (format !== undefined) yield format(variant);
  const text = variant === 0 ? "example" : `${variant + 1} example`;
  document.spend(unitsPerCharacter * min);
  yield [...text.padEnd(min, " text")].slice(0, max).join("");
}

function* numbersOf(schema: JsonObject, isInteger: boolean, variant: number): Generator<Json> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const low = Math.max(...[minimum, exclusiveMinimum].filter((bound) => typeof bound === "number"));
  const high = Math.min(...[maximum, exclusiveMaximum].filter((bound) => typeof bound === "number"));

  const step = typeof multipleOf === "number" && multipleOf > 0 ? multipleOf : isInteger ? 1 : null;
  if (step !== null) {
    const start = Math.max(Math.ceil(low / step), Math.min(1, Math.floor(high / step)));
    // A wide multiple need not be a whole number, and an exclusive bound excludes the first: try the next ones.
    for (let offset = 0; offset < 10; offset++) {
      for (const times of [start + variant + offset, start - variant - offset]) yield trim(times * step);
    }
    return;
  }

  yield 1.5 + variant;
  if (Number.isFinite(low) && Number.isFinite(high)) yield* [low, high, low + (high - low) / (variant + 2)];
  else if (Number.isFinite(low)) yield low + variant + 1;
  else if (Number.isFinite(high)) yield high - variant - 1;
}

/** Writes 3 × 0.1 as 0.3, which validators expect. */
function trim(value: number): number {
  return Number.isInteger(value) ? value + 0 : Number(value.toPrecision(12));
}

function* arraysOf(schema: JsonObject, context: Context): Generator<Json> {
  const { prefix, rest } = itemsOf(schema);
  const contains = schema["contains"] === undefined ? null : asSchema(schema["contains"]);
  const containsCount = contains === null ? 0 : (numberOf(schema["minContains"]) ?? 1);
  const min = Math.max(numberOf(schema["minItems"]) ?? 0, containsCount);
  const max = numberOf(schema["maxItems"]) ?? Number.POSITIVE_INFINITY;

  const lengths = isGenerous(context) ? [Math.min(max, Math.max(min, prefix.length, 1)), min] : [min];
  for (const length of new Set(lengths)) {
    const items: Json[] = [];
    const seen = new Set<string>();
    let repeats = 0;
    while (items.length < length) {
      const position = items.length;
      const declared = prefix[position] ?? rest;
      const isAtEnd = contains !== null && position >= length - containsCount;
      const wanted: Schema = isAtEnd ? { allOf: [declared, contains] } : declared;
      const item = findExample(wanted, { ...deeper(context), variant: context.variant + repeats });
      if (item === undefined) break;
      if (schema["uniqueItems"] === true) {
        repeats++;
        const text = canonicalText(item);
        if (seen.has(text) && repeats < 2 * length + 20) continue;
        seen.add(text);
      }
      items.push(item);
    }
    if (items.length >= min) yield items;
  }
}

function* objectsOf(schema: JsonObject, context: Context): Generator<Json> {
  for (const withOptional of isGenerous(context) ? [true, false] : [false]) {
    const example = makeObject(schema, context, withOptional);
    if (example !== undefined) yield example;
  }
}

function makeObject(schema: JsonObject, context: Context, withOptional: boolean): Json | undefined {
  const members = new Map<string, Json>();
  const max = numberOf(schema["maxProperties"]) ?? Number.POSITIVE_INFINITY;
  const findMember = (key: string) =>
    findExample({ allOf: schemasOfKey(key, schema, context.document) }, deeper(context));
  const addRequired = (keys: readonly unknown[]): boolean => {
    // The list grows while it is read: a chain of dependentRequired may be as long as the schema.
    const wanted = [...keys];
    for (const key of wanted) {
      context.document.spend(1);
      if (typeof key !== "string" || members.has(key)) continue;
      const value = findMember(key);
      if (value === undefined) return false;
      members.set(key, value);
      for (const dependent of listOf(own(schema["dependentRequired"], key))) wanted.push(dependent);
    }
    return true;
  };

  if (!addRequired(listOf(schema["required"]))) return undefined;
  const optional = withOptional ? entriesOf(schema["properties"]).map(([key]) => key) : [];
  for (const key of optional) {
    if (members.has(key) || members.size >= max) continue;
    const value = findMember(key);
    if (value === undefined) continue;
    members.set(key, value);
    addRequired(listOf(own(schema["dependentRequired"], key)));
  }

  // A map type shows one entry; minProperties may ask for more.
  const isMap = withOptional && members.size === 0 && isObject(schema["additionalProperties"]);
  const min = Math.max(numberOf(schema["minProperties"]) ?? 0, isMap ? Math.min(1, max) : 0);
  for (const key of namesOf(schema, context)) {
    if (members.size >= min) break;
    const value = members.has(key) ? undefined : findMember(key);
    if (value !== undefined) members.set(key, value);
  }
  // Not plain assignment: a property may be called "__proto__".
  return Object.fromEntries(schemaOrder(members, schema));
}

/** Names for further members: declared ones first, then patterned or free ones. */
function* namesOf(schema: JsonObject, context: Context): Generator<string> {
  for (const [key] of entriesOf(schema["properties"])) yield key;
  const patterns = entriesOf(schema["patternProperties"]).map(([pattern]) => ({ pattern }));
  const names: readonly Schema[] = [...patterns, asSchema(schema["propertyNames"])];
  const base = { type: "string" };
  for (const name of names) {
    for (let variant = 0; variant < 1_000; variant++) {
      const free =
        name === true ? `key${variant + 1}` : findExample({ allOf: [base, name] }, { ...deeper(context), variant });
      if (typeof free === "string") yield free;
    }
  }
}

function schemaOrder(members: ReadonlyMap<string, Json>, schema: JsonObject): readonly (readonly [string, Json])[] {
  const ranks = new Map(entriesOf(schema["properties"]).map(([key], rank) => [key, rank]));
  const rank = (key: string) => ranks.get(key) ?? ranks.size;
  return [...members].toSorted(([one], [other]) => rank(one) - rank(other));
}

function isGenerous({ depth, document }: Context): boolean {
  return depth < generous.depth && document.stepsDone < generous.steps;
}

function deeper(context: Context): Context {
  return { ...context, depth: context.depth + 1, turns: 0 };
}

function rotate<Value>(values: readonly Value[], by: number): readonly Value[] {
  const start = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}
