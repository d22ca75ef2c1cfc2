// Writes the request of POST /chat/completions: few members change, all others are passed on.

import { gatewayMemberNames } from "../../../contract/chat-completions.ts";
import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, ParameterTable, Target } from "../../dialect.ts";
import { all } from "../../parameters.ts";
import { maxTokensOf, readReasoning } from "../chat-request.ts";
import { present } from "../completion.ts";
import { toMistralMessages } from "./messages.ts";

// The vendor's schema refuses unknown members, so those of other formats are removed. Everything else is passed on, which includes
// members that the vendor adds later: https://docs.mistral.ai/api/
export const parameters: ParameterTable = {
  ...all("mapped", "*", "max_completion_tokens", "seed", "stream_options", "reasoning", "thinking"),
  ...all("dropped", "logprobs", "top_logprobs", "logit_bias", "user", "store", "safety_identifier"),
  ...all("dropped", "prompt_cache_retention", "verbosity", "modalities", "top_k", "min_p", "cache_control"),
  ...all("refused", "audio", "functions", "function_call", "web_search_options"),
};

const gatewayMembers = new Set(gatewayMemberNames);
/** Members that the vendor has under another name or with other values. */
const translated = new Set([
  "max_completion_tokens",
  "seed",
  "stream_options",
  "reasoning",
  "thinking",
  "service_tier",
]);

export function toMistralRequest(request: ChatRequest, target: Target): DialectRequest {
  const dropped: string[] = [];
  const passed = Object.entries(request).filter(([name]) => isPassedOn(name));
  const { reasoning_effort: _effort, ...body } = Object.fromEntries(passed);
  const changed = {
    model: target.model,
    messages: toMistralMessages(request.messages, target),
    stream: target.isStream ? true : request.stream,
    max_tokens: maxTokensOf(request),
    random_seed: request["random_seed"] ?? request.seed,
    reasoning_effort: toEffort(request, target, dropped),
    response_format: toResponseFormat(request),
    service_tier: toServiceTier(request, dropped),
    ...toTools(request),
  };
  return {
    path: "/chat/completions",
    body: JSON.stringify({ ...present(body), ...present(changed) }),
    dropped,
    reading: { model: target.model, answerTool: null },
  };
}

function isPassedOn(name: string): boolean {
  if (translated.has(name) || gatewayMembers.has(name)) return false;
  return (lookUp(parameters, name) ?? "mapped") === "mapped";
}

// These models only turn reasoning on (`high`) or off: https://docs.mistral.ai/capabilities/reasoning/
const isOnOrOff = /^mistral-(?:small|medium)/;

function toEffort(request: ChatRequest, target: Target, dropped: string[]): string | null {
  const reasoning = readReasoning(request);
  if (reasoning === null) return null;
  if (target.facts?.reasoning === false) {
    if (reasoning.isOn) dropped.push("reasoning_effort");
    return null;
  }
  dropped.push(...reasoning.dropped);
  if (reasoning.budgetTokens !== null) dropped.push(reasoning.budgetParameter);
  const effort = reasoning.isOn ? (reasoning.effort ?? "high") : "none";
  if (isOnOrOff.test(target.model)) return effort === "none" || effort === "minimal" ? "none" : "high";
  return effort === "max" ? "xhigh" : effort;
}

const serviceTiers: Readonly<Record<string, string>> = {
  auto: "auto",
  default: "standard_only",
  standard_only: "standard_only",
};

function toServiceTier(request: ChatRequest, dropped: string[]): string | null {
  const tier = request["service_tier"];
  if (typeof tier !== "string") return null;
  const known = lookUp(serviceTiers, tier) ?? null;
  if (known === null) dropped.push("service_tier");
  return known;
}

function toResponseFormat(request: ChatRequest): unknown {
  const format = request.response_format;
  if (format?.type !== "json_schema") return format;
  const { name, description, schema, strict } = format.json_schema;
  return { type: "json_schema", json_schema: present({ name: name ?? "answer", description, schema, strict }) };
}

/** The vendor has no `allowed_tools`, so the other tools are left out. */
function toTools(request: ChatRequest): { tools?: readonly unknown[]; tool_choice?: unknown } {
  if (!request.tools?.length) return {};
  const choice = request.tool_choice;
  if (typeof choice !== "object" || choice === null || choice.type !== "allowed_tools")
    return { tools: request.tools.map(toTool) };
  const { mode, tools } = choice.allowed_tools;
  const names = new Set(tools.map((tool) => tool.function?.name));
  const allowed = request.tools.filter((tool) => tool.function === undefined || names.has(tool.function.name));
  return { tools: allowed.map(toTool), tool_choice: mode };
}

function toTool(tool: ChatTool): unknown {
  if (tool.type !== "function" || tool.function === undefined) return tool;
  const { name, description, parameters, strict } = tool.function;
  const schema = parameters ?? { type: "object", properties: {} };
  return { type: "function", function: present({ name, description, parameters: schema, strict }) };
}
