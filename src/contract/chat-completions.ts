// POST /v3/chat/completions: the OpenAI chat format. Unknown members and nulls are accepted and forwarded. The schema refuses only what
// every provider would refuse, or what could harm the gateway. Its objects drop unknown members, because the gateway forwards the
// caller's bytes and not the parsed value.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";
import { answeringModel, answerMembers } from "./answer-members.ts";
import { component, looseComponent } from "./component.ts";
import { createMediaOrDataUrl, type MayNameHost } from "./media-urls.ts";
import { createModelName } from "./model-names.ts";
import { requestTags } from "./tags.ts";
import { optionalText } from "./text-values.ts";

export const toolName = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/);

export const toolCall = z.object({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.string() }).nullish(),
});

/** `file_data`: a data URL, or bare base64. */
const file = z.object({
  file_id: z.string().nullish(),
  file_data: z.string().nullish(),
  filename: z.string().nullish(),
});

function createContentPart(mayNameHost: MayNameHost) {
  const image_url = z.object({ url: createMediaOrDataUrl(mayNameHost), detail: z.string().nullish() });
  const input_audio = z.object({ data: z.string(), format: z.string() });
  return z.discriminatedUnion("type", [
    z.object({ type: z.literal("text"), text: z.string() }),
    z.object({ type: z.literal("image_url"), image_url }),
    z.object({ type: z.literal("input_audio"), input_audio }),
    z.object({ type: z.literal("file"), file }),
    z.object({ type: z.literal("refusal"), refusal: z.string() }),
  ]);
}

export type ContentPart = z.infer<ReturnType<typeof createContentPart>>;

function createMessage(mayNameHost: MayNameHost) {
  const content = z.union([z.string(), z.array(createContentPart(mayNameHost))]);
  return z.discriminatedUnion("role", [
    z.object({ role: z.literal("system"), content }),
    z.object({ role: z.literal("developer"), content }),
    z.object({ role: z.literal("user"), content }),
    z.object({ role: z.literal("assistant"), content: content.nullish(), tool_calls: z.array(toolCall).nullish() }),
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

/** Members that the gateway reads itself and never forwards. */
export function createGatewayMembers(modelName: z.ZodString) {
  return {
    fallbacks: z.array(modelName).max(3).nullish().describe("Models to try in order when the first one fails."),
    routing: z
      .strictObject({
        sort: z.enum(["cost", "latency", "order"]).optional(),
        allowed_providers: z.array(z.string()).max(64).optional(),
        allow_fallbacks: z.boolean().optional(),
      })
      .nullish()
      .describe("How to choose among several offers."),
    tags: z
      .nullish(requestTags)
      .describe(
        "Up to 10 pairs, for usage reports. They replace tags of the key and its team that have the same name.",
      ),
    session_id: optionalText(256).describe("Keeps a conversation on one provider, so that its prompt cache is used."),
    strict_parameters: z.boolean().nullish().describe("Refuse the request if a parameter would be dropped."),
  };
}

export const gatewayMemberNames: readonly string[] = Object.keys(createGatewayMembers(z.string()));

/** `mayNameHost`: which hosts the URL of an image may name. */
export function createChatCompletionRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  const modelName = createModelName(aliases);
  return component("ChatCompletionRequest", {
    model: modelName,
    messages: z
      .array(createMessage(mayNameHost))
      .min(1)
      .max(2048)
      .describe("The conversation so far, oldest message first."),
    stream: z.boolean().nullish().describe("Send the answer as server-sent events while it is generated."),
    stream_options: z
      .nullish(z.looseObject({ include_usage: z.boolean().nullish() }))
      .describe("`include_usage` adds a last chunk with usage and cost."),
    temperature: z.number().min(0).max(2).nullish().describe("Sampling temperature: 0 is the most predictable."),
    top_p: z
      .nullish(z.number().min(0).max(1))
      .describe("Sample only from the likeliest tokens that make up this share."),
    n: z.int().min(1).max(8).nullish().describe("The number of answers to generate."),
    max_tokens: tokenLimit.describe("The longest answer, in tokens. Older name of `max_completion_tokens`."),
    max_completion_tokens: tokenLimit.describe("The longest answer, in tokens, including reasoning."),
    presence_penalty: penalty.describe("Positive values steer towards new topics."),
    frequency_penalty: penalty.describe("Positive values steer away from repetition."),
    stop: z.nullish(z.union([z.string(), z.array(z.string()).max(4)])).describe("Texts at which the answer ends."),
    logprobs: z.boolean().nullish().describe("Return the probabilities of the answer's tokens."),
    top_logprobs: z.int().min(0).max(20).nullish().describe("How many alternatives to return for each token."),
    tools: z.array(tool).max(128).nullish().describe("Functions that the model may ask the client to call."),
    tool_choice: z
      .nullish(z.union([z.string(), z.object({})]))
      .describe("`none`, `auto`, `required`, or one function by name."),
    parallel_tool_calls: z.boolean().nullish().describe("Whether one answer may ask for several calls."),
    response_format: z
      .nullish(z.object({ type: z.string() }))
      .describe("Text, any JSON, or JSON that follows a schema."),
    seed: z.number().nullish().describe("The same seed and request aim at the same answer."),
    user: optionalText(512).describe("A stable identifier of the end user, for the provider's abuse detection."),
    ...createGatewayMembers(modelName),
  });
}

export type ChatCompletionRequest = z.infer<ReturnType<typeof createChatCompletionRequest>>;

const usage = z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() });

export const chatCompletion = looseComponent("ChatCompletion", {
  id: z.string().describe("The provider's id of the answer."),
  object: z.literal("chat.completion"),
  created: z.int().describe("Unix time."),
  model: answeringModel,
  choices: z
    .array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({ role: z.literal("assistant"), content: z.string().nullable() }),
        finish_reason: z.string().nullable(),
      }),
    )
    .describe("The answers: one, unless `n` asked for more."),
  usage: usage
    .optional()
    .describe(
      "Tokens that were counted. Reasoning is part of the completion, and the total is the sum. Absent if the provider reported none.",
    ),
  ...answerMembers,
});

export const chatCompletionChunk = looseComponent("ChatCompletionChunk", {
  id: z.string(),
  object: z.literal("chat.completion.chunk"),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: z.string().nullable().optional() }),
  ),
  usage: usage.nullish(),
  cost: z.number().nullish().describe("USD, in the chunk that has `usage`."),
});
