// Converts the output schema of a task to the schema of a model's answer, and an answer back. Vendors that enforce a schema require every
// member to be required and every object to be closed, and accept no bounds. So an optional member becomes nullable, and bounds are stated in
// the description; the gateway checks all of them. Output schemas have no references.

import type { JsonSchema } from "../../contract/tasks.ts";
import { type Json, listOf, typesOf } from "../../lib/json-schema/schema.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";

/** Scores are from 0 to 1, even if the schema of the task has no bounds. */
const scoreNames = new Set(["confidence", "importance", "score"]);

export const string: JsonSchema = { type: "string" };
export const nullableString: JsonSchema = { type: ["string", "null"] };
export const score: JsonSchema = { type: "number", minimum: 0, maximum: 1 };

export function choice(values: readonly unknown[]): JsonSchema {
  return { type: "string", enum: [...new Set(values)] };
}

export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

export function listOfEach(items: JsonSchema, count?: number): JsonSchema {
  return { type: "array", items, ...(count === undefined ? {} : { minItems: count, maxItems: count }) };
}

/** The schema of a member, by its dotted path, which skips lists. */
export function schemaAt(schema: JsonSchema, path: string): JsonSchema {
  let found = schema;
  for (const name of path.split(".")) found = propertiesOf(itemOf(found))[name] ?? {};
  return found;
}

export function toAnswerSchema(output: JsonSchema, omitted: readonly string[] = []): JsonSchema {
  const paths = omitted.map((path) => path.split("."));
  return read(output, []);

  function read(schema: JsonSchema, path: readonly string[]): JsonSchema {
    const { default: _, $schema: __, items, properties: ___, ...rest } = schema as JsonObject;
    if (isObject(items)) return { ...rest, items: read(items, path) };
    if (!isObject(schema["properties"])) return boundScore(rest, path.at(-1) ?? "");
    const required = listOf(schema["required"]);
    const properties: Record<string, JsonSchema> = {};
    for (const [name, member] of Object.entries(propertiesOf(schema))) {
      const here = [...path, name];
      if (paths.some((one) => fitsPath(here, one))) continue;
      const inAnswer = read(member, here);
      // An empty list says that there are no items.
      properties[name] = required.includes(name) || inAnswer["type"] === "array" ? inAnswer : orNull(inAnswer);
    }
    return { ...rest, properties, required: Object.keys(properties), additionalProperties: false };
  }
}

/** The subset of JSON Schema that every vendor accepts; bounds are stated in the description. */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  const { type, enum: values, items, minimum, maximum, minItems, maxItems } = schema as JsonObject;
  const bounds = [
    ...(minimum === undefined && maximum === undefined ? [] : [`${minimum ?? ""} to ${maximum ?? ""}`]),
    ...(minItems !== undefined && minItems === maxItems ? [`exactly ${minItems} entries`] : []),
  ];
  const description = [schema["description"], ...bounds].filter(Boolean).join("; ");
  const properties = propertiesOf(schema);
  const hasProperties = isObject(schema["properties"]);
  return {
    type: type ?? "string",
    ...(description === "" ? {} : { description }),
    ...(values === undefined ? {} : { enum: values }),
    ...(isObject(items) ? { items: toStrictSchema(items) } : {}),
    ...(hasProperties
      ? {
          properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, toStrictSchema(one)])),
          required: Object.keys(properties),
          additionalProperties: false,
        }
      : {}),
  };
}

/**
 * Removes members that the schema does not have, and adds null for missing members that may be null. With `fillsObjects`, a missing object
 * is created with such nulls too.
 */
export function conform(value: Json | undefined, schema: JsonSchema, fillsObjects = false): Json | undefined {
  if (Array.isArray(value)) return value.map((item) => conform(item, itemOf(schema), fillsObjects) ?? null);
  if (!isObject(value) || !isObject(schema["properties"])) return value;
  const conformed: Record<string, Json> = {};
  for (const [name, member] of Object.entries(propertiesOf(schema))) {
    const made = conformMember((value as Readonly<Record<string, Json>>)[name], member, fillsObjects);
    if (made !== undefined) conformed[name] = made;
  }
  return conformed;
}

function conformMember(value: Json | undefined, schema: JsonSchema, fillsObjects: boolean): Json | undefined {
  const isMissing = value === undefined || value === null;
  if (!isMissing) return conform(value, schema, fillsObjects);
  if (mayBeNull(schema)) return null;
  return fillsObjects && isObject(schema["properties"]) ? conform({}, schema, true) : undefined;
}

function fitsPath(path: readonly string[], pattern: readonly string[]): boolean {
  return (
    path.length === pattern.length && path.every((name, index) => pattern[index] === "*" || pattern[index] === name)
  );
}

function boundScore(schema: JsonSchema, name: string): JsonSchema {
  const isNumber = (typesOf(schema) ?? []).includes("number");
  return isNumber && scoreNames.has(name) && schema["maximum"] === undefined
    ? { ...schema, minimum: 0, maximum: 1 }
    : schema;
}

function orNull(schema: JsonSchema): JsonSchema {
  if (mayBeNull(schema)) return schema;
  const values = schema["enum"];
  return {
    ...schema,
    type: [...(typesOf(schema) ?? ["string"]), "null"],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

export function mayBeNull(schema: JsonSchema): boolean {
  return typesOf(schema)?.includes("null") === true;
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (isObject(schema["properties"]) ? schema["properties"] : {}) as Readonly<Record<string, JsonSchema>>;
}

function itemOf(schema: JsonSchema): JsonSchema {
  return isObject(schema["items"]) ? schema["items"] : schema;
}
