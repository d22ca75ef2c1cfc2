// A chat request as a call of Converse or ConverseStream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";
import { maxTokensOf, refuse, stopSequencesOf } from "../chat-request.ts";
import { toConversation } from "./messages.ts";
import { findTraits, type ModelTraits } from "./models.ts";
import { toStrictSchema } from "./schema.ts";
import { type Thinking, toThinking } from "./thinking.ts";
import { type AnswerTool, planTools } from "./tools.ts";

/** Members of Converse itself, for callers who know whom they call. */
const ownMembers = [
  "guardrailConfig",
  "performanceConfig",
  "requestMetadata",
  "promptVariables",
  "additionalModelResponseFieldPaths",
] as const;
const serviceTiers = new Set(["default", "flex", "priority", "reserved"]);
const usualCap = 32_768;
const oldCap = 8_192;
const jsonInstruction = "Answer with one JSON object and nothing else: no other words, and no code fences.";

export function toConverseRequest(request: ChatRequest, { model, facts, isStream }: Target): DialectRequest {
  const traits = findTraits(model);
  const dropped = new Set<string>();
  const conversation = toConversation(request, traits);
  for (const name of conversation.dropped) dropped.add(name);
  const format = toAnswerFormat(request, traits);
  const tools = planTools(request, { traits, usedNames: conversation.usedNames, answer: format.tool, dropped });
  const cap = maxTokensOf(request);
  const maxOutputTokens = facts?.maxOutputTokens ?? traits.generation?.maxOutputTokens ?? null;
  const thinking = toThinking(request, {
    traits,
    cap,
    maxOutputTokens,
    thinks: facts?.reasoning === true,
    isForced: tools.isForced,
    lacksThoughts: conversation.lacksThoughts,
  });
  for (const name of thinking.dropped) dropped.add(name);
  const instructions = [tools.instruction, format.instruction].flatMap((text) => (text === null ? [] : [{ text }]));
  const system = [...conversation.system, ...instructions];
  const inferenceConfig = toInferenceConfig(request, {
    traits,
    thinking,
    cap: cap ?? defaultCap(traits, thinking, maxOutputTokens),
    dropped,
  });
  const fields = toFields(request, { traits, thinking, toolFields: tools.fields, dropped });
  const body = {
    messages: conversation.messages,
    ...(system.length > 0 ? { system } : {}),
    ...(Object.keys(inferenceConfig).length > 0 ? { inferenceConfig } : {}),
    ...(tools.toolConfig === undefined ? {} : { toolConfig: tools.toolConfig }),
    ...(format.outputConfig === null ? {} : { outputConfig: format.outputConfig }),
    ...(Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {}),
    ...toServiceTier(request, dropped),
    ...toOwnMembers(request),
  };
  return {
    // An ARN holds slashes and colons, and is one step of the path.
    path: `/model/${encodeURIComponent(model)}/${isStream ? "converse-stream" : "converse"}`,
    body: JSON.stringify(body),
    dropped: [...dropped],
    reading: { model, answerTool: format.tool?.name ?? null },
  };
}

interface AnswerFormat {
  readonly outputConfig: JsonObject | null;
  readonly tool: AnswerTool | null;
  readonly instruction: string | null;
}

/** The model's own structured output where it has one and can tell the schema, else a tool. There is no mode for any JSON. */
function toAnswerFormat(request: ChatRequest, traits: ModelTraits): AnswerFormat {
  const none = { outputConfig: null, tool: null, instruction: null };
  const format = request.response_format;
  if (format?.type === "json_object") return { ...none, instruction: jsonInstruction };
  if (format?.type !== "json_schema") return none;
  const { name = "answer", description, schema = { type: "object" } } = format.json_schema;
  const strictSchema = traits.hasJsonSchema ? toStrictSchema(schema) : null;
  if (strictSchema !== null) {
    const words = description ? { description } : {};
    const jsonSchema = { name, ...words, schema: JSON.stringify(strictSchema) };
    return { ...none, outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
  }
  if (schema["type"] !== undefined && schema["type"] !== "object")
    throw refuse(["response_format", "json_schema", "schema"], "The schema should be one of an object", "value_error");
  const words = description || "The answer, in the form that was asked for.";
  return { ...none, tool: { name: freeName(request), description: words, schema } };
}

function freeName(request: ChatRequest): string {
  const taken = new Set(request.tools?.map((tool) => tool.function?.name));
  let name = "final_answer";
  while (taken.has(name)) name += "_";
  return name;
}

/**
 * Models of this maker cut their answers short when nothing is said. What is said counts against the account's quota while
 * the request runs, so all that the model can write is said only when it shall think.
 */
function defaultCap({ generation }: ModelTraits, thinking: Thinking, maxOutputTokens: number | null): number | null {
  if (generation === null || maxOutputTokens === null) return null;
  if (thinking.minTokens !== null) return Math.min(Math.max(thinking.minTokens, usualCap), maxOutputTokens);
  // Before this generation, a cap that does not fit behind the prompt was refused.
  if (!generation.hasJsonSchema) return Math.min(oldCap, maxOutputTokens);
  return thinking.isOn ? maxOutputTokens : Math.min(usualCap, maxOutputTokens);
}

interface InferenceOptions {
  readonly traits: ModelTraits;
  readonly thinking: Thinking;
  readonly cap: number | null;
  readonly dropped: Set<string>;
}

function toInferenceConfig(request: ChatRequest, { traits, thinking, cap, dropped }: InferenceOptions): JsonObject {
  const config: Record<string, unknown> = {};
  if (cap !== null) config["maxTokens"] = cap;
  const { temperature = null, top_p: topP = null } = request;
  const maySample = traits.takesSampling && !thinking.isOn;
  // Most of these models take one of the two, and the first is the more usual wish.
  const takesBoth = traits.generation === null || traits.generation.sampling === "all";
  const useTopP = topP !== null && maySample && (temperature === null || takesBoth);
  // The format ends at 1 where the callers' goes to 2.
  if (temperature !== null && maySample) config["temperature"] = Math.min(temperature, 1);
  else if (temperature !== null) dropped.add("temperature");
  if (useTopP) config["topP"] = topP;
  else if (topP !== null) dropped.add("top_p");
  const stop = stopSequencesOf(request) ?? [];
  const stopSequences = stop.filter((word) => word.trim() !== "");
  if (stopSequences.length < stop.length) dropped.add("stop");
  if (stopSequences.length > 0) config["stopSequences"] = stopSequences;
  return config;
}

interface FieldOptions {
  readonly traits: ModelTraits;
  readonly thinking: Thinking;
  readonly toolFields: JsonObject;
  readonly dropped: Set<string>;
}

/** What Converse has no member for is told in the model's own words. What the caller says in those words counts most. */
function toFields(request: ChatRequest, { traits, thinking, toolFields, dropped }: FieldOptions): JsonObject {
  const topK = request["top_k"];
  const fields: Record<string, unknown> = { ...toolFields, ...thinking.fields };
  if (typeof topK === "number") {
    const maySample = traits.takesSampling && !thinking.isOn;
    if (maySample && traits.topK === "flat") fields["top_k"] = topK;
    else if (maySample && traits.topK === "nested") fields["inferenceConfig"] = { topK };
    else dropped.add("top_k");
  }
  return { ...fields, ...asObject(request["additionalModelRequestFields"]) };
}

function toServiceTier(request: ChatRequest, dropped: Set<string>): JsonObject {
  if (isObject(request["serviceTier"])) return { serviceTier: request["serviceTier"] };
  const tier = request["service_tier"];
  if (typeof tier !== "string" || tier === "auto") return {};
  if (serviceTiers.has(tier)) return { serviceTier: { type: tier } };
  dropped.add("service_tier");
  return {};
}

function toOwnMembers(request: ChatRequest): JsonObject {
  const members: Record<string, unknown> = {};
  for (const name of ownMembers) {
    const value = request[name];
    if (value !== undefined && value !== null) members[name] = value;
  }
  return members;
}
