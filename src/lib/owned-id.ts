// Ids that a provider gave to things of one caller, made ours: the id carries a mark that only this gateway can make, and only
// for its owner. Whoever sends one back is known to have been given it, without anything being stored.

import { createHmac, timingSafeEqual } from "node:crypto";

export interface OwnedIds {
  mark(id: string, owner: string): string;
  /** The provider's id, or null when it was not given to this owner. */
  open(marked: string, owner: string): string | null;
}

const markPattern = /^(.+)_sy([0-9a-f]{20})$/s;

export function createOwnedIds(secret: Uint8Array): OwnedIds {
  const markOf = (id: string, owner: string) =>
    createHmac("sha256", secret).update(`owned-id\0${owner}\0${id}`).digest("hex").slice(0, 20);
  return {
    mark: (id, owner) => `${id}_sy${markOf(id, owner)}`,
    open(marked, owner) {
      const [, id, mark] = markPattern.exec(marked) ?? [];
      if (id === undefined || mark === undefined) return null;
      return timingSafeEqual(Buffer.from(mark), Buffer.from(markOf(id, owner))) ? id : null;
    },
  };
}
