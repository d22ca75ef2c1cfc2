// A list for many short-lived items, each of which knows its index. Not a Set: when many items are added and removed, the old tables of a
// Set keep removed items alive until a full garbage collection (docs/decisions/0014-short-lives.md).

export interface Slotted {
  /** Set by the list; -1 while the item is in no list. */
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

  forEach(visit: (item: Item) => void): void {
    // From the end: an item that is removed meanwhile is replaced by the last one, which has already been visited.
    for (let index = this.#all.length - 1; index >= 0; index--) {
      const item = this.#all[index];
      if (item !== undefined) visit(item);
    }
  }

  clear(): void {
    for (const item of this.#all.splice(0)) item.index = -1;
  }
}
