// Engines that perform a task with a chat model: one for each configured chat provider and each task that a language or vision model can
// perform. The answer has to fit the schema of the task, whatever the input says.

import { findTask, type JsonSchema, type TaskName } from "../../contract/tasks.ts";
import { ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { lookUp } from "../../lib/look-up.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { Provider } from "../../providers/configure.ts";
import { findModelFacts, type ModelFacts, modelNamesOf } from "../../providers/provider.ts";
import { settingName } from "../../providers/settings.ts";
import { type Engine, notSetUp, type TaskCall, type TaskResult } from "../engine.ts";
import { toAnswerSchema, toStrictSchema } from "./answer-schema.ts";
import { askModel, type ChatOptions, type Complete } from "./ask-model.ts";
import { attach, attachFrames, type VideoFrame } from "./attachments.ts";
import type { Reading, TaskDefinition } from "./definition.ts";
import type { Material, Prompt } from "./prompt.ts";
import { readOutput } from "./read-answer.ts";
import { definitions } from "./tasks/index.ts";

export type { Complete } from "./ask-model.ts";

export interface LlmEngineOptions {
  readonly providers: Iterable<Provider>;
  readonly complete: Complete;
  /** The local engine that extracts frames from videos. Absent, or unavailable: chat models perform no tasks on videos. */
  readonly frames?: Engine | undefined;
}

interface LlmTask extends TaskDefinition {
  readonly name: TaskName;
  readonly reads: Reading;
  readonly outputSchema: JsonSchema;
  answerSchema(input: JsonObject): JsonSchema;
}

/** All texts of an input together: about half of a context of 50,000 tokens, and a short wait. */
const defaultMaxCharacters = 100_000;
/** A token has one to four characters, depending on the language. With two, most inputs that are too long are refused before they cost. */
const charactersPerToken = 2;
/** For the braces and quotation marks of an answer. */
const tokensOfForm = 50;
/** Members that the model receives in another way than as material. */
const otherMembers = new Set(["file", "temperature", "max_tokens"]);
const readingByFeature: Readonly<Record<string, Reading>> = { ocr: "document", image: "image", video: "video" };

export function createLlmEngines({ providers, complete, frames }: LlmEngineOptions): readonly Engine[] {
  const tasks = Object.entries(definitions).map(([name, definition]) => toTask(name as TaskName, definition));
  return [...providers].filter(hasChat).flatMap((provider) =>
    tasks.map((task) => ({
      provider: provider.name,
      aliases: modelNamesOf(provider.row).slice(1),
      task: task.name,
      toModelName: provider.dialect?.toModelName,
      models: listModels(provider, task.reads),
      acceptsAnyModel: true,
      ...chooseDefault(provider, task),
      isPaidByToken: true as const,
      announcesSend: true as const,
      get unavailableReason() {
        if (provider.configured) return whyUnreadable(task, frames);
        return notSetUp(provider.name, provider.missingSetting ?? settingName(provider.name, "BASE_URL"));
      },
      run: (call: TaskCall) => run({ task, provider, complete, frames }, call),
    })),
  );
}

/** Null: this machine can prepare what the task reads. */
function whyUnreadable({ reads }: LlmTask, frames: Engine | undefined): string | null {
  if (reads !== "video") return null;
  return frames === undefined ? "Videos cannot be read on this machine." : frames.unavailableReason;
}

/** A provider that answers in this process has engines of its own. */
function hasChat({ row }: Provider): boolean {
  return row.chat !== undefined && row.transport === undefined;
}

/** The engine passes only inputs that fit the schema of the task, so the definition may have the type of any task. */
function toTask(name: TaskName, definition: TaskDefinition): LlmTask {
  const { feature, outputSchema } = findTask(name);
  const answerSchema = toAnswerSchema(outputSchema, definition.omitted);
  const reads = definition.reads ?? lookUp(readingByFeature, feature) ?? "text";
  return { answerSchema: () => answerSchema, ...definition, name, reads, outputSchema };
}

function listModels({ row }: Provider, reads: Reading): string[] {
  return (row.chat?.models ?? []).filter(({ input = ["text"] }) => canRead(input, reads)).map(({ id }) => id);
}

function canRead(input: readonly string[], reads: Reading): boolean {
  if (reads === "text") return true;
  if (reads === "pdf") return input.includes("file");
  // A video is sent as images.
  return input.includes("image") || (reads === "document" && input.includes("file"));
}

/** The operator's choice, otherwise the row's, otherwise the first declared model; each only if it can read the input. */
function chooseDefault(provider: Provider, task: LlmTask): { defaultModel: string } | { needsModel: true } {
  const { row, defaultModels } = provider;
  const { models = [], defaultModel: usual, defaultVisionModel } = row.chat ?? {};
  const known = new Set(models.map(({ id }) => id));
  const able = new Set(listModels(provider, task.reads));
  // The row says nothing about an unknown model, which the operator chose.
  const isFit = (model: string | undefined) => model !== undefined && (able.has(model) || !known.has(model));
  const candidates = [defaultModels["*"], usual, defaultVisionModel, models[0]?.id];
  const defaultModel = defaultModels[task.name] ?? candidates.find(isFit);
  return defaultModel === undefined ? { needsModel: true } : { defaultModel };
}

interface LlmRun extends Pick<LlmEngineOptions, "complete" | "frames"> {
  readonly task: LlmTask;
  readonly provider: Provider;
}

async function run({ task, provider, complete, frames }: LlmRun, call: TaskCall): Promise<TaskResult> {
  const { model, input } = call;
  if (model === null) throw needsModel(task, provider);
  const facts = findModelFacts(provider.row, model);
  const answerSchema = task.answerSchema(input);
  const fullName = `${provider.name}/${model}`;
  const prompt = await toPrompt(task, call, { name: fullName, facts, frames });
  await call.beforeSend?.();
  const { output, completion, tokens, charge } = await askModel(
    {
      model: fullName,
      prompt,
      schemaName: task.name.replaceAll("/", "_"),
      schema: toStrictSchema(answerSchema),
      // A translation has its own way; in the chat format, models that are known not to support a schema get it in the prompt.
      enforcesSchema: provider.dialect?.chat !== undefined || facts?.jsonSchema !== false,
      options: toOptions(input, facts, provider, model),
      params: call.providerParams,
      read: (text) => readOutput(text, { ...task, task: task.name, answerSchema, input }),
    },
    (request) => complete({ ...request, model }, { provider: provider.name, model }, call),
  );
  return { output, original: completion, units: { token: tokens }, charge };
}

function needsModel({ name, reads }: LlmTask, provider: Provider): ValidationError {
  const example = listModels(provider, reads)[0] ?? "<model>";
  const msg = `The provider '${provider.name}' has no default model for this task: name one, such as ${name}/${provider.name}/${example}, or set providers.${provider.name}.default_model in switchyard.yaml`;
  return new ValidationError([{ loc: ["body", "model"], msg, type: "value_error" }]);
}

/** Reasoning models accept only their own temperature. */
function toOptions(input: JsonObject, facts: ModelFacts | null, provider: Provider, model: string): ChatOptions {
  // A dialect applies its rules itself.
  const rules = provider.dialect === null ? findChatRules(provider.row, model) : {};
  const { outputLimit = "max_tokens", refused = [] } = rules;
  const { temperature, max_tokens: maxTokens } = input;
  const chosen = typeof temperature === "number" ? temperature : 0;
  const isRefused = refused.includes("temperature") || (chosen === 0 && facts?.reasoning === true);
  return {
    ...(!isRefused && { temperature: chosen }),
    ...(typeof maxTokens === "number" && { [outputLimit]: maxTokens + tokensOfForm }),
  };
}

async function toPrompt(
  task: LlmTask,
  call: TaskCall,
  model: { readonly name: string; readonly facts: ModelFacts | null; readonly frames: Engine | undefined },
): Promise<Prompt> {
  const { input, files } = call;
  const { instructions, reads } = task;
  const materials = toMaterials(input);
  refuseLong(materials, task, model.facts);
  if (reads === "text") return { instructions, materials, attachments: [] };
  const file = files["file"];
  if (file === undefined) throw new TypeError(`the task ${task.name} has no file`);
  if (reads === "video") {
    const frames = await readFrames(call, model.frames);
    const times = {
      name: "frames",
      text: `The images show the video at these seconds: ${frames.map(({ time }) => time).join(", ")}`,
    };
    return { instructions, materials: [times, ...materials], attachments: attachFrames(frames, model) };
  }
  const attached = await attach(file, reads, model);
  if ("part" in attached) return { instructions, materials, attachments: [attached.part] };
  const withFile = [...materials, { name: "file", text: attached.text }];
  refuseLong(withFile, task, model.facts);
  return { instructions, materials: withFile, attachments: [] };
}

async function readFrames(call: TaskCall, engine: Engine | undefined): Promise<readonly VideoFrame[]> {
  if (engine === undefined) throw new TypeError("there is no engine for frames");
  const { output } = await engine.run({ ...call, model: null, providerParams: {} });
  // Only engines/local/video/frames.ts produces it.
  return (output as { readonly frames: readonly VideoFrame[] }).frames;
}

function toMaterials(input: JsonObject): Material[] {
  return Object.entries(input).flatMap(([name, value]) => {
    if (otherMembers.has(name) || value === null || value === undefined) return [];
    return [{ name, text: typeof value === "string" ? value : JSON.stringify(value, null, 1) }];
  });
}

function refuseLong(materials: readonly Material[], task: LlmTask, facts: ModelFacts | null): void {
  const fitting = (facts?.contextTokens ?? Number.POSITIVE_INFINITY) * charactersPerToken;
  const most = Math.min(task.maxCharacters ?? defaultMaxCharacters, fitting);
  const total = materials.reduce((sum, { text }) => sum + text.length, 0);
  if (total <= most) return;
  const longest = materials.reduce((one, other) => (other.text.length > one.text.length ? other : one));
  const msg = `Input should have at most ${most} characters for this task with a chat model, and has ${total}: send it in parts`;
  throw new ValidationError([{ loc: ["body", "input", longest.name], msg, type: "string_too_long" }]);
}
