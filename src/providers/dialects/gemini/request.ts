// Writes a chat request as a generateContent request, and as a request that only counts its tokens.

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asCount, asString, asText, objectOrNull } from "../../lenient.ts";
import { maxTokensOf, refuse, stopSequencesOf } from "../chat-request.ts";
import { filled, present } from "../completion.ts";
import { toConversation } from "./contents.ts";
import { type ModelTraits, type Platform, readTraits } from "./model-traits.ts";
import { toThinkingConfig } from "./thinking.ts";
import { toTooling } from "./tools.ts";

const modalities: Readonly<Record<string, string>> = { text: "TEXT", image: "IMAGE" };
const samplingNames = ["temperature", "top_p", "top_k"];
const penaltyNames = ["presence_penalty", "frequency_penalty"];

export function toGeminiRequest(request: ChatRequest, target: Target, platform: Platform): DialectRequest {
  const traits = readTraits(target.model);
  const tooling = toTooling(request, traits, platform);
  const generation = toGenerationConfig(request, traits, tooling.format);
  const { tools, toolConfig } = tooling;
  const { conversation, dropped } = toConversation(request, traits, platform);
  const body = {
    ...filled({ ...conversation, tools, toolConfig, generationConfig: generation.config }),
    ...toExtras(request, platform),
  };
  return {
    path: modelPath(target.model, target.isStream ? "streamGenerateContent?alt=sse" : "generateContent"),
    body: JSON.stringify(body),
    dropped: [...generation.dropped, ...tooling.dropped, ...dropped],
    reading: { model: target.model, answerTool: tooling.answerTool, serviceTier: toTier(request, platform) },
  };
}

/** Counts the tokens of the conversation and the tools. */
export function toGeminiCountRequest(
  request: ChatRequest,
  target: Target,
  platform: Platform,
): Pick<DialectRequest, "path" | "body"> {
  const traits = readTraits(target.model);
  const { tools } = toTooling(request, traits, platform);
  const counted = filled({ ...toConversation(request, traits, platform).conversation, tools });
  const body = platform.wrapsCountRequest
    ? { generateContentRequest: { model: `models/${target.model}`, ...counted } }
    : counted;
  return { path: modelPath(target.model, "countTokens"), body: JSON.stringify(body) };
}

export function fromGeminiCountAnswer(answer: JsonObject): number {
  if (typeof answer["totalTokens"] !== "number") throw new TypeError("the answer has no totalTokens");
  return asCount(answer["totalTokens"]);
}

/** The caller's model name must stay one segment of the path. */
export function modelPath(model: string, method: string): string {
  const tuned = /^tunedModels\/(.+)$/.exec(model);
  if (tuned?.[1] !== undefined) return `/tunedModels/${encodeURIComponent(tuned[1])}:${method}`;
  return `/models/${encodeURIComponent(model)}:${method}`;
}

function toGenerationConfig(
  request: ChatRequest,
  traits: ModelTraits,
  format: JsonObject,
): { config: JsonObject; dropped: readonly string[] } {
  const maxTokens = maxTokensOf(request);
  const thinking = toThinkingConfig(request, traits, maxTokens);
  const refused = [...(traits.canSample ? [] : samplingNames), ...(traits.takesPenalties ? [] : penaltyNames)];
  const ignored = refused.filter((name) => request[name] !== undefined && request[name] !== null);
  const sampling = { temperature: request.temperature, topP: request.top_p, topK: request["top_k"] };
  const penalties = { presencePenalty: request.presence_penalty, frequencyPenalty: request.frequency_penalty };
  const config = filled({
    ...(traits.canSample ? sampling : {}),
    ...(traits.takesPenalties ? penalties : {}),
    maxOutputTokens: maxTokens,
    stopSequences: stopSequencesOf(request).filter((sequence) => sequence !== ""),
    seed: toSeed(request.seed ?? null),
    responseLogprobs: request.logprobs === true ? true : null,
    logprobs: request.logprobs === true ? request.top_logprobs : null,
    responseModalities: toModalities(request["modalities"]),
    imageConfig: toImageConfig(request["image_config"]),
    thinkingConfig: thinking.config,
    ...format,
  });
  return { config, dropped: [...ignored, ...thinking.dropped] };
}

/** A seed has 32 bits; larger ones are truncated. */
function toSeed(seed: number | null): number | null {
  if (seed === null) return null;
  return Number.isInteger(seed) ? Number(BigInt.asIntN(32, BigInt(seed))) : Math.trunc(seed) | 0;
}

function toModalities(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null;
  const names = value.map((name) => {
    const known = lookUp(modalities, asString(name));
    if (known === undefined) throw refuse(["modalities"], "This provider answers in text and image");
    return known;
  });
  return names.length === 1 && names[0] === "TEXT" ? null : names;
}

function toImageConfig(value: unknown): JsonObject | null {
  const wanted = objectOrNull(value);
  if (wanted === null) return null;
  const { aspect_ratio, image_size, ...others } = wanted;
  return present({ ...others, aspectRatio: aspect_ratio, imageSize: image_size });
}

/** Members beside the conversation, including the vendor's own that callers may send. */
function toExtras(request: ChatRequest, platform: Platform): JsonObject {
  const google = objectOrNull(objectOrNull(request["extra_body"])?.["google"]) ?? objectOrNull(request["google"]);
  return present({
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
