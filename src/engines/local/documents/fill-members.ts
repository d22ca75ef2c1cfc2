// Outputs always have every member of their task's schema, null where nothing is known: callers need not ask whether it is there.

import { findTask, type JsonSchema } from "../../../contract/tasks.ts";

/** A copy of the value with the members that its schema has and it lacks: lists empty, all else null. */
export function fillMembers<Value extends object>(task: string, value: Value): Value {
  const [feature = "", subfeature = ""] = task.split("/");
  const schema = findTask(feature, subfeature)?.outputSchema;
  // The schema only adds members; the type of those that were there stays.
  return schema === undefined ? value : (fill(schema, value) as Value);
}

function fill(schema: JsonSchema, value: unknown): unknown {
  const { items, properties } = schema as { items?: JsonSchema; properties?: Readonly<Record<string, JsonSchema>> };
  if (Array.isArray(value)) return items === undefined ? value : value.map((element) => fill(items, element));
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  const given = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(properties);
  return Object.fromEntries(
    names.map((name) => [name, fill(properties[name] ?? {}, given[name] ?? emptyOf(properties[name]))]),
  );
}

function emptyOf(schema: JsonSchema | undefined): unknown {
  const { type } = schema ?? {};
  if (type === "array") return [];
  // An object that may not be null is there, with nulls inside.
  if (type === "object") return {};
  return null;
}
