// Outputs contain every member of their schema, so that callers need not check whether a member exists.

import { findTask, type JsonSchema, type TaskName } from "../../contract/tasks.ts";

/** A copy of the value in which missing members are null, or empty lists. */
export function fillMembers<Value extends object>(task: TaskName, value: Value): Value {
  const schema = findTask(task)?.outputSchema;
  // The schema only adds members, so the type of the others is unchanged.
  return schema === undefined ? value : (fill(schema, value) as Value);
}

function fill(schema: JsonSchema, value: unknown): unknown {
  const { items, properties } = schema as { items?: JsonSchema; properties?: Readonly<Record<string, JsonSchema>> };
  if (Array.isArray(value)) return items === undefined ? value : value.map((element) => fill(items, element));
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(properties);
  return Object.fromEntries(
    names.map((name) => [name, fill(properties[name] ?? {}, members[name] ?? emptyOf(properties[name]))]),
  );
}

function emptyOf(schema: JsonSchema | undefined): unknown {
  const { type } = schema ?? {};
  if (type === "array") return [];
  // An object that may not be null is present, with null members.
  if (type === "object") return {};
  return null;
}
