// Things that come and go in great numbers, each of which knows its index. Not a Set: when many come and go, its earlier tables, which
// are garbage, keep alive what they held until a full collection (docs/decisions/0014-short-lives.md).

export interface Slotted {
  /** The roster's own note of where it stands among the others; -1 while it is in none. */
  index: number;
}

export class SlotList<Item extends Slotted> {
  readonly #all: Item[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(item: Item): void {
    if (item.index >= 0) return;
    item.index = this.#all.length;
    this.#all.push(item);
  }

  remove(item: Item): void {
    const { index } = item;
    if (index < 0) return;
    item.index = -1;
    const last = this.#all.pop();
    if (last === undefined || last === item) return;
    last.index = index;
    this.#all[index] = last;
  }

  forEach(look: (item: Item) => void): void {
    // From the end: whoever goes meanwhile is replaced by the last, which has been looked at.
    for (let index = this.#all.length - 1; index >= 0; index--) {
      const item = this.#all[index];
      if (item !== undefined) look(item);
    }
  }

  clear(): void {
    for (const item of this.#all.splice(0)) item.index = -1;
  }
}
