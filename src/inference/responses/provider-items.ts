// Items of a conversation on their way to a provider that has the responses API itself. It is told its own ids, and only those
// that were given to this caller: an id alone is enough for it to read what it keeps under that id.

import type { Problem } from "../../errors.ts";
import type { IdScope, OwnedIds } from "../../lib/owned-id.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { readEncryptedContent } from "../reasoning-state.ts";
import { idMembers } from "./native-response.ts";

export interface ProviderItems {
  /** Null in the place of one that is not told. */
  readonly items: readonly (JsonObject | null)[];
  /** Types of items that this provider could make nothing of. */
  readonly dropped: readonly string[];
  /** The provider's ids that are told, with ours. */
  readonly pairs: readonly (readonly [provider: string, own: string])[];
  readonly problems: readonly Problem[];
}

// What another provider ran itself: its text stands on its own.
const ranAtProvider = /^(?:web_search|file_search|code_interpreter|image_generation|computer|mcp)_|^mcp_/;

interface TellOptions {
  readonly owned: OwnedIds;
  readonly scope: IdScope;
  /** Whether the provider keeps no items: then the text of its reasoning is all that it needs. */
  readonly isStateless: boolean;
  /** Where a problem of an item is told. */
  readonly loc: (index: number) => Problem["loc"];
}

export function toProviderItems(
  items: readonly JsonObject[],
  { owned, scope, isStateless, loc }: TellOptions,
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

  /** Reasoning of another account: without its encrypted form it is of no use, and the encrypted form is refused. */
  function isForeign(item: JsonObject, member: string): boolean {
    const { content, encrypted_content: encrypted } = item;
    if (typeof encrypted === "string") return owned.isMarked(item[member] as string);
    return !(isStateless && Array.isArray(content) && content.length > 0);
  }

  function tell(item: JsonObject, index: number): JsonObject | null {
    const { type, encrypted_content: encrypted } = item;
    const isOurs = typeof encrypted === "string" && readEncryptedContent(encrypted) !== null;
    if (type === "reasoning" && isOurs) return drop(type);
    const members = idMembers.filter((member) => typeof item[member] === "string");
    if (members.length === 0) return item;
    const told: Record<string, unknown> = { ...item };
    for (const member of members) {
      const opened = open(item, member);
      if (opened !== null) told[member] = opened;
      else if (type === "item_reference" || member === "approval_request_id") {
        problems.push({ loc: [...loc(index), member], msg: "There is no such item", type: "value_error" });
        return null;
      } else if (type === "reasoning" && isForeign(item, member)) return drop(type);
      else if (typeof type === "string" && ranAtProvider.test(type)) return drop(type);
      else delete told[member];
    }
    return told;
  }

  function drop(type: string): null {
    dropped.push(`input.${type}`);
    return null;
  }

  return { items: items.map(tell), dropped, pairs, problems };
}

/** Whether one of these came from there: then it is the one that can read them best. */
export function comesFrom(items: readonly JsonObject[], owned: OwnedIds, scope: IdScope): boolean {
  const last = items.findLast(({ id }) => typeof id === "string");
  return last !== undefined && owned.verify(last["id"] as string, scope) !== null;
}
