// Writes a JSON Schema for `parametersJsonSchema` and `responseJsonSchema`: only the keywords that the vendor documents. Other keywords are
// expressed with these where possible; losing one only makes the schema wider. References stay, so that a recursive schema stays finite.

import type { JsonObject } from "../../dialect.ts";
import { asList, finiteNumber, objectOrNull } from "../../lenient.ts";

const supported = new Set([
  ...["$id", "$anchor", "type", "format", "title", "description", "enum", "required", "propertyOrdering"],
  ...["minItems", "maxItems", "minimum", "maximum"],
]);
const listsOfSchemas = new Set(["anyOf", "oneOf", "prefixItems"]);

export function toGeminiSchema(schema: JsonObject): JsonObject {
  const { $defs, definitions, ...body } = schema;
  return new SchemaWriter(body, { ...objectOrNull(definitions), ...objectOrNull($defs) }).write();
}

class SchemaWriter {
  readonly #body: JsonObject;
  readonly #definitions: JsonObject;
  /** For every definition, and `#` for the root: the definitions that it leads to, directly or not. */
  readonly #reach: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(body: JsonObject, definitions: JsonObject) {
    this.#body = body;
    this.#definitions = definitions;
    this.#reach = reachOf({ ...definitions, "#": body });
  }

  write(): JsonObject {
    const definitions = Object.entries(this.#definitions).map(([name, one]) => [name, this.#convert(one, name)]);
    const root = this.#convert(this.#body, "#");
    return definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) };
  }

  /** `owner`: the definition that contains the schema. */
  #convert(value: unknown, owner: string): JsonObject {
    const schema = objectOrNull(value);
    // `true` allows everything, as the empty schema does; `false` cannot be expressed.
    if (schema === null) return {};
    if (typeof schema["$ref"] === "string") return this.#convertReference(schema["$ref"], schema, owner);
    const written: Record<string, unknown> = {};
    for (const [keyword, inner] of Object.entries(withoutAllOf(schema))) {
      if (supported.has(keyword)) written[keyword] = inner;
      else if (listsOfSchemas.has(keyword)) written[keyword] = asList(inner).map((one) => this.#convert(one, owner));
      // A list of items is the old form of a tuple.
      else if (keyword === "items" && Array.isArray(inner))
        written["prefixItems"] = inner.map((one) => this.#convert(one, owner));
      else if (keyword === "items") written[keyword] = this.#convert(inner, owner);
      else if (keyword === "properties") written[keyword] = this.#convertProperties(inner, owner);
      else if (keyword === "additionalProperties")
        written[keyword] = typeof inner === "boolean" ? inner : this.#convert(inner, owner);
    }
    addBounds(schema, written);
    addEnum(schema, written);
    this.#loosenCycles(schema, written, owner);
    return written;
  }

  /** The vendor allows no other keyword beside a reference. */
  #convertReference(reference: string, schema: JsonObject, owner: string): JsonObject {
    if (reference === "#") return { $ref: "#" };
    const name = definitionName(reference);
    if (name !== null && Object.hasOwn(this.#definitions, name))
      return { $ref: `#/$defs/${name.replaceAll("~", "~0").replaceAll("/", "~1")}` };
    // A reference to another place cannot be expressed; the keywords beside it can.
    const { $ref: _reference, ...beside } = schema;
    return this.#convert(beside, owner);
  }

  #convertProperties(properties: unknown, owner: string): JsonObject {
    const entries = Object.entries(objectOrNull(properties) ?? {});
    return Object.fromEntries(entries.map(([name, inner]) => [name, this.#convert(inner, owner)]));
  }

  /** The vendor refuses a cycle through a required property. */
  #loosenCycles(schema: JsonObject, written: Record<string, unknown>, owner: string): void {
    const required = asList(schema["required"]);
    const properties = objectOrNull(schema["properties"]);
    if (required.length === 0 || properties === null || !this.#reach.get(owner)?.has(owner)) return;
    const open = required.filter((name) => {
      if (typeof name !== "string") return false;
      return !referencesIn(properties[name]).some((target) => target === owner || this.#reach.get(target)?.has(owner));
    });
    if (open.length === required.length) return;
    if (open.length > 0) written["required"] = open;
    else delete written["required"];
  }
}

/** The vendor has no `allOf`, so its schemas are merged. */
function withoutAllOf(schema: JsonObject): JsonObject {
  const parts = asList(schema["allOf"]).map(objectOrNull);
  if (parts.length === 0) return schema;
  const { allOf: _parts, ...own } = schema;
  const only = parts[0] ?? {};
  if (parts.length === 1 && typeof only["$ref"] === "string" && own["properties"] === undefined)
    return { anyOf: [only], ...(typeof own["description"] === "string" ? { description: own["description"] } : {}) };
  let merged: Record<string, unknown> = own;
  for (const part of parts) {
    if (part === null) continue;
    const properties = { ...objectOrNull(part["properties"]), ...objectOrNull(merged["properties"]) };
    const required = [...new Set([...asList(part["required"]), ...asList(merged["required"])])];
    merged = { ...part, ...merged };
    if (Object.keys(properties).length > 0) merged["properties"] = properties;
    if (required.length > 0) merged["required"] = required;
  }
  return merged["allOf"] === undefined ? merged : withoutAllOf(merged);
}

function addBounds(schema: JsonObject, written: Record<string, unknown>): void {
  const step = schema["type"] === "integer" ? 1 : 0;
  const above = finiteNumber(schema["exclusiveMinimum"]);
  const below = finiteNumber(schema["exclusiveMaximum"]);
  if (above !== null && written["minimum"] === undefined) written["minimum"] = above + step;
  if (below !== null && written["maximum"] === undefined) written["maximum"] = below - step;
}

/** `const` becomes an enum of one. An enum may have only strings and numbers; null is a type. */
function addEnum(schema: JsonObject, written: Record<string, unknown>): void {
  const hasConst = Object.hasOwn(schema, "const");
  if (!hasConst && !Array.isArray(schema["enum"])) return;
  const values = hasConst ? [schema["const"]] : asList(schema["enum"]);
  const types = new Set(asList(typeof written["type"] === "string" ? [written["type"]] : written["type"]));
  if (types.size === 0) for (const value of values) types.add(typeOf(value));
  const named = values.filter((value) => typeof value === "string" || typeof value === "number");
  written["type"] = types.size === 1 ? [...types][0] : [...types];
  if (named.length > 0 && !types.has("boolean")) written["enum"] = named;
  else delete written["enum"];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function reachOf(definitions: JsonObject): Map<string, Set<string>> {
  const reach = new Map<string, Set<string>>();
  for (const name of Object.keys(definitions)) reach.set(name, new Set(referencesIn(definitions[name])));
  for (const name of reach.keys()) {
    const found = reach.get(name) as Set<string>;
    // The loop also visits elements that are added while it runs.
    for (const next of found) for (const further of reach.get(next) ?? []) found.add(further);
  }
  return reach;
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const found: string[] = [];
  for (const [keyword, inner] of Object.entries(value)) {
    if (keyword === "$ref" && typeof inner === "string") found.push(definitionName(inner) ?? inner);
    else found.push(...referencesIn(inner));
  }
  return found;
}

function definitionName(reference: string): string | null {
  const found = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(reference);
  return found?.[1] === undefined ? null : found[1].replaceAll("~1", "/").replaceAll("~0", "~");
}
