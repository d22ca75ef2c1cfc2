// Statements that read the ledger and its hourly totals, for reports. Sums come from `usage_hourly` alone; single lines come from the blocks.

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

/** The columns of `usage_hourly` by which sums can be grouped; `day` is computed from `hour`. */
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
