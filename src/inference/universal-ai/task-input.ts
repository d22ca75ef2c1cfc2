// Validates the input of a task against its schema, fills in defaults, and finds the members that name files.

import { z } from "zod";
import { parse } from "../../contract/problems.ts";
import type { Task } from "../../contract/tasks.ts";
import { own } from "../../lib/json-schema/schema.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { asList } from "../../providers/lenient.ts";

export interface FilePlace {
  /** `file`, `reference_images.0.file` … */
  readonly name: string;
  readonly loc: readonly (string | number)[];
  /** The id of an upload, or an address. */
  readonly text: string;
}

const fileReference = "#/$defs/file_input";
// Files are checked when they are opened, which a pattern cannot replace.
const anyText = { type: "string", minLength: 1 };

export class TaskInputs {
  readonly #schemas = new Map<Task, z.ZodType>();

  /** Throws a ValidationError with every problem, `loc` under `body.input`. */
  check(task: Task, input: unknown): JsonObject {
    return parse(this.#schemaOf(task), { input }).input;
  }

  #schemaOf(task: Task): z.ZodType<{ input: JsonObject }> {
    const known = this.#schemas.get(task);
    if (known !== undefined) return known as z.ZodType<{ input: JsonObject }>;
    const { $defs, ...schema } = task.inputSchema;
    const withPlainFiles = { ...schema, ...($defs === undefined ? {} : { $defs: { ...$defs, file_input: anyText } }) };
    const made = z.object({ input: z.fromJSONSchema(withPlainFiles as Parameters<typeof z.fromJSONSchema>[0]) });
    this.#schemas.set(task, made);
    return made as unknown as z.ZodType<{ input: JsonObject }>;
  }
}

/** Every member of the input that the schema declares as a file. */
export function findFiles({ inputSchema }: Task, input: JsonObject): FilePlace[] {
  const places: FilePlace[] = [];
  walk(inputSchema, input, []);
  return places;

  function walk(schema: unknown, value: unknown, path: readonly (string | number)[]): void {
    if (!isObject(schema) || value === null || value === undefined) return;
    if (schema["$ref"] === fileReference) {
      if (typeof value === "string")
        places.push({ name: path.join("."), loc: ["body", "input", ...path], text: value });
      return;
    }
    for (const branch of asList(schema["anyOf"])) walk(branch, value, path);
    if (Array.isArray(value))
      for (const [index, element] of value.entries()) walk(schema["items"], element, [...path, index]);
    else if (isObject(value) && isObject(schema["properties"]))
      for (const [name, inner] of Object.entries(schema["properties"])) walk(inner, own(value, name), [...path, name]);
  }
}
