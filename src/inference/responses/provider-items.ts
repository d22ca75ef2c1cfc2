// The items of a conversation for a provider that has the Responses API. They carry the provider's own ids, and only ids that this caller
// received: with an id alone, the provider would return whatever it stores under that id.

import type { Problem } from "../../errors.ts";
import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { readEncryptedContent } from "../reasoning-state.ts";
import { type IdPairs, idMembers } from "./native-response.ts";

export interface ProviderItems {
  /** Null for an item that is not sent. */
  readonly items: readonly (JsonObject | null)[];
  /** Types of items that this provider cannot use. */
  readonly dropped: readonly string[];
  /** The provider's ids that are sent, with the gateway's ids. */
  readonly pairs: IdPairs;
  readonly problems: readonly Problem[];
}

// Items of tools that another provider executed: its text is complete without them.
const ranAtProvider = /^(?:web_search|file_search|code_interpreter|image_generation|computer|mcp)_|^mcp_/;

interface ItemOptions {
  readonly owned: OwnedIds;
  readonly scope: IdScope;
  /** The provider stores no items, so it needs only the text of its reasoning. */
  readonly isStateless: boolean;
  /** The location of an item in error messages. */
  readonly loc: (index: number) => Problem["loc"];
}

export function toProviderItems(
  items: readonly JsonObject[],
  { owned, scope, isStateless, loc }: ItemOptions,
): ProviderItems {
  const dropped: string[] = [];
  const pairs: (readonly [string, string])[] = [];
  const problems: Problem[] = [];

  function open(item: JsonObject, member: string): string | null {
    const given = item[member] as string;
    const opened = owned.verify(given, scope);
    if (opened !== null) pairs.push([opened, given]);
    return opened;
  }

  /** Reasoning of another account: useless without its encrypted form, which the provider would reject. */
  function isForeign(item: JsonObject, member: string): boolean {
    const { content, encrypted_content: encrypted } = item;
    if (typeof encrypted === "string") return owned.isSigned(item[member] as string);
    return !(isStateless && Array.isArray(content) && content.length > 0);
  }

  function toProviderItem(item: JsonObject, index: number): JsonObject | null {
    const { type, encrypted_content: encrypted } = item;
    const isOurs = typeof encrypted === "string" && readEncryptedContent(encrypted) !== null;
    if (type === "reasoning" && isOurs) return drop(type);
    const members = idMembers.filter((member) => typeof item[member] === "string");
    if (members.length === 0) return item;
    const sent: Record<string, unknown> = { ...item };
    for (const member of members) {
      const opened = open(item, member);
      if (opened !== null) sent[member] = opened;
      else if (type === "item_reference" || member === "approval_request_id") {
        problems.push({ loc: [...loc(index), member], msg: "There is no such item", type: "value_error" });
        return null;
      } else if (type === "reasoning" && isForeign(item, member)) return drop(type);
      else if (typeof type === "string" && ranAtProvider.test(type)) return drop(type);
      else delete sent[member];
    }
    return sent;
  }

  function drop(type: string): null {
    dropped.push(`input.${type}`);
    return null;
  }

  return { items: items.map(toProviderItem), dropped, pairs, problems };
}

/** Whether the last item with an id came from this account. */
export function comesFrom(items: readonly JsonObject[], owned: OwnedIds, scope: IdScope): boolean {
  const last = items.findLast(({ id }) => typeof id === "string");
  return last !== undefined && owned.verify(last["id"] as string, scope) !== null;
}
