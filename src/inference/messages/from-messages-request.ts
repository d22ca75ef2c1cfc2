// Translates a Messages request into a chat request, for every provider without the Messages format. Nothing is lost silently: members that
// the chat format cannot express are named as dropped, and refused when they would change the answer.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import type { ChatMessage, ChatResponseFormat, ChatTool } from "../../contract/chat-format.ts";
import { areVendorFallbacks, type MessagesRequest } from "../../contract/messages.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { maySearch } from "../../providers/dialects/chat-request.ts";
import type { TranslationReport } from "../../providers/translation-report.ts";
import type { CallerNames } from "../caller-names.ts";
import type { TranslatedRequest, TranslationOptions } from "../translated-request.ts";
import { Translation, toChatTool, toMarkMember, toTextPart } from "../translated-request.ts";
import { fromMessagesTurns, toContent } from "./from-messages-turns.ts";

export function fromMessagesRequest(request: MessagesRequest, options: TranslationOptions = {}): TranslatedRequest {
  const translation = new Translation(options);
  const { report } = translation;
  const members = {
    max_tokens: request.max_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request.top_k,
    stop: request.stop_sequences?.length ? request.stop_sequences : undefined,
    ...toTools(request, translation),
    ...toReasoning(request, report),
    response_format: toResponseFormat(request, report),
    user: toUser(request.metadata?.user_id),
    service_tier: request.service_tier === "standard_only" ? "default" : request.service_tier || null,
    ...toMarkMember(request),
    ...(request.stream === true && { stream: true, stream_options: { include_usage: true } }),
  };
  const messages = [...toSystem(request.system), ...fromMessagesTurns(request.messages, translation)];
  if (request.max_tokens === 0)
    report.unsupported(["max_tokens"], "This provider cannot fill its prompt cache without an answer: use at least 1");
  checkOtherMembers(request, report);
  return translation.finish(request.model, messages, members, {
    ...callerNames,
    reasoning_effort: request.output_config?.effort ? "output_config.effort" : "thinking",
    response_format: request.output_config?.format ? "output_config.format" : "output_format",
  });
}

const callerNames: CallerNames = {
  max_completion_tokens: "max_tokens",
  stop: "stop_sequences",
  user: "metadata.user_id",
  parallel_tool_calls: "tool_choice.disable_parallel_tool_use",
  web_search_options: "tools.web_search",
};

function toSystem(system: MessagesRequest["system"]): ChatMessage[] {
  if (!system) return [];
  if (typeof system === "string") return [{ role: "system", content: system }];
  const parts = system.filter((block) => block.text !== "").map((block) => toTextPart(block.text, block));
  return parts.length === 0 ? [] : [{ role: "system", content: toContent(parts) }];
}

type Tool = NonNullable<MessagesRequest["tools"]>[number];
type CustomTool = Extract<Tool, { input_schema: unknown }>;
type ToolChoice = MessagesRequest["tool_choice"];

function toTools({ tools: declared, tool_choice: choice }: MessagesRequest, translation: Translation) {
  const { report } = translation;
  const tools: ChatTool[] = [];
  let search: { readonly name: unknown; readonly options: JsonObject } | null = null;
  for (const [index, tool] of (declared ?? []).entries()) {
    if (isCustomTool(tool)) {
      if (Array.isArray(tool["input_examples"])) report.drop("tools.input_examples");
      tools.push(toChatTool({ ...tool, parameters: tool.input_schema }));
    } else if (/^web_search_\d+$/.test(tool.type)) {
      if (typeof tool["max_uses"] === "number") report.drop("tools.max_uses");
      const options = translation.toSearchOptions(tool, ["tools", index], tool["user_location"]);
      search = { name: tool["name"], options };
    } else
      report.unsupported(
        ["tools", index, "type"],
        `This provider has no tool '${tool.type}': declare it as a custom tool with an input_schema`,
      );
  }
  if (search !== null && forcesSearch(choice, search.name, tools)) {
    report.drop("tool_choice");
    return { web_search_options: search.options };
  }
  const chosen = toToolChoice(choice, tools, report);
  const isSingle = choice?.["disable_parallel_tool_use"] === true;
  return {
    ...(tools.length > 0 && { tools, tool_choice: chosen, ...(isSingle && { parallel_tool_calls: false }) }),
    ...(search !== null && maySearch(chosen) && { web_search_options: search.options }),
  };
}

/** No provider can be forced to search. Other tools are left out then, so that the model calls none of them instead. */
function forcesSearch(choice: ToolChoice, name: unknown, tools: readonly ChatTool[]): boolean {
  return choice?.type === "tool" ? choice.name === name : choice?.type === "any" && tools.length === 0;
}

function isCustomTool(tool: Tool): tool is CustomTool {
  return (tool.type ?? "custom") === "custom";
}

function toToolChoice(choice: ToolChoice, tools: readonly ChatTool[], report: TranslationReport): unknown {
  switch (choice?.type) {
    case "auto":
    case "none":
      return choice.type;
    case "any":
      return "required";
    case "tool":
      if (!tools.some((tool) => tool.function?.name === choice.name))
        report.invalid(["tool_choice", "name"], `There is no tool '${choice.name}' among the tools`);
      return { type: "function", function: { name: choice.name } };
    default:
      return undefined;
  }
}

// The budget of each effort according to https://ai.google.dev/gemini-api/docs/openai. The largest one that fits into the caller's budget is
// used, so that the model does not exceed it.
const effortSizes: readonly (readonly [effort: string, tokens: number])[] = [
  ["high", 24_576],
  ["medium", 8_192],
  ["low", 0],
];

// Without an effort the model uses "high": https://platform.claude.com/docs/en/build-with-claude/effort
const adaptiveEffort = "high";

function toReasoning({ thinking, output_config: output }: MessagesRequest, report: TranslationReport) {
  const effort = output?.effort ?? undefined;
  if (!thinking) return { reasoning_effort: effort };
  switch (thinking.type) {
    case "disabled":
      return { reasoning_effort: "none", thinking };
    case "adaptive":
      return { reasoning_effort: effort ?? adaptiveEffort, thinking };
    case "enabled": {
      const budget = thinking["budget_tokens"] as number;
      return { reasoning_effort: effort ?? effortSizes.find(([, tokens]) => budget >= tokens)?.[0], thinking };
    }
    default:
      report.drop("thinking");
      return { reasoning_effort: effort };
  }
}

function toResponseFormat(request: MessagesRequest, report: TranslationReport): ChatResponseFormat | undefined {
  const nested = request.output_config?.format;
  const format = nested ?? request.output_format;
  if (!format) return undefined;
  if (format.type !== "json_schema" || !format.schema) {
    const path = nested ? ["output_config", "format"] : ["output_format"];
    report.unsupported(path, "This provider supports only the output format 'json_schema' with a schema");
    return undefined;
  }
  const schema = format.schema;
  return { type: "json_schema", json_schema: { name: "answer", schema, ...(isStrict(schema) && { strict: true }) } };
}

/**
 * Whether a provider that enforces schemas accepts this one: every object closed, every property required
 * (https://platform.openai.com/docs/guides/structured-outputs). Any other schema is not enforced.
 */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { properties, required, additionalProperties, ...others } = schema as Readonly<Record<string, unknown>>;
  const isObject = properties !== undefined || [others["type"]].flat().includes("object");
  if (isObject) {
    const names = Object.keys((properties ?? {}) as object);
    const listed = new Set(Array.isArray(required) ? required : []);
    if (additionalProperties !== false || !names.every((name) => listed.has(name))) return false;
  }
  return Object.values((properties ?? {}) as object).every(isStrict) && Object.values(others).every(isStrict);
}

// The successor of `user` in the chat format has at most 64 characters and should be a hash
// (https://platform.openai.com/docs/api-reference/chat/create). A SHA-256 has 64 hexadecimal digits.
const maxUserLength = 64;

function toUser(userId: string | null | undefined): string | undefined {
  if (!userId) return undefined;
  return userId.length <= maxUserLength ? userId : new Bun.CryptoHasher("sha256").update(userId).digest("hex");
}

const readMembers: ReadonlySet<string> = new Set([
  ...["model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config"],
  ...["output_format", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata", "service_tier"],
  ...["cache_control", ...gatewayMemberNames],
]);

function checkOtherMembers(request: MessagesRequest, report: TranslationReport): void {
  if (areVendorFallbacks(request.fallbacks)) report.drop("fallbacks");
  for (const [member, value] of Object.entries(request)) {
    if (readMembers.has(member) || value === null || value === undefined) continue;
    switch (member) {
      case "container":
        report.unsupported([member], "This provider has no containers");
        break;
      case "mcp_servers":
        if (Array.isArray(value) && value.length > 0)
          report.unsupported([member], "This provider does not connect to MCP servers");
        break;
      case "context_management":
        checkContextManagement(value, report);
        break;
      case "inference_geo":
        if (value !== "global") report.unsupported([member], "The region of this provider cannot be chosen");
        break;
      default:
        report.drop(member);
    }
  }
}

/**
 * Clearing old thinking and old tool results only saves tokens, and some clients always request it, so it is dropped. Any other edit, such
 * as a summary in place of the conversation, would change the answer.
 */
function checkContextManagement(value: unknown, report: TranslationReport): void {
  const edits = (value as { edits?: unknown }).edits;
  for (const [index, edit] of (Array.isArray(edits) ? edits : []).entries()) {
    const type = String((edit as { type?: unknown } | null)?.type);
    if (type.startsWith("clear_")) report.drop("context_management");
    else
      report.unsupported(
        ["context_management", "edits", index, "type"],
        `This provider cannot edit the conversation by '${type}'`,
      );
  }
}
