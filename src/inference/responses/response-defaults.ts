// The response object with all of its members: created from a request, or completed where a provider left members out. The order is that of
// the published schema.

import type { FunctionTool, ResponseRequest, ResponseTool } from "../../contract/responses.ts";
import { isObject, type JsonObject } from "../../lib/lenient-json.ts";
import { responsesNames, toSummedUsage } from "../../usage/tokens.ts";
import { nowInSeconds, type ResponseResource, toServiceTier } from "./to-response.ts";

// These are the defaults of the published schema (github.com/openai/openai-openapi), where it has one.
const defaults = {
  previous_response_id: null,
  instructions: null,
  output: [],
  error: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  temperature: 1,
  reasoning: { effort: null, summary: null },
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  store: false,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
  user: null,
  provider: null,
  cost: null,
  provider_time: null,
};

/** Members that a response repeats from its request. */
const repeatedMembers = [
  ...(["previous_response_id", "instructions", "tool_choice", "truncation", "parallel_tool_calls"] as const),
  ...(["top_p", "presence_penalty", "frequency_penalty", "top_logprobs", "temperature"] as const),
  ...(["max_output_tokens", "max_tool_calls", "metadata", "safety_identifier", "prompt_cache_key", "user"] as const),
];

export interface DraftOptions {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The provider's name of the model, or that of the request. */
  readonly model?: string;
  readonly provider: string;
}

/** The first state of a response. `store` of the request has to state whether the response is stored. */
export function createDraft(
  request: ResponseRequest,
  { id, createdAt, model, provider }: DraftOptions,
): ResponseResource {
  const { tools, ...requested } = toRequestedMembers(request);
  return {
    id,
    object: "response",
    created_at: createdAt,
    completed_at: null,
    status: "in_progress",
    incomplete_details: null,
    model: model ?? request.model,
    ...defaults,
    ...requested,
    tools: tools.map(toWholeTool),
    store: request.store === true,
    provider,
    service_tier: toServiceTier(request.service_tier) ?? "auto",
  };
}

/** The members of a response that its request determines. */
function toRequestedMembers(request: ResponseRequest) {
  const { tools, text, reasoning, background } = request;
  const repeated = repeatedMembers.map((name) => [name, request[name] ?? defaults[name]]);
  return {
    ...Object.fromEntries(repeated),
    tools: tools ?? [],
    text: toWholeText(text),
    reasoning: { effort: reasoning?.effort ?? null, summary: reasoning?.summary ?? null },
    background: background === true,
  };
}

function toWholeTool(tool: ResponseTool): JsonObject {
  if (tool.type !== "function") return tool;
  const { description, parameters, strict } = tool as unknown as FunctionTool;
  // The gateway never adds `strict`.
  return { ...tool, description: description ?? null, parameters: parameters ?? null, strict: strict ?? false };
}

function toWholeText(text: ResponseRequest["text"]): JsonObject {
  const { format, verbosity, ...others } = text ?? {};
  return { format: toWholeFormat(format ?? { type: "text" }), ...(verbosity && { verbosity }), ...others };
}

function toWholeFormat(format: Readonly<Record<string, unknown>>): JsonObject {
  if (format["type"] !== "json_schema") return format;
  return { ...format, description: format["description"] ?? null, strict: format["strict"] ?? false };
}

/**
 * Fills in the members that a provider's response object lacks; its other members stay unchanged. `request` is the request that creates the
 * response: it determines members that would otherwise have their default.
 */
export function completeResponse(native: JsonObject, request?: ResponseRequest): Record<string, unknown> {
  const { id, model, output, text, usage } = native;
  const now = nowInSeconds();
  const head = {
    id,
    object: "response",
    created_at: now,
    completed_at: null,
    status: "completed",
    incomplete_details: null,
  };
  const requested = request === undefined ? null : toRequestedMembers(request);
  const complete: Record<string, unknown> = { ...head, model, ...defaults, ...requested, ...native };
  const { created_at: createdAt, tools } = complete;
  // A response that an earlier request created may have been complete for long.
  if (request !== undefined && complete["status"] === "completed")
    complete["completed_at"] ??= typeof createdAt === "number" ? Math.max(createdAt, now) : now;
  if (Array.isArray(output)) complete["output"] = output.map(completeItem);
  if (Array.isArray(tools)) complete["tools"] = tools.map(completeTool);
  if (isObject(text)) {
    const format = toWholeFormat(isObject(text["format"]) ? text["format"] : defaults.text.format);
    complete["text"] = { ...text, format };
  }
  if (isObject(usage)) complete["usage"] = completeUsage(usage);
  return toSpecifiedStatus(complete);
}

/** Vendors use six statuses, the specification four: a queued response is in progress, a cancelled one is incomplete. */
export function toSpecifiedStatus<Response extends Readonly<Record<string, unknown>>>(response: Response): Response {
  if (response["status"] === "queued") return { ...response, status: "in_progress" };
  if (response["status"] !== "cancelled") return response;
  return { ...response, status: "incomplete", incomplete_details: { reason: cancelledReason } };
}

const cancelledReason = "cancelled";

/** The caller or its connection ended the response, so it cannot be continued. */
export function isCancelled(response: JsonObject): boolean {
  const details = response["incomplete_details"];
  return response["status"] === "cancelled" || (isObject(details) && details["reason"] === cancelledReason);
}

/** Fills in the members that an event of a provider lacks. */
export function completeEvent(event: JsonObject): JsonObject {
  const { type, response, item, part, logprobs } = event;
  if (isObject(response)) return { ...event, response: completeResponse(response) };
  if (isObject(item)) return { ...event, item: completeItem(item) };
  if (isObject(part)) return { ...event, part: completePart(part) };
  const hasText = type === "response.output_text.delta" || type === "response.output_text.done";
  return hasText && logprobs === undefined ? { ...event, logprobs: [] } : event;
}

/** Fills in the members that an output item of a provider lacks. */
export function completeItem(item: unknown): unknown {
  if (!isObject(item)) return item;
  switch (item["type"]) {
    case "message": {
      const content = Array.isArray(item["content"]) ? item["content"].map(completePart) : [];
      return { ...item, status: item["status"] ?? "completed", role: item["role"] ?? "assistant", content };
    }
    case "function_call":
      return item["status"] === undefined ? { ...item, status: "completed" } : item;
    case "reasoning":
      return Array.isArray(item["summary"]) ? item : { ...item, summary: [] };
    default:
      return item;
  }
}

function completePart(part: unknown): unknown {
  if (!isObject(part)) return part;
  if (part["type"] === "input_image") return { detail: "auto", ...part };
  if (part["type"] !== "output_text") return part;
  if (Array.isArray(part["annotations"]) && Array.isArray(part["logprobs"])) return part;
  return { ...part, annotations: part["annotations"] ?? [], logprobs: part["logprobs"] ?? [] };
}

function completeTool(tool: unknown): unknown {
  if (!isObject(tool) || tool["type"] !== "function") return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

/** Missing counts of the details are 0. */
function completeUsage(received: JsonObject): JsonObject | null {
  const usage = toSummedUsage(received, responsesNames);
  if (typeof usage["input_tokens"] !== "number" || typeof usage["output_tokens"] !== "number") return null;
  const input = isObject(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {};
  const output = isObject(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {};
  return {
    ...usage,
    input_tokens_details: {
      ...input,
      cached_tokens: input["cached_tokens"] ?? 0,
      cache_write_tokens: input["cache_write_tokens"] ?? 0,
    },
    output_tokens_details: { ...output, reasoning_tokens: output["reasoning_tokens"] ?? 0 },
  };
}
