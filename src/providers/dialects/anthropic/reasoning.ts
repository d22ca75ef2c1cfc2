// How much the model should think: `reasoning_effort`, `reasoning` or `thinking`, in the way that the model's generation has.

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../dialect.ts";
import { objectOrNull } from "../../lenient.ts";
import type { TranslationReport } from "../../translation-report.ts";
import type { Effort, Generation } from "./generation.ts";

export interface ReasoningRequest {
  readonly thinking: JsonObject | null;
  readonly effort: Effort | null;
  /** Whether the caller asked for it and gets it. */
  readonly isOn: boolean;
}

interface Wish {
  readonly state: "unsaid" | "off" | "on";
  readonly effort: string | null;
  readonly budgetTokens: number | null;
  readonly display: unknown;
  /** The parameter that said so. */
  readonly source: string;
}

const minBudgetTokens = 1_024;
/** Thinking counts towards `max_tokens`: something has to be left for the answer. */
const largestShare = 0.8;

const budgets: Readonly<Record<string, number>> = {
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
  /** Why a budget would be refused: a call of a tool is demanded, or a turn that it must not follow. */
  readonly forbidsBudget: boolean;
}

export function toReasoning(request: ChatRequest, given: Circumstances, report: TranslationReport): ReasoningRequest {
  const made = toWished(readWish(request, report), given, report);
  const rewritten = findRewritten(objectOrNull(request["thinking"]), made.thinking);
  if (rewritten !== null && !report.dropped.includes("thinking")) report.drop(rewritten);
  return made;
}

/** What of the caller's `thinking` the model does not get as it was said: its type, its budget, or nothing. */
export function findRewritten(asked: JsonObject | null, sent: JsonObject | null): string | null {
  if (asked === null) return null;
  const { type, budget_tokens: budget } = asked;
  if ((type === "disabled" || type === "between_tools") && sent !== null && sent["type"] !== type) return "thinking";
  return type === "enabled" && budget !== undefined && sent?.["budget_tokens"] !== budget
    ? "thinking.budget_tokens"
    : null;
}

function toWished(wish: Wish, given: Circumstances, report: TranslationReport): ReasoningRequest {
  if (wish.state === "unsaid") return { thinking: null, effort: null, isOn: false };
  if (given.generation.thinking === "adaptive") return toAdaptive(wish, given.generation, report);
  if (wish.state === "off") return { thinking: null, effort: null, isOn: false };
  const effort = findEffort(wish.effort, given.generation.efforts);
  const budget = given.generation.thinking === "none" || given.forbidsBudget ? null : findBudget(wish, given.maxTokens);
  if (budget !== null) return { thinking: { type: "enabled", budget_tokens: budget }, effort, isOn: true };
  if (effort === null) report.drop(wish.source);
  return { thinking: null, effort, isOn: false };
}

function toAdaptive(wish: Wish, generation: Generation, report: TranslationReport): ReasoningRequest {
  const effort = findEffort(wish.effort ?? effortOfBudget(wish.budgetTokens), generation.efforts);
  if (wish.state === "on") {
    // Newer models leave the text of their thinking out unless it is asked for.
    const display = wish.display ?? "summarized";
    return { thinking: { type: "adaptive", display }, effort, isOn: true };
  }
  switch (generation.thinkingOff) {
    case "omit":
      return { thinking: null, effort, isOn: false };
    case "never":
      report.drop(wish.source);
      return { thinking: null, effort: effort ?? "low", isOn: false };
    default:
      // Above `high` these models cannot do without thinking.
      return {
        thinking: { type: generation.thinkingOff },
        effort: effort === "xhigh" || effort === "max" ? "high" : effort,
        isOn: false,
      };
  }
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
  const budgetTokens = asCount(thinking?.["budget_tokens"]) ?? asCount(reasoning?.["max_tokens"]);
  const display = thinking?.["display"] ?? (reasoning?.["exclude"] === true ? "omitted" : null);
  const wish = { effort, budgetTokens, display, source };
  const type = thinking?.["type"];
  if (type === "disabled" || type === "between_tools") return { ...wish, state: "off" };
  if (type !== undefined) return { ...wish, state: "on" };
  if (named === "none" || reasoning?.["enabled"] === false) return { ...wish, state: "off" };
  const isAsked = effort !== null || budgetTokens !== null || reasoning?.["enabled"] === true;
  return { ...wish, state: isAsked ? "on" : "unsaid" };
}

/** The nearest level that the model has and that is not above the one asked for. */
function findEffort(asked: string | null, efforts: readonly Effort[]): Effort | null {
  if (asked === null) return null;
  const rank = asked === "minimal" ? 0 : order.indexOf(asked as Effort);
  return efforts.findLast((effort) => order.indexOf(effort) <= rank) ?? null;
}

function effortOfBudget(budgetTokens: number | null): string | null {
  if (budgetTokens === null) return null;
  const names = ["minimal", "low", "medium", "high", "xhigh"];
  return names.find((name) => budgetTokens <= (lookUp(budgets, name) as number)) ?? "max";
}

function findBudget(wish: Wish, maxTokens: number): number | null {
  const asked = wish.budgetTokens ?? lookUp(budgets, wish.effort ?? "medium") ?? minBudgetTokens;
  const budget = Math.max(minBudgetTokens, Math.min(asked, Math.floor(maxTokens * largestShare)));
  return budget < maxTokens ? budget : null;
}

function asCount(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : null;
}
