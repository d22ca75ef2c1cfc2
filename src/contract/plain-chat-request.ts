// Most chat requests hold only texts and a few numbers. This check recognises them at a fraction of the cost of the schema, and without its
// copy. Every other request is checked by the schema, which also reports its problems.

import { isObject } from "../lib/lenient-json.ts";
import type { ChatCompletionRequest } from "./chat-completions.ts";

type Check = (value: unknown) => boolean;

const maxMessages = 2_048;
const maxTokens = 1_000_000;

const isBoolean: Check = (value) => typeof value === "boolean";
const isTokenLimit: Check = (value) => Number.isInteger(value) && isWithin(1, maxTokens, value);

/** The members that a plain request may have. A request with another member that the schema knows is not plain. */
const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["messages", areMessages],
  ["stream", isBoolean],
  ["stream_options", isStreamOptions],
  ["temperature", (value) => isWithin(0, 2, value)],
  ["top_p", (value) => isWithin(0, 1, value)],
  ["max_tokens", isTokenLimit],
  ["max_completion_tokens", isTokenLimit],
  ["presence_penalty", (value) => isWithin(-2, 2, value)],
  ["frequency_penalty", (value) => isWithin(-2, 2, value)],
]);

/** `known`: all members of the schema. `isModelName`: the rule of the schema for the name of a model. */
export function createPlainCheck(
  known: ReadonlySet<string>,
  isModelName: (name: string) => boolean,
): (value: unknown) => value is ChatCompletionRequest {
  return (value): value is ChatCompletionRequest => {
    if (!isObject(value)) return false;
    let isComplete = false;
    for (const name of Object.keys(value)) {
      if (name === "model") continue;
      const check = checks.get(name);
      if (check === undefined ? known.has(name) : !check(value[name])) return false;
      if (name === "messages") isComplete = true;
    }
    const model = value["model"];
    return isComplete && typeof model === "string" && isModelName(model);
  };
}

function areMessages(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.length <= maxMessages && value.every(isTextMessage);
}

function isTextMessage(value: unknown): boolean {
  if (!isObject(value) || typeof value["content"] !== "string") return false;
  const role = value["role"];
  if (role === "assistant") return value["tool_calls"] === undefined;
  return role === "user" || role === "system" || role === "developer";
}

function isStreamOptions(value: unknown): boolean {
  return isObject(value) && isBoolean(value["include_usage"]);
}

function isWithin(least: number, most: number, value: unknown): boolean {
  return typeof value === "number" && value >= least && value <= most;
}
