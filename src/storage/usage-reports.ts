// Statements that read the ledger and its hourly totals, for reports. Sums come from the totals alone; single lines come from the blocks.

import { dayMs } from "../lib/time-units.ts";
import {
  type FilterColumn,
  findLines,
  type LinePage,
  type LineQuery,
  listLines,
  type UsageFilters,
} from "./ledger-lines.ts";
import { read } from "./operation.ts";
import type { Sql, SqlFragment, SqlRow } from "./sql.ts";
import { joinSums } from "./usage-totals.ts";

/** The columns of the totals by which sums can be grouped; `day` is computed from `hour`. */
export type UsageColumn = "day" | "hour" | FilterColumn | "tags";

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

const microPico = 1_000_000n;
const counts = [
  "lines",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "unknown_costs",
  "latency_ms",
  "first_token_ms",
  "streams",
];
// A sum of pico-dollars may need more than 64 bits: it is added in two parts.
const costs = { cost_micro: `cost_pico / ${microPico}`, cost_rest: `cost_pico % ${microPico}` };
const amounts = Object.entries({ ...Object.fromEntries(counts.map((name) => [name, name])), ...costs });
// The dialects disagree about the type of a sum.
const sums = amounts.map(([name]) => `cast(coalesce(sum(s.${name}), 0) as bigint) as ${name}`);

/** A report of a large store may take longer than operations that requests wait for. */
function slowly<Args extends readonly unknown[], Result>(run: (sql: Sql, ...args: Args) => Promise<Result>) {
  return { ...read(run), deadlineMs: 5_000 };
}

export const usageReportStatements = {
  /** Without columns to group by, the one group of all lines. */
  summarize: slowly(async (sql, query: UsageQuery): Promise<UsageGroups> => {
    const { from, offsetMs, groupBy, filters, maxGroups } = query;
    const where = addFilters(sql, sql.part`d.last_hour >= ${from}`, filters);
    const dimensions = groupBy.map((column, index) => `${toExpression(column, offsetMs)} as dimension_${index}`);
    // Both dialects take numbers for the columns of the result.
    const grouping = groupBy.length === 0 ? "" : `group by ${groupBy.map((_, index) => index + 1).join(", ")}`;
    // As a number in the text: for a parameter, PostgreSQL plans to read only the first tenth of the groups.
    const limit = sql.raw(`limit ${Math.trunc(maxGroups) + 1}`);
    const rows = await sql`
      select ${sql.names([...dimensions, ...sums])}
      from (${selectSums(sql, query, where)}) s join usage_dimensions d on d.id = s.dimension_id
      where ${where} ${sql.raw(grouping)} ${limit}`;
    if (rows.length > maxGroups) return "too_many";
    return rows.map((row) => ({
      values: groupBy.map((_, index) => String(row[`dimension_${index}`])),
      ...toSums(row),
    }));
  }),

  /** Newest first. A page of a rare filter may have fewer lines than its limit, or none, although more follow. */
  listLines: slowly((sql, query: LineQuery): Promise<LinePage> => listLines(sql, query)),

  /** The newest lines of a request in the order of its attempts, at most `limit`. Callers choose ids, so two teams may use the same one. */
  findRequest: slowly((sql, requestId: string, limit: number, team: string | null) =>
    findLines(sql, { requestId, team }, limit),
  ),

  /** The names of keys, by id. */
  nameKeys: read(async (sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    if (ids.length === 0) return new Map();
    const rows = await sql<{ id: string; name: string }>`select id, name from api_keys where id in ${sql.list(ids)}`;
    return new Map(rows.map(({ id, name }) => [id, name]));
  }),
};

/**
 * SQLite groups by sorting, so it first adds up the sums of each combination, which it finds in order, and then sorts only these. PostgreSQL
 * groups by a hash, without a sort.
 */
function selectSums(sql: Sql, { from, to, offsetMs, groupBy }: UsageQuery, where: SqlFragment): SqlFragment {
  if (sql.engine === "postgres") {
    const columns = ["dimension_id", "hour", ...amounts.map(([name, value]) => `${value} as ${name}`)];
    return sql.part`select ${sql.names(columns)} from usage_sums where hour >= ${from} and hour < ${to}`;
  }
  const times = groupBy.filter((column) => column === "hour" || column === "day");
  const grouping = ["d.id", ...times.map((column) => toExpression(column, offsetMs))];
  // All hours of a group belong to the same day.
  const columns = [
    "d.id as dimension_id",
    "min(hour) as hour",
    ...amounts.map(([name, value]) => `sum(${value}) as ${name}`),
  ];
  return sql.part`
    select ${sql.names(columns)} from usage_dimensions d ${joinSums(sql, from, to)}
    where ${where} group by ${sql.names(grouping)}`;
}

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
