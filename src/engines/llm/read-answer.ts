// Reads the output of a task from a model's answer. What is wrong with an answer is worded so that the model can correct it.

import type { JsonSchema } from "../../contract/tasks.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { type Json, listOf, SchemaDocument, SchemaProblem, typesOf } from "../../lib/json-schema/schema.ts";
import { fitsSchema } from "../../lib/json-schema/schema-check.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { conform } from "./answer-schema.ts";
import { AnswerProblem, type TaskDefinition } from "./definition.ts";

// No task has an answer that is nested as deeply, and the functions that read an answer are recursive.
const limits = { maxDepth: 64, maxTokens: Number.POSITIVE_INFINITY };
const maxValuesShown = 60;
const maxValueLength = 80;

export interface Expected extends Pick<TaskDefinition, "toOutput"> {
  readonly task: string;
  readonly answerSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly input: JsonObject;
}

export function readOutput(text: string, { task, toOutput, answerSchema, outputSchema, input }: Expected): JsonObject {
  const parsed = readJson(text);
  if (parsed === undefined) throw new AnswerProblem("it is not a JSON object");
  const answer = conform(parsed, answerSchema) as Json;
  const problem = findProblem(answer, answerSchema);
  if (problem !== null) throw new AnswerProblem(problem);
  const converted = toOutput?.(answer as JsonObject, input) ?? answer;
  const output = conform(converted as Json, outputSchema, true) as Json;
  const mistake = findProblem(output, outputSchema);
  // The model answered as asked, so the mistake is in the definition of the task.
  if (mistake !== null) throw new Error(`The output of ${task} does not fit: ${mistake}`);
  return output as JsonObject;
}

/** Models whose answer is not constrained put fences or a sentence around the object. Undefined when there is no object. */
export function readJson(text: string): Json | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return parseObject(text) ?? (start < 0 || end <= start ? undefined : parseObject(text.slice(start, end + 1)));
}

function parseObject(text: string): Json | undefined {
  try {
    if (scanJson(text, limits).tooDeepIn !== null) return undefined;
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Null when the value fits. Explains the keywords that task schemas use; lib/json-schema decides whether the value fits. */
function findProblem(value: Json, schema: JsonSchema): string | null {
  try {
    if (fits(value, schema)) return null;
  } catch (error) {
    if (error instanceof SchemaProblem) return "the object is too large";
    throw error;
  }
  return explain(value, schema, "") ?? "the object does not fit the schema";
}

function explain(value: Json, schema: JsonSchema, path: string): string | null {
  const problem = explainItself(value, schema);
  if (problem !== null) return `${path === "" ? "the object" : `\`${path}\``} ${problem}`;
  const { items, properties } = schema;
  if (Array.isArray(value) && isObject(items)) {
    const problems = value.values().map((item, index) => explain(item as Json, items, `${path}[${index}]`));
    return problems.find((found) => found !== null) ?? null;
  }
  if (!isObject(value) || !isObject(properties)) return null;
  // `conform` has removed the members that the schema does not have.
  const problems = Object.entries(value)
    .values()
    .map(([name, member]) =>
      explain(member as Json, properties[name] as JsonSchema, path === "" ? name : `${path}.${name}`),
    );
  return problems.find((found) => found !== null) ?? null;
}

function explainItself(value: Json, schema: JsonObject): string | null {
  const { enum: values, minimum, maximum, minItems, maxItems, minLength } = schema;
  const types = typesOf(schema);
  if (types !== undefined && !fits(value, { type: types }))
    return `should be of type ${types.join(" or ")}, and is ${shown(value)}`;
  if (Array.isArray(values) && !fits(value, { enum: values }))
    return `should be one of ${values.slice(0, maxValuesShown).join(", ")}, and is ${shown(value)}`;
  if (!fits(value, present({ minimum, maximum })))
    return `should be ${minimum ?? "anything"} to ${maximum ?? "anything"}, and is ${shown(value)}`;
  if (!fits(value, present({ minItems, maxItems })))
    return `should have ${minItems ?? 0} to ${maxItems ?? "any number of"} entries`;
  if (!fits(value, present({ minLength }))) return "should not be empty";
  if (!isObject(value)) return null;
  const missing = listOf(schema["required"]).filter((name) => !Object.hasOwn(value, String(name)));
  return missing.length === 0 ? null : `lacks ${missing.slice(0, maxValuesShown).join(", ")}`;
}

function shown(value: Json): string {
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : JSON.stringify(value).slice(0, maxValueLength);
}

function fits(value: Json, schema: JsonObject): boolean {
  const document = new SchemaDocument(schema);
  return fitsSchema(value, document.root, document);
}

function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
