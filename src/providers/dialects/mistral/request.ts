// From the chat format to POST /chat/completions: shallow changes, the rest as it came.

import { gatewayMemberNames } from "../../../contract/chat-completions.ts";
import type { ChatRequest, ChatTool } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { DialectRequest, Target } from "../../dialect.ts";
import { askedReasoning, tokenCapOf } from "../asked.ts";
import { present } from "../new-answer.ts";
import { toMistralMessages } from "./messages.ts";
import { isPassedOn } from "./parameters.ts";

const ourMembers = new Set(gatewayMemberNames);

export function toMistralRequest(request: ChatRequest, target: Target): DialectRequest {
  const dropped: string[] = [];
  const passed = Object.entries(request).filter(([name]) => isPassedOn(name) && !ourMembers.has(name));
  const body = present(Object.fromEntries(passed));
  const changed = present({
    model: target.model,
    messages: toMistralMessages(request.messages, target),
    stream: target.isStream ? true : request.stream,
    max_tokens: tokenCapOf(request),
    random_seed: request["random_seed"] ?? request.seed,
    reasoning_effort: toEffort(request, target, dropped),
    response_format: toResponseFormat(request),
    service_tier: toServiceTier(request, dropped),
    ...toTools(request),
  });
  if (changed["reasoning_effort"] === undefined) delete body["reasoning_effort"];
  return {
    path: "/chat/completions",
    body: JSON.stringify({ ...body, ...changed }),
    dropped,
    reading: { model: target.model, answerTool: null },
  };
}

// Thought is only on or off here, and `high` is on: https://docs.mistral.ai/capabilities/reasoning/
const isOnOrOff = /^mistral-(?:small|medium)/;

function toEffort(request: ChatRequest, target: Target, dropped: string[]): string | null {
  const asked = askedReasoning(request);
  if (asked === null) return null;
  if (target.facts?.reasoning === false) {
    if (asked.isOn) dropped.push("reasoning_effort");
    return null;
  }
  if (asked.budgetTokens !== null)
    dropped.push(request["thinking"] ? "thinking.budget_tokens" : "reasoning.max_tokens");
  const effort = asked.effort ?? (asked.isOn ? "high" : "none");
  if (isOnOrOff.test(target.model)) return effort === "none" || effort === "minimal" ? "none" : "high";
  return effort === "max" ? "xhigh" : effort;
}

/** The vendor knows two. */
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

/** The vendor has no choice among some of the tools: the others are left out instead. */
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
