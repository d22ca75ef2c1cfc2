// Statements about the ledger: one line for each call to a provider and for each refused request, and the hourly totals of the lines.
//
// A batch of lines arrives as the text of one JSON array. PostgreSQL gets it as one parameter, SQLite the values one by one: each is the cheapest
// there.

import { type AlertSettings, type BudgetAlert, chargeAccounts } from "./budgets.ts";
import { type Operation, read, write } from "./operation.ts";
import type { Sql, SqlFragment } from "./sql.ts";

/** Types of the columns; `json` is stored as text. A member that is absent or null is stored as null. */
const columns = {
  id: "text",
  time: "bigint",
  request_id: "text",
  key_id: "text",
  team: "text",
  tags: "json",
  endpoint: "text",
  provider: "text",
  model: "text",
  task: "text",
  deployment: "text",
  attempt: "bigint",
  outcome: "text",
  status: "bigint",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cached_tokens: "bigint",
  reasoning_tokens: "bigint",
  tokens: "json",
  units: "json",
  price_version: "text",
  cost_pico: "bigint",
  cost_reason: "text",
  counted_pico: "bigint",
  accounts: "json",
  latency_ms: "bigint",
  first_token_ms: "bigint",
  is_stream: "bigint",
  is_cached: "bigint",
  job_id: "text",
  count: "bigint",
  reason: "text",
  usage: "json",
} as const;

type LedgerColumn = keyof typeof columns;
const names = Object.keys(columns) as LedgerColumn[];

/** A line as it is appended. Members are named after their columns. Times are epoch milliseconds; 1 and 0 are booleans. */
export interface LedgerLine {
  /** A UUID of version 7. A line whose id is in the ledger already is not appended again. */
  readonly id: string;
  /** When the attempt began. */
  readonly time: number;
  readonly request_id: string;
  /** Absent: the request had no valid key. */
  readonly key_id?: string | undefined;
  readonly team?: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  /** The path of the route. Jobs have the path by which they were submitted. */
  readonly endpoint: string;
  /** Absent in a refusal that came before a provider was chosen. */
  readonly provider?: string | undefined;
  /** Without the provider's name. Absent for a task without a choice of models. */
  readonly model?: string | undefined;
  /** `text/summarize`; absent for calls that are not part of a task. */
  readonly task?: string | undefined;
  readonly deployment?: string | undefined;
  /** 1 for the first attempt of a request; 0 for a refusal. */
  readonly attempt: number;
  /** `completed`, `caller_left`, or the code of an error. */
  readonly outcome: string;
  readonly status: number;
  readonly input_tokens?: number | undefined;
  readonly output_tokens?: number | undefined;
  readonly cached_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
  /** The tokens of every kind by which they are billed. */
  readonly tokens?: Readonly<Record<string, number>> | undefined;
  readonly units?: Readonly<Record<string, number>> | undefined;
  readonly price_version?: string | undefined;
  /** Absent when the cost is unknown. */
  readonly cost_pico?: number | undefined;
  /** Why the cost is unknown; `not_answered` after a failure, which providers usually do not bill. */
  readonly cost_reason?: string | undefined;
  /** What the budgets count: the cost, or a fallback price where the cost is unknown. */
  readonly counted_pico: number;
  /** The budget accounts that `counted_pico` is charged to. */
  readonly accounts?: readonly string[] | undefined;
  readonly latency_ms: number;
  readonly first_token_ms?: number | undefined;
  readonly is_stream: 0 | 1;
  readonly is_cached: 0 | 1;
  readonly job_id?: string | undefined;
  /** More than 1: this many refusals were merged into one line. */
  readonly count: number;
  /** Why the request was refused. */
  readonly reason?: string | undefined;
  /** The usage as the provider reported it, so that the cost can be computed again. */
  readonly usage?: unknown;
}

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

/** Dimensions of the totals: empty text takes the place of null. */
export const dimensions = [
  "hour",
  "key_id",
  "team",
  "tags",
  "provider",
  "model",
  "task",
  "endpoint",
  "outcome",
] as const;
const sums = {
  lines: "count",
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_tokens: "cached_tokens",
  reasoning_tokens: "reasoning_tokens",
  cost_pico: "cost_pico",
  unknown_costs: "case when cost_pico is null and cost_reason <> 'not_answered' then 1 end",
  latency_ms: "latency_ms",
  first_token_ms: "first_token_ms",
  streams: "case when first_token_ms is not null then 1 end",
} as const;
export const sumNames = Object.keys(sums) as (keyof typeof sums)[];
const hourMs = 3_600_000;
const totalColumns = [...dimensions, ...sumNames].join(", ");

/** The totals of lines, for `insert into usage_hourly`. */
export const selectTotals = [
  "select time / 3600000 * 3600000 as hour",
  ...dimensions.slice(1).map((name) => `coalesce(${name}, '') as ${name}`),
  ...Object.entries(sums).map(([name, sum]) => `cast(coalesce(sum(${sum}), 0) as bigint) as ${name}`),
].join(", ");
export const byDimensions = dimensions.map((_, index) => index + 1).join(", ");
const addTotals = `do update set ${sumNames.map((name) => `${name} = usage_hourly.${name} + excluded.${name}`).join(", ")}`;

// Lines in the order of their key, totals in the order of their dimensions, then accounts: so two transactions never wait for each other.
const appendOnPostgres = `
  with lines as (
    select * from json_to_recordset(cast(cast($1 as text) as json))
      as line (${names.map((name) => `${name} ${columns[name]}`).join(", ")})
  ), inserted as (
    insert into ledger (${names.join(", ")})
    select ${names.map((name) => (columns[name] === "json" ? `cast(${name} as text)` : name)).join(", ")} from lines order by time, id
    on conflict do nothing
    returning *
  ), counted as (
    insert into usage_hourly (${totalColumns})
    ${selectTotals} from inserted group by ${byDimensions} order by ${byDimensions}
    on conflict (hour, key_id, provider, endpoint, outcome, md5(team || '|' || tags || '|' || model || '|' || task)) ${addTotals}
  )
  select accounts, count(*) as lines, cast(coalesce(sum(counted_pico), 0) as bigint) as pico
  from inserted group by accounts`;

interface AppendedGroup {
  /** The JSON list of the accounts that these lines are charged to. */
  readonly accounts: string | null;
  readonly lines: bigint;
  readonly pico: bigint;
}

async function insertLines(sql: Sql, lines: string): Promise<AppendedGroup[]> {
  return sql.engine === "postgres"
    ? toGroups(await sql.execute(appendOnPostgres, [lines]))
    : insertLinesOnSqlite(sql, JSON.parse(lines) as LedgerLine[]);
}

// More lines in one statement cost no less.
const linesPerStatement = 32;

/** One value for each column, and totals that are summed here: functions of SQLite that read JSON take five times as long. */
async function insertLinesOnSqlite(sql: Sql, lines: readonly LedgerLine[]): Promise<AppendedGroup[]> {
  const [last] = await sql<{ row: bigint }>`select coalesce(max(rowid), 0) as row from ledger`;
  for (let from = 0; from < lines.length; from += linesPerStatement) {
    const some = lines.slice(from, from + linesPerStatement);
    await sql.execute(
      `insert into ledger (${names.join(", ")}) values ${toPlaceholders(some.length, names.length)} on conflict do nothing`,
      some.flatMap((line) => names.map((name) => toColumn(line, name))),
    );
  }
  const addedLines = await findAdded(sql, lines, last?.row ?? 0n);
  for (const { dimensions: values, sums } of sumByDimensions(addedLines))
    await sql.execute(
      `insert into usage_hourly (${totalColumns}) values ${toPlaceholders(1, values.length + sumNames.length)}
        on conflict (${dimensions.join(", ")}) ${addTotals}`,
      [...values, ...sumNames.map((name) => sums[name])],
    );
  return groupByAccounts(addedLines);
}

/**
 * The lines that were inserted after this row. The transaction excludes other writers, so a count is enough, unless some lines were in the
 * ledger already.
 */
async function findAdded(sql: Sql, lines: readonly LedgerLine[], row: bigint): Promise<readonly LedgerLine[]> {
  const [count] = await sql<{ added: bigint }>`select count(*) as added from ledger where rowid > ${row}`;
  if (Number(count?.added) === lines.length) return lines;
  const rows = await sql<{ id: string }>`select id from ledger where rowid > ${row}`;
  const added = new Set(rows.map(({ id }) => id));
  // A line that is twice in the batch was added once.
  return lines.filter(({ id }) => added.delete(id));
}

function toPlaceholders(rows: number, values: number): string {
  return Array(rows)
    .fill(`(${Array(values).fill("?").join(", ")})`)
    .join(", ");
}

function toColumn(line: LedgerLine, name: LedgerColumn): string | number | null {
  const value = line[name] ?? null;
  return value !== null && columns[name] === "json" ? JSON.stringify(value) : (value as string | number | null);
}

interface Totals {
  readonly dimensions: readonly (string | number)[];
  readonly sums: Record<keyof typeof sums, number | bigint>;
}

class LineSums {
  lines = 0;
  input_tokens = 0;
  output_tokens = 0;
  cached_tokens = 0;
  reasoning_tokens = 0;
  /** Sums of a batch are exact as numbers, except for money. */
  cost_pico = 0n;
  unknown_costs = 0;
  latency_ms = 0;
  first_token_ms = 0;
  streams = 0;

  add(line: LedgerLine): void {
    this.lines += line.count;
    this.input_tokens += line.input_tokens ?? 0;
    this.output_tokens += line.output_tokens ?? 0;
    this.cached_tokens += line.cached_tokens ?? 0;
    this.reasoning_tokens += line.reasoning_tokens ?? 0;
    if (line.cost_pico != null) this.cost_pico += BigInt(line.cost_pico);
    else if (line.cost_reason != null && line.cost_reason !== "not_answered") this.unknown_costs += 1;
    this.latency_ms += line.latency_ms;
    if (line.first_token_ms == null) return;
    this.first_token_ms += line.first_token_ms;
    this.streams += 1;
  }
}

/** The same as `selectTotals`. */
function sumByDimensions(lines: readonly LedgerLine[]): Iterable<Totals> {
  const totals = new Map<string, { readonly dimensions: Totals["dimensions"]; readonly sums: LineSums }>();
  for (const line of lines) {
    const hour = Math.floor(line.time / hourMs) * hourMs;
    const tags = JSON.stringify(line.tags);
    const texts = [line.key_id, line.team, tags, line.provider, line.model, line.task, line.endpoint, line.outcome];
    // No text contains a NUL.
    const key = `${hour}\0${texts.join("\0")}`;
    let known = totals.get(key);
    if (known === undefined) {
      known = { dimensions: [hour, ...texts.map((text) => text ?? "")], sums: new LineSums() };
      totals.set(key, known);
    }
    known.sums.add(line);
  }
  return totals.values();
}

function groupByAccounts(lines: readonly LedgerLine[]): AppendedGroup[] {
  const groups = new Map<string | null, AppendedGroup>();
  for (const line of lines) {
    const accounts = line.accounts == null ? null : JSON.stringify(line.accounts);
    const { lines: count, pico } = groups.get(accounts) ?? { lines: 0n, pico: 0n };
    groups.set(accounts, { accounts, lines: count + 1n, pico: pico + BigInt(line.counted_pico) });
  }
  return [...groups.values()];
}

/** Our own statements return these columns. */
function toGroups(rows: unknown): AppendedGroup[] {
  return rows as AppendedGroup[];
}

const lockOfPartitions = 0x4c454447;
// A partition is dropped only when no transaction uses the table at the moment; otherwise the next sweep tries again.
const lockTimeoutMs = 500;

export const ledgerStatements = {
  /** Adds the lines, their totals and their charges in one transaction. A batch that is repeated counts once. */
  append: {
    ...write(null, async (sql, { lines, processId, alerts = noAlerts }: LedgerBatch): Promise<AppendOutcome> => {
      const groups = await insertLines(sql, lines);
      const charges = sumCharges(groups);
      return {
        lines: groups.reduce((sum, group) => sum + Number(group.lines), 0),
        alerts: charges.size === 0 ? [] : await chargeAccounts(sql, processId, charges, alerts, Date.now()),
      };
    }),
    // No request waits for it.
    deadlineMs: 5_000,
  } satisfies Operation<[batch: LedgerBatch], AppendOutcome>,

  /** Creates the partitions of these months, which `toMonth` numbers. SQLite has none. */
  createPartitions: write(null, createPartitions),

  /**
   * Deletes lines from before a time, the oldest first, and returns how many were deleted: at most `limit`. PostgreSQL drops whole
   * partitions instead, so lines stay until their month is over.
   */
  deleteLines: write(null, async (sql, before: number, limit: number): Promise<number> => {
    if (sql.engine === "postgres") {
      await dropPartitions(sql, toMonth(before));
      return 0;
    }
    const [last] = await sql<{ time: bigint }>`
      select time from ledger where time < ${before} order by time limit 1 offset ${limit - 1}`;
    const until: SqlFragment = last === undefined ? sql.part`time < ${before}` : sql.part`time <= ${last.time}`;
    return (await sql`delete from ledger where ${until} returning 1 as one`).length;
  }),

  /** Deletes the totals of the oldest hour before a time, and returns how many rows it had. */
  deleteTotals: write(null, async (sql, before: number): Promise<number> => {
    const deleted = await sql`
      delete from usage_hourly where hour = (select min(hour) from usage_hourly where hour < ${before})
      returning 1 as one`;
    return deleted.length;
  }),

  /** For tests and checks: how many lines there are, and their sums. */
  count: read(async (sql): Promise<{ lines: number; rows: number; costPico: bigint }> => {
    const [row] = await sql<{ lines: bigint; rows: bigint; cost: bigint }>`
      select count(*) as rows, cast(coalesce(sum(count), 0) as bigint) as lines, cast(coalesce(sum(cost_pico), 0) as bigint) as cost from ledger`;
    return { lines: Number(row?.lines), rows: Number(row?.rows), costPico: row?.cost ?? 0n };
  }),
};

const noAlerts: AlertSettings = { thresholds: [], receiver: null };

/** What each account is charged. Every account of a line is charged the whole amount. */
function sumCharges(groups: readonly AppendedGroup[]): Map<string, bigint> {
  const charges = new Map<string, bigint>();
  for (const { accounts, pico } of groups) {
    if (accounts === null || pico === 0n) continue;
    for (const id of JSON.parse(accounts) as string[]) charges.set(id, (charges.get(id) ?? 0n) + pico);
  }
  return charges;
}

/** The number of the month since 1970, in UTC. */
export function toMonth(epochMs: number): number {
  const date = new Date(epochMs);
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth();
}

function startOfMonth(month: number): number {
  return Date.UTC(1970, month);
}

/** PostgreSQL keeps the lines of each month in a partition, which must exist before a line is added. */
export async function createPartitions(sql: Sql, months: readonly number[]): Promise<void> {
  if (sql.engine === "sqlite" || months.length === 0) return;
  // `create table if not exists` fails when another process creates the same table at the same moment.
  await sql`select pg_advisory_xact_lock(${lockOfPartitions})`;
  for (const month of months.toSorted((one, other) => one - other)) {
    const [from, to] = [startOfMonth(month), startOfMonth(month + 1)];
    await sql.script(
      `create table if not exists ${partitionOf(month)} partition of ledger for values from (${from}) to (${to})`,
    );
  }
}

const partitionPrefix = "ledger_month_";

function partitionOf(month: number): string {
  return `${partitionPrefix}${new Date(startOfMonth(month)).toISOString().slice(0, 7).replace("-", "_")}`;
}

/** Drops the partitions of the months before this one. */
async function dropPartitions(sql: Sql, month: number): Promise<void> {
  const first = partitionOf(month);
  const rows = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = 'ledger'::regclass order by relname`;
  const old = rows.filter(({ name }) => name.startsWith(partitionPrefix) && name < first);
  if (old.length === 0) return;
  await sql`select set_config('lock_timeout', ${String(lockTimeoutMs)}, true)`;
  for (const { name } of old) await sql`drop table ${sql.identifier(name)}`;
}
