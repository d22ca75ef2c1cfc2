// Writes the lines of the ledger: first to the spool of this process, at once, and from there to the store in batches. A line is never dropped:
// while the store is away it waits on disk, and when the disk is full, new calls are refused.

import { GatewayError } from "../errors.ts";
import type { Log } from "../log.ts";
import { type AppendOutcome, type LedgerBatch, toMonth } from "../storage/ledger.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import { isUnavailable, isValueError, toUnavailable } from "../storage/outage.ts";
import type { LedgerStore } from "../storage/storage.ts";
import { keepRefused, takeRefused } from "./refused-lines.ts";
import { type AbandonedSpool, joinLines, Spool, takeAbandoned } from "./spool.ts";

export interface LedgerOptions {
  readonly store: LedgerStore;
  /** The folder of the spool, which all processes of a gateway share. */
  readonly folder: string;
  readonly maxSpoolBytes: number;
  readonly log: Log;
  /** When budgets that lines are charged to are announced. */
  readonly alerts?: LedgerBatch["alerts"];
  readonly onAlerts?: (alerts: AppendOutcome["alerts"]) => void;
  readonly flushEveryMs?: number;
  readonly segmentBytes?: number;
}

export interface Ledger {
  /** Names this process in leases of budgets. */
  readonly processId: string;
  /** Returns when the line is safe from a crash of this process. */
  record(line: LedgerLine): void;
  /**
   * As `record`, for a request that was refused before a provider was called. Many equal refusals become one line. While the spool is full, equal
   * refusals are only counted, in memory.
   */
  recordRefusal(refused: RefusedCall, createLine: () => LedgerLine): void;
  /** Throws a 503 while no further lines can be kept. Called before a provider is. */
  refuseWhenFull(): void;
  /** Writes everything to the store that was recorded until now. Throws while the store is away. */
  flush(): Promise<void>;
  /** Called after each flush, also one without lines. */
  onFlush(listener: () => void): void;
  /** Lines that were lost. */
  readonly dropped: number;
  /** Lines that the store refused because of their content. They are in a file of the spool. */
  readonly refused: number;
  /** Lines of this process that are not in the store yet. */
  readonly waiting: number;
  /** Lines wait on disk because the store does not accept them. */
  readonly isBehind: boolean;
  /** Flushes, if the store answers. The files of the spool stay until all of their lines are stored. */
  close(): Promise<void>;
}

/** What refusals have in common that are merged. */
export interface RefusedCall {
  /** Null: the request had no valid key. */
  readonly keyId: string | null;
  readonly endpoint: string;
  readonly outcome: string;
  /** Of the line. */
  readonly tags?: LedgerLine["tags"] | undefined;
}

const defaultFlushEveryMs = 250;
// While the store is away, and for the files of other processes.
const retryEveryMs = 1_000;
const replayEveryMs = 5_000;
// A whole segment of the spool. A transaction takes 1 to 2 ms of processor time, however many lines it stores.
const maxBatchBytes = 1_048_576;
const closeWithinMs = 5_000;
const maxLineLength = 65_536;
/** Of equal refusals between two flushes, this many have a line each. */
const separateRefusals = 20;

export function openLedger(options: LedgerOptions): Ledger {
  const { store, folder, log } = options;
  const spool = new Spool({
    folder,
    maxBytes: options.maxSpoolBytes,
    ...(options.segmentBytes !== undefined && { segmentBytes: options.segmentBytes }),
    onFault: (error) =>
      error === null
        ? log.info("the ledger can be written to disk again")
        : log.error("the ledger cannot be written to disk, so calls to providers are refused", { folder, error }),
  });
  const { processId } = spool;
  const listeners: (() => void)[] = [];
  /** Of equal refusals since the last flush. */
  const separateCounts = new Map<string, number>();
  const mergedRefusals = new Map<string, { line: LedgerLine; count: number }>();
  let dropped = 0;
  let refused = 0;
  let recorded = 0;
  let stored = 0;
  let flushing: Promise<void> | null = null;
  let isBehind = false;
  let retryAt = 0;
  let replayAt = 0;
  let isClosed = false;
  const timer = setInterval(() => {
    if (performance.now() < retryAt) return;
    flush().catch(() => {}); // `drain` has logged it
  }, options.flushEveryMs ?? defaultFlushEveryMs);
  timer.unref();
  // The partition of the next month exists before its first line.
  const monthsAhead = [0, 1].map((months) => toMonth(Date.now()) + months);
  store.createPartitions(monthsAhead).catch(() => {}); // created when a line needs them
  retryRefused();

  function record(line: LedgerLine): void {
    if (isClosed) {
      dropped++;
      log.error("a call ended after the ledger was closed", { request_id: line.request_id });
      return;
    }
    let text = JSON.stringify(line);
    // PostgreSQL stores neither NUL nor halves of surrogate pairs. JSON writes both as escapes, and few other characters.
    if (text.includes("\\u"))
      text = JSON.stringify(line, (_, value) => (typeof value === "string" ? clean(value) : value));
    // Far longer than any usage that providers document: it must not fill the disk.
    if (text.length > maxLineLength) text = JSON.stringify({ ...line, usage: undefined });
    recorded += 1;
    spool.append(`{"n":${recorded},${text.slice(1)}`);
  }

  function recordRefusal({ keyId, endpoint, outcome, tags }: RefusedCall, createLine: () => LedgerLine): void {
    const key = `${keyId} ${endpoint} ${outcome}`;
    // Callers without a key share one count, whatever paths they try.
    const group = keyId === null ? "" : key;
    const separate = (separateCounts.get(group) ?? 0) + 1;
    // A full spool refuses calls. Lines of those refusals would fill it further, and the memory when the disk is full.
    if (separate <= separateRefusals && !spool.isFull) {
      separateCounts.set(group, separate);
      record(createLine());
      return;
    }
    const merged = mergedRefusals.get(key);
    if (merged === undefined) {
      mergedRefusals.set(key, { line: createLine(), count: 1 });
      return;
    }
    merged.count++;
    // Without tags of the request, they are the same object.
    if (tags !== undefined && tags !== merged.line.tags)
      merged.line = { ...merged.line, tags: commonTags(merged.line.tags, tags) };
  }

  function recordMerged(): void {
    separateCounts.clear();
    for (const { line, count } of mergedRefusals.values()) record({ ...line, count });
    mergedRefusals.clear();
  }

  function flush(): Promise<void> {
    flushing ??= drain().finally(() => {
      flushing = null;
    });
    return flushing;
  }

  async function drain(): Promise<void> {
    const mustMergedWait = spool.isFull;
    if (!mustMergedWait) recordMerged();
    spool.maintain();
    try {
      await storeRecorded();
      if (mustMergedWait) {
        // The store has taken all lines of the spool, so these wait no longer.
        recordMerged();
        await storeRecorded();
      }
      if (performance.now() >= replayAt) await tryReplay();
      if (isBehind) log.info("the ledger is up to date again");
      isBehind = false;
    } catch (error) {
      if (!isBehind) log.error("the store does not accept lines of the ledger; they wait on disk", { error });
      isBehind = true;
      retryAt = performance.now() + retryEveryMs;
      throw error;
    }
    for (const listener of listeners) listener();
  }

  async function storeRecorded(): Promise<void> {
    // Lines that are recorded meanwhile wait for the next flush: few large batches cost less than many small ones.
    const until = recorded;
    for (let last = 0; last < until; ) {
      const batch = spool.readBatch(maxBatchBytes);
      if (batch === null) break;
      await append(batch.lines, processId);
      batch.remove();
      spool.maintain();
      last = batch.lastLineNumber;
      stored = last;
    }
  }

  /** A folder that cannot be read delays only the lines of processes that ended. */
  async function tryReplay(): Promise<void> {
    try {
      await replay();
    } catch (error) {
      if (isUnavailable(error)) throw error;
      log.warn("lines of processes that ended could not be read", { folder, error });
    }
  }

  /** Reads the files of processes that ended before their lines were stored. */
  async function replay(): Promise<void> {
    replayAt = performance.now() + replayEveryMs;
    for (const abandoned of takeAbandoned(folder, processId)) {
      try {
        const count = await replayFiles(abandoned);
        abandoned.delete();
        if (count > 0) log.info("lines of a process that ended were added to the ledger", { lines: count });
      } catch (error) {
        abandoned.release();
        throw error;
      }
    }
  }

  async function replayFiles({ files, processId: owner }: AbandonedSpool): Promise<number> {
    let added = 0;
    for (const lines of files) {
      for (const batch of inBatches(lines)) added += await append(joinLines(batch), owner);
    }
    return added;
  }

  async function appendOnce(lines: string, owner: string): Promise<number> {
    const { alerts = null } = options;
    const outcome = await store.append({ lines, processId: owner, ...(alerts && { alerts }) });
    if (outcome.alerts.length > 0) options.onAlerts?.(outcome.alerts);
    return outcome.lines;
  }

  async function appendWithPartitions(lines: string, owner: string): Promise<number> {
    try {
      return await appendOnce(lines, owner);
    } catch (error) {
      if (!isMissingPartition(error)) throw error;
      const months = (JSON.parse(lines) as LedgerLine[]).map(({ time }) => toMonth(time));
      await store.createPartitions([...new Set(months)]);
      return await appendOnce(lines, owner);
    }
  }

  /**
   * A line whose content the store refuses must not hold up the others: it is kept in a file of its own. With every other error the lines wait:
   * a missing table or privilege is no reason to take them out of the ledger.
   */
  async function append(lines: string, owner: string): Promise<number> {
    try {
      return await appendWithPartitions(lines, owner);
    } catch (error) {
      if (!isValueError(error)) throw isUnavailable(error) ? error : toUnavailable(error);
      const each = splitLines(lines);
      const [only] = each;
      if (each.length === 1 && only !== undefined) {
        const path = keepRefused(folder, only);
        refused++;
        log.error("the store refused a line of the ledger, which is kept in a file", { path, error });
        return 0;
      }
      const middle = Math.ceil(each.length / 2);
      const first = await append(joinLines(each.slice(0, middle)), owner);
      return first + (await append(joinLines(each.slice(middle)), owner));
    }
  }

  /** This version may store lines that an earlier one could not. `once`: a line that is retried twice counts once. */
  function retryRefused(): void {
    try {
      takeRefused(folder, (line) => {
        const parsed = parseLine(line);
        if (parsed === null) keepRefused(folder, line);
        else record({ ...parsed, once: 1 });
      });
    } catch (error) {
      log.warn("lines that the store refused could not be read", { folder, error });
    }
  }

  return {
    processId,
    record,
    recordRefusal,
    refuseWhenFull() {
      if (!spool.isFull) return;
      throw new GatewayError(
        "dependency_unavailable",
        "The ledger cannot take further calls: its space on disk is used up. Try again later.",
        { retryAfter: 5 },
      );
    },
    flush,
    onFlush: (listener) => void listeners.push(listener),
    get dropped() {
      return dropped;
    },
    get refused() {
      return refused;
    },
    get waiting() {
      return recorded - stored;
    },
    get isBehind() {
      return isBehind;
    },
    async close() {
      clearInterval(timer);
      await Promise.race([flush().catch(() => {}), Bun.sleep(closeWithinMs)]);
      // Lines that were recorded while the last batch was on its way.
      if (!spool.isEmpty && !isBehind) await Promise.race([flush().catch(() => {}), Bun.sleep(closeWithinMs)]);
      // Refusals that waited for space: there is one line for each key, path and outcome.
      recordMerged();
      isClosed = true;
      spool.close();
    },
  };
}

/** For a gateway whose ledger is switched off. */
export const noLedger: Ledger = {
  processId: crypto.randomUUID(),
  record() {},
  recordRefusal() {},
  refuseWhenFull() {},
  async flush() {},
  onFlush() {},
  dropped: 0,
  refused: 0,
  waiting: 0,
  isBehind: false,
  async close() {},
};

function commonTags(one: LedgerLine["tags"], other: LedgerLine["tags"]): LedgerLine["tags"] {
  return Object.fromEntries(Object.entries(one).filter(([name, value]) => other[name] === value));
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** The inverse of `joinLines`, without parsing: one of the lines may be no JSON. JSON escapes line breaks inside of texts. */
function splitLines(lines: string): string[] {
  return lines
    .slice(1, -1)
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [line.replace(/^,/, "")]));
}

/** Null: no JSON object. */
function parseLine(line: string): LedgerLine | null {
  try {
    const { n: _, ...parsed } = JSON.parse(line);
    return parsed;
  } catch {
    return null;
  }
}

function* inBatches(lines: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < lines.length; ) {
    let to = from;
    for (let length = 0; to < lines.length && length < maxBatchBytes; to++) length += lines[to]?.length ?? 0;
    yield lines.slice(from, to);
    from = to;
  }
}

/** `check_violation`: the table has no partition for the row. */
function isMissingPartition(error: unknown): boolean {
  return error instanceof Error && (error as { errno?: unknown }).errno === "23514";
}
