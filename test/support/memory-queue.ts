import type { WorkSource } from "../../src/jobs/queue-consumer.ts";
import type { TakeWork, WorkItem } from "../../src/storage/work-queue.ts";

export interface Row {
  readonly id: string;
  readonly group: string;
  readonly dueAt: number;
  takes: number;
  leasedUntil: number;
}

/** A queue as the stores keep it: what is due is taken in its order, and is the taker's while it extends its lease. */
export class MemoryQueue implements WorkSource {
  readonly rows = new Map<string, Row>();
  readonly takes: TakeWork[] = [];
  /** The times of the calls, by `performance.now()`. */
  readonly takenAt: number[] = [];
  readonly extendedAt: number[] = [];
  extensions = 0;
  leaseMs = 20_000;
  isAway = false;
  /** What a call waits for before it is answered. */
  delay: () => Promise<void> = async () => {};
  #lastId = 0;

  add(group = "", dueAt = Date.now()): string {
    const id = `work-${++this.#lastId}`;
    this.rows.set(id, { id, group, dueAt, takes: 0, leasedUntil: 0 });
    return id;
  }

  async take(what: TakeWork): Promise<WorkItem[]> {
    this.#refuseWhileAway();
    this.takes.push(what);
    this.takenAt.push(performance.now());
    const now = Date.now();
    const due = [...this.rows.values()]
      .filter((row) => row.dueAt <= now && row.leasedUntil <= now && !what.ignoreGroups.includes(row.group))
      .sort((one, other) => one.dueAt - other.dueAt)
      .slice(0, what.limit);
    for (const row of due) this.#lease(row);
    const taken = due.map((row) => this.#toItem(row, what.kind));
    await this.delay();
    return taken;
  }

  async extend(items: readonly WorkItem[]): Promise<string[]> {
    this.#refuseWhileAway();
    this.extensions++;
    this.extendedAt.push(performance.now());
    const held = items.filter((item) => this.isHeld(item));
    for (const { id } of held) (this.rows.get(id) as Row).leasedUntil = Date.now() + this.leaseMs;
    return held.map(({ id }) => id);
  }

  isHeld({ id, lease }: WorkItem): boolean {
    return this.rows.get(id)?.takes === Number(lease);
  }

  end(item: WorkItem): boolean {
    return this.isHeld(item) && this.rows.delete(item.id);
  }

  /** As another worker does with work whose holder seems to be dead. */
  giveAway(id: string): void {
    this.#lease(this.rows.get(id) as Row);
  }

  #lease(row: Row): void {
    row.takes++;
    row.leasedUntil = Date.now() + this.leaseMs;
  }

  #toItem({ id, group, takes }: Row, kind: TakeWork["kind"]): WorkItem {
    return { id, kind, subject: id, group, lease: String(takes) };
  }

  #refuseWhileAway(): void {
    if (this.isAway) throw new Error("the store is away");
  }
}

/** Work that ends when the test says so. */
export class Doers {
  readonly open = new Map<string, { readonly item: WorkItem; end(): void }>();
  readonly started: string[] = [];
  readonly aborted: WorkItem[] = [];
  readonly #most = new Map<string, number>();
  most = 0;
  /** Work that is aborted ends at once. */
  endsWhenAborted = true;
  readonly #queue: MemoryQueue;

  constructor(queue: MemoryQueue) {
    this.#queue = queue;
  }

  readonly handle = async (item: WorkItem, signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const key = `${item.id}:${item.lease}`;
    this.started.push(item.id);
    const end = () => {
      this.open.delete(key);
      resolve();
    };
    this.open.set(key, { item, end });
    this.most = Math.max(this.most, this.open.size);
    const inGroup = [...this.open.values()].filter((one) => one.item.group === item.group).length;
    this.#most.set(item.group, Math.max(this.mostOf(item.group), inGroup));
    signal.addEventListener("abort", () => {
      this.aborted.push(item);
      if (this.endsWhenAborted) end();
    });
    await promise;
    if (!signal.aborted) this.#queue.end(item);
  };

  mostOf(group: string): number {
    return this.#most.get(group) ?? 0;
  }

  openOf(group: string): WorkItem[] {
    return [...this.open.values()].flatMap(({ item }) => (item.group === group ? [item] : []));
  }

  endOne(group?: string): void {
    const found = [...this.open.values()].find(({ item }) => group === undefined || item.group === group);
    if (found === undefined) throw new Error(`nothing of '${group}' is open`);
    found.end();
  }

  endAll(): void {
    for (const { end } of this.open.values()) end();
  }
}
