// Statements about latencies: how many answered calls of an hour took how long, as histograms. They are kept apart from the hourly totals, which
// have many more rows, so that percentiles of a month are read in milliseconds.

import { hourMs } from "../lib/time-units.ts";
import { toBatches } from "./batches.ts";
import type { LedgerLine } from "./ledger-line.ts";
import { deleteOldest, read } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** Milliseconds: the upper bounds of the buckets. A last bucket has the values above them. The table has a column for each of them. */
export const latencyBounds = [50, 100, 200, 400, 700, 1_000, 1_500, 2_500, 5_000, 10_000, 20_000, 60_000] as const;

const buckets = Array.from({ length: latencyBounds.length + 1 }, (_, index) => index);
const callColumns = buckets.map((index) => `calls_${index}`);
const streamColumns = buckets.map((index) => `streams_${index}`);
const columns = [...callColumns, ...streamColumns];
const keyColumns = ["hour", "team", "provider", "model"] as const;

const addCounts = `on conflict (${keyColumns.join(", ")}) do update set ${columns
  .map((name) => `${name} = latency_hourly.${name} + excluded.${name}`)
  .join(", ")}`;

/** Counts the answered calls among lines that are appended to the ledger. */
export async function addLatencies(sql: Sql, lines: readonly LedgerLine[]): Promise<void> {
  const rows = new Map<string, Record<string, string | number>>();
  for (const line of lines) {
    if (line.outcome !== "completed" || line.provider === undefined) continue;
    const hour = Math.floor(line.time / hourMs) * hourMs;
    const { team = "", provider, model = "" } = line;
    const key = `${hour}\0${team}\0${provider}\0${model}`;
    let row = rows.get(key);
    if (row === undefined) {
      row = { hour, team, provider, model };
      for (const column of columns) row[column] = 0;
      rows.set(key, row);
    }
    count(row, callColumns[bucketOf(line.latency_ms)]);
    if (line.first_token_ms != null) count(row, streamColumns[bucketOf(line.first_token_ms)]);
  }
  // Always in the same order, so that two transactions never wait for each other.
  const sorted = [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]): SqlRow => row);
  for (const batch of toBatches(sorted))
    await sql`insert into latency_hourly ${sql.columns(batch)} ${sql.raw(addCounts)}`;
}

export async function deleteLatencies(sql: Sql, before: number, limit: number): Promise<number> {
  const from = sql.part`from latency_hourly where`;
  const [timeColumn, ...idColumns] = keyColumns;
  const deleted = await deleteOldest(sql, {
    from,
    timeColumn,
    idColumns,
    until: before - 1,
    limit,
    returning: ["hour"],
  });
  return deleted.length;
}

function count(row: Record<string, string | number>, column: string | undefined): void {
  if (column !== undefined) row[column] = Number(row[column]) + 1;
}

function bucketOf(ms: number): number {
  const index = latencyBounds.findIndex((bound) => ms <= bound);
  return index < 0 ? latencyBounds.length : index;
}

export interface LatencyQuery {
  /** Epoch milliseconds of full hours; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Whole hours. */
  readonly stepMs: number;
  /** Of each list, one value must match; an empty list matches all. The empty text matches calls without a team. */
  readonly teams: readonly string[];
  readonly providers: readonly string[];
  readonly models: readonly string[];
}

/** The counts of the buckets; `calls` until the end of an answer, `streams` until the first token of a stream. */
export interface LatencyStep {
  readonly from: number;
  readonly calls: readonly number[];
  readonly streams: readonly number[];
}

export const latencyStatements = {
  /** The steps that have calls, in the order of their time. */
  list: {
    ...read(async (sql, query: LatencyQuery): Promise<LatencyStep[]> => {
      const { from, to, stepMs, teams, providers, models } = query;
      let where = sql.part`hour >= ${from} and hour < ${to}`;
      if (teams.length > 0) where = sql.part`${where} and team in ${sql.list(teams)}`;
      if (providers.length > 0) where = sql.part`${where} and provider in ${sql.list(providers)}`;
      if (models.length > 0)
        where = sql.part`${where} and (model in ${sql.list(models)} or provider || '/' || model in ${sql.list(models)})`;
      const sums = columns.map((name) => `cast(sum(${name}) as bigint) as ${name}`);
      const step = `(hour - ${Math.trunc(from)}) / ${Math.trunc(stepMs)}`;
      const rows = await sql`
        select ${sql.names([`${step} as step`, ...sums])} from latency_hourly where ${where} group by 1 order by 1`;
      return rows.map((row) => ({
        from: from + Number(row["step"]) * stepMs,
        calls: callColumns.map((name) => Number(row[name])),
        streams: streamColumns.map((name) => Number(row[name])),
      }));
    }),
    deadlineMs: 5_000,
  },
};
