// Statements about the ledger: one line for each call to a provider and for each refused request, and the hourly totals of the lines.
//
// A batch of lines arrives as the text of one JSON array, and is stored as one block (ledger-blocks.ts).

import { dayMs } from "../lib/time-units.ts";
import { type AlertSettings, type BudgetAlert, chargeAccounts } from "./budgets.ts";
import { addLatencies, deleteLatencies } from "./latencies.ts";
import { readBlock, toBlock } from "./ledger-blocks.ts";
import type { LedgerLine } from "./ledger-line.ts";
import { deleteOldest, insertRows, type Operation, read, sweep, write } from "./operation.ts";
import type { Sql } from "./sql.ts";
import { addToTotals, deleteTotals, LedgerSums } from "./usage-totals.ts";

export interface LedgerBatch {
  /** A JSON array of lines. */
  readonly lines: string;
  /** The process that wrote the lines: its leases of budgets shrink by what the lines cost. */
  readonly processId: string;
  /** When budgets that these lines are charged to are announced; absent: never. */
  readonly alerts?: AlertSettings;
}

export interface AppendOutcome {
  /** How many lines were new. */
  readonly lines: number;
  /** The thresholds of budgets that these lines passed. */
  readonly alerts: readonly BudgetAlert[];
}

/** The lines of the batch that are not in the ledger. */
async function selectNew(sql: Sql, processId: string, lines: readonly LedgerLine[]): Promise<readonly LedgerLine[]> {
  const now = Date.now();
  // Locks the row, so that no other transaction appends lines of this process until the transaction ends.
  const [row] = await sql<{ position: bigint }>`
    insert into ledger_positions (process_id, position, updated_at) values (${processId}, 0, ${now})
    on conflict (process_id) do update set updated_at = ${now} returning position`;
  const position = Number(row?.position);
  const last = lines.reduce((max, { n = 0 }) => Math.max(max, n), position);
  if (last > position) await sql`update ledger_positions set position = ${last} where process_id = ${processId}`;
  const isRepeated = lines.some(({ n }) => n !== undefined && n <= position);
  return await selectOnce(sql, isRepeated ? lines.filter(({ n }) => n === undefined || n > position) : lines);
}

/** Without the lines that another process has appended before. */
async function selectOnce(sql: Sql, lines: readonly LedgerLine[]): Promise<readonly LedgerLine[]> {
  const rows = lines.filter(({ once }) => once === 1).map(({ id, time }) => ({ id, time }));
  if (rows.length === 0) return lines;
  const added = new Set<string>();
  for (const { id, time } of rows.toSorted((one, other) => (one.id < other.id ? -1 : 1))) {
    const [row] = await sql<{ id: string }>`
      insert into ledger_once (id, time) values (${id}, ${time}) on conflict do nothing returning id`;
    if (row !== undefined) added.add(row.id);
  }
  return lines.filter(({ once, id }) => once !== 1 || added.delete(id));
}

function checkLines(lines: unknown): asserts lines is readonly LedgerLine[] {
  const isLine = (line: Partial<LedgerLine> | null) =>
    typeof line?.id === "string" &&
    typeof line.time === "number" &&
    typeof line.request_id === "string" &&
    typeof line.endpoint === "string" &&
    typeof line.outcome === "string" &&
    typeof line.counted_pico === "number";
  if (!Array.isArray(lines) || !lines.every(isLine)) throw new Error("A line of the ledger lacks a required member");
}

/** Of smaller blocks, several are merged into one. */
const smallBlock = 256;
const maxMergedLines = 1_024;
const maxMergedBlocks = 500;
/** The row of `ledger_positions` that counts merges: readers of several blocks notice by it that a block has moved. */
export const mergesRow = "";

interface SmallBlock {
  readonly id: string;
  readonly process_id: string;
  readonly to_time: bigint;
  readonly lines: bigint;
}

/**
 * Blocks of one process that follow each other, up to the size of a merged block. They end on the same day (in UTC): a block is deleted at the
 * age of its newest line, so a block that grew by a few lines every day would keep its first line until it is full.
 */
function groupSmall(blocks: readonly SmallBlock[]): SmallBlock[][] {
  const groups: SmallBlock[][] = [];
  let size = 0;
  for (const block of blocks) {
    const group = groups.at(-1);
    size += Number(block.lines);
    if (group !== undefined && isMergeable(group[0], block) && size <= maxMergedLines) group.push(block);
    else {
      groups.push([block]);
      size = Number(block.lines);
    }
  }
  return groups.filter((group) => group.length > 1);
}

function isMergeable(first: SmallBlock | undefined, block: SmallBlock): boolean {
  return first?.process_id === block.process_id && first.to_time / BigInt(dayMs) === block.to_time / BigInt(dayMs);
}

async function mergeGroup(sql: Sql, group: readonly SmallBlock[]): Promise<void> {
  const ids = sql.list(group.map(({ id }) => id));
  const times = group.map(({ to_time }) => to_time).sort((one, other) => (one < other ? -1 : 1));
  const rows = await sql<{ id: string; data: Uint8Array }>`
    delete from ledger_blocks where to_time >= ${times.at(0) ?? 0n} and to_time <= ${times.at(-1) ?? 0n} and id in ${ids}
    returning id, data`;
  const data = new Map(rows.map((row) => [row.id, row.data]));
  const lines = group.flatMap(({ id }) => readBlock(data.get(id)));
  await insertRows(sql, "ledger_blocks", [toBlock(group[0]?.process_id ?? "", lines)]);
}

const lockOfPartitions = 0x4c454447;
// A partition is dropped only when no transaction uses the table at the moment; otherwise the next sweep tries again.
const lockTimeoutMs = 500;

export const ledgerStatements = {
  /** Adds the lines, their totals and their charges in one transaction. A batch that is repeated counts once. */
  append: {
    ...write(null, async (sql, { lines: text, processId, alerts = noAlerts }: LedgerBatch): Promise<AppendOutcome> => {
      const lines: unknown = JSON.parse(text);
      checkLines(lines);
      const added = await selectNew(sql, processId, lines);
      if (added.length === 0) return { lines: 0, alerts: [] };
      const sums = new LedgerSums();
      for (const line of added) sums.add(line);
      await insertRows(sql, "ledger_blocks", [toBlock(processId, added, added === lines ? text : undefined)]);
      await addToTotals(sql, sums.toRows());
      await addLatencies(sql, added);
      return {
        lines: added.length,
        alerts: sums.charges.size === 0 ? [] : await chargeAccounts(sql, processId, sums.charges, alerts, Date.now()),
      };
    }),
    // No request waits for it.
    deadlineMs: 5_000,
  } satisfies Operation<[batch: LedgerBatch], AppendOutcome>,

  /** Merges small blocks of a day that end before a time, and returns how many blocks were replaced. */
  mergeBlocks: {
    ...write(null, async (sql, before: number): Promise<number> => {
      // The index of small blocks needs the number in the text.
      const isSmall = sql.part`lines < ${sql.raw(String(smallBlock))}`;
      const day = sql.raw(String(dayMs));
      const lock = sql.raw(sql.engine === "postgres" ? "for update skip locked" : "");
      // Blocks that are alone on their day are left out, because they would fill the limit. The day is a range, so that the index finds it.
      const small = await sql<SmallBlock>`
        select id, process_id, to_time, lines from ledger_blocks as block
        where ${isSmall} and to_time < ${before} and exists (
          select 1 from ledger_blocks as other
          where ${isSmall} and other.process_id = block.process_id and other.id <> block.id
            and other.to_time >= block.to_time - block.to_time % ${day}
            and other.to_time < block.to_time - block.to_time % ${day} + ${day})
        order by process_id, to_time, id limit ${maxMergedBlocks} ${lock}`;
      const groups = groupSmall(small);
      if (groups.length === 0) return 0;
      for (const group of groups) await mergeGroup(sql, group);
      await sql`
        insert into ledger_positions (process_id, position, updated_at) values (${mergesRow}, 1, ${Date.now()})
        on conflict (process_id) do update set position = ledger_positions.position + 1`;
      return groups.flat().length;
    }),
    deadlineMs: 5_000,
  } satisfies Operation<[before: number], number>,

  /** Creates the partitions of these months, which `toMonth` numbers. SQLite has none. */
  createPartitions: write(null, createPartitions),

  /**
   * Deletes blocks whose lines are all from before a time, the oldest first, and returns how many were deleted: at most `limit`. PostgreSQL
   * drops and counts whole partitions instead, so lines stay until their month is over.
   */
  deleteBlocks: sweep(async (sql, before: number, limit: number): Promise<number> => {
    if (sql.engine === "postgres") return await dropPartitions(sql, toMonth(before), limit);
    const deleted = await sql`
      delete from ledger_blocks where rowid in
        (select rowid from ledger_blocks where to_time < ${before} order by to_time limit ${limit}) returning 1 as one`;
    return deleted.length;
  }),

  /** Deletes what recognises repeated lines, if it is from before a time, and returns how many rows were deleted: of each table at most `limit`. */
  deleteMarks: sweep(async (sql, before: number, limit: number): Promise<number> => {
    const until = before - 1;
    const ids = await deleteOldest(sql, {
      ...{ from: sql.part`from ledger_once where`, timeColumn: "time", until, limit, returning: ["id"] },
    });
    const from = sql.part`from ledger_positions where process_id <> ${mergesRow} and`;
    const idColumns = ["process_id"];
    const deletion = { from, timeColumn: "updated_at", idColumns, until, limit, returning: idColumns } as const;
    return ids.length + (await deleteOldest(sql, deletion)).length;
  }),

  /** Deletes totals of hours before a time, and returns how many rows were deleted: at most `limit`. */
  deleteTotals: sweep(deleteTotals),

  /** Deletes latencies of hours before a time, and returns how many rows were deleted: at most `limit`. */
  deleteLatencies: sweep(deleteLatencies),

  /** For tests and checks: how many lines there are, and their sums. `rows` counts merged refusals once. */
  count: read(async (sql): Promise<{ lines: number; rows: number; costPico: bigint }> => {
    const sums = { lines: 0, rows: 0, costPico: 0n };
    for await (const { lines } of readBlocks(sql))
      for (const line of lines) {
        sums.lines += line.count;
        sums.rows += 1;
        sums.costPico += BigInt(line.cost_pico ?? 0);
      }
    return sums;
  }),
};

const noAlerts: AlertSettings = { thresholds: [], receiver: null };

const blocksPerPage = 16;

/**
 * All blocks with their lines, in the order of their ids. Blocks that are added meanwhile may or may not be among them. A merge moves lines to a
 * block that follows all others; lines that were moved after they were read do not come again.
 */
export async function* readBlocks(
  sql: Sql,
): AsyncGenerator<{ readonly processId: string; readonly lines: readonly LedgerLine[] }> {
  const merges = await readMerges(sql);
  // By process, the lines that a merge may move. Only small blocks are merged, so there are few.
  const movable = new Map<string, Set<string>>();
  let isMerged = false;
  for (let after = ""; ; ) {
    const rows = await sql<{ id: string; process_id: string; data: Uint8Array }>`
      select id, process_id, data from ledger_blocks where id > ${after} order by id limit ${blocksPerPage}`;
    isMerged ||= (await readMerges(sql)) !== merges;
    for (const { process_id: processId, data } of rows) {
      const lines = readBlock(data);
      const seen = movable.get(processId) ?? new Set();
      // Otherwise a line that is stored twice stays visible.
      const added = isMerged ? lines.filter(({ id }) => !seen.has(id)) : lines;
      if (lines.length < smallBlock) {
        for (const { id } of added) seen.add(id);
        movable.set(processId, seen);
      }
      yield { processId, lines: added };
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** How often blocks have been merged. */
export async function readMerges(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ position: bigint }>`
    select position from ledger_positions where process_id = ${mergesRow}`;
  return row?.position ?? 0n;
}

/** The number of the month since 1970, in UTC. */
export function toMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function startOfMonth(month: number): number {
  return Date.UTC(1970, month);
}

/** PostgreSQL keeps the blocks of each month in a partition, which must exist before a block is added. */
export async function createPartitions(sql: Sql, months: readonly number[]): Promise<void> {
  if (sql.engine === "sqlite" || months.length === 0) return;
  // `create table if not exists` fails when another process creates the same table at the same moment.
  await sql`select pg_advisory_xact_lock(${lockOfPartitions})`;
  for (const month of months.toSorted((one, other) => one - other)) {
    const [from, to] = [startOfMonth(month), startOfMonth(month + 1)];
    await sql.script(
      `create table if not exists ${partitionOf(month)} partition of ledger_blocks for values from (${from}) to (${to})`,
    );
  }
}

const partitionPrefix = "ledger_blocks_";

function partitionOf(month: number): string {
  return `${partitionPrefix}${new Date(startOfMonth(month)).toISOString().slice(0, 7).replace("-", "_")}`;
}

/** Drops the partitions of the months before this one, at most `limit`, and returns how many. */
async function dropPartitions(sql: Sql, month: number, limit: number): Promise<number> {
  const first = partitionOf(month);
  const rows = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'ledger_blocks'::regclass order by relname`;
  const old = rows.filter(({ name }) => name.startsWith(partitionPrefix) && name < first).slice(0, limit);
  if (old.length === 0) return 0;
  await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
  for (const { name } of old) await sql`drop table ${sql.identifier(name)}`;
  return old.length;
}
