// A chat request as the vendor's request.

import type { ChatRequest, ChatResponseFormat, ChatTool, ChatToolChoice } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { readSearchDomains } from "../../search-domains.ts";
import { TranslationReport } from "../../translation-report.ts";
import { findGeneration, type Generation } from "./generation.ts";
import { type Conversation, isThinking, toConversation } from "./messages.ts";
import { type ReasoningRequest, toReasoning } from "./reasoning.ts";
import { isNativeSchema, toNativeSchema } from "./schema.ts";
import { hasServerBlock } from "./server-tools.ts";
import { type AnthropicReading, ToolNames } from "./tool-names.ts";

type Tool = Readonly<Record<string, unknown>>;

/** How an answer in JSON is brought about. */
type Answering =
  | { readonly by: "text" }
  | { readonly by: "format"; readonly schema: JsonObject }
  | { readonly by: "tool"; readonly tool: Tool & { readonly name: string } }
  | { readonly by: "instruction"; readonly text: string };

export function toAnthropicRequest(request: ChatRequest, target: Target): DialectRequest {
  const report = new TranslationReport();
  const generation = withFacts(findGeneration(target.model), target);
  const names = new ToolNames((request.tools ?? []).flatMap((tool) => tool.function?.name ?? []));
  const conversation = toConversation(request.messages, generation, names, report);
  finishPrefill(conversation, generation, request.messages.length, report);
  const answering = planAnswer(request, generation, names, report);
  const { tools, choice } = toTools(request, answering, generation, names, report);
  const maxTokens = request.max_completion_tokens ?? request.max_tokens ?? generation.maxOutputTokens;
  const isForced = choice?.["type"] === "any" || choice?.["type"] === "tool";
  const forbidsBudget = isForced || forbidsThinking(conversation);
  const reasoning = toReasoning(request, { generation, maxTokens, forbidsBudget }, report);
  const binding = toBinding(reasoning, generation, conversation);
  const system =
    answering.by === "instruction"
      ? [...conversation.system, { type: "text", text: answering.text }]
      : conversation.system;
  const userId = findUserId(request, report);
  const stops = toStopSequences(request, report);
  const outputConfig = {
    ...(reasoning.effort === null ? {} : { effort: reasoning.effort }),
    ...(answering.by === "format" ? { format: { type: "json_schema", schema: answering.schema } } : {}),
  };
  const body = {
    model: target.model,
    max_tokens: maxTokens,
    ...(system.length > 0 ? { system } : {}),
    messages: conversation.turns,
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice === null ? {} : { tool_choice: choice }),
    ...(binding.thinking === null ? {} : { thinking: binding.thinking }),
    ...(Object.keys(outputConfig).length > 0 ? { output_config: outputConfig } : {}),
    ...toSampling(request, generation, reasoning, report),
    ...(stops.length > 0 ? { stop_sequences: stops } : {}),
    ...(userId === null ? {} : { metadata: { user_id: userId } }),
    ...toServiceTier(request, report),
    ...(request["cache_control"] ? { cache_control: request["cache_control"] } : {}),
    ...(target.isStream ? { stream: true } : {}),
  };
  checkModalities(request, report);
  report.throwProblems();
  const reading: AnthropicReading = {
    model: target.model,
    answerTool: answering.by === "tool" ? answering.tool.name : null,
    toolNames: names.changed,
    keepsTurn: tools.some((tool) => tool["input_schema"] === undefined),
  };
  return {
    path: "/v1/messages",
    body: JSON.stringify(body),
    ...(binding.headers === null ? {} : { headers: binding.headers }),
    ...(report.dropped.length > 0 ? { dropped: report.dropped } : {}),
    reading,
  };
}

/** What is known of the very model is better than what is known of its generation. */
function withFacts(generation: Generation, { facts }: Target): Generation {
  return {
    ...generation,
    maxOutputTokens: facts?.maxOutputTokens ?? generation.maxOutputTokens,
    hasJsonSchema: facts?.jsonSchema ?? generation.hasJsonSchema,
  };
}

function finishPrefill(
  { turns }: Conversation,
  generation: Generation,
  messageCount: number,
  report: TranslationReport,
): void {
  const last = turns.at(-1);
  if (last?.role !== "assistant") return;
  // A turn that the vendor paused is continued by every model.
  if (hasServerBlock(last.content)) return;
  if (!generation.takesPrefill)
    report.unsupported(
      ["messages", messageCount - 1],
      "This model does not continue a message of the assistant: the last message should be the user's or a tool's",
    );
  const block = last.content.at(-1);
  // The vendor refuses white space at the end of what the model is to continue.
  if (block?.type === "text") block["text"] = String(block["text"]).trimEnd();
}

/** A budget is refused where the answer has begun already, or in the middle of calls that began without thinking. */
function forbidsThinking({ turns }: Conversation): boolean {
  const last = turns.at(-1);
  if (last?.role === "assistant") return !hasServerBlock(last.content);
  if (last?.content[0]?.type !== "tool_result") return false;
  const before = turns.at(-2)?.content[0];
  return before !== undefined && !isThinking(before);
}

/**
 * Thinking of newer models is bound to all that stood before it. Chat clients do shorten their conversations: what no longer
 * fits is to be left out, not to be an error.
 */
function toBinding(
  { thinking }: ReasoningRequest,
  generation: Generation,
  { turns }: Conversation,
): { readonly thinking: JsonObject | null; readonly headers: Readonly<Record<string, string>> | null } {
  const isAdaptive = thinking === null || thinking["type"] === "adaptive";
  const sendsThinking = turns.some((turn) => turn.content.some(isThinking));
  if (!generation.bindsThinking || !isAdaptive || !sendsThinking) return { thinking, headers: null };
  return {
    thinking: { type: "adaptive", ...thinking, block_binding: { prefix_mismatch_behavior: "drop_block" } },
    headers: { "anthropic-beta": "thinking-binding-controls-2026-08-01" },
  };
}

function planAnswer(
  request: ChatRequest,
  generation: Generation,
  names: ToolNames,
  report: TranslationReport,
): Answering {
  const format = request.response_format ?? { type: "text" };
  if (format.type === "text") return { by: "text" };
  if (format.type !== "json_object" && format.type !== "json_schema") {
    report.unsupported(["response_format", "type"], "Input should be 'text', 'json_object' or 'json_schema'");
    return { by: "text" };
  }
  const schema = format.type === "json_schema" ? format.json_schema.schema : undefined;
  const native = schema !== undefined && generation.hasJsonSchema ? toNativeSchema(schema) : null;
  if (native !== null) return { by: "format", schema: native };
  const mayBeTool = schema === undefined || schema["type"] === "object";
  if (!generation.takesForcedTools || !mayBeTool) return { by: "instruction", text: instruct(schema) };
  // A call that the caller demands is the answer.
  const { tool_choice: choice } = request;
  if (choice && choice !== "auto" && choice !== "none") return { by: "text" };
  const description = describe(format);
  return {
    by: "tool",
    tool: {
      name: names.findFree("structured_answer"),
      description: `Gives the answer to the user.${description ? ` ${description}` : ""}`,
      input_schema: schema ?? { type: "object", additionalProperties: true },
    },
  };
}

function describe(format: ChatResponseFormat): string {
  return format.type === "json_schema" ? (format.json_schema.description ?? "") : "";
}

function instruct(schema: JsonObject | undefined): string {
  const plain = "Answer with one JSON value and nothing else: no words around it and no code fence.";
  return schema === undefined ? plain : `${plain} It has to match this JSON Schema:\n${JSON.stringify(schema)}`;
}

function toTools(
  request: ChatRequest,
  answering: Answering,
  generation: Generation,
  names: ToolNames,
  report: TranslationReport,
): { readonly tools: readonly Tool[]; readonly choice: JsonObject | null } {
  const allowed = findAllowed(request.tool_choice);
  const given = (request.tools ?? []).flatMap((tool, index): readonly Tool[] => {
    const isLeftOut = allowed !== null && tool.function !== undefined && !allowed.has(tool.function.name);
    const translated = isLeftOut ? null : toTool(tool, index, generation, names, report);
    return translated === null ? [] : [translated];
  });
  const tools = [...given, ...toWebSearch(request, report)];
  if (answering.by === "tool") {
    const { name } = answering.tool;
    const mayCallOthers = tools.length > 0 && request.tool_choice !== "none";
    // One call at a time: a second one would stand beside a finished answer.
    const choice = mayCallOthers ? { type: "any" } : { type: "tool", name };
    return { tools: [...tools, answering.tool], choice: { ...choice, disable_parallel_tool_use: true } };
  }
  if (tools.length === 0) return { tools, choice: null };
  return { tools, choice: toChoice(request, generation, names, report) };
}

function toTool(
  tool: ChatTool,
  index: number,
  generation: Generation,
  names: ToolNames,
  report: TranslationReport,
): Tool | null {
  if (tool.function === undefined) {
    // Tools of the vendor's own are named with the date of their version: web_search_20250305.
    if (/_\d{8}$/.test(tool.type)) return tool as unknown as Tool;
    report.unsupported(["tools", index, "type"], "This provider knows tools of the type 'function' only");
    return null;
  }
  const { name, description, parameters, strict } = tool.function;
  const schema = { type: "object", ...(parameters ?? { properties: {} }) };
  const mayBeStrict = strict === true && generation.hasJsonSchema && isNativeSchema(schema);
  if (strict === true && !mayBeStrict) report.drop(`tools.${index}.function.strict`);
  return {
    name: names.toVendor(name),
    ...(description ? { description } : {}),
    input_schema: schema,
    ...(mayBeStrict ? { strict: true } : {}),
    ...(tool.cache_control ? { cache_control: tool.cache_control } : {}),
  };
}

function findAllowed(choice: ChatToolChoice | null | undefined): ReadonlySet<string> | null {
  if (typeof choice !== "object" || choice?.type !== "allowed_tools") return null;
  return new Set(choice.allowed_tools.tools.flatMap((tool) => tool.function?.name ?? []));
}

function toChoice(
  request: ChatRequest,
  generation: Generation,
  names: ToolNames,
  report: TranslationReport,
): JsonObject | null {
  const single = request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  const { tool_choice: choice } = request;
  if (choice === "none") return { type: "none" };
  const force = (forced: JsonObject) => {
    if (generation.takesForcedTools) return { ...forced, ...single };
    report.drop("tool_choice");
    return { type: "auto", ...single };
  };
  if (choice === "required") return force({ type: "any" });
  if (choice === "auto" || choice === null || choice === undefined)
    return choice === "auto" || request.parallel_tool_calls === false ? { type: "auto", ...single } : null;
  if (typeof choice === "object" && choice.type === "function")
    return force({ type: "tool", name: names.toVendor(choice.function.name) });
  if (typeof choice === "object" && choice.type === "allowed_tools")
    return choice.allowed_tools.mode === "required" ? force({ type: "any" }) : { type: "auto", ...single };
  report.invalid(["tool_choice"], "Input should be 'none', 'auto', 'required', a function or allowed tools");
  return null;
}

/** The version that every model has, and that keeps nothing. */
function toWebSearch(request: ChatRequest, report: TranslationReport): readonly Tool[] {
  const options = request["web_search_options"] as JsonObject | null | undefined;
  if (options === null || options === undefined) return [];
  if (options["search_context_size"]) report.drop("web_search_options.search_context_size");
  const location = options["user_location"] as JsonObject | null | undefined;
  const approximate = location?.["approximate"] as JsonObject | null | undefined;
  const userLocation = location ? { user_location: { type: "approximate", ...approximate } } : {};
  return [{ type: "web_search_20250305", name: "web_search", ...userLocation, ...toDomains(options, report) }];
}

/** One list or the other: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool#domain-filtering */
function toDomains(options: JsonObject, report: TranslationReport): JsonObject {
  const allowed = readSearchDomains(options, "allowed_domains");
  const blocked = readSearchDomains(options, "blocked_domains");
  if (allowed !== null && blocked !== null)
    report.invalid(["tools"], "This provider's search takes allowed or blocked domains, not both");
  return { ...(allowed && { allowed_domains: allowed }), ...(blocked && { blocked_domains: blocked }) };
}

/** Defaults change nothing, so leaving them out is not worth a word. */
function toSampling(
  request: ChatRequest,
  generation: Generation,
  reasoning: ReasoningRequest,
  report: TranslationReport,
): JsonObject {
  const topK = request["top_k"];
  const asked = {
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    top_k: typeof topK === "number" ? topK : null,
  };
  if (asked.temperature > 1) {
    report.drop("temperature");
    asked.temperature = 1;
  }
  const mayVary = generation.sampling !== "none" && !reasoning.isOn;
  // Beside thinking, a high top_p is the only one that may stand.
  const mayNarrow = mayVary || (generation.sampling !== "none" && asked.top_p >= 0.95);
  if (asked.temperature !== 1 && !mayVary) report.drop("temperature");
  const temperature = asked.temperature !== 1 && mayVary ? { temperature: asked.temperature } : {};
  const isSecond = generation.sampling === "one" && "temperature" in temperature;
  if (asked.top_p !== 1 && (!mayNarrow || isSecond)) report.drop("top_p");
  const topP = asked.top_p !== 1 && mayNarrow && !isSecond ? { top_p: asked.top_p } : {};
  if (asked.top_k !== null && !mayVary) report.drop("top_k");
  return { ...temperature, ...topP, ...(asked.top_k !== null && mayVary ? { top_k: asked.top_k } : {}) };
}

/** The vendor refuses sequences of white space alone. */
function toStopSequences({ stop }: ChatRequest, report: TranslationReport): readonly string[] {
  const asked = typeof stop === "string" ? [stop] : (stop ?? []);
  const kept = asked.filter((sequence) => sequence.trim() !== "");
  if (kept.length < asked.length) report.drop("stop");
  return kept;
}

const longestUserId = 256;

function findUserId(request: ChatRequest, report: TranslationReport): string | null {
  const metadata = request["metadata"] as JsonObject | null | undefined;
  const given = {
    "metadata.user_id": metadata?.["user_id"],
    user: request.user,
    safety_identifier: request["safety_identifier"],
  };
  if (metadata && Object.keys(metadata).some((name) => name !== "user_id")) report.drop("metadata");
  const found = Object.entries(given).find(([, id]) => typeof id === "string" && id !== "");
  if (found === undefined) return null;
  const [source, id] = found as [string, string];
  if (id.length <= longestUserId) return id;
  report.drop(source);
  return null;
}

const serviceTiers: Readonly<Record<string, string>> = {
  auto: "auto",
  priority: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

function toServiceTier(request: ChatRequest, report: TranslationReport): JsonObject {
  const asked = request["service_tier"];
  if (typeof asked !== "string") return {};
  const tier = lookUp(serviceTiers, asked);
  if (tier === undefined) report.drop("service_tier");
  return tier === undefined ? {} : { service_tier: tier };
}

function checkModalities(request: ChatRequest, report: TranslationReport): void {
  const modalities = request["modalities"];
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== "text"))
    report.unsupported(["modalities"], "This provider answers with text only");
}
