// Turns a JSON Schema into the rows of a table: one row for each member, with the rows of its own members.

import { isObject } from "../lib/lenient-json.ts";
import type { SchemaObject } from "./openapi.ts";

export interface MemberRow {
  /** From the root: `messages[].role`. */
  readonly path: string;
  readonly type: string;
  /** The component of the member, or of each item in its list. */
  readonly component: string | null;
  readonly isRequired: boolean;
  readonly description: string;
  /** Allowed values, ranges, default: `0 to 2`, `up to 128 items`. */
  readonly limits: readonly string[];
  /** The members inside it, at every depth. */
  readonly inner: readonly MemberRow[];
}

interface Member {
  readonly schemas: readonly SchemaObject[];
  readonly isRequired: boolean;
}

const componentPrefix = "#/components/schemas/";

export function toMemberRows(schema: SchemaObject, prefix = ""): MemberRow[] {
  const rows: MemberRow[] = [];
  for (const [name, { schemas, isRequired }] of collectMembers(schema)) {
    const path = `${prefix}${name}`;
    const variants = schemas.flatMap(toVariants);
    const shown = variants.filter((variant) => variant["type"] !== "null");
    rows.push({
      path,
      type: unique(variants.map(describeType)).join(" or "),
      component: shown.map(findComponent).find((component) => component !== null) ?? null,
      isRequired,
      description: schemas.map((one) => one["description"]).find((text) => typeof text === "string") ?? "",
      limits: unique([
        ...describeValues(shown, isRequired),
        ...shown.flatMap(describeLimits),
        ...schemas.flatMap(describeDefault),
      ]),
      inner: [...toMemberRows({ anyOf: shown }, `${path}.`), ...toItemRows(shown, path)].flatMap(flatten),
    });
  }
  return rows;
}

function flatten(row: MemberRow): MemberRow[] {
  return [{ ...row, inner: [] }, ...row.inner];
}

function toItemRows(variants: readonly SchemaObject[], path: string): MemberRow[] {
  const items = variants.map((variant) => variant["items"]).filter(isObject);
  return items.length === 0 ? [] : toMemberRows({ anyOf: items }, `${path}[].`);
}

/** The members of all variants of a schema. A member is required if every variant requires it. */
function collectMembers(schema: SchemaObject): Map<string, Member> {
  const members = new Map<string, Member>();
  const objects = toVariants(schema).filter((variant) => isObject(variant["properties"]));
  for (const object of objects) {
    const required = Array.isArray(object["required"]) ? object["required"] : [];
    for (const [name, value] of Object.entries(object["properties"] as SchemaObject)) {
      if (!isObject(value)) continue;
      const earlier = members.get(name);
      members.set(name, {
        schemas: [...(earlier?.schemas ?? []), value],
        isRequired: required.includes(name) && (earlier?.isRequired ?? true),
      });
    }
  }
  for (const [name, member] of members) {
    if (member.schemas.length < objects.length) members.set(name, { ...member, isRequired: false });
  }
  return members;
}

/** Splits unions and lists of types into variants of one type each. */
function toVariants(schema: SchemaObject): SchemaObject[] {
  const choices = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(choices)) return choices.filter(isObject).flatMap(toVariants);
  const type = schema["type"];
  if (Array.isArray(type)) return type.map((one) => ({ ...schema, type: one }));
  return [schema];
}

function describeType(schema: SchemaObject): string {
  const component = readComponent(schema);
  if (component !== null) return component;
  if (schema["type"] === "array") {
    const items = isObject(schema["items"]) ? unique(toVariants(schema["items"]).map(describeType)) : [];
    return items.length === 0 ? "array" : `array of ${items.join(" or ")}`;
  }
  if (typeof schema["format"] === "string") return `${schema["type"]} (${schema["format"]})`;
  return typeof schema["type"] === "string" ? schema["type"] : "any";
}

function describeValues(schemas: readonly SchemaObject[], isRequired: boolean): string[] {
  const values = schemas.flatMap((schema) => {
    if (schema["const"] !== undefined) return [schema["const"]];
    return Array.isArray(schema["enum"]) ? schema["enum"] : [];
  });
  const spelled = unique(values.map((value) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``));
  if (spelled.length === 0) return [];
  if (spelled.length > 1) return [`one of ${spelled.join(", ")}`];
  return [`${isRequired ? "always" : "only"} ${spelled[0]}`];
}

function describeLimits(schema: SchemaObject): string[] {
  return [
    describeRange(schema["minimum"], schema["maximum"], ""),
    describeRange(schema["minLength"], schema["maxLength"], " characters"),
    describeRange(schema["minItems"], schema["maxItems"], " items"),
  ].filter((text) => text !== "");
}

function describeRange(least: unknown, most: unknown, unit: string): string {
  const spell = (value: unknown) => Number(value).toLocaleString("en-US");
  if (typeof least === "number" && typeof most === "number") return `${spell(least)} to ${spell(most)}${unit}`;
  if (typeof least === "number") return `at least ${spell(least)}${unit}`;
  if (typeof most === "number") return `up to ${spell(most)}${unit}`;
  return "";
}

function describeDefault(schema: SchemaObject): string[] {
  return schema["default"] === undefined ? [] : [`default \`${JSON.stringify(schema["default"])}\``];
}

function findComponent(schema: SchemaObject): string | null {
  return readComponent(isObject(schema["items"]) ? schema["items"] : schema);
}

export function readComponent(schema: SchemaObject): string | null {
  const reference = schema["$ref"];
  if (typeof reference !== "string" || !reference.startsWith(componentPrefix)) return null;
  return reference.slice(componentPrefix.length);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
