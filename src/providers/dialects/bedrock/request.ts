// Writes a chat request as a call of Converse or ConverseStream.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asList, asObject } from "../../lenient.ts";
import { findFreeName, maxTokensOf, refuse, stopSequencesOf } from "../chat-request.ts";
import { filled, present } from "../completion.ts";
import { toConversation } from "./messages.ts";
import { findTraits, type ModelTraits } from "./models.ts";
import { toStrictSchema } from "./schema.ts";
import { type Thinking, toThinking } from "./thinking.ts";
import { type AnswerTool, planTools } from "./tools.ts";

/** Members of Converse itself, which callers may send. */
const ownMembers = [
  "guardrailConfig",
  "performanceConfig",
  "requestMetadata",
  "promptVariables",
  "additionalModelResponseFieldPaths",
] as const;
const serviceTiers = new Set(["default", "flex", "priority", "reserved"]);
const usualMaxTokens = 32_768;
const oldMaxTokens = 8_192;
const jsonInstruction = "Answer with one JSON object and nothing else: no other text, and no code fences.";

export function toConverseRequest(request: ChatRequest, { model, facts, isStream }: Target): DialectRequest {
  const traits = findTraits(model);
  const dropped = new Set<string>();
  const conversation = toConversation(request.messages, traits);
  for (const name of conversation.dropped) dropped.add(name);
  const format = toAnswerFormat(request, traits);
  const tools = planTools(request, { traits, usedNames: conversation.usedNames, answer: format.tool, dropped });
  const maxTokens = maxTokensOf(request);
  const maxOutputTokens = facts?.maxOutputTokens ?? traits.generation?.maxOutputTokens ?? null;
  const thinking = toThinking(request, {
    traits,
    maxTokens,
    maxOutputTokens,
    isReasoningModel: facts?.reasoning === true,
    isForced: tools.isForced,
    lacksThoughts: conversation.lacksThoughts,
    sendsThoughts: conversation.sendsThoughts,
  });
  for (const name of thinking.dropped) dropped.add(name);
  const instructions = [tools.instruction, format.instruction].flatMap((text) => (text === null ? [] : [{ text }]));
  const limit = maxTokens ?? defaultMaxTokens(traits, thinking, maxOutputTokens);
  const context = { traits, thinking, dropped };
  const body = {
    messages: conversation.messages,
    ...filled({
      system: [...conversation.system, ...instructions],
      inferenceConfig: toInferenceConfig(request, limit, context),
      toolConfig: tools.toolConfig,
      outputConfig: format.outputConfig,
      additionalModelRequestFields: toFields(request, tools.fields, context),
      serviceTier: toServiceTier(request, dropped),
    }),
    ...present(Object.fromEntries(ownMembers.map((name) => [name, request[name]]))),
  };
  return {
    // An ARN has slashes and colons, and must stay one segment of the path.
    path: `/model/${encodeURIComponent(model)}/${isStream ? "converse-stream" : "converse"}`,
    body: JSON.stringify(body),
    dropped: [...dropped],
    reading: { model, answerTool: tools.answerTool },
  };
}

interface AnswerFormat {
  readonly outputConfig: JsonObject | null;
  readonly tool: AnswerTool | null;
  readonly instruction: string | null;
}

/** The model's own structured output if it supports the schema, or a tool. For any JSON there is only an instruction. */
function toAnswerFormat(request: ChatRequest, traits: ModelTraits): AnswerFormat {
  const none = { outputConfig: null, tool: null, instruction: null };
  const format = request.response_format;
  if (format?.type === "json_object") return { ...none, instruction: jsonInstruction };
  if (format?.type !== "json_schema") return none;
  const { name = "answer", description, schema = { type: "object" } } = format.json_schema;
  const strictSchema = traits.hasJsonSchema ? toStrictSchema(schema) : null;
  if (strictSchema !== null) {
    const jsonSchema = { name, ...filled({ description }), schema: JSON.stringify(strictSchema) };
    return { ...none, outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
  }
  if (schema["type"] !== undefined && schema["type"] !== "object")
    throw refuse(["response_format", "json_schema", "schema"], "The schema should describe an object", "value_error");
  const words = description || "The answer, in the requested format.";
  const answerName = findFreeName("final_answer", new Set(request.tools?.map((tool) => tool.function?.name)));
  return { ...none, tool: { name: answerName, description: words, schema } };
}

/**
 * Models of this maker cut their answers short without a limit. The limit counts against the account's quota while the request runs, so
 * the model's maximum is sent only when it thinks.
 */
function defaultMaxTokens(
  { generation }: ModelTraits,
  thinking: Thinking,
  maxOutputTokens: number | null,
): number | null {
  if (generation === null || maxOutputTokens === null) return null;
  if (thinking.minTokens !== null) return Math.min(Math.max(thinking.minTokens, usualMaxTokens), maxOutputTokens);
  // Earlier generations refuse a limit that, together with the prompt, exceeds the context window.
  if (!generation.hasJsonSchema) return Math.min(oldMaxTokens, maxOutputTokens);
  return thinking.isOn ? maxOutputTokens : Math.min(usualMaxTokens, maxOutputTokens);
}

interface Context {
  readonly traits: ModelTraits;
  readonly thinking: Thinking;
  readonly dropped: Set<string>;
}

function toInferenceConfig(request: ChatRequest, maxTokens: number | null, context: Context): JsonObject {
  const { traits, thinking, dropped } = context;
  const { temperature = null, top_p: topP = null } = request;
  const maySample = traits.takesSampling && !thinking.isOn;
  // Most Claude models accept only one of the two.
  const takesBoth = traits.generation === null || traits.generation.sampling === "all";
  const mayUseTopP = maySample && (temperature === null || takesBoth);
  // The service accepts 0 to 1, the chat format 0 to 2.
  if (temperature !== null && (!maySample || temperature > 1)) dropped.add("temperature");
  if (topP !== null && !mayUseTopP) dropped.add("top_p");
  const stop = stopSequencesOf(request);
  const stopSequences = stop.filter((word) => word.trim() !== "");
  if (stopSequences.length < stop.length) dropped.add("stop");
  return filled({
    maxTokens,
    temperature: temperature !== null && maySample ? Math.min(temperature, 1) : null,
    topP: mayUseTopP ? topP : null,
    stopSequences,
  });
}

/** Members that Converse does not have are sent under the model's own names. Those that the caller sends take precedence. */
function toFields(request: ChatRequest, toolFields: JsonObject, { traits, thinking, dropped }: Context): JsonObject {
  const topK = request["top_k"];
  const fields: Record<string, unknown> = { ...toolFields, ...thinking.fields };
  if (typeof topK === "number") {
    const maySample = traits.takesSampling && !thinking.isOn;
    if (maySample && traits.topK === "flat") fields["top_k"] = topK;
    else if (maySample && traits.topK === "nested") fields["inferenceConfig"] = { topK };
    else dropped.add("top_k");
  }
  const own = asObject(request["additionalModelRequestFields"]);
  const betas = [...asList(fields["anthropic_beta"]), ...asList(own["anthropic_beta"])];
  return { ...fields, ...own, ...filled({ anthropic_beta: betas }) };
}

function toServiceTier(request: ChatRequest, dropped: Set<string>): JsonObject | null {
  if (isObject(request["serviceTier"])) return request["serviceTier"];
  const tier = request["service_tier"];
  if (typeof tier !== "string" || tier === "auto") return null;
  if (serviceTiers.has(tier)) return { type: tier };
  dropped.add("service_tier");
  return null;
}
