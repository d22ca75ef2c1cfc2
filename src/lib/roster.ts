// Things that come and go in great numbers, each of which knows its place. Not a Set: when many come and go, its earlier tables, which
// are garbage, keep alive what they held until a full collection (docs/decisions/0014-short-lives.md).

export interface Listed {
  /** The roster's own note of where it stands among the others; -1 while it is in none. */
  place: number;
}

export class Roster<Item extends Listed> {
  readonly #all: Item[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(item: Item): void {
    if (item.place >= 0) return;
    item.place = this.#all.length;
    this.#all.push(item);
  }

  remove(item: Item): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#all.pop();
    if (last === undefined || last === item) return;
    last.place = place;
    this.#all[place] = last;
  }

  forEach(look: (item: Item) => void): void {
    // From the end: whoever goes meanwhile is replaced by the last, which has been looked at.
    for (let index = this.#all.length - 1; index >= 0; index--) {
      const item = this.#all[index];
      if (item !== undefined) look(item);
    }
  }

  clear(): void {
    for (const item of this.#all.splice(0)) item.place = -1;
  }
}
