// Moves lines from the table `ledger`, which held one row per line, to blocks.

import { createPartitions, toMonth } from "./ledger.ts";
import { toBlock } from "./ledger-blocks.ts";
import type { LedgerLine } from "./ledger-line.ts";
import { insertRows } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";

const linesPerBlock = 1_000;
const jsonColumns: ReadonlySet<string> = new Set(["tags", "tokens", "units", "accounts", "usage"]);

export async function convertLedger(sql: Sql): Promise<void> {
  for (let after: { time: bigint; id: string } = { time: -1n, id: "" }; ; ) {
    const rows = await sql<SqlRow & { readonly time: bigint; readonly id: string }>`
      select * from ledger where time >= ${after.time} and (time, id) > (${after.time}, ${after.id})
      order by time, id limit ${linesPerBlock}`;
    const last = rows.at(-1);
    if (last === undefined) break;
    await createPartitions(sql, [toMonth(Number(last.time))]);
    await insertRows(sql, "ledger_blocks", [toBlock("converted", rows.map(toLine))]);
    after = last;
  }
  await sql.script("drop table ledger");
}

function toLine(row: SqlRow): LedgerLine {
  const members = Object.entries(row).flatMap(([name, value]) => {
    if (value === null) return [];
    if (jsonColumns.has(name)) return [[name, JSON.parse(value as string)]];
    return [[name, typeof value === "bigint" ? Number(value) : value]];
  });
  return Object.fromEntries(members) as LedgerLine;
}
