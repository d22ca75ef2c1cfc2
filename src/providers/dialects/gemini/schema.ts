// A caller's JSON Schema as the vendor takes it in `parametersJsonSchema` and `responseJsonSchema`: only the keywords that
// it documents, with the others expressed in these where that is possible. What is lost only makes the schema wider.
// References stay references, so that a recursive schema stays finite.

import type { JsonObject } from "../../dialect.ts";
import { asList, finiteNumber, objectOrNull } from "../../lenient.ts";

const kept = new Set([
  "$id",
  "$anchor",
  "type",
  "format",
  "title",
  "description",
  "enum",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "required",
  "propertyOrdering",
]);
const listsOfSchemas = new Set(["anyOf", "oneOf", "prefixItems"]);

export function toGeminiSchema(schema: JsonObject): JsonObject {
  const definitions = { ...objectOrNull(schema["definitions"]), ...objectOrNull(schema["$defs"]) };
  const walk = new SchemaWalk(schema, definitions);
  return walk.toRoot();
}

class SchemaWalk {
  readonly #root: JsonObject;
  readonly #definitions: JsonObject;
  /** For every definition, and `#` for the root: which definitions it leads to, however far. */
  readonly #reach: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(root: JsonObject, definitions: JsonObject) {
    this.#root = root;
    this.#definitions = definitions;
    const { $defs: _defs, definitions: _definitions, ...body } = root;
    this.#reach = reachOf({ ...definitions, "#": body });
  }

  toRoot(): JsonObject {
    const { $defs: _defs, definitions: _definitions, ...body } = this.#root;
    const names = Object.keys(this.#definitions);
    const root = this.#convert(body, "#");
    if (names.length === 0) return root;
    const $defs = Object.fromEntries(names.map((name) => [name, this.#convert(this.#definitions[name], name)]));
    return { ...root, $defs };
  }

  /** `owner`: the definition that the schema is a part of. */
  #convert(value: unknown, owner: string): JsonObject {
    const schema = objectOrNull(value);
    // `true` allows everything, as the empty schema does; `false` has no counterpart.
    if (schema === null) return {};
    if (typeof schema["$ref"] === "string") return this.#convertReference(schema["$ref"], schema, owner);
    const made: Record<string, unknown> = {};
    for (const [keyword, inner] of Object.entries(withoutUnions(schema))) {
      if (kept.has(keyword)) made[keyword] = inner;
      else if (listsOfSchemas.has(keyword)) made[keyword] = asList(inner).map((one) => this.#convert(one, owner));
      else if (keyword === "items") made[keyword] = this.#convertItems(inner, made, owner);
      else if (keyword === "properties") made[keyword] = this.#convertProperties(inner, owner);
      else if (keyword === "additionalProperties")
        made[keyword] = typeof inner === "boolean" ? inner : this.#convert(inner, owner);
    }
    addBounds(schema, made);
    addEnum(schema, made);
    this.#loosenCycles(schema, made, owner);
    return made;
  }

  /** No other keyword may stand beside a reference. */
  #convertReference(reference: string, schema: JsonObject, owner: string): JsonObject {
    if (reference === "#") return { $ref: "#" };
    const name = definitionName(reference);
    if (name !== null && Object.hasOwn(this.#definitions, name)) return { $ref: `#/$defs/${escapePointer(name)}` };
    // Somewhere else in the document, or in another one: what is known is what stands beside it.
    const { $ref: _reference, ...beside } = schema;
    return this.#convert(beside, owner);
  }

  /** The old way to write a tuple. */
  #convertItems(items: unknown, made: Record<string, unknown>, owner: string): JsonObject | undefined {
    if (!Array.isArray(items)) return this.#convert(items, owner);
    made["prefixItems"] = items.map((one) => this.#convert(one, owner));
    return undefined;
  }

  #convertProperties(properties: unknown, owner: string): JsonObject {
    const entries = Object.entries(objectOrNull(properties) ?? {});
    return Object.fromEntries(entries.map(([name, inner]) => [name, this.#convert(inner, owner)]));
  }

  /** The vendor refuses a cycle that leads through a required property. */
  #loosenCycles(schema: JsonObject, made: Record<string, unknown>, owner: string): void {
    const required = asList(schema["required"]);
    const properties = objectOrNull(schema["properties"]);
    if (required.length === 0 || properties === null || !this.#reach.get(owner)?.has(owner)) return;
    const open = required.filter((name) => {
      if (typeof name !== "string") return false;
      return !referencesIn(properties[name]).some((target) => target === owner || this.#reach.get(target)?.has(owner));
    });
    if (open.length === required.length) return;
    if (open.length > 0) made["required"] = open;
    else delete made["required"];
  }
}

/** `allOf` has no counterpart: its members are laid over each other. */
function withoutUnions(schema: JsonObject): JsonObject {
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
  return merged["allOf"] === undefined ? merged : withoutUnions(merged);
}

function addBounds(schema: JsonObject, made: Record<string, unknown>): void {
  const step = schema["type"] === "integer" ? 1 : 0;
  const above = finiteNumber(schema["exclusiveMinimum"]);
  const below = finiteNumber(schema["exclusiveMaximum"]);
  if (above !== null && made["minimum"] === undefined) made["minimum"] = above + step;
  if (below !== null && made["maximum"] === undefined) made["maximum"] = below - step;
}

/** `const` is an enum of one; only strings and numbers may be enumerated, null is a type. */
function addEnum(schema: JsonObject, made: Record<string, unknown>): void {
  const hasConst = Object.hasOwn(schema, "const");
  if (!hasConst && !Array.isArray(schema["enum"])) return;
  const values = hasConst ? [schema["const"]] : asList(schema["enum"]);
  const types = new Set(asList(typeof made["type"] === "string" ? [made["type"]] : made["type"]));
  if (types.size === 0) for (const value of values) types.add(typeOf(value));
  const named = values.filter((value) => typeof value === "string" || typeof value === "number");
  made["type"] = types.size === 1 ? [...types][0] : [...types];
  if (named.length > 0 && !types.has("boolean")) made["enum"] = named;
  else delete made["enum"];
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
    // A set that grows while it is walked is walked to its end.
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
  return found?.[1] === undefined ? null : unescapePointer(found[1]);
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapePointer(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
