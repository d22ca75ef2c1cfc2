// Compares the ledger with what was derived from it: the accounts of budgets and the hourly totals, also while a gateway writes. One statement
// reads what was derived and how far each process had come at that moment; lines that were appended later are left out.

import { hourMs } from "../lib/time-units.ts";
import { mergesRow, readBlocks } from "./ledger.ts";
import { type Operation, read } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { LedgerSums, sumNames, totalColumns } from "./usage-totals.ts";

export interface UsageCheck {
  readonly lines: number;
  readonly accounts: number;
  /** Accounts of periods whose first lines have been deleted: they can only be compared with the rest. */
  readonly partlyDeleted: number;
  readonly hours: number;
  readonly differences: readonly UsageDifference[];
  /** There are more differences than were listed. */
  readonly hasMore: boolean;
}

/** The ledger says one amount, and what was derived from it another. */
export interface UsageDifference {
  /** `account`: what a budget has spent, in pico-dollars. Otherwise the column of the hourly totals. */
  readonly what: string;
  /** The id of the account, or the dimensions of the total. */
  readonly of: string;
  readonly ledger: bigint;
  readonly derived: bigint;
}

const mostDifferences = 1_000;

export const usageCheckStatements = {
  run: {
    ...read(async (sql): Promise<UsageCheck> => {
      const completeFrom = await findCompleteHour(sql);
      const derived = await readDerived(sql);
      const { all, complete } = await sumLines(sql, derived.positions, completeFrom);
      const { differences: ofAccounts, partlyDeleted } = compareAccounts(all.charges, derived.accounts, completeFrom);
      const isComplete = (row: SqlRow) => Number(row["hour"]) >= completeFrom;
      const differences = [...ofAccounts, ...compareTotals(complete.toRows(), derived.totals.filter(isComplete))];
      return {
        lines: all.lines,
        accounts: derived.accounts.size,
        hours: new Set(derived.totals.map((row) => row["hour"])).size,
        partlyDeleted,
        differences: differences.slice(0, mostDifferences),
        hasMore: differences.length > mostDifferences,
      };
    }),
    // Millions of lines are read.
    deadlineMs: 600_000,
  } satisfies Operation<[], UsageCheck>,
};

/** The first hour from which no line has been deleted. Totals are kept for longer than lines. */
async function findCompleteHour(sql: Sql): Promise<number> {
  const [row] = await sql<{ oldest_line: bigint | null; oldest_total: bigint | null }>`
    select (select min(from_time) from ledger_blocks) as oldest_line, (select min(hour) from usage_hourly) as oldest_total`;
  if (row === undefined || row.oldest_total === null) return 0;
  if (row.oldest_line === null) return Number.MAX_SAFE_INTEGER;
  const hour = Math.floor(Number(row.oldest_line) / hourMs) * hourMs;
  // Of the hour of the oldest line, some lines may have been deleted.
  return Number(row.oldest_total) >= hour ? 0 : hour + hourMs;
}

interface Account {
  readonly periodStart: number;
  readonly spentPico: bigint;
}

interface Derived {
  readonly accounts: ReadonlyMap<string, Account>;
  /** Rows of `usage_hourly`. */
  readonly totals: readonly SqlRow[];
  /** How many lines of each process are counted in the others. */
  readonly positions: ReadonlyMap<string, number>;
}

async function readDerived(sql: Sql): Promise<Derived> {
  const columns = [...totalColumns, ...sumNames];
  // A row of another kind has its name in `key_id`, its time in `hour` and its amount in `cost_pico`.
  const select = (kind: string, table: string, values: Readonly<Record<string, string>>) =>
    `select '${kind}' as kind, ${columns.map((name) => `${values[name] ?? ((sumNames as readonly string[]).includes(name) ? "0" : "''")} as ${name}`).join(", ")} from ${table}`;
  const rows = await sql.execute(
    [
      `select 'total' as kind, ${columns.join(", ")} from usage_hourly`,
      select("account", "budget_accounts", { hour: "period_start", key_id: "id", cost_pico: "spent_pico" }),
      select("position", "ledger_positions", { hour: "0", key_id: "process_id", cost_pico: "position" }),
    ].join(" union all "),
    [],
  );
  const ofKind = (kind: string) => rows.filter((row) => row["kind"] === kind);
  const byName = <Value>(kind: string, toValue: (row: SqlRow) => Value) =>
    new Map(ofKind(kind).map((row) => [row["key_id"] as string, toValue(row)]));
  return {
    accounts: byName("account", (row) => ({
      periodStart: Number(row["hour"]),
      spentPico: row["cost_pico"] as bigint,
    })),
    totals: ofKind("total"),
    positions: byName("position", (row) => Number(row["cost_pico"])),
  };
}

async function sumLines(
  sql: Sql,
  positions: Derived["positions"],
  completeFrom: number,
): Promise<{ readonly all: LedgerSums; readonly complete: LedgerSums }> {
  const [all, complete] = [new LedgerSums(), new LedgerSums()];
  for await (const { processId, lines } of readBlocks(sql)) {
    const position = processId === mergesRow ? 0 : (positions.get(processId) ?? 0);
    for (const line of lines) {
      if (line.n !== undefined && line.n > position) continue;
      all.add(line);
      if (line.time >= completeFrom) complete.add(line);
    }
  }
  return { all, complete };
}

function compareAccounts(
  charges: ReadonlyMap<string, bigint>,
  accounts: Derived["accounts"],
  completeFrom: number,
): { readonly differences: UsageDifference[]; readonly partlyDeleted: number } {
  const differences: UsageDifference[] = [];
  let partlyDeleted = 0;
  for (const id of [...new Set([...charges.keys(), ...accounts.keys()])].sort()) {
    const ledger = charges.get(id) ?? 0n;
    const { spentPico: derived, periodStart } = accounts.get(id) ?? { spentPico: 0n, periodStart: 0 };
    if (ledger === derived) continue;
    if (periodStart < completeFrom && ledger < derived) partlyDeleted += 1;
    else differences.push({ what: "account", of: id, ledger, derived });
  }
  return { differences, partlyDeleted };
}

function compareTotals(ledger: readonly SqlRow[], derived: readonly SqlRow[]): UsageDifference[] {
  const keyOf = (row: SqlRow) => totalColumns.map((name) => String(row[name])).join("\0");
  const [lines, totals] = [ledger, derived].map((rows) => new Map(rows.map((row) => [keyOf(row), row])));
  const keys = new Set([...(lines?.keys() ?? []), ...(totals?.keys() ?? [])]);
  return [...keys].flatMap((key) => {
    const [line, total] = [lines?.get(key), totals?.get(key)];
    const [hour, ...others] = key.split("\0");
    const of = [new Date(Number(hour)).toISOString(), ...others].join(" | ");
    return sumNames
      .map((name) => ({ what: name, of, ledger: amountOf(line, name), derived: amountOf(total, name) }))
      .filter((sums) => sums.ledger !== sums.derived);
  });
}

function amountOf(row: SqlRow | undefined, name: string): bigint {
  return BigInt((row?.[name] ?? 0) as number | bigint);
}
