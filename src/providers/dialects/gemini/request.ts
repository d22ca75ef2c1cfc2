// A chat request as the vendor's generateContent request, and as the one that only counts its tokens.

import type { ChatRequest } from "../../../contract/chat-format.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asCount, asText, objectOrNull } from "../../lenient.ts";
import { toConversation } from "./contents.ts";
import { type ModelTraits, readTraits } from "./model-traits.ts";
import type { Platform } from "./platform.ts";
import { refuse } from "./refuse.ts";
import { toThinkingConfig } from "./thinking.ts";
import { toTooling } from "./tools.ts";

const modalities: Readonly<Record<string, string>> = { text: "TEXT", image: "IMAGE" };
const samplingNames = ["temperature", "top_p", "top_k"];
const penaltyNames = ["presence_penalty", "frequency_penalty"];

export function toGeminiRequest(request: ChatRequest, target: Target, platform: Platform): DialectRequest {
  const traits = readTraits(target.model);
  const tooling = toTooling(request, traits, platform);
  const generation = toGenerationConfig(request, traits, tooling.format);
  const { systemInstruction, contents } = toConversation(request, traits, platform);
  const body = {
    ...(systemInstruction === null ? {} : { systemInstruction }),
    contents,
    ...(tooling.tools.length === 0 ? {} : { tools: tooling.tools }),
    ...(tooling.toolConfig === null ? {} : { toolConfig: tooling.toolConfig }),
    ...(Object.keys(generation.config).length === 0 ? {} : { generationConfig: generation.config }),
    ...toExtras(request, platform),
  };
  const dropped = [...generation.dropped, ...tooling.dropped];
  return {
    path: modelPath(target.model, target.isStream ? "streamGenerateContent?alt=sse" : "generateContent"),
    body: JSON.stringify(body),
    ...(dropped.length === 0 ? {} : { dropped }),
    reading: { model: target.model, answerTool: tooling.answerTool, serviceTier: toTier(request, platform) },
  };
}

/** How many tokens a request would have: the same conversation and tools, without an answer. */
export function toGeminiCountRequest(
  request: ChatRequest,
  target: Target,
  platform: Platform,
): Pick<DialectRequest, "path" | "body"> {
  const traits = readTraits(target.model);
  const { tools } = toTooling(request, traits, platform);
  const { systemInstruction, contents } = toConversation(request, traits, platform);
  const counted = {
    ...(systemInstruction === null ? {} : { systemInstruction }),
    contents,
    ...(tools.length === 0 ? {} : { tools }),
  };
  const body = platform.wrapsCountRequest
    ? { generateContentRequest: { model: `models/${target.model.replace(/^models\//, "")}`, ...counted } }
    : counted;
  return { path: modelPath(target.model, "countTokens"), body: JSON.stringify(body) };
}

export function fromGeminiCountAnswer(answer: JsonObject): number {
  if (typeof answer["totalTokens"] !== "number") throw new TypeError("the answer holds no totalTokens");
  return asCount(answer["totalTokens"]);
}

/** The model's name comes from the caller: it must stay one segment of the path. */
export function modelPath(model: string, method: string): string {
  const tuned = /^tunedModels\/(.+)$/.exec(model);
  if (tuned?.[1] !== undefined) return `/tunedModels/${encodeURIComponent(tuned[1])}:${method}`;
  return `/models/${encodeURIComponent(model.replace(/^models\//, ""))}:${method}`;
}

function toGenerationConfig(
  request: ChatRequest,
  traits: ModelTraits,
  format: JsonObject,
): { config: JsonObject; dropped: readonly string[] } {
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? null;
  const thinking = toThinkingConfig(request, traits, maxTokens);
  const refused = [...(traits.canSample ? [] : samplingNames), ...(traits.takesPenalties ? [] : penaltyNames)];
  const ignored = refused.filter((name) => isSet(request[name]));
  const stop = typeof request.stop === "string" ? [request.stop] : (request.stop ?? []);
  const config = defined({
    ...(traits.canSample ? toSampling(request) : {}),
    ...(traits.takesPenalties ? toPenalties(request) : {}),
    maxOutputTokens: maxTokens,
    stopSequences: stop.some((one) => one !== "") ? stop.filter((one) => one !== "") : null,
    seed: isSet(request.seed) ? toSeed(request.seed as number) : null,
    responseLogprobs: request.logprobs === true ? true : null,
    logprobs: request.logprobs === true && isSet(request.top_logprobs) ? request.top_logprobs : null,
    responseModalities: toModalities(request["modalities"]),
    imageConfig: toImageConfig(request["image_config"]),
    thinkingConfig: thinking.config,
    ...format,
  });
  return { config, dropped: [...ignored, ...thinking.dropped] };
}

function toSampling(request: ChatRequest): JsonObject {
  return {
    temperature: request.temperature,
    topP: request.top_p,
    topK: request["top_k"],
  };
}

function toPenalties(request: ChatRequest): JsonObject {
  return { presencePenalty: request.presence_penalty, frequencyPenalty: request.frequency_penalty };
}

/** 32 bits: a larger seed is folded, which keeps it a seed. */
function toSeed(seed: number): number {
  return Number.isInteger(seed) ? Number(BigInt.asIntN(32, BigInt(seed))) : Math.trunc(seed) | 0;
}

function toModalities(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const names = value.map((name) => {
    const known = typeof name === "string" && Object.hasOwn(modalities, name) ? modalities[name] : undefined;
    return known ?? refuse(["modalities"], "This provider answers in text and image", "unsupported_parameter");
  });
  return names.length === 1 && names[0] === "TEXT" ? null : names;
}

function toImageConfig(value: unknown): JsonObject | null {
  const wanted = objectOrNull(value);
  if (wanted === null) return null;
  const { aspect_ratio, image_size, ...others } = wanted;
  return defined({ ...others, aspectRatio: aspect_ratio, imageSize: image_size });
}

/** Members of the vendor's own that callers may send along, and what stands beside the conversation. */
function toExtras(request: ChatRequest, platform: Platform): JsonObject {
  const google = objectOrNull(objectOrNull(request["extra_body"])?.["google"]) ?? objectOrNull(request["google"]);
  return defined({
    safetySettings: request["safety_settings"] ?? google?.["safety_settings"],
    cachedContent: request["cached_content"] ?? google?.["cached_content"],
    continuationToken: request["continuation_token"] ?? google?.["continuation_token"],
    labels: platform.hasLabels ? request["labels"] : null,
    serviceTier: toTier(request, platform),
  });
}

function toTier(request: ChatRequest, platform: Platform): string | null {
  const tier = asText(request["service_tier"]);
  return platform.hasServiceTier && (tier === "flex" || tier === "priority") ? tier : null;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isSet(value)));
}
