// Outputs of document tasks (invoices, identity documents, résumés) have a hundred members. A vendor's mapping sets those that the vendor
// sends; the others become null or an empty list, as the schema of the task says.

import { findTask, type JsonSchema, type KnownOutput, type TaskDraft, type TaskName } from "../../contract/tasks.ts";
import type { JsonObject } from "../dialect.ts";
import { asAmount } from "./amounts.ts";

type Definitions = Readonly<Record<string, JsonSchema>>;

/** An output with every member of the task's schema. A member that the schema does not have is an error in the mapping. */
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
  if (!types.includes("integer") && !types.includes("number")) return value ?? null;
  const amount = asAmount(value);
  return amount !== null && types.includes("integer") ? Math.round(amount) : amount;
}

function fillObject(schema: JsonSchema, value: JsonObject, definitions: Definitions): JsonObject {
  const properties = (schema["properties"] ?? {}) as Definitions;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw new Error(`the schema has no member ${unknown}`);
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, fill(member, value[name], definitions)]),
  );
}

/** An empty text becomes null. */
function toText(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return null;
  return value.trim() || null;
}
