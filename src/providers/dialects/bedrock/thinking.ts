// Writes the requested reasoning in the form of the model's maker. https://docs.aws.amazon.com/bedrock/latest/userguide/inference-reasoning.html

import type { ChatRequest } from "../../../contract/chat-format.ts";
import { lookUp } from "../../../lib/look-up.ts";
import { findEffort } from "../../chat-rules.ts";
import type { JsonObject } from "../../dialect.ts";
import { asObject, objectOrNull } from "../../lenient.ts";
import type { Generation } from "../anthropic/generation.ts";
import { bindThinking, budgets, findChanged, minBudgetTokens } from "../anthropic/reasoning.ts";
import { type RequestedReasoning, readReasoning } from "../chat-request.ts";
import { present } from "../completion.ts";
import type { EffortMember, ModelTraits } from "./models.ts";

export interface Thinking {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: JsonObject;
  /** A model that thinks refuses sampling parameters. */
  readonly isOn: boolean;
  /** The lowest output limit to send when the request has none. */
  readonly minTokens: number | null;
  readonly dropped: readonly string[];
}

interface ThinkingOptions {
  readonly traits: ModelTraits;
  /** The caller's limit. */
  readonly maxTokens: number | null;
  /** The model's limit, if it is known. */
  readonly maxOutputTokens: number | null;
  readonly isReasoningModel: boolean;
  /** Whether a tool call is required. */
  readonly isForced: boolean;
  /** Whether the last turn has results of calls that came without signed thoughts. */
  readonly lacksThoughts: boolean;
  /** Whether the conversation has thoughts of the model. */
  readonly sendsThoughts: boolean;
}

const silent: Thinking = { fields: {}, isOn: false, minTokens: null, dropped: [] };
const roomForAnswer = 4_096;
const mediumBudget = 8_192;
const maxBudget = 32_768;
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

export function toThinking(request: ChatRequest, options: ThinkingOptions): Thinking {
  const requested = readReasoning(request);
  const thinking = bind(requested === null ? silent : fulfil(request, requested, options), options);
  const changed = findChanged(objectOrNull(request["thinking"]), objectOrNull(thinking.fields["thinking"]));
  if (changed === null || thinking.dropped.includes("thinking")) return thinking;
  return { ...thinking, dropped: [...thinking.dropped, changed] };
}

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html */
function bind(thinking: Thinking, { traits, sendsThoughts }: ThinkingOptions): Thinking {
  if (traits.generation === null) return thinking;
  const bound = bindThinking(objectOrNull(thinking.fields["thinking"]), traits.generation, sendsThoughts);
  if (bound.beta === null) return thinking;
  return { ...thinking, fields: { ...thinking.fields, thinking: bound.thinking, anthropic_beta: [bound.beta] } };
}

function fulfil(request: ChatRequest, requested: RequestedReasoning, options: ThinkingOptions): Thinking {
  const name = requested.parameter;
  const { generation, effort, isKnown } = options.traits;
  if (generation !== null) return byGeneration(requested, generation, name, options);
  if (effort !== null) return byEffort(requested, effort, name, options);
  if (!isKnown && name === "thinking") return byCaller(request, requested);
  return requested.isOn || options.isReasoningModel ? { ...silent, dropped: [name] } : silent;
}

/** An inference profile may lead to any model, so `thinking` is passed on unchanged. Models with adaptive thinking accept an effort. */
function byCaller({ thinking }: ChatRequest, { effort }: RequestedReasoning): Thinking {
  const config = asObject(thinking)["type"] === "adaptive" ? toOutputConfig(effort) : {};
  return { ...silent, fields: { thinking, ...config } };
}

function byGeneration(
  requested: RequestedReasoning,
  generation: Generation,
  name: string,
  options: ThinkingOptions,
): Thinking {
  if (!requested.isOn) return switchOff(requested, generation, name);
  if (generation.thinking === "adaptive") {
    // Newer generations omit the text of their thinking by default.
    const display = requested.display ?? (generation.sampling === "none" ? "summarized" : null);
    const config = toOutputConfig(nearest(effortOf(requested), generation.efforts));
    return { ...silent, fields: { thinking: { type: "adaptive", ...present({ display }) }, ...config }, isOn: true };
  }
  const budget = generation.thinking === "budget" ? findBudget(requested, options) : null;
  // The model refuses thinking with a forced call, and in a turn that began without it.
  if (budget === null || options.isForced || options.lacksThoughts) return { ...silent, dropped: [name] };
  const fields = { thinking: { type: "enabled", budget_tokens: budget } };
  return { fields, isOn: true, minTokens: budget + roomForAnswer, dropped: [] };
}

/** An effort also applies to the answer. Above `high`, these models always think. */
function switchOff({ effort }: RequestedReasoning, generation: Generation, name: string): Thinking {
  const level = generation.thinking === "adaptive" ? nearest(effort, generation.efforts) : null;
  const config = toOutputConfig(level === "xhigh" || level === "max" ? "high" : level);
  switch (generation.thinkingOff) {
    case "omit":
      return { ...silent, fields: config };
    case "disabled":
    case "between_tools":
      return { ...silent, fields: { thinking: { type: generation.thinkingOff }, ...config } };
    case "never": {
      const fields = { thinking: { type: "adaptive" }, ...toOutputConfig(level ?? "low") };
      return { ...silent, fields, isOn: true, dropped: [name] };
    }
  }
}

function toOutputConfig(effort: string | null): JsonObject {
  return effort === null ? {} : { output_config: { effort } };
}

/** The thinking budget: below the output limit, and at least the maker's minimum; null when that is impossible. */
function findBudget(requested: RequestedReasoning, { maxTokens, maxOutputTokens }: ThinkingOptions): number | null {
  const limit = maxTokens ?? maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (limit <= minBudgetTokens) return null;
  const ofEffort = Math.min(lookUp(budgets, requested.effort ?? "medium") ?? mediumBudget, maxBudget);
  const wanted = requested.budgetTokens ?? ofEffort;
  // A budget derived from an effort leaves a quarter for the answer; a budget of the caller is used as it is.
  const most = requested.budgetTokens === null ? Math.floor(limit * 0.75) : limit - 1;
  return Math.max(minBudgetTokens, Math.min(wanted, most));
}

function byEffort(
  requested: RequestedReasoning,
  member: EffortMember,
  name: string,
  options: ThinkingOptions,
): Thinking {
  const { form, levels } = member;
  const level = requested.isOn ? nearest(effortOf(requested) ?? "medium", levels) : (levels[0] ?? null);
  if (level === null) return { ...silent, dropped: [name] };
  const dropped = !requested.isOn && level !== "none" ? [name] : [];
  const thinking = { ...silent, dropped };
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

/** At its highest level, this model accepts neither a limit nor sampling parameters, so a caller's limit lowers the level. */
function toReasoningConfig(level: string, { maxTokens }: ThinkingOptions): Pick<Thinking, "fields" | "isOn"> {
  if (level === "none") return { fields: { reasoningConfig: { type: "disabled" } }, isOn: false };
  const maxReasoningEffort = level === "high" && maxTokens !== null ? "medium" : level;
  const fields = { reasoningConfig: { type: "enabled", maxReasoningEffort } };
  return { fields, isOn: maxReasoningEffort === "high" };
}

function effortOf({ effort, budgetTokens }: RequestedReasoning): string | null {
  if (effort !== null || budgetTokens === null) return effort;
  if (budgetTokens <= 4_096) return "low";
  return budgetTokens <= 12_288 ? "medium" : "high";
}

/** Null for an effort that is unknown. */
function nearest(effort: string | null, levels: readonly string[]): string | null {
  return effort === null || !efforts.includes(effort) ? null : findEffort(effort, levels);
}
