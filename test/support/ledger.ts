// Reads the ledger of a gateway under test from its own store.

import { readBlocks } from "../../src/storage/ledger.ts";
import type { LedgerLine } from "../../src/storage/ledger-line.ts";
import type { Sql, SqlValue } from "../../src/storage/sql.ts";
import { quiet, withDatabase } from "../contracts/engines.ts";
import type { Gateway } from "./gateway-settings.ts";
import { waitFor } from "./wait.ts";

export type StoredLine = Readonly<Record<string, SqlValue>>;

/** Where the lines are: the SQLite file of the gateway, or this PostgreSQL database. */
interface Place {
  readonly gateway: Pick<Gateway, "dataFolder">;
  readonly databaseUrl?: string;
}

/** All lines in the order of their attempts, as rows: whole numbers are bigints, objects are JSON, and absent members are null. */
export async function readLines({ gateway, databaseUrl }: Place): Promise<StoredLine[]> {
  let lines: StoredLine[] = [];
  const options = { databaseUrl: databaseUrl ?? null, dataDir: gateway.dataFolder, log: quiet };
  await withDatabase(options, async ({ sql }) => {
    lines = (await readAll(sql)).map(toStored);
  });
  return lines;
}

/** Sorted by id. */
export async function readAll(sql: Sql): Promise<LedgerLine[]> {
  const all: LedgerLine[] = [];
  for await (const { lines } of readBlocks(sql)) all.push(...lines);
  return all.sort((one, other) => (one.id < other.id ? -1 : 1));
}

const optional = [
  ...["key_id", "team", "provider", "model", "task", "deployment", "input_tokens", "output_tokens", "cached_tokens"],
  ...["reasoning_tokens", "tokens", "units", "price_version", "cost_pico", "cost_reason", "accounts", "first_token_ms"],
  ...["job_id", "reason", "usage"],
];
const none = Object.fromEntries(optional.map((name) => [name, null]));

function toStored(line: LedgerLine): StoredLine {
  const members = Object.entries(line).map(([name, value]): [string, SqlValue] => {
    if (typeof value === "number") return [name, BigInt(value)];
    return [name, typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? null)];
  });
  return { ...none, ...Object.fromEntries(members) };
}

/** Lines of these requests, as soon as there are this many. A line appears in the store some time after the answer. */
export async function linesOf(place: Place, requestId: string | null, count: number): Promise<StoredLine[]> {
  return await waitFor(
    `${count} lines of ${requestId ?? "all requests"}`,
    async () => {
      const lines = await readLines(place);
      const found = requestId === null ? lines : lines.filter((line) => line["request_id"] === requestId);
      return found.length >= count ? found : null;
    },
    { everyMs: 50, withinMs: 30_000 },
  );
}

/** The sum of what the lines cost; unknown costs count as nothing. */
export function sumOfCosts(lines: readonly StoredLine[]): bigint {
  return lines.reduce((sum, line) => sum + ((line["cost_pico"] as bigint | null) ?? 0n), 0n);
}
