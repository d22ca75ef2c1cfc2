// Statements that read the ledger and its hourly totals, for reports. Sums come from `usage_hourly` alone; single lines come from `ledger`.

import { read } from "./operation.ts";
import { boolean, type Column, integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql, SqlFragment, SqlRow } from "./sql.ts";

/** The columns of `usage_hourly` by which sums can be grouped; `day` is computed from `hour`. */
export type UsageColumn = "day" | "hour" | FilterColumn | "tags";
export type FilterColumn = "key_id" | "team" | "provider" | "task" | "endpoint" | "outcome";

/** The values of a column, of which one must match. The empty text matches lines without a value. */
export type UsageFilters = Readonly<Partial<Record<FilterColumn | "model", readonly string[]>>>;

export interface UsageQuery {
  /** Epoch milliseconds of full hours; `to` is not included. */
  readonly from: number;
  readonly to: number;
  /** Added to an hour to find its local day. */
  readonly offsetMs: number;
  readonly groupBy: readonly (UsageColumn | "model")[];
  readonly filters: UsageFilters;
  readonly maxGroups: number;
}

export interface UsageSums {
  readonly lines: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly costPico: bigint;
  readonly unknownCosts: number;
  readonly latencyMs: number;
  readonly firstTokenMs: number;
  readonly streams: number;
}

/** `values` are those of the columns of `groupBy`; a day is the number of days since 1970, an hour is epoch milliseconds. */
export interface UsageGroup extends UsageSums {
  readonly values: readonly string[];
}

export type UsageGroups = readonly UsageGroup[] | "too_many";

const picoUsd: Column<bigint> = { toSql: (value) => value, fromSql: (value) => value as bigint };
/** Some statements read an absent value as empty text. */
const textOrNull: Column<string | null> = {
  toSql: (value) => value,
  fromSql: (value) => (value as string | null) || null,
};

/** Times are epoch milliseconds. */
const lineColumns = {
  id: text(),
  time: integer,
  requestId: text(),
  keyId: textOrNull,
  team: textOrNull,
  tags: nullable(json<Readonly<Record<string, string>>>()),
  endpoint: text(),
  provider: textOrNull,
  model: textOrNull,
  task: textOrNull,
  deployment: nullable(text()),
  attempt: integer,
  outcome: text(),
  status: nullable(integer),
  inputTokens: nullable(integer),
  outputTokens: nullable(integer),
  cachedTokens: nullable(integer),
  reasoningTokens: nullable(integer),
  priceVersion: nullable(text()),
  costPico: nullable(picoUsd),
  costReason: nullable(text()),
  countedPico: picoUsd,
  latencyMs: integer,
  firstTokenMs: nullable(integer),
  isStream: boolean,
  isCached: boolean,
  jobId: nullable(text()),
  count: integer,
  reason: nullable(text()),
};
const detailColumns = {
  ...lineColumns,
  accounts: nullable(json<readonly string[]>()),
  tokens: nullable(json<Readonly<Record<string, number>>>()),
  units: nullable(json<unknown>()),
  usage: nullable(json<unknown>()),
};
const lines = mapRecord(lineColumns);
const details = mapRecord(detailColumns);

export type LineRecord = RecordOf<typeof lineColumns>;
export type LineDetail = RecordOf<typeof detailColumns>;

/** The position of a line in the order of the list. */
export interface LinePosition {
  readonly time: number;
  readonly id: string;
}

export interface LineQuery {
  readonly from: number | null;
  readonly to: number | null;
  /** Only lines that follow this one, towards the past. */
  readonly after: LinePosition | null;
  readonly filters: UsageFilters;
  readonly status: number | null;
  readonly minCostPico: bigint | null;
  readonly minLatencyMs: number | null;
  readonly limit: number;
  /** A page of a rare filter ends after this time, with the lines that were found so far. */
  readonly scanMs: number;
}

export interface LinePage {
  readonly lines: readonly LineRecord[];
  /** Where the next page begins; null at the end. */
  readonly next: LinePosition | null;
}

const linesPerScan = 5_000;
const filterColumns: ReadonlySet<string> = new Set(["key_id", "team", "provider", "model", "task"]);
const microPico = 1_000_000n;
const dayMs = 86_400_000;
// The dialects disagree about the type of a sum, and a sum of pico-dollars may need more than 64 bits: it is added in two parts.
const sums = [
  ...[
    "lines",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "unknown_costs",
    "latency_ms",
    "first_token_ms",
    "streams",
  ].map((name) => `cast(coalesce(sum(${name}), 0) as bigint) as ${name}`),
  `cast(coalesce(sum(cost_pico / ${microPico}), 0) as bigint) as cost_micro`,
  `cast(coalesce(sum(cost_pico % ${microPico}), 0) as bigint) as cost_rest`,
];

/** A report of a large store may take longer than operations that requests wait for. */
function slowly<Args extends readonly unknown[], Result>(run: (sql: Sql, ...args: Args) => Promise<Result>) {
  return { ...read(run), deadlineMs: 5_000 };
}

export const usageReportStatements = {
  /** Without columns to group by, the one group of all lines. */
  summarize: slowly(async (sql, query: UsageQuery): Promise<UsageGroups> => {
    const { from, to, offsetMs, groupBy, filters, maxGroups } = query;
    const where = addFilters(sql, sql.part`hour >= ${from} and hour < ${to}`, filters);
    const dimensions = groupBy.map((column, index) => `${toExpression(column, offsetMs)} as dimension_${index}`);
    // Both dialects take numbers for the columns of the result.
    const grouping = groupBy.length === 0 ? [] : [`group by ${groupBy.map((_, index) => index + 1).join(", ")}`];
    const rows = await sql`
      select ${sql.names([...dimensions, ...sums])} from usage_hourly where ${where} ${sql.names(grouping)}
      limit ${maxGroups + 1}`;
    if (rows.length > maxGroups) return "too_many";
    return rows.map((row) => ({
      values: groupBy.map((_, index) => String(row[`dimension_${index}`])),
      ...toSums(row),
    }));
  }),

  /** Newest first. A page of a rare filter may have fewer lines than its limit, or none, although more follow. */
  listLines: slowly(async (sql, query: LineQuery): Promise<LinePage> => {
    const { limit, scanMs } = query;
    const giveUpAt = performance.now() + scanMs;
    const found: LineRecord[] = [];
    let after = query.after;
    for (;;) {
      const wanted = limit - found.length;
      // The page is read with one line more than it has, which shows whether another page follows.
      const page = await scan(sql, { ...query, after }, wanted + 1);
      found.push(...page.slice(0, wanted));
      const last = found.at(-1);
      if (page.length > wanted && last !== undefined) return { lines: found, next: { time: last.time, id: last.id } };
      after = await findEndOfScan(sql, { ...query, after });
      if (after === null || performance.now() >= giveUpAt) return { lines: found, next: after };
    }
  }),

  /** The lines of a request in the order of its attempts, at most `limit`. Callers choose ids, so two teams may use the same one. */
  findRequest: read(
    async (sql, requestId: string, limit: number, team: string | null): Promise<readonly LineDetail[]> => {
      const rows = await sql`
      select ${sql.names(details.names)} from ledger
      where request_id = ${requestId} and (cast(${team} as text) is null or team = ${team})
      order by time desc, attempt desc, id desc limit ${limit}`;
      return rows.map(details.fromRow).reverse();
    },
  ),

  /** The names of keys, by id. */
  nameKeys: read(async (sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    if (ids.length === 0) return new Map();
    const rows = await sql<{ id: string; name: string }>`select id, name from api_keys where id in ${sql.list(ids)}`;
    return new Map(rows.map(({ id, name }) => [id, name]));
  }),
};

function toExpression(column: UsageColumn | "model", offsetMs: number): string {
  return column === "day" ? `(hour + ${Math.trunc(offsetMs)}) / ${dayMs}` : column;
}

function addFilters(sql: Sql, where: SqlFragment, filters: UsageFilters): SqlFragment {
  let all = where;
  const { model, ...others } = filters;
  for (const [column, values] of Object.entries(others) as [FilterColumn, readonly string[]][])
    if (values.length > 0) all = sql.part`${all} and ${sql.names([column])} in ${sql.list(values)}`;
  // A model is named alone or with its provider.
  if (model !== undefined && model.length > 0)
    all = sql.part`${all} and (model in ${sql.list(model)} or provider || '/' || model in ${sql.list(model)})`;
  return all;
}

/** The matching lines among the next `linesPerScan` lines. */
async function scan(sql: Sql, query: LineQuery, limit: number): Promise<LineRecord[]> {
  const { filters, status, minCostPico, minLatencyMs } = query;
  let where = addFilters(sql, sql.part`1 = 1`, filters);
  if (status !== null) where = sql.part`${where} and status = ${status}`;
  if (minCostPico !== null) where = sql.part`${where} and cost_pico >= ${minCostPico}`;
  if (minLatencyMs !== null) where = sql.part`${where} and latency_ms >= ${minLatencyMs}`;
  const rows = await sql`
    select * from (
      select ${sql.names(lines.names.map(withoutNull))} from ledger where ${rangeOf(sql, query)}
      order by time desc, id desc limit ${linesPerScan}
    ) as newest
    where ${where} order by time desc, id desc limit ${limit}`;
  return rows.map(lines.fromRow);
}

/** Filters find absent values as empty text, as in the hourly totals. */
function withoutNull(column: string): string {
  return filterColumns.has(column) ? `coalesce(${column}, '') as ${column}` : column;
}

/** The last line that a scan reads; null if no line follows it. */
async function findEndOfScan(sql: Sql, query: LineQuery): Promise<LinePosition | null> {
  const rows = await sql<{ time: bigint; id: string }>`
    select time, id from ledger where ${rangeOf(sql, query)}
    order by time desc, id desc limit 2 offset ${linesPerScan - 1}`;
  const [last] = rows;
  return last === undefined || rows.length < 2 ? null : { time: Number(last.time), id: last.id };
}

function rangeOf(sql: Sql, { from, to, after, filters }: LineQuery): SqlFragment {
  let range = sql.part`time >= ${from ?? 0}`;
  if (to !== null) range = sql.part`${range} and time < ${to}`;
  // There is an index by key, so that the lines of other keys are not read.
  const [key, ...otherKeys] = filters.key_id ?? [];
  if (key === "" && otherKeys.length === 0) range = sql.part`${range} and key_id is null`;
  else if (key !== undefined && otherKeys.length === 0) range = sql.part`${range} and key_id = ${key}`;
  // The first condition lets PostgreSQL skip partitions.
  if (after !== null)
    range = sql.part`${range} and time <= ${after.time} and (time, id) < (${after.time}, ${after.id})`;
  return range;
}

function toSums(row: SqlRow): UsageSums {
  return {
    lines: Number(row["lines"]),
    inputTokens: Number(row["input_tokens"]),
    outputTokens: Number(row["output_tokens"]),
    cachedTokens: Number(row["cached_tokens"]),
    reasoningTokens: Number(row["reasoning_tokens"]),
    costPico: (row["cost_micro"] as bigint) * microPico + (row["cost_rest"] as bigint),
    unknownCosts: Number(row["unknown_costs"]),
    latencyMs: Number(row["latency_ms"]),
    firstTokenMs: Number(row["first_token_ms"]),
    streams: Number(row["streams"]),
  };
}
