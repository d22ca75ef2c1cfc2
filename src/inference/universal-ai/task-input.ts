// Validates the input of a task against its schema, fills in defaults, and finds the members that name files.

import { z } from "zod";
import { parse } from "../../contract/problems.ts";
import type { Task } from "../../contract/tasks.ts";
import { own } from "../../lib/json-schema/schema.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { asList } from "../../providers/lenient.ts";

export interface FileMember {
  /** `file`, `reference_images.0.file` … */
  readonly name: string;
  readonly loc: readonly (string | number)[];
  /** The id of an upload, or an address. */
  readonly text: string;
}

type InputSchema = z.ZodType<{ input: JsonObject }>;

/** The returned function throws a ValidationError with every problem, `loc` under `body.input`. */
export function createInputCheck(): (task: Task, input: unknown) => JsonObject {
  const schemas = new Map<Task, InputSchema>();
  return (task, input) => {
    const schema = schemas.get(task) ?? toSchema(task);
    schemas.set(task, schema);
    return parse(schema, { input }).input;
  };
}

function toSchema({ inputSchema }: Task): InputSchema {
  const { $defs, ...schema } = inputSchema;
  // Files are checked when they are opened, which a pattern cannot replace.
  const file_input = { type: "string", minLength: 1 };
  const withPlainFiles = { ...schema, ...(isObject($defs) && { $defs: { ...$defs, file_input } }) };
  const input = z.fromJSONSchema(withPlainFiles as Parameters<typeof z.fromJSONSchema>[0]);
  return z.object({ input }) as unknown as InputSchema;
}

/** Every member of the input that the schema declares as a file. */
export function findFiles({ inputSchema }: Task, input: JsonObject): FileMember[] {
  return find(inputSchema, input, []);

  function find(schema: unknown, value: unknown, path: readonly (string | number)[]): FileMember[] {
    if (!isObject(schema) || value === null || value === undefined) return [];
    if (schema["$ref"] === "#/$defs/file_input")
      return typeof value === "string" ? [{ name: path.join("."), loc: ["body", "input", ...path], text: value }] : [];
    const { anyOf, items, properties } = schema;
    const found = asList(anyOf).flatMap((branch) => find(branch, value, path));
    if (Array.isArray(value))
      return [...found, ...value.flatMap((element, index) => find(items, element, [...path, index]))];
    if (!isObject(value) || !isObject(properties)) return found;
    const members = Object.entries(properties);
    return [...found, ...members.flatMap(([name, inner]) => find(inner, own(value, name), [...path, name]))];
  }
}
