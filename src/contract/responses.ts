// /v3/responses: requests, answers and events. Unknown members, items, parts and tools are accepted: a provider that has the Responses API
// itself may know them, and a translation reports what it cannot express.

import { z } from "zod";
import { mayBePublicHost } from "../lib/addresses.ts";
import { answeringModel, answerMembers, cost, providerTime } from "./answer-members.ts";
import { createGatewayMembers, toolName } from "./chat-completions.ts";
import { looseComponent } from "./component.ts";
import { createMediaOrDataUrl, createMediaUrl, type MayNameHost } from "./media-urls.ts";
import { metadataValue } from "./metadata.ts";
import { createModelName } from "./model-names.ts";
import { addProblem, check, limitedRecord, wholeNumber } from "./problems.ts";
import { optionalText } from "./text-values.ts";

const text = z.string();
// `abort`: an id that is too long is not also reported as malformed.
const sized = text.min(1, { abort: true }).max(128, { abort: true });
const ownId = sized.regex(/^resp_[A-Za-z0-9_-]+$/);

export const responseParams = z.object({ response_id: ownId.describe("The response's id.") });

// The parameters are forwarded to a provider that has the Responses API itself, so they stay text.
const include = text.optional().describe("More members, if the provider supports that.");
const booleanText = z.enum(["true", "false"]).optional().meta({ type: "boolean", enum: undefined });
const wholeText = text.regex(/^\d{1,9}$/).meta({ type: "integer", pattern: undefined });
const maxItems = 100;

export const retrieveResponseQuery = z.object({
  include,
  stream: booleanText.describe("`true`: as events, if the provider supports that."),
  starting_after: wholeText.optional().describe("With `stream`: only events after this sequence number."),
});

export const listInputItemsQuery = z.object({
  include,
  limit: wholeText
    .refine((value) => Number(value) >= 1 && Number(value) <= maxItems, `Input should be from 1 to ${maxItems}`)
    .optional()
    .meta({ minimum: 1, maximum: maxItems, default: 20, description: "Items per page." }),
  order: z.enum(["asc", "desc"]).optional().meta({ default: "desc", description: "By age." }),
  after: z.string().min(1).max(1_024).optional().describe("The id of the last item of the previous page."),
});

const metadata = limitedRecord(text.max(64), metadataValue, 16);

const cacheControl = z.looseObject({ type: text, ttl: text.nullish() }).nullish();

function createItems(mayNameHost: MayNameHost) {
  const knownParts = {
    input_text: z.looseObject({ text, cache_control: cacheControl }),
    output_text: z.looseObject({ text, cache_control: cacheControl }),
    text: z.looseObject({ text, cache_control: cacheControl }),
    summary_text: z.looseObject({ text }),
    reasoning_text: z.looseObject({ text }),
    refusal: z.looseObject({ refusal: text }),
    input_image: z.looseObject({
      image_url: createMediaOrDataUrl(mayNameHost).nullish(),
      file_id: text.nullish(),
      detail: text.nullish(),
      cache_control: cacheControl,
    }),
    input_file: z.looseObject({
      file_data: text.nullish(),
      file_url: createMediaUrl(mayNameHost).nullish(),
      file_id: text.nullish(),
      filename: text.nullish(),
      cache_control: cacheControl,
    }),
    input_audio: z.looseObject({ input_audio: z.looseObject({ data: text, format: text }) }),
  };

  const part = byType(knownParts).describe(
    "`input_text`, `input_image`, `input_file`, `input_audio`, `output_text` or `refusal`. Other types are forwarded unchanged.",
  );

  const content = z.union([z.string(), z.array(part)]);

  const messageItem = z.looseObject({ role: z.enum(["user", "assistant", "system", "developer"]), content });

  const knownItems = {
    message: messageItem,
    function_call: z.looseObject({
      call_id: text.min(1),
      name: text.min(1),
      namespace: text.nullish(),
      arguments: text,
    }),
    function_call_output: z.looseObject({ call_id: text.min(1), output: content }),
    custom_tool_call: z.looseObject({ call_id: text.min(1), name: text.min(1), input: text }),
    custom_tool_call_output: z.looseObject({ call_id: text.min(1), output: content }),
    reasoning: z.looseObject({
      summary: z.array(part).nullish(),
      content: z.array(part).nullish(),
      encrypted_content: text.nullish(),
    }),
    item_reference: z.looseObject({ id: text.min(1) }),
  };

  /** A message may omit its type; an item must have a type or a role. */
  const item = z
    .looseObject({ type: z.string().nullish(), role: z.string().nullish() })
    .check((ctx) => {
      const { type, role } = ctx.value;
      if (type !== undefined && type !== null) {
        if (isNameIn(knownItems, type)) addIssues(ctx, knownItems[type]);
      } else if (role !== undefined && role !== null) addIssues(ctx, messageItem);
      else addProblem(ctx, "value_error", "An item should have a 'type', or be a message with a 'role'");
    })
    .describe(
      "A message (`role`, and `content` as a string or parts), `function_call`, `function_call_output` or `reasoning`. Other types are " +
        "forwarded unchanged.",
    );

  return { knownParts, part, knownItems, item };
}

// A check of its own, because clients of this API look for the problem at `input.str`.
const inputText = z
  .any()
  .check((ctx) => {
    const path = ctx.value === null ? [] : ["str"];
    if (typeof ctx.value !== "string") addProblem(ctx, "string_type", "Input should be a valid string", path);
  })
  .meta({ type: "string" }) as z.ZodType<string>;

const functionTool = z.looseObject({
  name: toolName,
  description: text.nullish(),
  parameters: z.looseObject({}).nullish(),
  strict: z.boolean().nullish(),
  cache_control: cacheControl,
});

const namespaceTool = z.looseObject({
  name: text.min(1),
  description: text.nullish(),
  tools: z.array(byType({ function: functionTool })).max(128),
});

const tool = byType({ function: functionTool, namespace: namespaceTool }).describe(
  "`{type: 'function', name, parameters, strict}`, `{type: 'web_search'}` or `{type: 'namespace', name, tools}`. Other types are forwarded " +
    "unchanged.",
);

const textFormat = byType({
  json_schema: z.looseObject({
    name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    description: text.nullish(),
    schema: z.looseObject({}),
    strict: z.boolean().nullish(),
  }),
}).describe("`text`, `json_object` or `json_schema`.");

const penalty = z.number().min(-2).max(2).nullish();

/** `mayNameHost`: which hosts the URL of an image or file may name. */
export function createResponseRequest(aliases: ReadonlySet<string>, mayNameHost: MayNameHost = mayBePublicHost) {
  const modelName = createModelName(aliases);
  const { item } = createItems(mayNameHost);
  return z
    .looseObject({
      model: modelName,
      input: z
        .optional(z.union([z.array(item).min(1).max(10_000), inputText]))
        .describe("May be absent when `previous_response_id` is given."),
      instructions: z.string().nullish(),
      previous_response_id: ownId.nullish(),
      store: z.boolean().nullish(),
      stream: z.boolean().nullish(),
      background: z.boolean().nullish(),
      temperature: z.number().min(0).max(2).nullish(),
      top_p: z.number().min(0).max(1).nullish(),
      presence_penalty: penalty,
      frequency_penalty: penalty,
      top_logprobs: wholeNumber.min(0).max(20).nullish(),
      max_output_tokens: wholeNumber.min(1).max(1_000_000).nullish(),
      max_tool_calls: wholeNumber.min(1).nullish(),
      tools: z.array(tool).max(128).nullish(),
      tool_choice: z.union([z.looseObject({ type: z.string() }), z.enum(["none", "auto", "required"])]).nullish(),
      parallel_tool_calls: z.boolean().nullish(),
      reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullish(),
      text: z.looseObject({ format: textFormat.nullish(), verbosity: z.string().nullish() }).nullish(),
      include: z.array(z.string()).nullish(),
      truncation: z.enum(["auto", "disabled"]).nullish(),
      service_tier: z.string().nullish(),
      prompt_cache_key: optionalText(512),
      safety_identifier: optionalText(512),
      metadata: metadata
        .nullish()
        .describe("Providers that have the Responses API themselves accept only texts as values."),
      user: optionalText(512),
      ...createGatewayMembers(modelName),
    })
    .refine(hasInput, {
      path: ["input"],
      message: "Field required",
      params: { type: "missing" },
      // Checked even when other members have problems, so that all of them are reported together.
      when: ({ value }) => typeof value === "object" && value !== null,
    })
    .meta({ id: "ResponseRequest" });
}

/** A conversation or a prompt that the provider stores can replace the input. */
function hasInput(request: Readonly<Record<string, unknown>>): boolean {
  if (request["input"] !== undefined) return true;
  return ["previous_response_id", "conversation", "prompt"].some((member) => (request[member] ?? null) !== null);
}

export type ResponseRequest = z.infer<ReturnType<typeof createResponseRequest>>;
type Items = ReturnType<typeof createItems>;
export type Item = z.infer<Items["item"]>;
export type Part = z.infer<Items["part"]>;
export type ResponseTool = z.infer<typeof tool>;
export type FunctionTool = z.infer<typeof functionTool>;
export type NamespaceTool = z.infer<typeof namespaceTool>;

export type KnownItems = { readonly [Type in keyof Items["knownItems"]]: z.infer<Items["knownItems"][Type]> };
export type KnownParts = { readonly [Type in keyof Items["knownParts"]]: z.infer<Items["knownParts"][Type]> };

const responseUsage = z.looseObject({
  input_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

const outputItem = z.looseObject({
  type: z.string().describe("`message`, `function_call`, `reasoning`, `web_search_call` or another type."),
});

export const responseObject = looseComponent("Response", {
  id: z.string(),
  object: z.literal("response"),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
  model: answeringModel,
  previous_response_id: z.string().nullable(),
  instructions: z.union([z.string(), z.array(z.unknown())]).nullable(),
  output: z.array(outputItem),
  error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
  tools: z.array(z.looseObject({ type: z.string() })),
  tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
  truncation: z.string().nullable(),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
  top_p: z.number().nullable(),
  presence_penalty: z.number().nullable(),
  frequency_penalty: z.number().nullable(),
  top_logprobs: z.int().nullable(),
  temperature: z.number().nullable(),
  reasoning: z.looseObject({ effort: z.string().nullish(), summary: z.string().nullish() }).nullable(),
  usage: responseUsage.nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable(),
  store: z.boolean().describe("Whether the response can be retrieved and continued."),
  background: z.boolean().nullable(),
  service_tier: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  safety_identifier: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  user: z.string().nullable(),
  provider: z.string().nullable(),
  cost,
  provider_time: providerTime.nullable(),
});

export const responseEvent = looseComponent("ResponseEvent", {
  type: z.string().describe("The same as the name of the event."),
  sequence_number: z.int().describe("Counts from 0 without gaps."),
});

export const inputTokenCount = z.looseObject({
  object: z.literal("response.input_tokens"),
  input_tokens: z.int(),
  estimated: z.literal(true).optional().describe("The provider cannot count tokens: this is an estimate."),
  provider: z.string(),
});

export const compactedResponse = z.looseObject({
  id: z.string(),
  object: z.literal("response.compaction"),
  created_at: z.int(),
  output: z.array(outputItem),
  usage: responseUsage,
  ...answerMembers,
});

export const deletedResponse = looseComponent("DeletedResponse", {
  id: z.string(),
  object: z.literal("response.deleted"),
  deleted: z.literal(true),
});

export const inputItemList = looseComponent("InputItemList", {
  object: z.literal("list"),
  data: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
});

/** Objects that are checked by the schema of their `type`. Of an unknown type only the name is checked. */
function byType(kinds: Readonly<Record<string, z.ZodType>>) {
  return z.looseObject({ type: z.string() }).check((ctx) => {
    const { type } = ctx.value;
    if (isNameIn(kinds, type)) addIssues(ctx, kinds[type] as z.ZodType);
  });
}

function addIssues(ctx: z.core.ParsePayload, schema: z.ZodType): void {
  const result = check(schema, ctx.value);
  if (result.success) return;
  for (const issue of result.issues) ctx.issues.push({ ...issue, input: ctx.value } as z.core.$ZodRawIssue);
}

function isNameIn<Kinds extends object>(kinds: Kinds, name: string): name is keyof Kinds & string {
  return Object.hasOwn(kinds, name);
}
