// The fields of a form, from the JSON Schema of a task's input.

import { lookUp } from "../../../lib/look-up.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

export type Field = FieldFacts &
  (
    | {
        readonly kind: "text";
        readonly isLong: boolean;
        readonly placeholder: string | null;
        readonly suggestions: readonly string[];
      }
    | { readonly kind: "number"; readonly isInteger: boolean; readonly min: number | null; readonly max: number | null }
    | { readonly kind: "boolean" }
    | { readonly kind: "choice"; readonly choices: readonly string[] }
    | { readonly kind: "file" }
    | { readonly kind: "list"; readonly item: Field; readonly minItems: number; readonly maxItems: number | null }
    /** A list with a fixed number of texts, such as an example and its label. */
    | { readonly kind: "tuple"; readonly items: readonly Field[] }
    | { readonly kind: "object"; readonly fields: readonly Field[] }
    /** What no other field can hold. */
    | { readonly kind: "json" }
  );

interface FieldFacts {
  readonly name: string;
  readonly label: string;
  readonly description: string | null;
  readonly isRequired: boolean;
  readonly initial: unknown;
}

/** Required fields come first. */
export function toFields(schema: JsonSchema): readonly Field[] {
  const fields = fieldsOf(schema, schema);
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function fieldsOf(schema: JsonSchema, root: JsonSchema): Field[] {
  const required = new Set(listOf(schema["required"]));
  return Object.entries(membersOf(schema["properties"])).map(([name, member]) =>
    toField(name, membersOf(member), root, required.has(name)),
  );
}

function toField(name: string, given: JsonSchema, root: JsonSchema, isRequired: boolean): Field {
  const { schema, isFile } = resolve(given, root);
  const { description, default: initial } = given;
  const facts: FieldFacts = {
    name,
    label: toLabel(name),
    description: isFile || isLanguage(name) || typeof description !== "string" ? null : description,
    isRequired,
    initial: initial ?? undefined,
  };
  if (isFile) return { ...facts, kind: "file" };
  if (Array.isArray(schema["enum"])) return { ...facts, kind: "choice", choices: schema["enum"].map(String) };
  const type = [schema["type"]].flat().find((one) => one !== "null");
  switch (type) {
    case "string":
      return {
        ...facts,
        kind: "text",
        isLong: isLongText(name, schema),
        placeholder: isLanguage(name) ? (isRequired ? "such as fr" : "detected if empty") : null,
        suggestions: suggestionsFor(name),
      };
    case "integer":
    case "number": {
      const bounds = { min: numberOf(schema["minimum"]), max: numberOf(schema["maximum"]) };
      return { ...facts, kind: "number", isInteger: type === "integer", ...bounds };
    }
    case "boolean":
      return { ...facts, kind: "boolean" };
    case "array":
      return toListField(facts, schema, root);
    case "object": {
      const fields = fieldsOf(schema, root);
      return fields.length === 0 ? { ...facts, kind: "json" } : { ...facts, kind: "object", fields };
    }
    default:
      return { ...facts, kind: "json" };
  }
}

const maxTupleItems = 4;

function toListField(facts: FieldFacts, schema: JsonSchema, root: JsonSchema): Field {
  const minItems = numberOf(schema["minItems"]) ?? 0;
  const maxItems = numberOf(schema["maxItems"]);
  const items = membersOf(schema["items"]);
  const toItem = (name: string) => toField(name, items, root, true);
  if (minItems > 1 && minItems === maxItems && maxItems <= maxTupleItems)
    return { ...facts, kind: "tuple", items: Array.from({ length: maxItems }, (_, index) => toItem(String(index))) };
  // The name of the list says what its items are.
  const item = { ...toItem(facts.name), label: toSingular(facts.label) };
  return item.kind === "json" || item.kind === "list"
    ? { ...facts, kind: "json" }
    : { ...facts, kind: "list", item, minItems, maxItems };
}

/** Follows references, and takes the first alternative that is not null. A file is an id or an address. */
function resolve(given: JsonSchema, root: JsonSchema): { readonly schema: JsonSchema; readonly isFile: boolean } {
  let schema = given;
  for (let depth = 0; depth < 8; depth += 1) {
    const reference = schema["$ref"];
    const alternatives = schema["anyOf"] ?? schema["oneOf"];
    if (typeof reference === "string") {
      if (reference.endsWith("/file_input")) return { schema, isFile: true };
      schema = follow(reference, root);
    } else if (Array.isArray(alternatives)) {
      schema = alternatives.map(membersOf).find((one) => one["type"] !== "null") ?? {};
    } else break;
  }
  return { schema, isFile: false };
}

function follow(reference: string, root: JsonSchema): JsonSchema {
  const path = reference.replace(/^#\//, "").split("/");
  return path.reduce<JsonSchema>((schema, name) => membersOf(schema[name]), root);
}

const longNames = new Set(["text", "texts", "prompt", "question", "examples_context", "query"]);

function isLongText(name: string, schema: JsonSchema): boolean {
  return longNames.has(name) && schema["format"] === undefined;
}

function isLanguage(name: string): boolean {
  return name === "language" || name.endsWith("_language");
}

const languages = ["en", "de", "fr", "es", "it", "pt", "nl", "pl", "tr", "ja", "ko", "zh"];

function suggestionsFor(name: string): readonly string[] {
  if (isLanguage(name)) return languages;
  if (name === "resolution") return ["512x512", "1024x1024", "1536x1024"];
  if (name === "audio_format") return ["mp3", "wav", "flac", "opus"];
  return [];
}

/** Names of members, with the misspellings of the interface, and short forms. */
const knownLabels: Readonly<Record<string, string>> = {
  url: "Address",
  urls: "Addresses",
  num_images: "Number of images",
  mailling_address: "Mailing address",
  martial_status: "Marital status",
  appartment_number: "Apartment number",
  sufix: "Suffix",
};
const shortForms: Readonly<Record<string, string>> = {
  id: "ID",
  iban: "IBAN",
  bic: "BIC",
  mrz: "MRZ",
  vat: "VAT",
  gpa: "GPA",
};

export function toLabel(name: string): string {
  const known = lookUp(knownLabels, name);
  if (known !== undefined) return known;
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => lookUp(shortForms, word) ?? word);
  const label = words.join(" ");
  return label === "" ? name : label[0]?.toUpperCase() + label.slice(1);
}

function toSingular(label: string): string {
  if (label.endsWith("ies")) return `${label.slice(0, -3)}y`;
  if (label.endsWith("sses")) return label.slice(0, -2);
  return label.endsWith("s") ? label.slice(0, -1) : label;
}

/** What the form shows before anything was typed: the defaults, and one empty row in a list that needs one. */
export function toInitialValues(fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, toInitialValue(field)]));
}

export function toInitialValue(field: Field): unknown {
  if (field.initial !== undefined) return field.initial;
  if (field.kind === "list")
    return Array.from({ length: Math.max(field.minItems, field.isRequired ? 1 : 0) }, () => toInitialValue(field.item));
  if (field.kind === "object") return toInitialValues(field.fields);
  if (field.kind === "tuple") return field.items.map(toInitialValue);
  return undefined;
}

/**
 * What is sent: without members that are empty, unless the task needs them. Then they are sent, so that the gateway says what is wrong with them.
 */
export function toInput(fields: readonly Field[], values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const field of fields) {
    const value = toSent(field, values[field.name]);
    if (value !== undefined) input[field.name] = value;
  }
  return input;
}

function toSent(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case "list": {
      const items = (Array.isArray(value) ? value : [])
        .map((one) => toSent(field.item, one))
        .filter((one) => one !== undefined);
      return items.length === 0 && !field.isRequired ? undefined : items;
    }
    case "tuple":
      return field.items.map((item, index) => toSent(item, Array.isArray(value) ? value[index] : undefined) ?? "");
    case "object": {
      const input = toInput(field.fields, membersOf(value));
      return Object.keys(input).length === 0 && !field.isRequired ? undefined : input;
    }
    case "json":
      return typeof value === "string" && value.trim() !== "" ? parseOrKeep(value) : isEmpty(value) ? undefined : value;
    default:
      return isEmpty(value) ? undefined : value;
  }
}

/** A text that is not JSON is sent as it is: the gateway states what it expects there. */
function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function membersOf(value: unknown): JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonSchema) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
