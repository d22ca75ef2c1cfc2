// Reads a provider's answers as JSON objects, and adds the gateway's members to them.

import { GatewayError } from "../errors.ts";
import { editMembers, type Replacement, scanJson } from "../lib/json-scan.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";
import { toErrorInAnswer } from "../providers/refusal.ts";

export function readObject(text: string, provider: Provider): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badAnswer(provider, "answered with something that is not JSON", cause);
  }
  if (typeof value !== "object" || value === null) throw badAnswer(provider, "did not answer with an object");
  return value as Record<string, unknown>;
}

/** For answers that report a failure with an `error`, although their status is 200. */
export function readAnswer(text: string, provider: Provider): Record<string, unknown> {
  const answer = readObject(text, provider);
  if (answer["error"] || answer["type"] === "error") throw toErrorInAnswer(provider, answer);
  return answer;
}

export function badAnswer(provider: Provider, problem: string, cause?: unknown): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider.name}' ${problem}.`, { cause });
}

/** An answer whose members have other types than its format says makes the code that reads it throw one of these two. */
export function toReadFailure(error: unknown, provider: Provider): unknown {
  const isUnreadable = error instanceof TypeError || error instanceof RangeError;
  return isUnreadable ? badAnswer(provider, "sent an answer that cannot be read", error) : error;
}

/** A stream that closes without its end marker is incomplete, even when the connection closes cleanly. */
export function incompleteStream(provider: Provider): GatewayError {
  return new GatewayError(
    "provider_disconnected",
    `The provider '${provider.name}' closed the stream before it was complete.`,
  );
}

/** Fills in the model where the provider's path contains it. */
export function fillModel(path: string, model: string): string {
  return path.includes("{model}") ? path.replaceAll("{model}", encodeURIComponent(model)) : path;
}

const addedNames = new Set(["provider", "cost", "cost_reason", "provider_time", "switchyard"]);
const noReplacements: readonly Replacement[] = [];

/** The text, whose parsed form is `value`, with more members. Members that another gateway added under these names are removed. */
export function appendMembers(text: string, value: JsonObject, added: object, replace = noReplacements): string {
  const members = JSON.stringify(added).slice(1, -1);
  const isPlain = replace.length === 0 && !("provider" in value) && !("cost" in value) && !("provider_time" in value);
  if (isPlain) return `${text.slice(0, text.lastIndexOf("}"))},${members}}`;
  return editMembers(text, scanJson(text), { replace, remove: addedNames, append: [members] });
}
