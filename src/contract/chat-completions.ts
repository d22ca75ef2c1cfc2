// POST /v3/chat/completions: the OpenAI chat format. Members that are not named here are accepted and forwarded, and so
// are nulls; what is checked is what every provider would refuse, or what could harm the gateway. The bytes are what is
// forwarded, so the objects of a request are plain ones: to carry unknown members over would be work for nothing.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";
import { createMediaOrDataUrl, type MayNameHost } from "./media-urls.ts";
import { createModelName } from "./model-names.ts";
import { limitedRecord } from "./problems.ts";

export const toolName = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/);

const toolCall = z.object({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.string() }).nullish(),
});

function createMessage(mayNameHost: MayNameHost) {
  const contentPart = z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({
      type: z.literal("image_url"),
      image_url: z.object({ url: createMediaOrDataUrl(mayNameHost), detail: z.string().nullish() }),
    }),
    z.object({
      type: z.literal("input_audio"),
      input_audio: z.object({ data: z.string(), format: z.string() }),
    }),
    z.object({
      type: z.literal("file"),
      file: z.object({
        file_id: z.string().nullish(),
        file_data: z.string().nullish(),
        filename: z.string().nullish(),
      }),
    }),
    z.object({ type: z.literal("refusal"), refusal: z.string() }),
  ]);

  const content = z.union([z.string(), z.array(contentPart)]);

  return z.discriminatedUnion("role", [
    z.object({ role: z.literal("system"), content }),
    z.object({ role: z.literal("developer"), content }),
    z.object({ role: z.literal("user"), content }),
    z.object({
      role: z.literal("assistant"),
      content: content.nullish(),
      tool_calls: z.array(toolCall).nullish(),
    }),
    z.object({ role: z.literal("tool"), content, tool_call_id: z.string() }),
    z.object({ role: z.literal("function"), content: content.nullish(), name: z.string() }),
  ]);
}

const tool = z.object({
  type: z.string(),
  function: z
    .looseObject({
      name: toolName,
      description: z.string().nullish(),
      parameters: z.object({}).nullish(),
      strict: z.boolean().nullish(),
    })
    .optional(),
});

const tokenLimit = z.int().min(1).max(1_000_000).nullish();
const penalty = z.number().min(-2).max(2).nullish();

/** What the gateway itself reads and never forwards. */
export function createGatewayMembers(modelName: z.ZodString) {
  return {
    fallbacks: z.array(modelName).max(3).nullish().meta({ description: "Models to try in turn when the first fails" }),
    routing: z
      .strictObject({
        sort: z.enum(["cost", "latency", "order"]).optional(),
        allowed_providers: z.array(z.string()).max(64).optional(),
        allow_fallbacks: z.boolean().optional(),
      })
      .nullish(),
    tags: limitedRecord(z.string().max(64), z.string().max(256), 10)
      .nullish()
      .meta({ description: "Up to 10 pairs, for usage reports" }),
    session_id: z.string().max(256).nullish(),
    strict_parameters: z.boolean().nullish(),
  };
}

export const gatewayMemberNames: readonly string[] = [
  "fallbacks",
  "routing",
  "tags",
  "session_id",
  "strict_parameters",
] satisfies (keyof ReturnType<typeof createGatewayMembers>)[];

/** `mayNameHost`: which hosts an image's address may have. */
export function createChatCompletionRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  const modelName = createModelName(aliases);
  return z.object({
    model: modelName,
    messages: z.array(createMessage(mayNameHost)).min(1).max(2048),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    temperature: z.number().min(0).max(2).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    n: z.int().min(1).max(8).nullish(),
    max_tokens: tokenLimit,
    max_completion_tokens: tokenLimit,
    presence_penalty: penalty,
    frequency_penalty: penalty,
    stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().min(0).max(20).nullish(),
    tools: z.array(tool).max(128).nullish(),
    tool_choice: z.union([z.string(), z.object({})]).nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    response_format: z.object({ type: z.string() }).nullish(),
    seed: z.number().nullish(),
    user: z.string().max(512).nullish(),
    ...createGatewayMembers(modelName),
  });
}

/** As the documents show it: without aliases. */
export const chatCompletionRequest = createChatCompletionRequest(new Set());

export type ChatCompletionRequest = z.infer<typeof chatCompletionRequest>;

const usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});

export const chatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion"),
  created: z.int(),
  model: z.string().meta({ description: "The model that produced the answer, in the provider's words" }),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({ role: z.literal("assistant"), content: z.string().nullable() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: usage.optional(),
  provider: z.string(),
  cost: z.number().nullable().meta({ description: "USD; null when the price is not known" }),
  provider_time: z.number().meta({ description: "Seconds that the provider took" }),
});

export const chatCompletionChunk = z.looseObject({
  id: z.string(),
  object: z.literal("chat.completion.chunk"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: z.string().nullable().optional() }),
  ),
  usage: usage.nullish(),
  cost: z.number().nullish().meta({ description: "USD, on the chunk that carries usage" }),
});
