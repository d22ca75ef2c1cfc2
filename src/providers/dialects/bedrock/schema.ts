// JSON Schema as Bedrock's constrained decoding takes it: closed objects, no recursion, no bounds on numbers and lists.
// https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html

import { isObject } from "../../../lib/lenient-json.ts";
import type { JsonObject } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";

/** Bounds that are refused. They are told in words instead; whoever reads the answer checks them. */
const refusedBounds = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "maxItems",
  "uniqueItems",
  "contains",
];
const namedSchemas = ["properties", "$defs", "definitions"];
const listedSchemas = ["anyOf", "allOf", "oneOf", "prefixItems"];
// Lookaround, and references back.
const refusedPattern = /\(\?<?[=!]|\\\d/;
// The service counts them over the whole schema.
const maxOptionalMembers = 24;
const maxDepth = 32;

class NotRepresentable extends Error {}

/** Null when the schema cannot be told: open objects, recursion, foreign references, too many optional members. */
export function toStrictSchema(schema: JsonObject): JsonObject | null {
  const count = { optional: 0 };
  try {
    if (isRecursive(schema)) return null;
    return close(schema, count, 0);
  } catch (error) {
    if (error instanceof NotRepresentable) return null;
    throw error;
  }
}

function close(schema: JsonObject, count: { optional: number }, depth: number): JsonObject {
  if (depth > maxDepth) throw new NotRepresentable();
  const closed: Record<string, unknown> = { ...schema };
  delete closed["$schema"];
  for (const name of namedSchemas) {
    const members = closed[name];
    if (!isObject(members)) continue;
    closed[name] = Object.fromEntries(
      Object.entries(members).map(([key, value]) => [key, closeAny(value, count, depth + 1)]),
    );
  }
  for (const name of listedSchemas) {
    const list = closed[name];
    if (Array.isArray(list)) closed[name] = list.map((value) => closeAny(value, count, depth + 1));
  }
  if (isObject(closed["items"])) closed["items"] = close(closed["items"], count, depth + 1);
  if (isObjectSchema(closed)) closeObject(closed, count);
  tellBounds(closed);
  return closed;
}

function closeAny(value: unknown, count: { optional: number }, depth: number): unknown {
  if (isObject(value)) return close(value, count, depth);
  throw new NotRepresentable();
}

function isObjectSchema(schema: Record<string, unknown>): boolean {
  const type = schema["type"];
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isObject(schema["properties"]);
}

function closeObject(schema: Record<string, unknown>, count: { optional: number }): void {
  const names = Object.keys(asObject(schema["properties"]));
  const rest = schema["additionalProperties"];
  const isMap = rest === true || isObject(rest) || schema["patternProperties"] !== undefined;
  // An object without members of its own would be one that can hold nothing.
  if (isMap || (names.length === 0 && rest !== false)) throw new NotRepresentable();
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  count.optional += names.filter((name) => !required.includes(name)).length;
  if (count.optional > maxOptionalMembers) throw new NotRepresentable();
  schema["additionalProperties"] = false;
}

function tellBounds(schema: Record<string, unknown>): void {
  const told: string[] = [];
  const tell = (name: string) => {
    told.push(`${name}: ${JSON.stringify(schema[name])}`);
    delete schema[name];
  };
  for (const name of refusedBounds) if (schema[name] !== undefined) tell(name);
  const { minItems, pattern, description } = schema;
  if (typeof minItems === "number" && minItems > 1) tell("minItems");
  if (typeof pattern === "string" && refusedPattern.test(pattern)) tell("pattern");
  if (told.length === 0) return;
  const words = `(${told.join(", ")})`;
  schema["description"] = typeof description === "string" ? `${description} ${words}` : words;
}

/** Follows the references of a schema into itself. Any that leads elsewhere cannot be told either. */
function isRecursive(root: JsonObject): boolean {
  const done = new Set<string>();
  const visit = (value: unknown, open: readonly string[]): boolean => {
    if (Array.isArray(value)) return value.some((item) => visit(item, open));
    if (!isObject(value)) return false;
    const target = value["$ref"];
    if (typeof target === "string") {
      if (open.includes(target)) return true;
      if (!done.has(target)) {
        if (visit(resolve(root, target), [...open, target])) return true;
        done.add(target);
      }
    }
    return Object.entries(value).some(
      ([name, member]) => name !== "$ref" && !isDefinitions(name) && visit(member, open),
    );
  };
  return visit(root, ["#"]);
}

function isDefinitions(name: string): boolean {
  return name === "$defs" || name === "definitions";
}

function resolve(root: JsonObject, target: string): unknown {
  if (target === "#") return root;
  if (!target.startsWith("#/")) throw new NotRepresentable();
  let found: unknown = root;
  for (const step of target.slice(2).split("/"))
    found = asObject(found)[decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~")];
  if (!isObject(found)) throw new NotRepresentable();
  return found;
}
