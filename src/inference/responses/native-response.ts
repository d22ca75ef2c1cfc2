// A response object or event of a provider that has the responses API itself, on its way to the caller: every id that the
// caller sees is ours. Response ids are exchanged by a row in the store; ids of items carry their owner's mark.

import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { completeEvent, completeResponse, toSpecifiedStatus } from "./response-defaults.ts";

export interface ResponseNames {
  /** Ours. */
  readonly id: string;
  readonly previousId: string | null;
  /** Whether somebody keeps it, so that it can be asked for again. */
  readonly isStored: boolean;
  /** Of the request, where it is at hand: told again when the provider leaves them out. */
  readonly instructions?: string | null;
}

export type MarkId = (id: string) => string;

/** A marker for one answer: the many events of an item have the same id. */
export function createMarkId(owned: OwnedIds, scope: IdScope): MarkId {
  const known = new Map<string, string>();
  return (id) => {
    const marked = known.get(id) ?? owned.sign(id, scope);
    known.set(id, marked);
    return marked;
  };
}

/** The whole object with our ids, complete, and with the members that we add. */
export function toOwnResponse(
  native: JsonObject,
  names: ResponseNames,
  markId: MarkId,
  added: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const complete = completeResponse(native);
  const { output } = complete;
  const instructions = complete["instructions"] ?? names.instructions ?? null;
  const own = {
    ...complete,
    id: names.id,
    previous_response_id: names.previousId,
    store: names.isStored,
    instructions,
    ...(Array.isArray(output) && { output: output.map((item) => toOwnItem(item, markId)) }),
    ...(Array.isArray(instructions) && { instructions: instructions.map((item) => toOwnItem(item, markId)) }),
    ...added,
  };
  const text = JSON.stringify(own);
  const clean = withoutProviderIds(text, toPairs(native, names));
  return clean === text ? own : JSON.parse(clean);
}

/** The provider's id of the response and of the one before it, with ours. */
export function toPairs(response: JsonObject, { id, previousId }: ResponseNames): IdPairs {
  const pairs: (readonly [string, string])[] = [];
  if (typeof response["id"] === "string") pairs.push([response["id"], id]);
  const previous = response["previous_response_id"];
  if (typeof previous === "string" && previousId !== null) pairs.push([previous, previousId]);
  return pairs;
}

/** Members of an item that name an item: itself, or the one that it belongs to. */
export const idMembers = ["id", "approval_request_id"] as const;

export function toOwnItem(item: unknown, markId: MarkId): unknown {
  if (typeof item !== "object" || item === null) return item;
  const own: Record<string, unknown> = {};
  for (const member of idMembers) {
    const id = (item as JsonObject)[member];
    if (typeof id === "string") own[member] = markId(id);
  }
  return Object.keys(own).length === 0 ? item : { ...item, ...own };
}

/** An event without a whole response. */
export function toOwnEvent(event: JsonObject, names: ResponseNames | null, markId: MarkId): JsonObject {
  const { item, item_id, response_id, ...others } = completeEvent(event);
  return {
    ...others,
    ...(item !== undefined && { item: toOwnItem(item, markId) }),
    ...(item_id !== undefined && { item_id: typeof item_id === "string" ? markId(item_id) : item_id }),
    ...(response_id !== undefined && { response_id: names?.id ?? null }),
  };
}

const ended: ReadonlySet<unknown> = new Set(["completed", "incomplete", "failed", "cancelled"]);

export function hasEnded({ status }: { readonly status?: unknown }): boolean {
  return ended.has(status);
}

/**
 * The `provider_time` of a finished response that is retrieved: by the provider's own times, which are whole seconds; without them, how
 * long it took to retrieve. Nothing while it runs.
 */
export function toFinishedTime(response: JsonObject, askedAt: number): { provider_time?: number } {
  if (!hasEnded(response)) return {};
  const { created_at: createdAt, completed_at: completedAt } = response;
  const isTimed = typeof createdAt === "number" && typeof completedAt === "number" && completedAt >= createdAt;
  return { provider_time: isTimed ? completedAt - createdAt : toSeconds(askedAt) };
}

/** Since then, in seconds with three decimals. */
export function toSeconds(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1_000;
}

/** What a response that the caller left is stored as. */
export function toCancelled(startedAt: number): JsonObject {
  return { ...toSpecifiedStatus({ status: "cancelled" }), provider_time: toSeconds(startedAt) };
}

// Ids that are shorter may be words that stand in a text as well.
const shortestId = 12;

/** The provider's ids, and ours for them. */
export type IdPairs = readonly (readonly [provider: string, own: string])[];

/** Where the provider names the response in a place that nobody knows of. */
export function withoutProviderIds(text: string, pairs: IdPairs): string {
  let own = text;
  for (const [id, ours] of pairs)
    if (id.length >= shortestId) own = own.replaceAll(JSON.stringify(id), JSON.stringify(ours));
  return own;
}

/** Usage of the responses API in the words of the chat format, which prices are applied to. */
export function toChatUsage(usage: unknown): Record<string, unknown> | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details, ...others } =
    usage as Record<string, unknown>;
  if (typeof input_tokens !== "number" || typeof output_tokens !== "number") return null;
  return {
    ...others,
    prompt_tokens: input_tokens,
    completion_tokens: output_tokens,
    total_tokens: typeof total_tokens === "number" ? total_tokens : input_tokens + output_tokens,
    prompt_tokens_details: input_tokens_details ?? {},
    completion_tokens_details: output_tokens_details ?? {},
  };
}
