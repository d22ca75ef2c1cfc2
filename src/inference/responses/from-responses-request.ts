// Translates a Responses request into a chat request, for every provider without the Responses API. Nothing is lost silently: members that
// the chat format cannot express are named as dropped, and refused when they would change the answer.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import type { ChatResponseFormat, ChatTool, ChatToolChoice } from "../../contract/chat-format.ts";
import type { FunctionTool, Item, NamespaceTool, ResponseRequest, ResponseTool } from "../../contract/responses.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { maySearch } from "../../providers/dialects/chat-request.ts";
import type { Path, TranslationReport } from "../../providers/translation-report.ts";
import type { CallerNames } from "../caller-names.ts";
import { type TranslatedRequest, Translation, type TranslationOptions, toChatTool } from "../translated-request.ts";
import { Conversation } from "./from-responses-items.ts";
import { isNamespace, toFlatName } from "./tool-names.ts";

/** `earlier` are the items of a conversation that the gateway stores: they were checked when they arrived. */
export function fromResponsesRequest(
  request: ResponseRequest,
  earlier: readonly JsonObject[],
  options: TranslationOptions = {},
): TranslatedRequest {
  const translation = new Translation(options);
  const { report } = translation;
  const wantsLogprobs = request.include?.includes("message.output_text.logprobs") || Boolean(request.top_logprobs);
  const members = {
    max_tokens: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    presence_penalty: request.presence_penalty,
    frequency_penalty: request.frequency_penalty,
    ...(wantsLogprobs && { logprobs: true, top_logprobs: request.top_logprobs }),
    ...toTools(request, translation),
    response_format: toResponseFormat(request.text?.format, report),
    verbosity: request.text?.verbosity,
    reasoning_effort: request.reasoning?.effort,
    service_tier: request.service_tier,
    prompt_cache_key: request.prompt_cache_key,
    safety_identifier: request.safety_identifier,
    user: request.user,
    ...(request.stream === true && { stream: true, stream_options: { include_usage: true } }),
  };
  const messages = toMessages(request, earlier as readonly Item[], new Conversation(translation));
  dropHints(request, report);
  checkOtherMembers(request, report);
  return translation.finish(request.model, messages, members, {
    ...callerNames,
    logprobs: request.top_logprobs ? "top_logprobs" : "include",
  });
}

const callerNames: CallerNames = {
  messages: "input",
  max_tokens: "max_output_tokens",
  max_completion_tokens: "max_output_tokens",
  response_format: "text.format",
  verbosity: "text.verbosity",
  reasoning_effort: "reasoning.effort",
  web_search_options: "tools.web_search",
};

function toMessages({ instructions, input }: ResponseRequest, earlier: readonly Item[], conversation: Conversation) {
  if (instructions) conversation.addSystem(instructions);
  for (const item of earlier) conversation.add(item, ["previous_response_id"]);
  if (typeof input === "string") conversation.add({ role: "user", content: input }, ["input"]);
  else for (const [index, item] of (input ?? []).entries()) conversation.add(item, ["input", index]);
  return conversation.finish();
}

const searchType = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

function toTools(request: ResponseRequest, translation: Translation) {
  const { report } = translation;
  const tools: ChatTool[] = [];
  let search: JsonObject | null = null;
  for (const [index, tool] of (request.tools ?? []).entries()) {
    const path = ["tools", index];
    // The schema has checked the tools of these types.
    if (tool.type === "function") tools.push(toChatTool(tool as unknown as FunctionTool));
    else if (isNamespace(tool)) tools.push(...toNamespaceTools(tool, path, report));
    else if (searchType.test(tool.type)) search = toSearchOptions(tool, path, translation);
    else refuseTool(tool.type, path, report);
  }
  refuseSameNames(tools, report);
  const choice = toToolChoice(request.tool_choice, { tools, hasSearch: search !== null, report });
  const { parallel_tool_calls } = request;
  return {
    ...(tools.length > 0 && choice.mayCall !== false && { tools, tool_choice: choice.chosen, parallel_tool_calls }),
    ...(search !== null && choice.maySearch && { web_search_options: search }),
  };
}

function refuseTool(type: string, path: Path, report: TranslationReport): void {
  report.unsupported(
    [...path, "type"],
    `This provider has no tool '${type}': declare it as a function with its parameters`,
  );
}

function toNamespaceTools(
  { name: namespace, tools }: NamespaceTool,
  path: Path,
  report: TranslationReport,
): ChatTool[] {
  return tools.flatMap((tool, index) => {
    if (tool.type !== "function") {
      refuseTool(tool.type, [...path, "tools", index], report);
      return [];
    }
    const { name, ...others } = tool as unknown as FunctionTool;
    return [toChatTool({ ...others, name: toFlatName({ name, namespace }) })];
  });
}

/** The flat name of a function in a namespace may collide with another function. */
function refuseSameNames(tools: readonly ChatTool[], report: TranslationReport): void {
  const names = tools.map((tool) => tool.function?.name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) report.invalid(["tools"], `Two functions have the name '${twice}' at this provider`);
}

/**
 * Null: no search. `external_web_access: false` requests a search in the vendor's index, without access to the network
 * (https://developers.openai.com/api/docs/guides/tools-web-search). No translated provider has such a search, and a search with
 * network access is not what the caller allowed, so the tool is dropped.
 */
function toSearchOptions(tool: ResponseTool, path: Path, translation: Translation): JsonObject | null {
  if (tool["external_web_access"] === false) {
    translation.report.drop(`tools.${tool.type}`);
    return null;
  }
  const size = tool["search_context_size"];
  const lists = (tool["filters"] ?? {}) as JsonObject;
  return {
    ...(typeof size === "string" && { search_context_size: size }),
    ...translation.toSearchOptions(lists, [...path, "filters"], tool["user_location"]),
  };
}

interface ToolContext {
  readonly tools: readonly ChatTool[];
  readonly hasSearch: boolean;
  readonly report: TranslationReport;
}

interface Choice {
  readonly chosen: ChatToolChoice | undefined;
  readonly maySearch: boolean;
  /** False: the functions are left out, because `none` would forbid the search too. */
  readonly mayCall?: false;
}
type NamedTool = { readonly [Member in "type" | "name" | "namespace"]?: unknown };

function toToolChoice(choice: ResponseRequest["tool_choice"], context: ToolContext): Choice {
  const { tools, hasSearch, report } = context;
  const path = ["tool_choice"];
  if (choice === null || choice === undefined) return { chosen: undefined, maySearch: true };
  if (typeof choice === "string") {
    if (choice === "required" && tools.length === 0)
      if (hasSearch) report.unsupported(path, "This provider cannot be forced to search");
      else report.invalid(path, "'required' needs tools to choose from");
    return { chosen: choice, maySearch: maySearch(choice) };
  }
  switch (choice.type) {
    case "function":
      return { chosen: toNamed(choice, [...path, "name"], context), maySearch: false };
    case "allowed_tools":
      return toAllowedTools(choice, context);
    default:
      report.unsupported([...path, "type"], `This provider cannot be forced to use '${choice.type}'`);
      return { chosen: undefined, maySearch: true };
  }
}

function toNamed(tool: NamedTool, path: Path, { tools, report }: ToolContext) {
  const name = toFlatName({ name: String(tool.name), namespace: tool.namespace });
  if (!tools.some((declared) => declared.function?.name === name))
    report.invalid(path, `There is no function '${name}' among the tools`);
  return { type: "function" as const, function: { name } };
}

function toAllowedTools(choice: Readonly<Record<string, unknown>>, context: ToolContext): Choice {
  const { report } = context;
  const mode = choice["mode"];
  if (mode !== "auto" && mode !== "required")
    report.invalid(["tool_choice", "mode"], "The mode should be 'auto' or 'required'");
  const listed = Array.isArray(choice["tools"]) ? (choice["tools"] as readonly NamedTool[]) : [];
  let listsSearch = false;
  const allowed: { readonly type: "function"; readonly function: { readonly name: string } }[] = [];
  for (const [index, tool] of listed.entries()) {
    const path = ["tool_choice", "tools", index];
    if (tool?.type === "function") allowed.push(toNamed(tool, [...path, "name"], context));
    else if (searchType.test(String(tool?.type))) listsSearch = true;
    else report.unsupported([...path, "type"], `This provider has no tool '${String(tool?.type)}'`);
  }
  if (allowed.length === 0) {
    if (mode === "required") report.unsupported(["tool_choice"], "This provider can only be forced to call functions");
    return listsSearch && context.hasSearch
      ? { chosen: undefined, maySearch: true, mayCall: false }
      : { chosen: "none", maySearch: false };
  }
  const chosen = { mode: mode === "required" ? ("required" as const) : ("auto" as const), tools: allowed };
  return { chosen: { type: "allowed_tools", allowed_tools: chosen }, maySearch: listsSearch };
}

type TextFormat = NonNullable<ResponseRequest["text"]>["format"];

function toResponseFormat(format: TextFormat, report: TranslationReport): ChatResponseFormat | undefined {
  switch (format?.type) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return { type: "json_object" };
    case "json_schema": {
      const { name, description, schema, strict } = format as JsonObject;
      const isStrict = typeof strict === "boolean" && { strict };
      const json_schema = { name, schema, ...(description ? { description } : {}), ...isStrict };
      // The schema has checked these members.
      return { type: "json_schema", json_schema } as ChatResponseFormat;
    }
    default:
      report.unsupported(
        ["text", "format", "type"],
        `This provider does not support the output format '${format?.type}'`,
      );
      return undefined;
  }
}

const knownIncludes: ReadonlySet<string> = new Set(["reasoning.encrypted_content", "message.output_text.logprobs"]);

/** Members that can be left out without a wrong answer. */
function dropHints(request: ResponseRequest, report: TranslationReport): void {
  if (request.truncation === "auto") report.drop("truncation");
  if (typeof request.max_tool_calls === "number") report.drop("max_tool_calls");
  for (const name of request.include ?? []) if (!knownIncludes.has(name)) report.drop(`include.${name}`);
  for (const [name, value] of Object.entries(request.reasoning ?? {}))
    if (value !== null && !["effort", "summary", "generate_summary"].includes(name)) report.drop(`reasoning.${name}`);
}

const readMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "previous_response_id", "store", "stream", "stream_options", "background"],
  ...["temperature", "top_p", "presence_penalty", "frequency_penalty", "top_logprobs", "max_output_tokens"],
  ...["max_tool_calls", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text", "include", "truncation"],
  ...["service_tier", "prompt_cache_key", "safety_identifier", "metadata", "user"],
  ...gatewayMemberNames,
]);

function checkOtherMembers(request: ResponseRequest, report: TranslationReport): void {
  for (const [member, value] of Object.entries(request)) {
    if (readMembers.has(member) || value === null || value === undefined) continue;
    if (member === "conversation")
      report.unsupported([member], "This provider stores no conversations: send the items in 'input'");
    else if (member === "prompt")
      report.unsupported([member], "This provider stores no prompts: send the text in 'instructions' and 'input'");
    else report.drop(member);
  }
}
