// Ids that a provider gave to things of one caller, made ours: the id carries a mark that only this gateway can make, and only
// for its owner and for the place where the thing is. Whoever sends one back is known to have been given it, without anything
// being stored.

import { createHmac, timingSafeEqual } from "node:crypto";

/** Whose it is, and where: an id of one account means nothing, or something else, at another. */
export interface IdScope {
  readonly owner: string;
  readonly place: string;
}

export interface OwnedIds {
  sign(id: string, scope: IdScope): string;
  /** The provider's id, or null when it was not given to this owner, or is of another place. */
  verify(marked: string, scope: IdScope): string | null;
  /** Whether it carries a mark, whoever it was made for. */
  isMarked(id: string): boolean;
}

const markPattern = /^(.+)_sy([0-9a-f]{20})$/s;
// No provider's ids come near it, and checking a mark reads all of them.
const longestId = 1_024;

export function createOwnedIds(secret: Uint8Array): OwnedIds {
  // JSON, because its quotes and commas keep ["ab", "c"] and ["a", "bc"] apart.
  const markOf = (id: string, { owner, place }: IdScope) =>
    createHmac("sha256", secret)
      .update(`owned-id\0${JSON.stringify([owner, place, id])}`)
      .digest("hex")
      .slice(0, 20);
  return {
    sign: (id, scope) => `${id}_sy${markOf(id, scope)}`,
    isMarked: (id) => id.length <= longestId && markPattern.test(id),
    verify(marked, scope) {
      if (marked.length > longestId) return null;
      const [, id, mark] = markPattern.exec(marked) ?? [];
      if (id === undefined || mark === undefined) return null;
      return timingSafeEqual(Buffer.from(mark), Buffer.from(markOf(id, scope))) ? id : null;
    },
  };
}
