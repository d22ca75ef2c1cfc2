// Writes `reasoning_effort`, `reasoning` or `thinking` in the form that the model's generation accepts.

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../dialect.ts";
import { objectOrNull } from "../../lenient.ts";
import type { TranslationReport } from "../../translation-report.ts";
import { asBudget, isThinkingOff } from "../chat-request.ts";
import type { Effort, Generation } from "./generation.ts";

export interface ReasoningRequest {
  readonly thinking: JsonObject | null;
  readonly effort: Effort | null;
  /** Whether the caller requested thinking and the model will think. */
  readonly isOn: boolean;
}

const silent: ReasoningRequest = { thinking: null, effort: null, isOn: false };

/** The reasoning that the caller requests. */
interface Wish {
  readonly state: "absent" | "off" | "on";
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  readonly display: unknown;
  /** The parameter that it comes from. */
  readonly source: string;
}

export const minBudgetTokens = 1_024;
/** Thinking counts towards `max_tokens`; the rest is for the answer. */
const maxThinkingShare = 0.8;

export const budgets: Readonly<Record<string, number>> = {
  minimal: minBudgetTokens,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
};
const order: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

export interface Circumstances {
  readonly generation: Generation;
  readonly maxTokens: number;
  /** The vendor would refuse a budget, because a tool call is required or because of the last turn. */
  readonly forbidsBudget: boolean;
}

export function toReasoning(request: ChatRequest, given: Circumstances, report: TranslationReport): ReasoningRequest {
  const reasoning = fulfil(readWish(request, report), given, report);
  const changed = findChanged(objectOrNull(request["thinking"]), reasoning.thinking);
  if (changed !== null && !report.dropped.includes("thinking")) report.drop(changed);
  return reasoning;
}

/** The part of the caller's `thinking` that is not sent unchanged: its type, its budget, its display, or nothing. */
export function findChanged(requested: JsonObject | null, sent: JsonObject | null): string | null {
  if (requested === null) return null;
  const { type, budget_tokens: budget, display } = requested;
  if (type === "disabled" && sent !== null && sent["type"] !== type) return "thinking";
  if (type === "between_tools" && sent?.["type"] !== type) return "thinking";
  if (type === "enabled" && budget !== undefined && sent?.["budget_tokens"] !== budget) return "thinking.budget_tokens";
  return display === "omitted" && sent !== null && sent["display"] !== display ? "thinking.display" : null;
}

const bindingBeta = "thinking-binding-controls-2026-08-01";

/**
 * The thinking of newer models is bound to all content before it, and chat clients shorten their conversations. Thinking that no longer
 * matches should be dropped instead of refused. `beta`: the feature to request; null when nothing changes.
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
 */
export function bindThinking(thinking: JsonObject | null, generation: Generation, sendsThinking: boolean) {
  const isAdaptive = thinking === null || thinking["type"] === "adaptive";
  if (!generation.bindsThinking || !isAdaptive || !sendsThinking) return { thinking, beta: null };
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  return { thinking: { type: "adaptive", ...thinking, block_binding }, beta: bindingBeta };
}

function fulfil(wish: Wish, given: Circumstances, report: TranslationReport): ReasoningRequest {
  if (wish.state === "absent") return silent;
  if (given.generation.thinking === "adaptive") return toAdaptive(wish, given.generation, report);
  if (wish.state === "off") return silent;
  const effort = findEffort(wish.effort, given.generation.efforts);
  const budget = given.generation.thinking === "none" || given.forbidsBudget ? null : findBudget(wish, given.maxTokens);
  if (budget !== null) return { thinking: { type: "enabled", budget_tokens: budget }, effort, isOn: true };
  if (effort === null) report.drop(wish.source);
  return { ...silent, effort };
}

function toAdaptive(wish: Wish, generation: Generation, report: TranslationReport): ReasoningRequest {
  const effort = findEffort(wish.effort ?? effortOfBudget(wish.budgetTokens), generation.efforts);
  // Newer models omit the text of their thinking by default.
  if (wish.state === "on")
    return { thinking: { type: "adaptive", display: wish.display ?? "summarized" }, effort, isOn: true };
  if (generation.thinkingOff === "omit") return { ...silent, effort };
  if (generation.thinkingOff === "never") {
    report.drop(wish.source);
    return { ...silent, effort: effort ?? "low" };
  }
  // Above `high`, these models always think.
  const limited = effort === "xhigh" || effort === "max" ? "high" : effort;
  return { thinking: { type: generation.thinkingOff }, effort: limited, isOn: false };
}

function readWish(request: ChatRequest, report: TranslationReport): Wish {
  const thinking = objectOrNull(request["thinking"]);
  const reasoning = objectOrNull(request["reasoning"]);
  const named = reasoning?.["effort"] ?? request.reasoning_effort ?? null;
  const source = thinking ? "thinking" : reasoning ? "reasoning" : "reasoning_effort";
  if (named !== null && named !== "none" && (typeof named !== "string" || !Object.hasOwn(budgets, named)))
    report.invalid(
      reasoning?.["effort"] === named ? ["reasoning", "effort"] : ["reasoning_effort"],
      "Input should be 'none', 'minimal', 'low', 'medium', 'high', 'xhigh' or 'max'",
    );
  const effort = typeof named === "string" && named !== "none" ? named : null;
  const budgetTokens = asBudget(thinking?.["budget_tokens"]) ?? asBudget(reasoning?.["max_tokens"]);
  const display = thinking?.["display"] ?? (reasoning?.["exclude"] === true ? "omitted" : null);
  const wish = { effort, budgetTokens, display, source };
  const type = thinking?.["type"];
  if (isThinkingOff(type)) return { ...wish, state: "off" };
  if (type !== undefined) return { ...wish, state: "on" };
  if (named === "none" || reasoning?.["enabled"] === false) return { ...wish, state: "off" };
  const isRequested = effort !== null || budgetTokens !== null || reasoning?.["enabled"] === true;
  return { ...wish, state: isRequested ? "on" : "absent" };
}

/** The highest level of the model that is not above the requested one. */
function findEffort(requested: string | null, efforts: readonly Effort[]): Effort | null {
  if (requested === null) return null;
  const rank = requested === "minimal" ? 0 : order.indexOf(requested as Effort);
  return efforts.findLast((effort) => order.indexOf(effort) <= rank) ?? null;
}

function effortOfBudget(budgetTokens: number | null): string | null {
  if (budgetTokens === null) return null;
  const names = ["minimal", "low", "medium", "high", "xhigh"];
  return names.find((name) => budgetTokens <= (lookUp(budgets, name) as number)) ?? "max";
}

function findBudget(wish: Wish, maxTokens: number): number | null {
  const requested = wish.budgetTokens ?? lookUp(budgets, wish.effort ?? "medium") ?? minBudgetTokens;
  const budget = Math.max(minBudgetTokens, Math.min(requested, Math.floor(maxTokens * maxThinkingShare)));
  return budget < maxTokens ? budget : null;
}
