// The items of a conversation for a provider that has the Responses API. They carry the provider's own ids, and only ids that this caller
// received: with an id alone, the provider would return whatever it stores under that id.

import type { Problem } from "../../errors.ts";
import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { readEncryptedContent } from "../reasoning-state.ts";
import { idMembers } from "./native-response.ts";

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

/**
 * `items` contains null for an item that is not sent. `dropped` names the types of items that this provider cannot use. `pairs` contains the
 * provider's ids that are sent, with the gateway's ids.
 */
export function toProviderItems(items: readonly JsonObject[], { owned, scope, isStateless, loc }: ItemOptions) {
  const dropped: string[] = [];
  const pairs: [provider: string, own: string][] = [];
  const problems: Problem[] = [];

  function verify(ownId: string): string | null {
    const id = owned.verify(ownId, scope);
    if (id !== null) pairs.push([id, ownId]);
    return id;
  }

  /** Reasoning of another account is useless without its encrypted form, which this provider would reject. */
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
      const id = verify(item[member] as string);
      if (id !== null) sent[member] = id;
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
