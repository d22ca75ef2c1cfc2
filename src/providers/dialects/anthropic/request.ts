// Writes a chat request as the vendor's request.

import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, JsonObject, Target } from "../../dialect.ts";
import { asObject } from "../../lenient.ts";
import { readSearchDomains } from "../../search-domains.ts";
import { TranslationReport } from "../../translation-report.ts";
import { maxTokensOf, stopSequencesOf } from "../chat-request.ts";
import { filled, present } from "../completion.ts";
import { findGeneration, type Generation } from "./generation.ts";
import { type Context, type Conversation, isThinking, toConversation } from "./messages.ts";
import { bindThinking, type ReasoningRequest, toReasoning } from "./reasoning.ts";
import { isNativeSchema, toNativeSchema } from "./schema.ts";
import { hasServerBlock } from "./server-tools.ts";
import { type AnthropicReading, ToolNames } from "./tool-names.ts";

/** The way to get an answer in JSON. */
type Answering =
  | { readonly by: "text" }
  | { readonly by: "format"; readonly schema: JsonObject }
  | { readonly by: "tool"; readonly tool: JsonObject & { readonly name: string } }
  | { readonly by: "instruction"; readonly text: string };

export function toAnthropicRequest(request: ChatRequest, target: Target): DialectRequest {
  const report = new TranslationReport();
  const generation = withFacts(findGeneration(target.model), target);
  const names = new ToolNames((request.tools ?? []).flatMap((tool) => tool.function?.name ?? []));
  const context = { generation, names, report };
  const conversation = toConversation(request.messages, context);
  finishPrefill(conversation, request.messages.length, context);
  const answering = planAnswer(request, context);
  const { tools, choice } = toTools(request, answering, context);
  const maxTokens = maxTokensOf(request) ?? generation.maxOutputTokens;
  const isForced = choice?.["type"] === "any" || choice?.["type"] === "tool";
  const forbidsBudget = isForced || forbidsThinking(conversation);
  const reasoning = toReasoning(request, { generation, maxTokens, forbidsBudget }, report);
  const sendsThinking = conversation.turns.some((turn) => turn.content.some(isThinking));
  const binding = bindThinking(reasoning.thinking, generation, sendsThinking);
  const instructions = answering.by === "instruction" ? [{ type: "text", text: answering.text }] : [];
  const userId = findUserId(request, report);
  const format = answering.by === "format" ? { type: "json_schema", schema: answering.schema } : null;
  const body = {
    model: target.model,
    max_tokens: maxTokens,
    ...filled({ system: [...conversation.system, ...instructions] }),
    messages: conversation.turns,
    ...filled({
      tools,
      tool_choice: choice,
      thinking: binding.thinking,
      output_config: present({ effort: reasoning.effort, format }),
      ...toSampling(request, reasoning, context),
      stop_sequences: toStopSequences(request, report),
      metadata: present({ user_id: userId }),
      service_tier: toServiceTier(request, report),
      cache_control: request["cache_control"],
    }),
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
  const headers = binding.beta === null ? null : { "anthropic-beta": binding.beta };
  return {
    path: "/v1/messages",
    body: JSON.stringify(body),
    ...present({ headers }),
    dropped: report.dropped,
    reading,
  };
}

/** Facts about the model take precedence over those of its generation. */
function withFacts(generation: Generation, { facts }: Target): Generation {
  const maxOutputTokens = facts?.maxOutputTokens ?? generation.maxOutputTokens;
  return { ...generation, maxOutputTokens, hasJsonSchema: facts?.jsonSchema ?? generation.hasJsonSchema };
}

function finishPrefill({ turns }: Conversation, messageCount: number, { generation, report }: Context): void {
  const last = turns.at(-1);
  // Every model continues a turn that the vendor paused.
  if (last?.role !== "assistant" || hasServerBlock(last.content)) return;
  if (!generation.takesPrefill)
    report.unsupported(
      ["messages", messageCount - 1],
      "This model does not continue a message of the assistant: the last message should be the user's or a tool's",
    );
  const block = last.content.at(-1);
  // The vendor refuses white space at the end of a text to be continued.
  if (block?.type === "text") block["text"] = String(block["text"]).trimEnd();
}

/** The vendor refuses a budget when the answer has begun, or between the calls of a turn that began without thinking. */
function forbidsThinking({ turns }: Conversation): boolean {
  const last = turns.at(-1);
  if (last?.role === "assistant") return !hasServerBlock(last.content);
  if (last?.content[0]?.type !== "tool_result") return false;
  const before = turns.at(-2)?.content[0];
  return before !== undefined && !isThinking(before);
}

function planAnswer(request: ChatRequest, { generation, names, report }: Context): Answering {
  const format = request.response_format ?? { type: "text" };
  if (format.type === "text") return { by: "text" };
  if (format.type !== "json_object" && format.type !== "json_schema") {
    report.unsupported(["response_format", "type"], "Input should be 'text', 'json_object' or 'json_schema'");
    return { by: "text" };
  }
  const { schema, description = null } = format.type === "json_schema" ? format.json_schema : {};
  const native = schema !== undefined && generation.hasJsonSchema ? toNativeSchema(schema) : null;
  if (native !== null) return { by: "format", schema: native };
  const mayBeTool = schema === undefined || schema["type"] === "object";
  if (!generation.takesForcedTools || !mayBeTool) return { by: "instruction", text: instruct(schema) };
  // A call that the caller requires is the answer.
  if (!mayAnswer(request)) return { by: "text" };
  return {
    by: "tool",
    tool: {
      name: names.findFree("structured_answer"),
      description: `Gives the answer to the user.${description ? ` ${description}` : ""}`,
      input_schema: schema ?? { type: "object", additionalProperties: true },
    },
  };
}

/** Whether the choice of tools leaves it to the model to answer without a call. */
function mayAnswer({ tool_choice: choice }: ChatRequest): boolean {
  if (!choice || choice === "auto" || choice === "none") return true;
  return typeof choice === "object" && choice.type === "allowed_tools" && choice.allowed_tools.mode !== "required";
}

function instruct(schema: JsonObject | undefined): string {
  const plain = "Answer with one JSON value and nothing else: no words around it and no code fence.";
  return schema === undefined ? plain : `${plain} It has to match this JSON Schema:\n${JSON.stringify(schema)}`;
}

interface ToolPlan {
  readonly tools: readonly JsonObject[];
  readonly choice: JsonObject | null;
}

function toTools(request: ChatRequest, answering: Answering, context: Context): ToolPlan {
  const { tool_choice: choice } = request;
  const allowed =
    typeof choice === "object" && choice?.type === "allowed_tools"
      ? choice.allowed_tools.tools.map((tool) => tool.function?.name)
      : null;
  const declared = (request.tools ?? []).flatMap((tool, index) => {
    const isLeftOut = allowed !== null && tool.function !== undefined && !allowed.includes(tool.function.name);
    return isLeftOut ? [] : toTool(tool, index, context);
  });
  const tools = [...declared, ...toWebSearch(request, context.report)];
  if (answering.by === "tool") {
    const { name } = answering.tool;
    const mayCallOthers = tools.length > 0 && choice !== "none";
    // With parallel calls, a second call could accompany the finished answer.
    const forced = mayCallOthers ? { type: "any" } : { type: "tool", name };
    return { tools: [...tools, answering.tool], choice: { ...forced, disable_parallel_tool_use: true } };
  }
  return { tools, choice: tools.length === 0 ? null : toChoice(request, context) };
}

function toTool(tool: ChatTool, index: number, { generation, names, report }: Context): readonly JsonObject[] {
  if (tool.function === undefined) {
    // Names of the vendor's own tools end with the date of their version: web_search_20250305.
    if (/_\d{8}$/.test(tool.type)) return [tool as unknown as JsonObject];
    report.unsupported(["tools", index, "type"], "This provider supports only tools of type 'function'");
    return [];
  }
  const { name, description, parameters, strict } = tool.function;
  const schema = { type: "object", ...(parameters ?? { properties: {} }) };
  const mayBeStrict = strict === true && generation.hasJsonSchema && isNativeSchema(schema);
  if (strict === true && !mayBeStrict) report.drop(`tools.${index}.function.strict`);
  const members = filled({ description, input_schema: schema, cache_control: tool.cache_control });
  return [{ name: names.toVendor(name), ...members, ...(mayBeStrict ? { strict: true } : {}) }];
}

function toChoice(request: ChatRequest, { generation, names, report }: Context): JsonObject | null {
  const single = request.parallel_tool_calls === false ? { disable_parallel_tool_use: true } : {};
  const { tool_choice: choice } = request;
  const force = (forced: JsonObject) => {
    if (generation.takesForcedTools) return { ...forced, ...single };
    report.drop("tool_choice");
    return { type: "auto", ...single };
  };
  if (choice === "none") return { type: "none" };
  if (choice === "required") return force({ type: "any" });
  if (choice === "auto") return { type: "auto", ...single };
  if (choice === null || choice === undefined)
    return request.parallel_tool_calls === false ? { type: "auto", ...single } : null;
  if (typeof choice === "object" && choice.type === "function")
    return force({ type: "tool", name: names.toVendor(choice.function.name) });
  if (typeof choice === "object" && choice.type === "allowed_tools")
    return choice.allowed_tools.mode === "required" ? force({ type: "any" }) : { type: "auto", ...single };
  report.invalid(["tool_choice"], "Input should be 'none', 'auto', 'required', a function or allowed tools");
  return null;
}

/** The version that every model supports and that stores nothing. */
function toWebSearch(request: ChatRequest, report: TranslationReport): readonly JsonObject[] {
  const options = request["web_search_options"] as JsonObject | null | undefined;
  if (options === null || options === undefined) return [];
  if (options["search_context_size"]) report.drop("web_search_options.search_context_size");
  const location = options["user_location"] as JsonObject | null | undefined;
  const approximate = asObject(location?.["approximate"]);
  const userLocation = location ? { user_location: { type: "approximate", ...approximate } } : {};
  return [{ type: "web_search_20250305", name: "web_search", ...userLocation, ...toDomains(options, report) }];
}

/** Only one of the two lists: https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool#domain-filtering */
function toDomains(options: JsonObject, report: TranslationReport): JsonObject {
  const allowed = readSearchDomains(options, "allowed_domains");
  const blocked = readSearchDomains(options, "blocked_domains");
  if (allowed !== null && blocked !== null)
    report.invalid(["tools"], "This provider's search accepts allowed or blocked domains, not both");
  return present({ allowed_domains: allowed, blocked_domains: blocked });
}

/** Default values are left out without a report, because that changes nothing. */
function toSampling(request: ChatRequest, reasoning: ReasoningRequest, { generation, report }: Context): JsonObject {
  const { top_p: topP = null, top_k: topK } = request;
  if ((request.temperature ?? 1) > 1) report.drop("temperature");
  const temperature = Math.min(request.temperature ?? 1, 1);
  const maySample = generation.sampling !== "none" && !reasoning.isOn;
  const sampling: Record<string, unknown> = {};
  const add = (name: string, value: unknown, isAllowed: boolean) => {
    if (isAllowed) sampling[name] = value;
    else report.drop(name);
  };
  if (temperature !== 1) add("temperature", temperature, maySample);
  // With thinking, only a high top_p is allowed.
  const mayNarrow = maySample || (generation.sampling !== "none" && (topP ?? 1) >= 0.95);
  const isSecond = generation.sampling === "one" && "temperature" in sampling;
  if (topP !== null && topP !== 1) add("top_p", topP, mayNarrow && !isSecond);
  if (typeof topK === "number") add("top_k", topK, maySample);
  return sampling;
}

/** The vendor refuses sequences of white space alone. */
function toStopSequences(request: ChatRequest, report: TranslationReport): readonly string[] {
  const sequences = stopSequencesOf(request);
  const visible = sequences.filter((sequence) => sequence.trim() !== "");
  if (visible.length < sequences.length) report.drop("stop");
  return visible;
}

const maxUserIdLength = 256;

function findUserId(request: ChatRequest, report: TranslationReport): string | null {
  const metadata = asObject(request["metadata"]);
  if (Object.keys(metadata).some((name) => name !== "user_id")) report.drop("metadata");
  const ids = {
    "metadata.user_id": metadata["user_id"],
    user: request.user,
    safety_identifier: request["safety_identifier"],
  };
  for (const [source, id] of Object.entries(ids)) {
    if (typeof id !== "string" || id === "") continue;
    if (id.length <= maxUserIdLength) return id;
    report.drop(source);
    return null;
  }
  return null;
}

const serviceTiers: Readonly<Record<string, string>> = {
  auto: "auto",
  priority: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

function toServiceTier({ service_tier: requested }: ChatRequest, report: TranslationReport): string | null {
  if (typeof requested !== "string") return null;
  const tier = lookUp(serviceTiers, requested) ?? null;
  if (tier === null) report.drop("service_tier");
  return tier;
}

function checkModalities({ modalities }: ChatRequest, report: TranslationReport): void {
  if (Array.isArray(modalities) && modalities.some((modality) => modality !== "text"))
    report.unsupported(["modalities"], "This provider answers with text only");
}
