// Writes src/contract/task-types.ts: the types of every task's input and output, from the schemas in src/contract/tasks.json.

import { type JsonSchema, tasks } from "../src/contract/tasks.ts";

/** One line per task, because a reader searches this file and does not read it. */
export function taskTypes(): string {
  const lines = (direction: "inputSchema" | "outputSchema", toType: typeof inputType) =>
    tasks.map((task) => `  "${task.name}": ${toType(task[direction])};`).join("\n");
  return `// Generated from tasks.json by scripts/task-types.ts: run \`node bin/bun.mjs run scripts/pages.ts\` instead of editing this file.

/** Inputs after validation: members that have a default are always present. */
export interface TaskInputs {
${lines("inputSchema", inputType)}
}

export interface TaskOutputs {
${lines("outputSchema", outputType)}
}
`;
}

function inputType(schema: JsonSchema): string {
  return toType(schema, (member) => "default" in member);
}

function outputType(schema: JsonSchema): string {
  return toType(schema, () => false);
}

function toType(schema: JsonSchema, isFilledIn: (member: JsonSchema) => boolean): string {
  // The only definition that the catalogue refers to is a file: the id of an upload or an address.
  if (schema["$ref"] === "#/$defs/file_input") return "string";
  const { anyOf, enum: values, type } = schema;
  if (Array.isArray(anyOf)) return anyOf.map((branch: JsonSchema) => toType(branch, isFilledIn)).join(" | ");
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (type === undefined) return "unknown";
  return [type]
    .flat()
    .map((name) => typeOf(String(name)))
    .join(" | ");

  function typeOf(name: string): string {
    if (name === "array") return `ReadonlyArray<${toType(schema["items"] as JsonSchema, isFilledIn)}>`;
    if (name === "object") return objectType(schema, isFilledIn);
    return name === "integer" ? "number" : name;
  }
}

function objectType(schema: JsonSchema, isFilledIn: (member: JsonSchema) => boolean): string {
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>);
  if (properties.length === 0) return "Readonly<Record<string, unknown>>";
  const required = (schema["required"] ?? []) as readonly string[];
  const members = properties.map(([name, member]) => {
    const isPresent = required.includes(name) || isFilledIn(member);
    const key = /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name);
    return `${key}${isPresent ? "" : "?"}: ${toType(member, isFilledIn)}`;
  });
  return `{ ${members.join("; ")} }`;
}
