// How much a model shall think, in the words of its maker. https://docs.aws.amazon.com/bedrock/latest/userguide/inference-reasoning.html

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { isObject } from "../../../lib/lenient-json.ts";
import { lookUp } from "../../../lib/look-up.ts";
import type { JsonObject } from "../../dialect.ts";
import type { Generation } from "../anthropic/generation.ts";
import { findChanged } from "../anthropic/reasoning.ts";
import { type RequestedReasoning, readReasoning } from "../chat-request.ts";
import type { EffortMember, ModelTraits } from "./models.ts";

export interface Thinking {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** While it thinks, a model samples in its own way. */
  readonly isOn: boolean;
  /** The least that has to be sent as the cap when the caller gave none. */
  readonly minTokens: number | null;
  readonly dropped: readonly string[];
}

interface ThinkingOptions {
  readonly traits: ModelTraits;
  /** The caller's cap on tokens. */
  readonly cap: number | null;
  /** The model's own, when it is known. */
  readonly maxOutputTokens: number | null;
  /** Whether it is known to think. */
  readonly thinks: boolean;
  /** Whether a tool has to be called. */
  readonly isForced: boolean;
  /** Whether the conversation waits for an answer to tool results whose calls came without their thoughts. */
  readonly lacksThoughts: boolean;
}

const silent: Thinking = { fields: {}, isOn: false, minTokens: null, dropped: [] };
const minBudget = 1_024;
const roomForAnswer = 4_096;
const budgets: Readonly<Record<string, number>> = {
  minimal: minBudget,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export function toThinking(request: ChatRequest, options: ThinkingOptions): Thinking {
  const asked = readReasoning(request);
  if (asked === null) return silent;
  const made = toAsked(request, asked, options);
  const given = request["thinking"];
  const sent = made.fields["thinking"];
  const rewritten = findChanged(isObject(given) ? given : null, isObject(sent) ? sent : null);
  if (rewritten === null || made.dropped.includes("thinking")) return made;
  return { ...made, dropped: [...made.dropped, rewritten] };
}

function toAsked(request: ChatRequest, asked: RequestedReasoning, options: ThinkingOptions): Thinking {
  const name = nameOf(request);
  const { generation, effort, isKnown } = options.traits;
  if (generation !== null) return byGeneration(asked, generation, name, options);
  if (effort !== null) return byEffort(asked, effort, name, options);
  // A profile of the operator's own may stand for any model: what was said in that model's words is passed on.
  if (!isKnown && name === "thinking") return { ...silent, fields: { thinking: request["thinking"] } };
  return asked.isOn || options.thinks ? { ...silent, dropped: [name] } : silent;
}

function nameOf(request: ChatRequest): string {
  if (request["thinking"] !== undefined && request["thinking"] !== null) return "thinking";
  return request.reasoning_effort ? "reasoning_effort" : "reasoning";
}

function byGeneration(
  asked: RequestedReasoning,
  generation: Generation,
  name: string,
  options: ThinkingOptions,
): Thinking {
  if (!asked.isOn) return switchOff(generation, name);
  if (generation.thinking === "adaptive") {
    const effort = nearest(effortOf(asked), generation.efforts);
    // Newer generations keep their thoughts to themselves unless they are asked for them.
    const display = generation.sampling === "none" ? { display: "summarized" } : {};
    const fields = {
      thinking: { type: "adaptive", ...display },
      ...(effort === null ? {} : { output_config: { effort } }),
    };
    return { ...silent, fields, isOn: true };
  }
  const budget = generation.thinking === "budget" ? findBudget(asked, options) : null;
  // Thinking goes neither with a forced call nor with an unfinished turn that began without it.
  if (budget === null || options.isForced || options.lacksThoughts) return { ...silent, dropped: [name] };
  const fields = { thinking: { type: "enabled", budget_tokens: budget } };
  return { fields, isOn: true, minTokens: budget + roomForAnswer, dropped: [] };
}

function switchOff(generation: Generation, name: string): Thinking {
  switch (generation.thinkingOff) {
    case "omit":
      return silent;
    case "disabled":
    case "between_tools":
      return { ...silent, fields: { thinking: { type: generation.thinkingOff } } };
    case "never":
      // As little as it can.
      return {
        ...silent,
        fields: { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
        isOn: true,
        dropped: [name],
      };
  }
}

/** The tokens to think with: less than the cap, and not below what the maker demands; null when that leaves none. */
function findBudget(asked: RequestedReasoning, { cap, maxOutputTokens }: ThinkingOptions): number | null {
  const limit = cap ?? maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (limit <= minBudget) return null;
  const wanted = asked.budgetTokens ?? lookUp(budgets, asked.effort ?? "medium") ?? budgets["medium"] ?? minBudget;
  // A budget that follows from an effort leaves a quarter for the answer; an exact one is the caller's own choice.
  const most = asked.budgetTokens === null ? Math.floor(limit * 0.75) : limit - 1;
  return Math.max(minBudget, Math.min(wanted, most));
}

function byEffort(
  asked: RequestedReasoning,
  { form, levels }: EffortMember,
  name: string,
  options: ThinkingOptions,
): Thinking {
  const level = asked.isOn ? nearest(effortOf(asked) ?? "medium", levels) : (levels[0] ?? null);
  if (level === null) return { ...silent, dropped: [name] };
  const dropped = !asked.isOn && level !== "none" ? [name] : [];
  const thinking = { ...silent, isOn: false, dropped };
  switch (form) {
    case "reasoning_effort":
    case "reasoning_config":
      return { ...thinking, fields: { [form]: level } };
    case "reasoning.effort":
      return { ...thinking, fields: { reasoning: { effort: level } } };
    case "reasoningConfig":
      return { ...thinking, ...toReasoningConfig(level, options) };
  }
}

/** At its highest level this model takes neither a cap nor sampling: a caller's cap counts more than the last level. */
function toReasoningConfig(level: string, { cap }: ThinkingOptions): Pick<Thinking, "fields" | "isOn"> {
  if (level === "none") return { fields: { reasoningConfig: { type: "disabled" } }, isOn: false };
  const maxReasoningEffort = level === "high" && cap !== null ? "medium" : level;
  const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort } };
  return { fields, isOn: maxReasoningEffort === "high" };
}

function effortOf({ effort, budgetTokens }: RequestedReasoning): string | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens <= 4_096) return "low";
  return budgetTokens <= 12_288 ? "medium" : "high";
}

/** The highest known level that is not above the one asked for, else the lowest. An unknown word is no level. */
function nearest(effort: string | null, levels: readonly string[]): string | null {
  const rank = effort === null ? -1 : efforts.indexOf(effort);
  if (rank < 0) return null;
  const thinking = levels.filter((level) => level !== "none");
  return thinking.findLast((level) => efforts.indexOf(level) <= rank) ?? thinking[0] ?? null;
}
