// Writes `thinking`, `reasoning` or `reasoning_effort` as the vendor's thinkingConfig.

import type { ChatRequest } from "../../../contract/chat-format.ts";
import type { JsonObject } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull } from "../../lenient.ts";
import { isThinkingOff, refuse } from "../chat-request.ts";
import { present } from "../completion.ts";
import type { ModelTraits, Thinking } from "./model-traits.ts";

/** The reasoning that the caller requests. */
interface Wish {
  readonly effort: Effort | null;
  /** Tokens. */
  readonly budget: number | null;
  readonly isShown: boolean;
  /** The parameter that it comes from. */
  readonly parameter: string;
}

const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
type Effort = (typeof efforts)[number];

// The vendor's own table for reasoning_effort. Efforts that it does not list get the maximum.
const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

export function toThinkingConfig(
  request: ChatRequest,
  traits: ModelTraits,
  maxTokens: number | null,
): { config: JsonObject | null; dropped: readonly string[] } {
  const own = readOwnConfig(request);
  if (own !== null) return { config: own, dropped: [] };
  const wish = readWish(request);
  if (wish === null) return { config: null, dropped: [] };
  if (traits.thinking === null) return { config: null, dropped: wish.effort === "none" ? [] : [wish.parameter] };
  const config = toConfig(wish, traits.thinking, maxTokens);
  const isUnknownType = objectOrNull(request["thinking"])?.["type"] === "between_tools";
  return { config, dropped: isUnknownType ? ["thinking"] : findChanged(wish, config) };
}

function findChanged({ budget, effort, parameter }: Wish, { thinkingBudget }: JsonObject): readonly string[] {
  if (budget !== null)
    return thinkingBudget === budget
      ? []
      : [parameter === "thinking" ? "thinking.budget_tokens" : "reasoning.max_tokens"];
  // The caller's limit is too small for the least budget of the model, so it does not think.
  return thinkingBudget === 0 && effort !== "none" ? [parameter] : [];
}

/** Written for the vendor's OpenAI-compatible endpoint, and passed on unchanged. */
function readOwnConfig(request: ChatRequest): JsonObject | null {
  const google = objectOrNull(objectOrNull(request["extra_body"])?.["google"]) ?? objectOrNull(request["google"]);
  const config = objectOrNull(google?.["thinking_config"]);
  if (config === null) return null;
  const { include_thoughts, thinking_budget, thinking_level, ...others } = config;
  const renamed = { includeThoughts: include_thoughts, thinkingBudget: thinking_budget, thinkingLevel: thinking_level };
  return { ...others, ...present(renamed) };
}

function readWish(request: ChatRequest): Wish | null {
  const thinking = objectOrNull(request["thinking"]);
  if (thinking !== null) {
    const isOff = isThinkingOff(thinking["type"]);
    const budget = isOff ? null : finiteNumber(thinking["budget_tokens"]);
    const effort = isOff ? "none" : readEffort(request.reasoning_effort, "reasoning_effort");
    return { effort, budget, isShown: !isOff && thinking["display"] !== "omitted", parameter: "thinking" };
  }
  const reasoning = objectOrNull(request["reasoning"]);
  if (reasoning !== null) {
    const isOff = reasoning["enabled"] === false;
    const effort = isOff ? "none" : readEffort(reasoning["effort"], "reasoning", "effort");
    const budget = isOff ? null : finiteNumber(reasoning["max_tokens"]);
    return { effort, budget, isShown: effort !== "none" && reasoning["exclude"] !== true, parameter: "reasoning" };
  }
  const effort = readEffort(request.reasoning_effort, "reasoning_effort");
  if (effort === null) return null;
  return { effort, budget: null, isShown: effort !== "none", parameter: "reasoning_effort" };
}

function readEffort(value: unknown, ...location: string[]): Effort | null {
  if (value === undefined || value === null) return null;
  const found = efforts.find((effort) => effort === asText(value));
  if (found !== undefined) return found;
  throw refuse(location, `Input should be one of ${efforts.join(", ")}`, "literal_error");
}

function toConfig(wish: Wish, thinking: Thinking, maxTokens: number | null): JsonObject {
  const shown = wish.isShown ? { includeThoughts: true } : {};
  if (thinking.kind === "level") {
    const level = toLevel(wish, thinking.lowest);
    return level === null ? shown : { thinkingLevel: level, ...shown };
  }
  const budget = toBudget(wish, thinking, maxTokens);
  if (budget === null) return shown;
  return budget === 0 ? { thinkingBudget: 0 } : { thinkingBudget: budget, ...shown };
}

function toLevel({ effort, budget }: Wish, lowest: string): string | null {
  if (budget !== null) return budget <= 4_096 ? "LOW" : budget <= 16_384 ? "MEDIUM" : "HIGH";
  if (effort === null) return null;
  if (effort === "none" || effort === "minimal") return lowest;
  return effort === "low" ? "LOW" : effort === "medium" ? "MEDIUM" : "HIGH";
}

/** Thoughts count towards the caller's limit, so a fifth of it is left for the answer. Null: the model decides. */
function toBudget(wish: Wish, thinking: Thinking & { kind: "budget" }, maxTokens: number | null): number | null {
  const wanted = wish.budget ?? (wish.effort === null ? null : budgets[wish.effort]);
  const limit = maxTokens === null ? thinking.max : Math.floor(maxTokens * 0.8);
  if (wanted === null) return limit < thinking.min && thinking.canStop ? 0 : null;
  const budget = Math.min(wanted, thinking.max, limit);
  if (budget >= thinking.min) return budget;
  if (!thinking.canStop) return thinking.min;
  // A small budget is raised to the minimum, unless the limit is too small for it.
  return wanted > 0 && limit >= thinking.min ? thinking.min : 0;
}
