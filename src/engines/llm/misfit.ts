// Where a value does not fit its schema, and why, in words that a model can act on. Knows the keywords that task schemas use;
// whether a value fits at all is decided by lib/json-schema.

import type { JsonSchema } from "../../contract/tasks.ts";
import { type Json, listOf, own, SchemaDocument, SchemaProblem, typesOf } from "../../lib/json-schema/schema.ts";
import { fitsSchema } from "../../lib/json-schema/schema-check.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";

/** Null when it fits. */
export function findMisfit(value: Json, schema: JsonSchema): string | null {
  try {
    if (fits(value, schema)) return null;
  } catch (error) {
    if (error instanceof SchemaProblem) return "the object is too large";
    throw error;
  }
  const { place, says } = explain(value, schema, "") ?? { place: "", says: "does not fit the schema" };
  return `${place === "" ? "the object" : `\`${place}\``} ${says}`;
}

interface Misfit {
  readonly place: string;
  readonly says: string;
}

function explain(value: Json, schema: JsonSchema, place: string): Misfit | null {
  const says = explainItself(value, schema);
  if (says !== null) return { place, says };
  const items = schema["items"];
  if (Array.isArray(value) && isObject(items))
    return first(value, (item, at) => explain(item as Json, items, `${place}[${at}]`));
  const properties = schema["properties"];
  if (!isObject(value) || !isObject(properties)) return null;
  return first(Object.entries(value), ([name, member]) => {
    const below = place === "" ? name : `${place}.${name}`;
    const one = own(properties, name);
    if (isObject(one)) return explain(member as Json, one, below);
    return schema["additionalProperties"] === false ? { place: below, says: "should not be there" } : null;
  });
}

function explainItself(value: Json, schema: JsonObject): string | null {
  const { enum: values, minimum, maximum, minItems, maxItems, minLength } = schema;
  const types = typesOf(schema);
  if (types !== undefined && !fits(value, { type: types }))
    return `should be of type ${types.join(" or ")}, and is ${shown(value)}`;
  if (Array.isArray(values) && !fits(value, { enum: values }))
    return `should be one of ${values.slice(0, mostShown).join(", ")}, and is ${shown(value)}`;
  if (!fits(value, present({ minimum, maximum })))
    return `should be ${minimum ?? "anything"} to ${maximum ?? "anything"}, and is ${shown(value)}`;
  if (!fits(value, present({ minItems, maxItems })))
    return `should have ${minItems ?? 0} to ${maxItems ?? "any number of"} entries`;
  if (!fits(value, present({ minLength }))) return "should not be empty";
  if (!isObject(value)) return null;
  const missing = listOf(schema["required"]).filter((name) => !Object.hasOwn(value, String(name)));
  return missing.length === 0 ? null : `lacks ${missing.slice(0, mostShown).join(", ")}`;
}

const mostShown = 60;
const longestShown = 80;

function shown(value: Json): string {
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  return JSON.stringify(value).slice(0, longestShown);
}

function fits(value: Json, schema: JsonObject): boolean {
  const document = new SchemaDocument(schema);
  return fitsSchema(value, document.root, document);
}

function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function first<Item>(items: readonly Item[], find: (item: Item, at: number) => Misfit | null): Misfit | null {
  for (const [at, item] of items.entries()) {
    const found = find(item, at);
    if (found !== null) return found;
  }
  return null;
}
