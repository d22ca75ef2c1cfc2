// Writes a JSON Schema for vendors that constrain the output of a model to it: objects are closed, and recursion is not allowed. Keywords that
// the vendor refuses become part of the description; the gateway checks the answer against the whole schema anyway.

import { isObject } from "../../lib/lenient-json.ts";
import { decodePointerStep } from "../../lib/percent-decoding.ts";
import type { JsonObject } from "../dialect.ts";
import { asList, asObject } from "../lenient.ts";

export interface StrictRules {
  readonly maxOptionalProperties: number;
  /** Keywords with a list of schemas → the vendor's keyword. */
  readonly lists: ReadonlyMap<string, string>;
  /** For a keyword without schemas: `describe` moves it into the description, `refuse` makes the schema impossible. */
  readonly treat: (keyword: string, value: unknown) => "keep" | "describe" | "drop" | "refuse";
}

const maxDepth = 32;
/** Of references that lead to references. */
const maxReferences = 64;
const namedSchemas = new Set(["properties", "$defs", "definitions"]);

class NotRepresentable extends Error {}

/** Null when the schema cannot be expressed: open objects, recursion, foreign references, too many optional properties. */
export function toStrictSchema(schema: JsonObject, rules: StrictRules): JsonObject | null {
  try {
    checkReferences(schema);
    return new StrictWriter(rules).write(schema, 0);
  } catch (error) {
    if (error instanceof NotRepresentable) return null;
    throw error;
  }
}

class StrictWriter {
  readonly #rules: StrictRules;
  #optionalProperties = 0;

  constructor(rules: StrictRules) {
    this.#rules = rules;
  }

  write(schema: unknown, depth: number): JsonObject {
    if (!isObject(schema) || depth > maxDepth) throw new NotRepresentable();
    const written: Record<string, unknown> = {};
    const described: string[] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      const list = Array.isArray(value) ? this.#rules.lists.get(keyword) : undefined;
      if (list !== undefined) written[list] = asList(value).map((inner) => this.write(inner, depth + 1));
      else if (keyword === "items" && isObject(value)) written[keyword] = this.write(value, depth + 1);
      else if (namedSchemas.has(keyword) && isObject(value)) written[keyword] = this.#writeNamed(value, depth + 1);
      else if (keyword !== "additionalProperties") {
        const treatment = this.#rules.treat(keyword, value);
        if (treatment === "refuse") throw new NotRepresentable();
        if (treatment === "keep") written[keyword] = value;
        if (treatment === "describe") described.push(`${keyword}: ${JSON.stringify(value)}`);
      } else if (value !== false) throw new NotRepresentable();
    }
    if (isObjectSchema(schema)) {
      this.#countOptional(schema);
      written["additionalProperties"] = false;
    }
    if (described.length > 0)
      written["description"] = [schema["description"], `(${described.join(", ")})`].filter(Boolean).join(" ");
    return written;
  }

  #writeNamed(schemas: JsonObject, depth: number): JsonObject {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.write(schema, depth)]));
  }

  #countOptional(schema: JsonObject): void {
    const names = Object.keys(asObject(schema["properties"]));
    // An object without properties has free members: closed, it could only be empty.
    if (names.length === 0 && schema["additionalProperties"] !== false) throw new NotRepresentable();
    const required = asList(schema["required"]);
    this.#optionalProperties += names.filter((name) => !required.includes(name)).length;
    if (this.#optionalProperties > this.#rules.maxOptionalProperties) throw new NotRepresentable();
  }
}

export function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === "object" || asList(type).includes("object") || isObject(properties);
}

/** Follows every reference. One that leads back to itself or out of the schema cannot be expressed. */
function checkReferences(root: JsonObject): void {
  const done = new Set<string>();
  const visit = (value: unknown, open: readonly string[]): void => {
    if (typeof value !== "object" || value === null) return;
    const { $ref: target } = value as JsonObject;
    if (typeof target === "string" && !done.has(target)) {
      if (open.includes(target) || open.length > maxReferences) throw new NotRepresentable();
      visit(resolveReference(root, target), [...open, target]);
      done.add(target);
    }
    for (const [name, member] of Object.entries(value))
      if (name !== "$defs" && name !== "definitions") visit(member, open);
  };
  visit(root, ["#"]);
}

export function resolveReference(root: JsonObject, reference: string): JsonObject {
  if (!reference.startsWith("#/")) throw new NotRepresentable();
  let found: unknown = root;
  for (const step of reference.slice(2).split("/")) found = asObject(found)[decodePointerStep(step)];
  if (!isObject(found)) throw new NotRepresentable();
  return found;
}
