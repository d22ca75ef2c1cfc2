// Writes a chat request as a request of the Responses API. The vendor stores nothing: it returns encrypted reasoning, which the next request
// sends back.

import type { ChatAssistantMessage, ChatMessage, ChatPart, ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asList, asObject } from "../../lenient.ts";
import { type Location, maxTokensOf, readFunction, refuse, type ToolFunction, textOf } from "../chat-request.ts";
import { filled, present } from "../completion.ts";

/** The vendor refuses a smaller limit. */
const minOutputTokens = 16;

export function toResponsesRequest(request: ChatRequest, target: Target, reasons: boolean): DialectRequest {
  const { model, isStream } = target;
  const limit = maxTokensOf(request);
  const tools = toTools(request);
  const { instructions, input } = toInput(request.messages);
  const body = present({
    model,
    instructions,
    input,
    max_output_tokens: limit === null ? null : Math.max(limit, minOutputTokens),
    temperature: request.temperature,
    top_p: request.top_p,
    ...(tools.length > 0 && {
      tools,
      tool_choice: toToolChoice(request),
      parallel_tool_calls: request.parallel_tool_calls,
    }),
    ...filled({ reasoning: toReasoning(request), text: toText(request) }),
    service_tier: request["service_tier"],
    prompt_cache_key: request["prompt_cache_key"],
    safety_identifier: request["safety_identifier"],
    user: request.user,
    metadata: request["metadata"],
    store: false,
    include: reasons ? ["reasoning.encrypted_content"] : null,
    stream: isStream ? true : null,
  });
  return { path: "/responses", body: JSON.stringify(body), reading: { model, answerTool: null } };
}

/** Leading system messages become the instructions; later ones stay in the input. */
function toInput(messages: readonly ChatMessage[]): { instructions: string | null; input: readonly JsonObject[] } {
  const start = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const leading = start < 0 ? messages.length : start;
  const texts = messages.slice(0, leading).map((message) => textOf(message.content ?? ""));
  const input = messages.slice(leading).flatMap((message, index) => toItems(message, ["messages", leading + index]));
  return { instructions: texts.length === 0 ? null : texts.join("\n\n"), input };
}

function toItems(message: ChatMessage, location: Location): JsonObject[] {
  switch (message.role) {
    case "system":
    case "developer":
      return [{ type: "message", role: "developer", content: textOf(message.content) }];
    case "user":
      return [{ type: "message", role: "user", content: toContent(message.content, [...location, "content"]) }];
    case "assistant":
      return toAssistantItems(message);
    case "tool":
      return [{ type: "function_call_output", call_id: message.tool_call_id, output: textOf(message.content) }];
    case "function":
      throw refuse([...location, "role"], "Results of functions should be messages of the role 'tool'");
  }
}

/** In the order in which the model wrote them. */
function toAssistantItems(message: ChatAssistantMessage): JsonObject[] {
  const text = textOf(message.content ?? message.refusal ?? "");
  return [
    ...(message.reasoning_details ?? []).flatMap((detail) => toReasoningItem(detail as unknown as JsonObject)),
    ...(text === ""
      ? []
      : [{ type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] }]),
    ...(message.tool_calls ?? []).flatMap(({ id, function: called }) =>
      called ? [{ type: "function_call", call_id: id, name: called.name, arguments: called.arguments }] : [],
    ),
  ];
}

/** The vendor has not stored the reasoning, so it accepts only its encrypted form. */
function toReasoningItem({ type, data, summary }: JsonObject): JsonObject[] {
  return type === "reasoning.encrypted"
    ? [{ type: "reasoning", summary: asList(summary), encrypted_content: data }]
    : [];
}

function toContent(content: string | readonly ChatPart[], location: Location): string | JsonObject[] {
  if (typeof content === "string") return content;
  return content.map((part, index) => toPart(part, [...location, index]));
}

function toPart(part: ChatPart, location: Location): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image_url":
      return present({ type: "input_image", image_url: part.image_url.url, detail: part.image_url.detail ?? "auto" });
    case "file": {
      const { file_id, file_data, filename } = part.file;
      return present({ type: "input_file", file_id, file_data, filename: file_id ? null : filename });
    }
    default:
      throw refuse([...location, "type"], `A part of type '${part.type}' cannot be sent to this model`);
  }
}

/** `strict` is always sent, because the API treats a tool without it as strict. */
function toTools({ tools, web_search_options: search }: ChatRequest): JsonObject[] {
  const declared = (tools ?? []).map((tool, index) => toTool(readFunction(tool, index)));
  if (!isObject(search)) return declared;
  const { search_context_size, user_location } = search;
  const location = isObject(user_location) ? { type: "approximate", ...asObject(user_location["approximate"]) } : null;
  return [...declared, present({ type: "web_search", search_context_size, user_location: location })];
}

function toTool({ name, description, parameters, strict }: ToolFunction): JsonObject {
  return {
    type: "function",
    name,
    ...(description && { description }),
    parameters: parameters ?? { type: "object", properties: {} },
    strict: strict === true,
  };
}

function toToolChoice({ tool_choice: choice }: ChatRequest): unknown {
  if (choice === null || choice === undefined || typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  const allowed = tools.map((tool) => ({ type: "function", name: tool.function?.name }));
  return { type: "allowed_tools", mode, tools: allowed };
}

/** Requests a summary only when the caller wants to read one, because the vendor refuses summaries to some organisations. */
function toReasoning({ reasoning_effort: effort, thinking }: ChatRequest): JsonObject {
  const wantsSummary = asObject(thinking)["display"] === "summarized";
  return present({ effort, summary: wantsSummary ? "auto" : null });
}

function toText({ response_format: format, verbosity }: ChatRequest): JsonObject {
  return present({ format: toFormat(format), verbosity });
}

function toFormat(format: ChatRequest["response_format"]): JsonObject | null {
  if (!format || format.type === "text") return null;
  if (format.type === "json_object") return { type: "json_object" };
  const { name = "answer", description, schema = { type: "object" }, strict } = format.json_schema;
  return present({ type: "json_schema", name, description, schema, strict });
}
