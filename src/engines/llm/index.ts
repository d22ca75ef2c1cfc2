// Engines that do a task with a chat model: one for each configured chat provider and each task that a language or vision model
// can honestly do. The answer is held to the task's schema, whatever the input says.

import { findTask, type JsonSchema } from "../../contract/tasks.ts";
import { ValidationError } from "../../errors.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type ChatRules, findModelFacts, type ModelFacts, modelNamesOf } from "../../providers/provider.ts";
import { settingName } from "../../providers/settings.ts";
import type { Engine, TaskCall, TaskResult } from "../engine.ts";
import { conform, toAnswerSchema, toStrictSchema } from "./answer-schema.ts";
import { askModel, type ChatOptions, type Complete } from "./ask-model.ts";
import { attach } from "./attachments.ts";
import { AnswerProblem, type Reading, type TaskDefinition } from "./definition.ts";
import { findMisfit } from "./misfit.ts";
import type { Material, Prompt } from "./prompt.ts";
import { readJson } from "./read-json.ts";
import { definitions } from "./tasks/index.ts";

export type { Complete } from "./ask-model.ts";

export interface LlmEngineOptions {
  readonly providers: Iterable<Provider>;
  readonly complete: Complete;
}

interface Task {
  readonly definition: TaskDefinition;
  readonly outputSchema: JsonSchema;
  /** Null: it depends on the input. */
  readonly answerSchema: JsonSchema | null;
}

/** Of all texts of an input together; about half of a context of 50,000 tokens, and a short wait. */
const maxCharacters = 100_000;
/** A token is one to four characters, by language: at two, what is too long is refused before it is paid. */
const charactersPerToken = 2;
/** What the braces and quotation marks around an answer take. */
const tokensOfForm = 50;
/** Said to the model in another way than as material. */
const ownMembers = new Set(["file", "temperature", "max_tokens"]);

export function createLlmEngines({ providers, complete }: LlmEngineOptions): readonly Engine[] {
  const tasks = definitions.map(toTask);
  return [...providers].filter(hasChat).flatMap((provider) =>
    tasks.map((task) => ({
      provider: provider.name,
      aliases: modelNamesOf(provider.row).slice(1),
      task: task.definition.task,
      models: listModels(provider, task.definition.reads),
      acceptsAnyModel: true,
      ...chooseDefault(provider, task.definition),
      isPaidByToken: true as const,
      unavailableReason: findMissing(provider),
      run: (call: TaskCall) => run(task, provider, call, complete),
    })),
  );
}

/** What answers in this process has engines of its own. */
function hasChat({ row }: Provider): boolean {
  return row.chat !== undefined && row.transport === undefined;
}

function findMissing({ name, configured, missingSetting }: Provider): string | null {
  if (configured) return null;
  return `The provider '${name}' is not set up: set ${missingSetting ?? settingName(name, "BASE_URL")}.`;
}

function listModels({ row }: Pick<Provider, "row">, reads: Reading): string[] {
  return (row.chat?.models ?? []).filter(({ input = ["text"] }) => canRead(input, reads)).map(({ id }) => id);
}

/** The operator's choice, else the row's, else the first model that the operator declared; each only where it can read the input. */
function chooseDefault(
  { row, defaultModels }: Provider,
  { task, reads }: TaskDefinition,
): { defaultModel: string } | { needsModel: true } {
  const { models = [], defaultModel: usual, defaultVisionModel } = row.chat ?? {};
  const known = new Set(models.map(({ id }) => id));
  const able = new Set(listModels({ row }, reads));
  // Of a model that the row does not state, the operator knows best.
  const isFit = (model: string | undefined) => model !== undefined && (able.has(model) || !known.has(model));
  const candidates = [defaultModels["*"], usual, defaultVisionModel, models[0]?.id];
  const defaultModel = defaultModels[task] ?? candidates.find(isFit);
  return defaultModel === undefined ? { needsModel: true } : { defaultModel };
}

function canRead(input: readonly string[], reads: Reading): boolean {
  if (reads === "text") return true;
  if (reads === "pdf") return input.includes("file");
  return input.includes("image") || (reads === "document" && input.includes("file"));
}

function toTask(definition: TaskDefinition): Task {
  const { outputSchema } = findTask(definition.task);
  const answerSchema = definition.asks === undefined ? toAnswerSchema(outputSchema, definition.unasked) : null;
  return { definition, outputSchema, answerSchema };
}

async function run(task: Task, provider: Provider, call: TaskCall, complete: Complete): Promise<TaskResult> {
  const { definition, answerSchema: fixedSchema, outputSchema } = task;
  const { model, input } = call;
  if (model === null) throw needsModel(definition, provider);
  const facts = findModelFacts(provider.row, model);
  const answerSchema = fixedSchema ?? definition.asks?.(input) ?? {};
  const who = `${provider.name}/${model}`;
  const { output, completion, tokens, charge } = await askModel(
    {
      prompt: await toPrompt(definition, call, { name: who, facts }),
      name: definition.task.replaceAll("/", "_"),
      schema: toStrictSchema(answerSchema),
      isHeld: canBeHeld(provider, facts),
      options: toOptions(input, facts, rulesOf(provider, model)),
      params: call.providerParams,
      read: (text) => readOutput(text, { definition, answerSchema, outputSchema, input }),
    },
    who,
    (request) => complete({ ...request, model }, { provider: provider.name, model }, call),
  );
  return { output, original: completion, units: { token: tokens }, charge };
}

function needsModel({ task, reads }: TaskDefinition, provider: Provider): ValidationError {
  const example = listModels(provider, reads)[0] ?? "<model>";
  const msg = `The provider '${provider.name}' has no default model for this task: name one, such as ${task}/${provider.name}/${example}, or set providers.${provider.name}.default_model in switchyard.yaml`;
  return new ValidationError([{ loc: ["body", "model"], msg, type: "value_error" }]);
}

/** A translation finds a way of its own; in the plain format a model that is known not to take a schema is only told. */
function canBeHeld({ dialect }: Provider, facts: ModelFacts | null): boolean {
  return dialect?.chat !== undefined || facts === null || facts.jsonSchema !== false;
}

/** The rules of a dialect are its own affair. */
function rulesOf({ dialect, row }: Provider, model: string): ChatRules {
  return dialect === null ? findChatRules(row, model) : {};
}

/** Reasoning models take no temperature but their own. */
function toOptions(
  input: JsonObject,
  facts: ModelFacts | null,
  { outputLimit = "max_tokens", refused = [] }: ChatRules,
): ChatOptions {
  const temperature = typeof input["temperature"] === "number" ? input["temperature"] : 0;
  const isRefused = refused.includes("temperature") || (temperature === 0 && facts?.reasoning === true);
  const maxTokens = input["max_tokens"];
  return {
    ...(isRefused ? {} : { temperature }),
    ...(typeof maxTokens === "number" ? { [outputLimit]: maxTokens + tokensOfForm } : {}),
  };
}

async function toPrompt(
  definition: TaskDefinition,
  { input, files }: TaskCall,
  reader: { readonly name: string; readonly facts: ModelFacts | null },
): Promise<Prompt> {
  const { instructions, reads } = definition;
  const materials = toMaterials(input);
  refuseLong(materials, definition, reader.facts);
  const file = files["file"];
  if (reads === "text") return { instructions, materials, attachments: [] };
  if (file === undefined) throw new TypeError(`the task ${definition.task} came without its file`);
  const attached = await attach(file, reads, reader);
  if ("part" in attached) return { instructions, materials, attachments: [attached.part] };
  const withFile = [...materials, { name: "file", text: attached.text }];
  refuseLong(withFile, definition, reader.facts);
  return { instructions, materials: withFile, attachments: [] };
}

function toMaterials(input: JsonObject): Material[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (ownMembers.has(name) || value === null || value === undefined) return [];
    return [{ name, text: typeof value === "string" ? value : JSON.stringify(value, null, 1) }];
  });
}

function refuseLong(materials: readonly Material[], definition: TaskDefinition, facts: ModelFacts | null): void {
  const fitting = (facts?.contextTokens ?? Number.POSITIVE_INFINITY) * charactersPerToken;
  const most = Math.min(definition.maxCharacters ?? maxCharacters, fitting);
  const total = materials.reduce((sum, { text }) => sum + text.length, 0);
  if (total <= most) return;
  const longest = materials.reduce((one, other) => (other.text.length > one.text.length ? other : one));
  const msg = `Input should have at most ${most} characters for this task with a chat model, and has ${total}: send it in parts`;
  throw new ValidationError([{ loc: ["body", "input", longest.name], msg, type: "string_too_long" }]);
}

interface OutputReading {
  readonly definition: TaskDefinition;
  readonly answerSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly input: JsonObject;
}

function readOutput(text: string, { definition, answerSchema, outputSchema, input }: OutputReading): JsonObject {
  const parsed = readJson(text);
  if (parsed === undefined) throw new AnswerProblem("it is not a JSON object");
  const answer = conform(parsed, answerSchema) as Json;
  const misfit = findMisfit(answer, answerSchema);
  if (misfit !== null) throw new AnswerProblem(misfit);
  const finished = definition.finish?.(answer as JsonObject, input) ?? answer;
  const output = conform(finished as Json, outputSchema, true) as Json;
  const mistake = findMisfit(output, outputSchema);
  // The model gave what it was asked for: whatever is wrong now is not its fault.
  if (mistake !== null) throw new Error(`The output of ${definition.task} does not fit: ${mistake}`);
  return output as JsonObject;
}
