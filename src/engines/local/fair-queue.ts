// A queue that serves its owners in turn (round-robin), however many entries one of them has.

export class FairQueue<Entry> {
  /** In the order of their turns. Only owners with entries are listed. */
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

  /** Returns, without removing it, the oldest entry of the owner whose turn it is; null if the queue is empty. */
  next(): Entry | null {
    for (const entries of this.#owners.values()) for (const entry of entries) return entry;
    return null;
  }

  /** Moves the owner to the end. */
  endTurn(owner: string): void {
    const entries = this.#owners.get(owner);
    if (entries === undefined) return;
    this.#owners.delete(owner);
    this.#owners.set(owner, entries);
  }
}
