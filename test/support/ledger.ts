// Reads the ledger of a gateway under test from its own store.

import type { SqlRow, SqlValue } from "../../src/storage/sql.ts";
import { quiet, withDatabase } from "../contracts/engines.ts";
import type { Gateway } from "./gateway-settings.ts";
import { waitFor } from "./wait.ts";

export type StoredLine = Readonly<Record<string, SqlValue>>;

/** Where the lines are: the SQLite file of the gateway, or this PostgreSQL database. */
interface Place {
  readonly gateway: Pick<Gateway, "dataFolder">;
  readonly databaseUrl?: string;
}

/** All lines in the order of their attempts. */
export async function readLines({ gateway, databaseUrl }: Place): Promise<StoredLine[]> {
  let lines: SqlRow[] = [];
  const options = { databaseUrl: databaseUrl ?? null, dataDir: gateway.dataFolder, log: quiet };
  await withDatabase(options, async ({ sql }) => {
    lines = [...(await sql`select * from ledger order by id`)];
  });
  return lines;
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
