// Typed access to tasks.json: every task of the universal endpoint, its schemas, and the vendors that are known to perform it.

import type { JsonObject } from "../lib/lenient-json.ts";
import { lookUp } from "../lib/look-up.ts";
import type { TaskInputs, TaskOutputs } from "./task-types.ts";
import registry from "./tasks.json" with { type: "json" };

/** `text/sentiment_analysis` */
export type TaskName = keyof TaskInputs;

/** A validated input, with the defaults of its schema. Without a name: the input of any task. */
export type TaskInput<Name extends TaskName = TaskName> = TaskName extends Name ? JsonObject : TaskInputs[Name];

/**
 * An output before its values are normalised or checked: it has no other members than the schema, at any depth, but may omit members, and a
 * single value may be whatever a provider sent. Without a name: the output of any task.
 */
export type TaskDraft<Name extends TaskName = TaskName> = TaskName extends Name
  ? JsonObject
  : NonNullable<Draft<TaskOutputs[Name]>>;

type Draft<Value, Structure = Extract<Value, object>> = [Structure] extends [never]
  ? unknown
  : Structure extends readonly (infer Item)[]
    ? readonly Draft<Item>[] | null | undefined
    : string extends keyof Structure
      ? unknown
      : { readonly [Member in keyof Structure]?: Draft<Structure[Member]> } | null | undefined;

/**
 * Has a member of type `never` for each member of `Actual` that `Shape` does not have. The compiler finds such members by itself only in
 * object literals that are assigned directly, not in the results of functions such as `map`.
 */
export type OnlyKnown<Actual, Shape> = unknown extends Shape
  ? unknown
  : Actual extends readonly (infer Item)[]
    ? readonly OnlyKnown<Item, Shape extends readonly (infer Known)[] ? Known : never>[]
    : Actual extends object
      ? {
          readonly [Member in keyof Actual]: Member extends keyof NonNullable<Shape>
            ? OnlyKnown<Actual[Member], NonNullable<Shape>[Member]>
            : never;
        }
      : unknown;

/** An output without members that the schema of its task does not have. */
export type KnownOutput<Name extends TaskName, Output> = Output & TaskDraft<Name> & OnlyKnown<Output, TaskDraft<Name>>;

export type JsonSchema = { readonly [keyword: string]: unknown };

export interface Task extends TaskTexts {
  readonly name: TaskName;
  readonly mode: "sync" | "async";
  /** Self-contained JSON Schema 2020-12. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly knownOffers: readonly KnownOffer[];
  /** The types of files that the task accepts; null: all. */
  readonly allowedMediaTypes: readonly string[] | null;
  readonly allowsFallbacks: boolean;
  /** Whether results are stored as files, at addresses. */
  readonly producesFiles: boolean;
}

/** A vendor that is known to perform the task, whether or not this gateway can call it. */
export interface KnownOffer {
  readonly provider: string;
  /** `<feature>/<subfeature>/<provider>[/<model>]` */
  readonly model: string;
  readonly listPrice: ListPrice | null;
}

/** USD for `quantity` units. */
export interface ListPrice {
  readonly price: number;
  readonly quantity: number;
  readonly unit: string;
}

export interface Feature {
  readonly name: string;
  readonly fullname: string;
  readonly description: string;
}

interface TaskTexts {
  readonly feature: string;
  readonly subfeature: string;
  readonly fullname: string;
  readonly description: string;
}

interface TaskEntry extends TaskTexts {
  readonly mode: string;
  readonly input_schema: JsonSchema;
  readonly output_schema: JsonSchema;
  readonly known_providers: Readonly<Record<string, KnownProvider>>;
  readonly allowed_mime_types?: readonly string[];
  readonly fallbacks_allowed?: boolean;
}

interface KnownProvider {
  /** The list of one vendor is nested one level deeper. */
  readonly models?: readonly (string | readonly string[])[];
  readonly offers?: readonly (ListPrice & { readonly model: string })[];
}

const featureDescriptions: Readonly<Record<string, string>> = {
  text: "Analysis of text: moderation, entities, sentiment, keywords, summaries, embeddings.",
  web: "Search, reading and structured extraction of web pages.",
  ocr: "Text and fields out of scanned documents, invoices, receipts and identity papers.",
  image: "Generation, editing, detection and comparison of images.",
  translation: "Translation of text and documents, and recognition of languages.",
  audio: "Speech to text and text to speech.",
  video: "Generation of videos, and detection of what they show.",
  multimodal: "Tasks that take several kinds of input at once.",
};

const fullnames: Readonly<Record<string, string>> = registry.feature_fullnames;
// The JSON's inferred type is one union per vendor; the cast names what all of them share.
const entries = registry.tasks as unknown as readonly TaskEntry[];

export const tasks: readonly Task[] = entries.map(toTask);

export const features: readonly Feature[] = [...new Set(tasks.map((task) => task.feature))].map((name) => ({
  name,
  fullname: lookUp(fullnames, name) ?? name,
  description: lookUp(featureDescriptions, name) ?? "",
}));

const byName = new Map<string, Task>(tasks.map((task) => [task.name, task]));

/** By `<feature>/<subfeature>`. */
export function findTask(name: TaskName): Task;
export function findTask(name: string): Task | undefined;
export function findTask(name: string): Task | undefined {
  return byName.get(name);
}

function toTask(entry: TaskEntry): Task {
  const { feature, subfeature, fullname, description } = entry;
  const name = `${feature}/${subfeature}`;
  return {
    name: name as TaskName,
    feature,
    subfeature,
    fullname,
    description,
    mode: entry.mode === "async" ? "async" : "sync",
    allowedMediaTypes: entry.allowed_mime_types ?? null,
    allowsFallbacks: entry.fallbacks_allowed ?? true,
    producesFiles: JSON.stringify(entry.output_schema).includes("_resource_url"),
    inputSchema: toSelfContained(entry.input_schema),
    outputSchema: toSelfContained(entry.output_schema),
    knownOffers: Object.entries(entry.known_providers).flatMap(([provider, known]) =>
      toKnownOffers(`${name}/${provider}`, provider, known),
    ),
  };
}

/** The offers with a price, then the models without one; a vendor with neither has one offer under its own name. */
function toKnownOffers(prefix: string, provider: string, known: KnownProvider): KnownOffer[] {
  const offers = new Map<string, KnownOffer>();
  for (const { model, price, quantity, unit } of known.offers ?? []) {
    offers.set(model, { provider, model, listPrice: { price, quantity, unit } });
  }
  for (const name of (known.models ?? []).flat()) {
    const model = `${prefix}/${name}`;
    if (!offers.has(model)) offers.set(model, { provider, model, listPrice: null });
  }
  if (offers.size === 0) offers.set(prefix, { provider, model: prefix, listPrice: null });
  return [...offers.values()];
}

/** Adds the shared definitions to a schema that refers to them. */
function toSelfContained(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema);
  const $schema = "https://json-schema.org/draft/2020-12/schema";
  if (!text.includes("#/definitions/")) return { $schema, ...schema };
  const local: JsonSchema = JSON.parse(text.replaceAll("#/definitions/", "#/$defs/"));
  return { $schema, ...local, $defs: registry.definitions };
}
