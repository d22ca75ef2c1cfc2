// Compares the ledger with what was derived from it: the accounts of budgets and the hourly totals. Each comparison is one statement, so that it
// sees one state of the store also while a gateway writes.

import { byDimensions, dimensions, selectTotals, sumNames } from "./ledger.ts";
import { type Operation, read } from "./operation.ts";
import type { Sql } from "./sql.ts";

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
// A scan of millions of lines.
const deadlineMs = 600_000;

export const usageCheckStatements = {
  run: {
    ...read(async (sql): Promise<UsageCheck> => {
      const [counts] = await sql<{ lines: bigint; accounts: bigint; hours: bigint }>`
        select (select count(*) from ledger) as lines, (select count(*) from budget_accounts) as accounts,
          (select count(distinct hour) from usage_hourly) as hours`;
      const completeFrom = await findCompleteHour(sql);
      const { differences: ofAccounts, partlyDeleted } = await compareAccounts(sql, completeFrom);
      const differences = [...ofAccounts, ...(await compareTotals(sql, completeFrom))];
      return {
        lines: Number(counts?.lines),
        accounts: Number(counts?.accounts),
        hours: Number(counts?.hours),
        partlyDeleted,
        differences: differences.slice(0, mostDifferences),
        hasMore: differences.length > mostDifferences,
      };
    }),
    deadlineMs,
  } satisfies Operation<[], UsageCheck>,
};

/** The first hour from which no line has been deleted. Totals are kept for longer than lines. */
async function findCompleteHour(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ oldest_line: bigint | null; oldest_total: bigint | null }>`
    select (select min(time) from ledger) as oldest_line, (select min(hour) from usage_hourly) as oldest_total`;
  const { oldest_line: line = null, oldest_total: total = null } = row ?? {};
  if (total === null || (line !== null && total >= line - (line % 3_600_000n))) return 0n;
  // Of the hour of the oldest line, some lines may have been deleted.
  return line === null ? BigInt(Number.MAX_SAFE_INTEGER) : line - (line % 3_600_000n) + 3_600_000n;
}

async function compareAccounts(
  sql: Sql,
  completeFrom: bigint,
): Promise<{ differences: UsageDifference[]; partlyDeleted: number }> {
  const elements =
    sql.engine === "postgres"
      ? sql.part`json_array_elements_text(cast(accounts as json)) as account (id)`
      : sql.part`json_each(accounts) as account`;
  const id = sql.names([sql.engine === "postgres" ? "account.id" : "account.value"]);
  const rows = await sql<{ id: string; period_start: bigint; ledger: bigint; derived: bigint }>`
    with charged as (
      select ${id} as id, cast(sum(counted_pico) as bigint) as pico
      from ledger, ${elements} where accounts is not null group by ${id}
    )
    select coalesce(charged.id, budget_accounts.id) as id, coalesce(period_start, 0) as period_start,
      coalesce(pico, 0) as ledger, coalesce(spent_pico, 0) as derived
    from charged full outer join budget_accounts on budget_accounts.id = charged.id
    where coalesce(pico, 0) <> coalesce(spent_pico, 0)
    order by 1 limit ${mostDifferences + 1}`;
  const isPartlyDeleted = (row: (typeof rows)[number]) => row.period_start < completeFrom && row.ledger < row.derived;
  const differences = rows
    .filter((row) => !isPartlyDeleted(row))
    .map(({ id: account, ledger, derived }) => ({ what: "account", of: account, ledger, derived }));
  return { differences, partlyDeleted: rows.filter(isPartlyDeleted).length };
}

async function compareTotals(sql: Sql, completeFrom: bigint): Promise<UsageDifference[]> {
  const isSame = dimensions.map((name) => `lines.${name} = totals.${name}`).join(" and ");
  const dimensionNames = dimensions.map((name) => `coalesce(lines.${name}, totals.${name}) as ${name}`);
  const columns = sumNames.flatMap((name) => [
    `coalesce(lines.${name}, 0) as ledger_${name}`,
    `coalesce(totals.${name}, 0) as derived_${name}`,
  ]);
  const differs = sumNames.map((name) => `coalesce(lines.${name}, 0) <> coalesce(totals.${name}, 0)`).join(" or ");
  const rows = await sql.execute(
    `with lines as (${selectTotals} from ledger where time >= $1 group by ${byDimensions}),
      totals as (select * from usage_hourly where hour >= $1)
    select ${[...dimensionNames, ...columns].join(", ")}
    from lines full outer join totals on ${isSame}
    where ${differs} limit ${mostDifferences + 1}`,
    [completeFrom],
  );
  return rows.flatMap((row) => {
    const [hour, ...others] = dimensions.map((name) => String(row[name] ?? ""));
    const of = [new Date(Number(hour)).toISOString(), ...others].join(" | ");
    return sumNames
      .map((name) => ({
        what: name,
        of,
        ledger: row[`ledger_${name}`] as bigint,
        derived: row[`derived_${name}`] as bigint,
      }))
      .filter(({ ledger, derived }) => ledger !== derived);
  });
}
