// What becomes of the parameters of a chat request in another dialect: mapped, dropped and named, or refused. The table is
// the dialect's; the same table is what GET /v3/models/{id} shows.

import type { ChatRequest } from "../contract/chat-format.ts";
import { type Problem, ProblemList } from "../errors.ts";
import type { ParameterRule, ParameterTable } from "./dialect.ts";

/** What every dialect takes care of. */
const always: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options"]);
/** Values that ask for nothing: to drop them changes nothing. */
const idle: Readonly<Record<string, (value: unknown) => boolean>> = {
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
  return (Object.hasOwn(table, name) ? table[name] : table["*"]) ?? "dropped";
}

/** The names of what will be dropped. Throws when a parameter is refused. `passed` are members that are not parameters. */
export function findDropped(request: ChatRequest, table: ParameterTable, passed: ReadonlySet<string>): string[] {
  const dropped: string[] = [];
  const problems = new ProblemList();
  for (const [name, value] of Object.entries(request)) {
    if (value === null || value === undefined || always.has(name) || passed.has(name)) continue;
    const rule = ruleOf(table, name);
    if (rule === "mapped" || rule === "parallel") continue;
    if (Object.hasOwn(idle, name) && idle[name]?.(value)) continue;
    if (rule === "dropped") dropped.push(name);
    else problems.add(toProblem(name, "The provider of this model has no such parameter"));
  }
  problems.throwIfAny();
  return dropped;
}

/** With `strict_parameters` nothing may be dropped. */
export function refuseDropped(dropped: readonly string[]): void {
  const problems = new ProblemList();
  for (const name of dropped) problems.add(toProblem(name, "The provider of this model has no place for it"));
  problems.throwIfAny();
}

function toProblem(name: string, msg: string): Problem {
  const loc = ["body", ...name.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
  return { loc, msg, type: "unsupported_parameter" };
}
