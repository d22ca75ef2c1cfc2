// The response objects and events of a provider that has the Responses API, as the caller receives them: every id is the gateway's. A row in
// the store maps the id of a response; the id of an item is signed for its owner.

import type { ResponseRequest } from "../../contract/responses.ts";
import { isObject } from "../../lib/lenient-json.ts";
import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { hideSecrets } from "../../providers/refusal.ts";
import { responsesNames, toSummedUsage } from "../../usage/tokens.ts";
import { completeEvent, completeResponse, toSpecifiedStatus } from "./response-defaults.ts";

export interface ResponseNames {
  /** The gateway's id. */
  readonly id: string;
  readonly previousId: string | null;
  /** The provider or the gateway stores it, so that it can be retrieved. */
  readonly isStored: boolean;
  /** The request that creates the response, for a provider that does not repeat its members. */
  readonly request?: ResponseRequest;
}

export type SignId = (id: string) => string;

/** Signs the item ids of one answer. It remembers them, because many events of an item repeat its id. */
export function createSignId(owned: OwnedIds, scope: IdScope): SignId {
  const known = new Map<string, string>();
  return (id) => {
    const signed = known.get(id) ?? owned.sign(id, scope);
    known.set(id, signed);
    return signed;
  };
}

interface OwnContext {
  readonly provider: Provider;
  readonly names: ResponseNames;
  readonly signId: SignId;
}

/** The complete object with the gateway's ids and added members. The message of its error has no secrets. */
export function toOwnResponse(
  native: JsonObject,
  { provider, names, signId }: OwnContext,
  added: JsonObject,
): Record<string, unknown> {
  const complete = completeResponse(native, names.request);
  const { output, error } = complete;
  const pairs = toPairs(native, names);
  const instructions = complete["instructions"] ?? names.request?.instructions ?? null;
  const own = {
    ...complete,
    id: names.id,
    previous_response_id: names.previousId,
    store: names.isStored,
    instructions,
    ...(isObject(error) && { error: toOwnError(error, provider, pairs) }),
    ...(Array.isArray(output) && { output: output.map((item) => toOwnItem(item, signId)) }),
    ...(Array.isArray(instructions) && { instructions: instructions.map((item) => toOwnItem(item, signId)) }),
    provider: provider.name,
    ...added,
  };
  const text = JSON.stringify(own);
  const clean = withoutProviderIds(text, pairs);
  return clean === text ? own : JSON.parse(clean);
}

function toOwnError(error: JsonObject, provider: Provider, pairs: IdPairs): JsonObject {
  const { message } = error;
  if (typeof message !== "string") return error;
  return { ...error, message: replaceIds(hideSecrets(provider, message), pairs) };
}

/** The provider's ids of the response and of the previous one, with the gateway's ids. */
export function toPairs(response: JsonObject, { id, previousId }: ResponseNames): IdPairs {
  const pairs: (readonly [string, string])[] = [];
  if (typeof response["id"] === "string") pairs.push([response["id"], id]);
  const previous = response["previous_response_id"];
  if (typeof previous === "string" && previousId !== null) pairs.push([previous, previousId]);
  return pairs;
}

/** Members of an item that contain the id of an item: its own, or that of the item it belongs to. */
export const idMembers = ["id", "approval_request_id"] as const;

export function toOwnItem(item: unknown, signId: SignId): unknown {
  if (typeof item !== "object" || item === null) return item;
  const own: Record<string, unknown> = {};
  for (const member of idMembers) {
    const id = (item as JsonObject)[member];
    if (typeof id === "string") own[member] = signId(id);
  }
  return Object.keys(own).length === 0 ? item : { ...item, ...own };
}

/** An event that does not contain a whole response. */
export function toOwnEvent(event: JsonObject, names: ResponseNames | null, signId: SignId): JsonObject {
  const { item, item_id, response_id, ...others } = completeEvent(event);
  return {
    ...others,
    ...(item !== undefined && { item: toOwnItem(item, signId) }),
    ...(item_id !== undefined && { item_id: typeof item_id === "string" ? signId(item_id) : item_id }),
    ...(response_id !== undefined && { response_id: names?.id ?? null }),
  };
}

const ended: ReadonlySet<unknown> = new Set(["completed", "incomplete", "failed", "cancelled"]);

export function hasEnded({ status }: { readonly status?: unknown }): boolean {
  return ended.has(status);
}

/**
 * The `provider_time` of a finished response that is retrieved: the difference of the provider's timestamps, in whole seconds; without
 * them, the duration of the retrieval. A running response has none.
 */
export function toFinishedTime(response: JsonObject, startedAt: number): { provider_time?: number } {
  if (!hasEnded(response)) return {};
  const { created_at: createdAt, completed_at: completedAt } = response;
  const isTimed = typeof createdAt === "number" && typeof completedAt === "number" && completedAt >= createdAt;
  return { provider_time: isTimed ? completedAt - createdAt : toSeconds(startedAt) };
}

/** The seconds since `startedAt`, with three decimals. */
export function toSeconds(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1_000;
}

/** The last state of a response whose caller disconnected. */
export function toCancelled(startedAt: number): JsonObject {
  return { ...toSpecifiedStatus({ status: "cancelled" }), provider_time: toSeconds(startedAt) };
}

// A shorter id may also occur as a word in a text.
const shortestId = 12;

/** The provider's ids, and the gateway's ids for them. */
export type IdPairs = readonly (readonly [provider: string, own: string])[];

/** Replaces the provider's ids in members that the gateway does not know. */
export function withoutProviderIds(text: string, pairs: IdPairs): string {
  let own = text;
  for (const [id, ours] of pairs)
    if (id.length >= shortestId) own = own.replaceAll(JSON.stringify(id), JSON.stringify(ours));
  return own;
}

/** Replaces the provider's ids in an error message. */
export function replaceIds(message: string, pairs: IdPairs): string {
  let own = message;
  for (const [id, ours] of pairs) if (id !== "") own = own.replaceAll(id, ours);
  return own;
}

/** Usage of the Responses API in the chat format, which the prices refer to. */
export function toChatUsage(usage: unknown): Record<string, unknown> | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { input_tokens, output_tokens, input_tokens_details, output_tokens_details, ...others } = toSummedUsage(
    usage as Record<string, unknown>,
    responsesNames,
  );
  if (typeof input_tokens !== "number" || typeof output_tokens !== "number") return null;
  return {
    ...others,
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    prompt_tokens_details: input_tokens_details ?? {},
    completion_tokens_details: output_tokens_details ?? {},
  };
}
