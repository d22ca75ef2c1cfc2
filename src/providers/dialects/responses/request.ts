// A chat request as a request of the Responses API. Nothing is stored at the vendor: reasoning comes back encrypted, and the next
// request brings it along.

import type {
  ChatAssistantMessage,
  ChatContent,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  ChatToolChoice,
  ReasoningDetail,
} from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";
import { maxTokensOf, refuse, textOf } from "../chat-request.ts";
import { present } from "../completion.ts";

/** The vendor refuses a smaller limit. */
const leastOutputTokens = 16;

export function toResponsesRequest(
  request: ChatRequest,
  { model, isStream }: Target,
  reasons: boolean,
): DialectRequest {
  const limit = maxTokensOf(request);
  const tools = toTools(request);
  const { instructions, input } = toInput(request.messages);
  const body = present({
    model,
    instructions,
    input,
    max_output_tokens: limit === null ? null : Math.max(limit, leastOutputTokens),
    temperature: request.temperature,
    top_p: request.top_p,
    ...(tools.length > 0 && {
      tools,
      tool_choice: toToolChoice(request.tool_choice),
      parallel_tool_calls: request.parallel_tool_calls,
    }),
    reasoning: toReasoning(request),
    text: toText(request),
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

/** Instructions that come first stand apart; later ones keep their place. */
function toInput(messages: readonly ChatMessage[]): { instructions: string | null; input: readonly JsonObject[] } {
  const start = messages.findIndex(({ role }) => role !== "system" && role !== "developer");
  const leading = start < 0 ? messages.length : start;
  const texts = messages.slice(0, leading).map((message) => textOf(message.content ?? ""));
  const input = messages.slice(leading).flatMap((message, index) => toItems(message, ["messages", leading + index]));
  return { instructions: texts.length === 0 ? null : texts.join("\n\n"), input };
}

type Location = readonly (string | number)[];

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
    ...(message.reasoning_details ?? []).flatMap(toReasoningItem),
    ...(text === ""
      ? []
      : [{ type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] }]),
    ...(message.tool_calls ?? []).flatMap(({ id, function: called }) =>
      called ? [{ type: "function_call", call_id: id, name: called.name, arguments: called.arguments }] : [],
    ),
  ];
}

/** Without its encrypted form an item of reasoning is of no use to a vendor that has not stored it. */
function toReasoningItem(detail: ReasoningDetail): JsonObject[] {
  if (detail.type !== "reasoning.encrypted") return [];
  const { summary } = detail as unknown as JsonObject;
  return [{ type: "reasoning", summary: Array.isArray(summary) ? summary : [], encrypted_content: detail.data }];
}

function toContent(content: ChatContent, location: Location): string | JsonObject[] {
  if (typeof content === "string") return content;
  return content.map((part, index) => toPart(part, [...location, index]));
}

function toPart(part: ChatPart, location: Location): JsonObject {
  switch (part.type) {
    case "text":
      return { type: "input_text", text: part.text };
    case "image_url":
      return present({ type: "input_image", image_url: part.image_url.url, detail: part.image_url.detail ?? "auto" });
    case "file":
      return present({
        type: "input_file",
        file_id: part.file.file_id,
        file_data: part.file.file_data,
        filename: part.file.file_id ? null : part.file.filename,
      });
    default:
      throw refuse([...location, "type"], `A part of type '${part.type}' cannot be sent to this model`);
  }
}

/** `strict` is said either way: here a tool is strict unless the request says otherwise. */
function toTools({ tools, web_search_options: search }: ChatRequest): JsonObject[] {
  const declared = (tools ?? []).map(toTool);
  if (!isObject(search)) return declared;
  const { search_context_size, user_location } = search;
  const place = isObject(user_location) ? { type: "approximate", ...asObject(user_location["approximate"]) } : null;
  return [...declared, present({ type: "web_search", search_context_size, user_location: place })];
}

function toTool(tool: ChatTool, index: number): JsonObject {
  if (tool.type !== "function" || tool.function === undefined)
    throw refuse(["tools", index, "type"], `Tools of type '${tool.type}' are not supported by this provider`);
  const { name, description, parameters, strict } = tool.function;
  return {
    type: "function",
    name,
    ...(description && { description }),
    parameters: parameters ?? { type: "object", properties: {} },
    strict: strict === true,
  };
}

function toToolChoice(choice: ChatToolChoice | null | undefined): unknown {
  if (choice === null || choice === undefined || typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "function", name: choice.function.name };
  const { mode, tools } = choice.allowed_tools;
  return {
    type: "allowed_tools",
    mode,
    tools: tools.map((tool) => ({ type: "function", name: tool.function?.name })),
  };
}

/** Requests a summary only when the caller wants to read one, because the vendor refuses summaries to some organisations. */
function toReasoning({ reasoning_effort: effort, thinking }: ChatRequest): JsonObject | null {
  const wantsSummary = asObject(thinking)["display"] === "summarized";
  const reasoning = present({ effort, summary: wantsSummary ? "auto" : null });
  return Object.keys(reasoning).length === 0 ? null : reasoning;
}

function toText({ response_format: format, verbosity }: ChatRequest): JsonObject | null {
  const text = present({ format: toFormat(format), verbosity });
  return Object.keys(text).length === 0 ? null : text;
}

function toFormat(format: ChatRequest["response_format"]): JsonObject | null {
  if (!format || format.type === "text") return null;
  if (format.type === "json_object") return { type: "json_object" };
  const { name = "answer", description, schema = { type: "object" }, strict } = format.json_schema;
  return present({ type: "json_schema", name, description, schema, strict });
}
