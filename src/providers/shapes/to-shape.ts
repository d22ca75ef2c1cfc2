// Documents that vendors read (invoices, identity papers, résumés) have outputs of a hundred members. A mapper names those that its
// vendor knows; the task's own schema says which others there are: null, or an empty list.

import { findTask, type JsonSchema, type KnownOutput, type TaskDraft, type TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asAmount } from "./amounts.ts";

type Definitions = Readonly<Record<string, JsonSchema>>;

/** An output of the task that has every member of its schema. A member that the schema does not know is a mistake of the mapper. */
export function toShape<const Name extends TaskName, Values extends JsonObject>(
  task: Name,
  values: KnownOutput<Name, Values>,
): TaskDraft<Name> {
  const schema = findTask(task).outputSchema;
  return fill(schema, values, (schema["$defs"] ?? {}) as Definitions) as TaskDraft<Name>;
}

function fill(schema: JsonSchema, value: unknown, definitions: Definitions): unknown {
  const reference = schema["$ref"];
  if (typeof reference === "string")
    return fill(definitions[reference.slice("#/$defs/".length)] ?? {}, value, definitions);
  const types = [schema["type"]].flat();
  const isMissing = value === undefined || value === null;
  if (types.includes("object")) {
    if (isMissing && types.includes("null")) return null;
    return fillObject(schema, (value ?? {}) as JsonObject, definitions);
  }
  if (types.includes("array")) {
    const items = schema["items"] as JsonSchema;
    return isMissing ? [] : (value as readonly unknown[]).map((item) => fill(items, item, definitions));
  }
  if (types.includes("string")) return toText(value);
  if (types.includes("integer")) return roundOrNull(asAmount(value));
  if (types.includes("number")) return asAmount(value);
  return value ?? null;
}

function fillObject(schema: JsonSchema, value: JsonObject, definitions: Definitions): JsonObject {
  const properties = (schema["properties"] ?? {}) as Definitions;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new Error(`the schema has no member ${unknown}`);
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, fill(member, value[name], definitions)]),
  );
}

/** An empty text says as little as none. */
function toText(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return null;
  const text = value.trim();
  return text === "" ? null : text;
}

function roundOrNull(number: number | null): number | null {
  return number === null ? null : Math.round(number);
}
