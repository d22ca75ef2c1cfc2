// JSON Schemas for the vendor's own structured answers, which know a part of the language only. What is not known is told
// in words; the gateway checks the answer against the whole schema anyway.

import { isObject } from "../../../lib/lenient-json.ts";
import type { JsonObject } from "../../dialect.ts";

const knownFormats = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));
/** Kept as they are. */
const plainMembers = new Set(["type", "description", "title", "const", "enum", "required", "$ref"]);
/** More than 24 are refused, and the vendor's grammar gives up from 13 on. */
const maxOptionalProperties = 12;

/** Of references that lead to references. */
const longestChain = 64;

/** The schema as the vendor takes it, or null where it cannot be said: recursion, objects with free members, … */
export function toNativeSchema(schema: JsonObject): JsonObject | null {
  const reader = new SchemaReader(schema);
  const native = reader.read(schema, []);
  if (reader.isBeyond || reader.optionalProperties > maxOptionalProperties) return null;
  return reader.isObject(schema) ? native : null;
}

/** Whether nothing would be lost: then a tool's arguments can be held to it strictly. */
export function isNativeSchema(schema: JsonObject): boolean {
  const native = toNativeSchema(schema);
  return native !== null && Bun.deepEquals(native, schema);
}

class SchemaReader {
  isBeyond = false;
  optionalProperties = 0;
  readonly #root: JsonObject;
  /** References that were walked already: walked again and again, a small schema could take forever. */
  readonly #followed = new Set<string>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  isObject(schema: JsonObject): boolean {
    const target = typeof schema["$ref"] === "string" ? this.#resolve(schema["$ref"]) : schema;
    return target?.["type"] === "object" || target?.["properties"] !== undefined;
  }

  /** `above`: the references that led here, so that a schema which holds itself is noticed. */
  read(schema: JsonObject, above: readonly string[]): JsonObject {
    const native: Record<string, unknown> = {};
    const told: string[] = [];
    for (const [name, value] of Object.entries(schema)) {
      if (name === "$defs" || name === "definitions")
        native[name] = mapValues(value, (inner) => this.read(inner, above));
      else if (name === "properties") native[name] = mapValues(value, (inner) => this.read(inner, above));
      else if (name === "anyOf" || name === "oneOf") native["anyOf"] = this.#readList(value, above);
      else if (name === "allOf") native[name] = this.#readList(value, above);
      else if (name === "items" && isObject(value)) native[name] = this.read(value, above);
      else if (plainMembers.has(name)) native[name] = value;
      else if (name === "format" && knownFormats.has(String(value))) native[name] = value;
      else if (name === "minItems" && (value === 0 || value === 1)) native[name] = value;
      else if (name === "additionalProperties") this.isBeyond ||= value !== false;
      else if (name === "patternProperties" || name === "prefixItems") this.isBeyond = true;
      else if (!name.startsWith("$") && name !== "default" && name !== "examples")
        told.push(`${name}: ${JSON.stringify(value)}`);
    }
    if (typeof schema["$ref"] === "string") this.#follow(schema["$ref"], above);
    if (this.isObject(schema) && schema["$ref"] === undefined) this.#close(schema, native);
    if (told.length > 0)
      native["description"] = [schema["description"], `(${told.join(", ")})`].filter(Boolean).join(" ");
    return native;
  }

  #readList(value: unknown, above: readonly string[]): unknown {
    return Array.isArray(value) ? value.map((inner) => (isObject(inner) ? this.read(inner, above) : inner)) : value;
  }

  #close(schema: JsonObject, native: Record<string, unknown>): void {
    const properties = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
    // An object without properties is one with free members: closed, it could only be empty.
    if (properties.length === 0 && schema["additionalProperties"] !== false) this.isBeyond = true;
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    this.optionalProperties += properties.filter((name) => !required.has(name)).length;
    native["additionalProperties"] = false;
  }

  /** Walks what is referred to, only to find out whether it comes back to itself. */
  #follow(reference: string, above: readonly string[]): void {
    const target = this.#resolve(reference);
    if (target === null || above.includes(reference) || above.length >= longestChain) this.isBeyond = true;
    if (this.isBeyond || target === null || this.#followed.has(reference)) return;
    this.#followed.add(reference);
    const counted = this.optionalProperties;
    this.read(target, [...above, reference]);
    this.optionalProperties = counted;
  }

  #resolve(reference: string): JsonObject | null {
    if (!reference.startsWith("#/")) return null;
    let found: unknown = this.#root;
    for (const step of reference.slice(2).split("/"))
      found = isObject(found) ? found[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
    return isObject(found) ? found : null;
  }
}

function mapValues(value: unknown, map: (inner: JsonObject) => JsonObject): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, isObject(inner) ? map(inner) : inner]));
}
