// From a task's output schema to what a model is asked for, and back. Vendors that hold a model to a schema want every member
// required and every object closed, and take no bounds; so an optional member becomes one that may be null, and bounds are told
// in words. The answer is checked against all of it here. Task schemas have no references.

import type { JsonSchema } from "../../contract/tasks.ts";
import { type Json, listOf, typesOf } from "../../lib/json-schema/schema.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";

/** Scores are 0 to 1, also where a task's schema does not say so. */
const scoreNames = new Set(["confidence", "importance", "score"]);

export const text: JsonSchema = { type: "string" };
export const textOrNull: JsonSchema = { type: ["string", "null"] };
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

/** The schema of a member, by its dotted path; lists do not count. */
export function schemaAt(schema: JsonSchema, path: string): JsonSchema {
  let found = schema;
  for (const name of path.split(".")) found = propertiesOf(itemOf(found))[name] ?? {};
  return found;
}

export function toAnswerSchema(output: JsonSchema, unasked: readonly string[] = []): JsonSchema {
  const paths = unasked.map((path) => path.split("."));
  return read(output, []);

  function read(schema: JsonSchema, path: readonly string[]): JsonSchema {
    const { default: _, $schema: __, items, properties: ___, ...kept } = schema as JsonObject;
    if (isObject(items)) return { ...kept, items: read(items, path) };
    if (!isObject(schema["properties"])) return boundScore(kept, path.at(-1) ?? "");
    const required = listOf(schema["required"]);
    const properties: Record<string, JsonSchema> = {};
    for (const [name, member] of Object.entries(propertiesOf(schema))) {
      const here = [...path, name];
      if (paths.some((one) => fitsPath(here, one))) continue;
      const asked = read(member, here);
      // An empty list says that there is none.
      properties[name] = required.includes(name) || asked["type"] === "array" ? asked : orNull(asked);
    }
    return { ...kept, properties, required: Object.keys(properties), additionalProperties: false };
  }
}

/** The part of the language that every vendor takes; what it cannot say is told in the description. */
export function toStrictSchema(schema: JsonSchema): JsonSchema {
  const { type, enum: values, items, minimum, maximum, minItems, maxItems } = schema as JsonObject;
  const told = [
    ...(minimum === undefined && maximum === undefined ? [] : [`${minimum ?? ""} to ${maximum ?? ""}`]),
    ...(minItems !== undefined && minItems === maxItems ? [`exactly ${minItems} entries`] : []),
  ];
  const description = [schema["description"], ...told].filter(Boolean).join("; ");
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
 * A value without members that its schema does not know, and with null for those that it lacks and that may be null. With
 * `fillsObjects`, an object that is missing is made of such nulls too.
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
  return path.length === pattern.length && path.every((name, at) => pattern[at] === "*" || pattern[at] === name);
}

function boundScore(schema: JsonSchema, name: string): JsonSchema {
  const isNumber = (typesOf(schema) ?? []).includes("number");
  return isNumber && scoreNames.has(name) && schema["maximum"] === undefined ? { ...schema, ...bounds } : schema;
}

const bounds = { minimum: 0, maximum: 1 };

function orNull(schema: JsonSchema): JsonSchema {
  if (mayBeNull(schema)) return schema;
  const values = schema["enum"];
  return {
    ...schema,
    type: [...(typesOf(schema) ?? ["string"]), "null"],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}

function mayBeNull(schema: JsonSchema): boolean {
  return typesOf(schema)?.includes("null") === true;
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (isObject(schema["properties"]) ? schema["properties"] : {}) as Readonly<Record<string, JsonSchema>>;
}

function itemOf(schema: JsonSchema): JsonSchema {
  return isObject(schema["items"]) ? schema["items"] : schema;
}
