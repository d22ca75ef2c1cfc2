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

const text = z.string();
const cache_control = z.looseObject({ type: text, ttl: text.nullish() }).nullish();
const citations = z.looseObject({ enabled: z.boolean().nullish() }).nullish();

const base64Text = /^[A-Za-z0-9+/_-]*={0,2}\s*$/;
const base64Data = text.refine((data) => base64Text.test(data), "Input should be base64");

const base64Source = kind("base64", { media_type: text, data: base64Data });
const fileSource = kind("file", { file_id: text });

const textBlock = kind("text", { text, cache_control });

function createTurns(mayNameHost: MayNameHost) {
  const urlSource = kind("url", { url: createMediaUrl(mayNameHost) });

  const imageBlock = kind("image", {
    source: orOther(z.discriminatedUnion("type", [base64Source, urlSource, fileSource])),
    cache_control,
  });

  const documentContent = z.union([text, z.array(orOther(z.discriminatedUnion("type", [textBlock, imageBlock])))]);

  const documentBlock = kind("document", {
    source: orOther(
      z.discriminatedUnion("type", [
        base64Source,
        kind("text", { data: text }),
        kind("content", { content: documentContent }),
        urlSource,
        fileSource,
      ]),
    ),
    title: text.nullish(),
    context: text.nullish(),
    citations,
    cache_control,
  });

  const searchResultBlock = kind("search_result", {
    source: text,
    title: text,
    content: z.array(textBlock),
    citations,
    cache_control,
  });

  const resultContent = z.union([
    text,
    z.array(orOther(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, searchResultBlock]))),
  ]);

  const knownContentBlock = z.discriminatedUnion("type", [
    textBlock,
    imageBlock,
    documentBlock,
    searchResultBlock,
    kind("tool_use", { id: text.min(1), name: text.min(1), input: z.unknown(), cache_control }),
    kind("tool_result", {
      tool_use_id: text.min(1),
      content: resultContent.nullish(),
      is_error: z.boolean().nullish(),
      cache_control,
    }),
    kind("thinking", { thinking: text, signature: text.nullish() }),
    kind("redacted_thinking", { data: text }),
  ]);

  const contentBlock = orOther(knownContentBlock);

  const message = z.looseObject({
    // `system` may appear between turns: an instruction that was not known when the conversation began.
    role: z.enum(["user", "assistant", "system"]),
    content: z.union([text, z.array(contentBlock)]),
  });

  return { message, contentBlock, knownContentBlock };
}

type Turns = ReturnType<typeof createTurns>;

const customTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: toolName,
  description: text.nullish(),
  input_schema: z.looseObject({ type: text.nullish() }),
  strict: z.boolean().nullish(),
  cache_control,
});

const parallelCalls = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion("type", [
  kind("auto", parallelCalls),
  kind("any", parallelCalls),
  kind("tool", { name: text.min(1), ...parallelCalls }),
  kind("none", {}),
]);

const thinking = orOther(
  z.discriminatedUnion("type", [
    kind("enabled", { budget_tokens: z.int().min(1024) }),
    kind("adaptive", {}),
    kind("disabled", {}),
  ]),
);

const outputFormat = z.looseObject({ type: text, schema: z.looseObject({}).nullish() });

/** Anthropic's own member: https://platform.claude.com/docs/en/build-with-claude/refusals-and-fallback */
const vendorFallbacks = z.union([z.literal("default"), z.array(z.looseObject({ model: text.min(1) })).min(1)]);

type GatewayFallbacks = z.infer<ReturnType<typeof createGatewayMembers>["fallbacks"]>;

/** Whether `fallbacks` is for the provider, and not for the gateway. */
export function areVendorFallbacks(
  fallbacks: GatewayFallbacks | z.infer<typeof vendorFallbacks>,
): fallbacks is z.infer<typeof vendorFallbacks> {
  return fallbacks === "default" || typeof fallbacks?.[0] === "object";
}

function createPromptMembers(modelName: z.ZodString, mayNameHost: MayNameHost) {
  const { message } = createTurns(mayNameHost);
  const gatewayMembers = createGatewayMembers(modelName);
  return {
    model: modelName,
    // Anthropic's limit. Bodies of this size are refused earlier, because the number of JSON values is limited.
    messages: z.array(message).min(1).max(100_000),
    system: z.union([text, z.array(textBlock)]).nullish(),
    tools: z
      .array(
        z.union([customTool, z.looseObject({ type: z.string().refine((type) => type !== "custom", { abort: true }) })]),
      )
      // Anthropic's tool search works with thousands of tools: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool
      .max(10_000)
      .nullish(),
    tool_choice: toolChoice.nullish(),
    thinking: thinking.nullish(),
    output_config: z.looseObject({ effort: text.nullish(), format: outputFormat.nullish() }).nullish(),
    output_format: outputFormat.nullish(),
    cache_control,
    ...gatewayMembers,
    fallbacks: z
      .union([gatewayMembers.fallbacks, vendorFallbacks])
      .describe(
        "Models to try in order when the first one fails. `default` and a list of objects are Anthropic's own member: providers of the Messages format receive it, for others it is dropped.",
      ),
  };
}

/** `mayNameHost`: which hosts the URL of an image or document may name. */
export function createMessagesRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  return looseComponent("MessagesRequest", {
    ...createPromptMembers(createModelName(aliases), mayNameHost),
    max_tokens: z
      .int()
      .min(0)
      .max(1_000_000)
      .describe("0 fills the prompt cache of a provider of the Messages format without an answer; others refuse 0."),
    stream: z.boolean().nullish(),
    temperature: z.number().min(0).max(1).nullish(),
    top_p: z.number().min(0).max(1).nullish(),
    top_k: z.int().min(0).nullish(),
    stop_sequences: z.array(z.string()).nullish(),
    metadata: z.looseObject({ user_id: optionalText(512) }).nullish(),
    service_tier: text.nullish(),
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
  id: text,
  type: z.literal("message"),
  role: z.literal("assistant"),
  model: answeringModel,
  content: z.array(z.looseObject({ type: text })),
  stop_reason: z.string().nullable(),
  stop_sequence: z.string().nullable(),
  usage: messagesUsage,
  ...answerMembers,
});

export const messagesEvent = z.looseObject({ type: text });

export const tokenCount = looseComponent("TokenCount", {
  input_tokens: z.int().min(1),
  estimated: z
    .optional(z.boolean())
    .describe("True when the provider cannot count tokens and the gateway estimated the number."),
});

export const messagesError = looseComponent("MessagesError", {
  type: z.literal("error"),
  error: z.looseObject({ type: text, message: text }),
  request_id: z.string().nullable(),
});

/** An object of this type. */
function kind<const Type extends string, Members extends z.core.$ZodLooseShape>(type: Type, members: Members) {
  return z.looseObject({ type: z.literal(type), ...members });
}

/** Known types are checked by their schema; of an unknown type only the name is checked. */
function orOther<const Known extends readonly [KnownKind, ...KnownKind[]]>(known: z.ZodDiscriminatedUnion<Known>) {
  const names = new Set<unknown>(known.options.flatMap((option) => [...option.shape.type.values]));
  // Without `abort`, the union would report this branch's problems rather than those of the known type.
  return z.union([known, z.looseObject({ type: z.string().refine((type) => !names.has(type), { abort: true }) })]);
}

type KnownKind = z.ZodObject<{ type: z.ZodLiteral<string> }, z.core.$loose>;
