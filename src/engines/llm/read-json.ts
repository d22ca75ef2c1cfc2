// The JSON object in a model's answer. Models that nobody holds to a form put fences or a sentence around it.

import { scanJson } from "../../lib/json-scan.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import { isObject } from "../../lib/lenient-json.ts";

// No task has an answer that is nested as deep, and the functions that read an answer are recursive.
const limits = { maxDepth: 64, maxTokens: Number.POSITIVE_INFINITY };

/** Undefined when there is none. */
export function readJson(text: string): Json | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return parseObject(text) ?? (start < 0 || end <= start ? undefined : parseObject(text.slice(start, end + 1)));
}

function parseObject(text: string): Json | undefined {
  try {
    if (scanJson(text, limits).tooDeepIn !== null) return undefined;
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}
