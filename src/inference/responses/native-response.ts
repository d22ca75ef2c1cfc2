// A response object or event of a provider that has the responses API itself, on its way to the caller: every id that the
// caller sees is ours. Response ids are exchanged by a row in the store; ids of items carry their owner's mark.

import type { OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { completeResponse } from "./response-defaults.ts";

export interface ResponseNames {
  /** Ours. */
  readonly id: string;
  readonly previousId: string | null;
  readonly owner: string;
  /** Whether the provider keeps it, so that it can be asked for again. */
  readonly isStored: boolean;
}

/** The whole object with our ids, complete, and with the members that we add. */
export function toOwnResponse(
  native: JsonObject,
  names: ResponseNames,
  owned: OwnedIds,
  added: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const output = native["output"];
  return {
    ...completeResponse(native),
    id: names.id,
    previous_response_id: names.previousId,
    store: names.isStored,
    ...(Array.isArray(output) ? { output: output.map((item) => toOwnItem(item, names.owner, owned)) } : {}),
    ...added,
  };
}

export function toOwnItem(item: unknown, owner: string, owned: OwnedIds): unknown {
  if (typeof item !== "object" || item === null) return item;
  const { id } = item as JsonObject;
  return typeof id === "string" ? { ...item, id: owned.mark(id, owner) } : item;
}

/** An event without a whole response: only the item that it speaks of has an id. */
export function toOwnEventText(text: string, event: JsonObject, owner: string, owned: OwnedIds): string {
  const item = event["item"];
  const ids = [event["item_id"], typeof item === "object" && item !== null ? (item as JsonObject)["id"] : undefined];
  let own = text;
  for (const id of ids)
    if (typeof id === "string") own = own.replaceAll(JSON.stringify(id), JSON.stringify(owned.mark(id, owner)));
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
