// Whether an answer follows the schema that was asked for, and where it does not.

import { asSchema, itemsOf, type Json, listOf, type Schema, SchemaDocument } from "../../lib/json-schema/schema.ts";
import { fitsSchema, schemasOfKey } from "../../lib/json-schema/schema-check.ts";
import { isObject } from "../../lib/lenient-json.ts";

/** Null: it does. Otherwise a sentence about the first member that does not. */
export function findMismatch(value: unknown, schema: unknown): string | null {
  try {
    const document = new SchemaDocument(schema);
    if (fitsSchema(value as Json, asSchema(schema), document)) return null;
    return describe(value as Json, asSchema(schema), { document, path: "" });
  } catch (error) {
    return `The schema cannot be applied: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

interface Place {
  readonly document: SchemaDocument;
  readonly path: string;
}

/** The value does not fit: looks for the smallest part of it that does not. */
function describe(value: Json, schema: Schema, { document, path }: Place): string {
  const shown = path === "" ? "The answer" : path;
  if (typeof schema === "boolean") return `${shown} is not allowed.`;
  if (typeof schema["$ref"] === "string") {
    const target = document.resolve(schema["$ref"]);
    if (!fitsSchema(value, target, document)) return describe(value, target, { document, path });
  }
  if (isObject(value)) {
    const missing = listOf(schema["required"]).find((name) => typeof name === "string" && !Object.hasOwn(value, name));
    if (missing !== undefined) return `${shown} has no member ${String(missing)}.`;
    for (const [name, member] of Object.entries(value as Readonly<Record<string, Json>>))
      for (const one of schemasOfKey(name, schema, document))
        if (!fitsSchema(member, one, document))
          return describe(member, one, { document, path: path === "" ? name : `${path}.${name}` });
  }
  if (Array.isArray(value)) {
    const { prefix, rest } = itemsOf(schema);
    for (const [index, item] of value.entries()) {
      const one = prefix[index] ?? rest;
      if (!fitsSchema(item, one, document)) return describe(item, one, { document, path: `${path}[${index}]` });
    }
  }
  return `${shown} does not have the form that the schema asks for.`;
}
