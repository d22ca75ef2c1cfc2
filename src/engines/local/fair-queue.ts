// A queue that serves its owners in turn: each gets one place, then the next owner does, however many entries one of them has.

export class FairQueue<Entry> {
  /** In the order of their turns. An owner without entries is not listed. */
  readonly #owners = new Map<string, Set<Entry>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(owner: string): number {
    return this.#owners.get(owner)?.size ?? 0;
  }

  add(owner: string, entry: Entry): void {
    const entries = this.#owners.get(owner) ?? new Set();
    entries.add(entry);
    this.#owners.set(owner, entries);
    this.#size++;
  }

  delete(owner: string, entry: Entry): void {
    const entries = this.#owners.get(owner);
    if (entries === undefined || !entries.delete(entry)) return;
    this.#size--;
    if (entries.size === 0) this.#owners.delete(owner);
  }

  /** The oldest entry of the owner whose turn it is; it stays in the queue. Null: the queue is empty. */
  next(): Entry | null {
    for (const entries of this.#owners.values()) for (const entry of entries) return entry;
    return null;
  }

  /** The owner goes behind the others. */
  endTurn(owner: string): void {
    const entries = this.#owners.get(owner);
    if (entries === undefined) return;
    this.#owners.delete(owner);
    this.#owners.set(owner, entries);
  }
}
