// POST /v3/v1/messages and /v3/v1/messages/count_tokens: the Anthropic Messages format. The schema refuses only what every provider would
// refuse, or what could harm the gateway. Unknown members, blocks and tools are accepted: a provider of the same format may know them, and a
// translation reports what it cannot express.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";
import { answeringModel, answerMembers } from "./answer-members.ts";
import { createGatewayMembers, toolName } from "./chat-completions.ts";
import { looseComponent } from "./component.ts";
import { createMediaUrl, type MayNameHost } from "./media-urls.ts";
import { createModelName } from "./model-names.ts";
import { optionalText } from "./text-values.ts";

const cacheControl = z.looseObject({ type: z.string(), ttl: z.string().nullish() }).nullish();

const base64Text = /^[A-Za-z0-9+/_-]*={0,2}\s*$/;
const base64Data = z
  .string()
  .refine((data) => base64Text.test(data), { message: "Input should be base64", params: { type: "value_error" } });

const base64Source = z.looseObject({ type: z.literal("base64"), media_type: z.string(), data: base64Data });
const fileSource = z.looseObject({ type: z.literal("file"), file_id: z.string() });

const textBlock = z.looseObject({ type: z.literal("text"), text: z.string(), cache_control: cacheControl });

function createTurns(mayNameHost: MayNameHost) {
  const urlSource = z.looseObject({ type: z.literal("url"), url: createMediaUrl(mayNameHost) });

  const imageBlock = z.looseObject({
    type: z.literal("image"),
    source: orOther(z.discriminatedUnion("type", [base64Source, urlSource, fileSource])),
    cache_control: cacheControl,
  });

  const documentContent = z.union([
    z.string(),
    z.array(orOther(z.discriminatedUnion("type", [textBlock, imageBlock]))),
  ]);

  const documentBlock = z.looseObject({
    type: z.literal("document"),
    source: orOther(
      z.discriminatedUnion("type", [
        base64Source,
        z.looseObject({ type: z.literal("text"), data: z.string() }),
        z.looseObject({ type: z.literal("content"), content: documentContent }),
        urlSource,
        fileSource,
      ]),
    ),
    title: z.string().nullish(),
    context: z.string().nullish(),
    citations: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
    cache_control: cacheControl,
  });

  const searchResultBlock = z.looseObject({
    type: z.literal("search_result"),
    source: z.string(),
    title: z.string(),
    content: z.array(textBlock),
    citations: z.looseObject({ enabled: z.boolean().nullish() }).nullish(),
    cache_control: cacheControl,
  });

  const resultContent = z.union([
    z.string(),
    z.array(orOther(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, searchResultBlock]))),
  ]);

  const knownContentBlock = z.discriminatedUnion("type", [
    textBlock,
    imageBlock,
    documentBlock,
    searchResultBlock,
    z.looseObject({
      type: z.literal("tool_use"),
      id: z.string().min(1),
      name: z.string().min(1),
      input: z.unknown(),
      cache_control: cacheControl,
    }),
    z.looseObject({
      type: z.literal("tool_result"),
      tool_use_id: z.string().min(1),
      content: resultContent.nullish(),
      is_error: z.boolean().nullish(),
      cache_control: cacheControl,
    }),
    z.looseObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string().nullish() }),
    z.looseObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  ]);

  const contentBlock = orOther(knownContentBlock);

  const message = z.looseObject({
    // `system` may appear between turns: an instruction that was not known when the conversation began.
    role: z.enum(["user", "assistant", "system"]),
    content: z.union([z.string(), z.array(contentBlock)]),
  });

  return { message, contentBlock, knownContentBlock };
}

type Turns = ReturnType<typeof createTurns>;

const customTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: toolName,
  description: z.string().nullish(),
  input_schema: z.looseObject({ type: z.string().nullish() }),
  strict: z.boolean().nullish(),
  cache_control: cacheControl,
});

const parallelCalls = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("auto"), ...parallelCalls }),
  z.looseObject({ type: z.literal("any"), ...parallelCalls }),
  z.looseObject({ type: z.literal("tool"), name: z.string().min(1), ...parallelCalls }),
  z.looseObject({ type: z.literal("none") }),
]);

const thinking = orOther(
  z.discriminatedUnion("type", [
    z.looseObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
    z.looseObject({ type: z.literal("adaptive") }),
    z.looseObject({ type: z.literal("disabled") }),
  ]),
);

const outputFormat = z.looseObject({ type: z.string(), schema: z.looseObject({}).nullish() });

function createPromptMembers(modelName: z.ZodString, mayNameHost: MayNameHost) {
  const { message } = createTurns(mayNameHost);
  return {
    model: modelName,
    messages: z.array(message).min(1).max(2048),
    system: z.union([z.string(), z.array(textBlock)]).nullish(),
    tools: z
      .array(
        z.union([customTool, z.looseObject({ type: z.string().refine((type) => type !== "custom", { abort: true }) })]),
      )
      // Anthropic's tool search works with thousands of tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
      .max(10_000)
      .nullish(),
    tool_choice: toolChoice.nullish(),
    thinking: thinking.nullish(),
    output_config: z.looseObject({ effort: z.string().nullish(), format: outputFormat.nullish() }).nullish(),
    output_format: outputFormat.nullish(),
    cache_control: cacheControl,
    ...createGatewayMembers(modelName),
  };
}

/** `mayNameHost`: which hosts the URL of an image or document may name. */
export function createMessagesRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  return looseComponent("MessagesRequest", {
    ...createPromptMembers(createModelName(aliases), mayNameHost),
    max_tokens: z.int().min(1).max(1_000_000),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    metadata: z.looseObject({ user_id: optionalText(512) }).nullish(),
    service_tier: z.string().nullish(),
  });
}

export function createCountTokensRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  return z.looseObject(createPromptMembers(createModelName(aliases), mayNameHost)).meta({ id: "CountTokensRequest" });
}

export type MessagesRequest = z.infer<ReturnType<typeof createMessagesRequest>>;
export type CountTokensRequest = z.infer<ReturnType<typeof createCountTokensRequest>>;
export type MessagesTurn = z.infer<Turns["message"]>;
export type ContentBlock = z.infer<Turns["contentBlock"]>;
export type KnownContentBlock = z.infer<Turns["knownContentBlock"]>;

const messagesUsage = z.looseObject({
  input_tokens: z.int().describe("Tokens that were neither read from a cache nor written to one."),
  cache_read_input_tokens: z.int().nullable(),
  cache_creation_input_tokens: z.int().nullable(),
  output_tokens: z.int(),
});

export const messagesAnswer = looseComponent("Message", {
  id: z.string(),
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: answeringModel,
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullable(),
  usage: messagesUsage,
  ...answerMembers,
});

export const messagesEvent = z.looseObject({ type: z.string() });

export const tokenCount = looseComponent("TokenCount", {
  input_tokens: z.int().min(1),
  estimated: z
    .optional(z.boolean())
    .describe("True when the provider cannot count tokens and the gateway estimated the number."),
});

export const messagesError = looseComponent("MessagesError", {
  type: z.literal("error"),
  error: z.looseObject({ type: z.string(), message: z.string() }),
  request_id: z.string().nullable(),
});

/** Known types are checked by their schema; of an unknown type only the name is checked. */
function orOther<const Known extends readonly [KnownKind, ...KnownKind[]]>(known: z.ZodDiscriminatedUnion<Known>) {
  const names = new Set<unknown>(known.options.flatMap((option) => [...option.shape.type.values]));
  // Without `abort`, the union would report this branch's problems rather than those of the known type.
  return z.union([known, z.looseObject({ type: z.string().refine((type) => !names.has(type), { abort: true }) })]);
}

type KnownKind = z.ZodObject<{ type: z.ZodLiteral<string> }, z.core.$loose>;
