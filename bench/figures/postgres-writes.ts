// PG: what one request costs PostgreSQL: CPU time of the server, bytes on its disk and in its write-ahead log. scripts/capacity.ts reads it.

import { readFileSync } from "node:fs";
import { connectPostgres } from "../../src/storage/connect.ts";
import { startOwnPostgres, whyNoOwnPostgres } from "../../test/support/postgres.ts";
import { checkContestant, startSwitchyard } from "../contestants.ts";
import { checkMost, defineFigure, format } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { readTreeCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const connections = 64;
// Lines are written in batches every 250 ms.
const settleMs = 1_500;
// Lines are stored in compressed blocks. More than this would mean that they are not.
const limitBytes = 500;

export const postgresWrites = defineFigure("PG", "PostgreSQL, for each request", async (course) => {
  const why = whyNoOwnPostgres();
  if (why !== null) throw new Error(why);
  const { children } = course;
  const postgres = await startOwnPostgres();
  const settings = { DATABASE_URL: postgres.url, SWITCHYARD_JOB_WORKERS: "0" };
  const database = connectPostgres(postgres.url, { maxConnections: 1 });
  try {
    const gateway = await startSwitchyard(course, { isLimited: true, settings });
    await checkContestant(gateway, "plain");
    const call = gateway.prepare("plain");
    await sendPlainLoad(children, { call, connections, durationMs: course.warmUpMs, pauseMs: 0 });
    const rounds: Record<string, number[]> = { "CPU µs": [], "disk bytes": [], "log bytes": [] };
    for (let round = 0; round < course.rounds; round++) {
      await Bun.sleep(settleMs);
      const before = await readServer();
      await sendPlainLoad(children, { call, connections, durationMs: course.loadMs, pauseMs: 0 });
      await Bun.sleep(settleMs);
      const after = await readServer();
      const lines = after.lines - before.lines;
      rounds["CPU µs"]?.push(((after.cpuMs - before.cpuMs) * 1_000) / lines);
      rounds["disk bytes"]?.push((after.diskBytes - before.diskBytes) / lines);
      rounds["log bytes"]?.push((after.logBytes - before.logBytes) / lines);
    }
    await gateway.stop();
    const [cpuUs, diskBytes, logBytes] = Object.values(rounds).map(median) as [number, number, number];
    return {
      values: { Switchyard: cpuUs },
      unit: "µs",
      checks: [checkMost("disk space", diskBytes, limitBytes, " bytes")],
      notes: [`${format(logBytes)} bytes of write-ahead log for each request`],
      rounds,
    };
  } finally {
    await database.client.close({ timeout: 1 });
    await postgres.stop();
  }

  async function readServer() {
    const [row] = await database.sql.script(`
        select (select coalesce(sum(lines), 0) from ledger_blocks) as lines, pg_backend_pid() as pid, pg_current_wal_lsn() - '0/0' as log_bytes,
          (select sum(pg_total_relation_size(relid)) from pg_partition_tree('ledger_blocks')) as disk_bytes`);
    return {
      lines: Number(row?.["lines"]),
      logBytes: Number(row?.["log_bytes"]),
      diskBytes: Number(row?.["disk_bytes"]),
      cpuMs: readTreeCpuMs(parentOf(Number(row?.["pid"]))),
    };
  }
});

/** The server, of which the process of a connection is a child. */
function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
