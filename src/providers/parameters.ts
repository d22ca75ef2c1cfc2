// The treatment of a request's parameters in another dialect: mapped, dropped and reported, or refused. Each dialect has a table, which
// GET /v3/models/{id} shows.

import type { ChatRequest } from "../contract/chat-format.ts";
import { type Problem, ProblemList } from "../errors.ts";
import { lookUp } from "../lib/look-up.ts";
import type { ParameterRule, ParameterTable } from "./dialect.ts";

/** Gives several parameters the same rule. */
export function all(rule: ParameterRule, ...names: readonly string[]): ParameterTable {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

/** The rules that most chat dialects share. */
export const commonChatRules: ParameterTable = {
  ...all("mapped", "model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens"),
  ...all("mapped", "temperature", "top_p", "top_k", "stop", "response_format"),
  ...all("mapped", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "reasoning", "thinking"),
  ...all("refused", "audio", "functions", "function_call"),
  ...all("parallel", "n"),
  ...all("dropped", "logit_bias"),
};

/** Members that every dialect reads. */
const alwaysRead: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options"]);
/** Values that equal the default: dropping them changes nothing. */
const isDefault: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value === 1,
  logprobs: (value) => value === false,
  top_logprobs: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  frequency_penalty: (value) => value === 0,
  response_format: (value) => (value as { type?: unknown }).type === "text",
  modalities: (value) => Array.isArray(value) && value.length === 1 && value[0] === "text",
  store: (value) => value === false,
};

export function ruleOf(table: ParameterTable, name: string): ParameterRule {
  return lookUp(table, name) ?? table["*"] ?? "dropped";
}

/** The names of the parameters that will be dropped. Throws when a parameter is refused. `ignored`: members of the gateway itself. */
export function findDropped(request: ChatRequest, table: ParameterTable, ignored: ReadonlySet<string>): string[] {
  const dropped: string[] = [];
  const problems = new ProblemList();
  for (const [name, value] of Object.entries(request)) {
    if (value === null || value === undefined || alwaysRead.has(name) || ignored.has(name)) continue;
    const rule = ruleOf(table, name);
    if (rule === "mapped" || rule === "parallel") continue;
    if (lookUp(isDefault, name)?.(value)) continue;
    if (rule === "dropped") dropped.push(name);
    else problems.add(toProblem(name, "The provider of this model does not support this parameter"));
  }
  problems.throwIfAny();
  return dropped;
}

/** With `strict_parameters`, a parameter that would be dropped is an error. */
export function refuseDropped(dropped: readonly string[]): void {
  const problems = new ProblemList();
  for (const name of dropped)
    problems.add(toProblem(name, "The provider of this model does not support it, and strict_parameters is true"));
  problems.throwIfAny();
}

function toProblem(name: string, msg: string): Problem {
  const loc = ["body", ...name.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
  return { loc, msg, type: "unsupported_parameter" };
}
