// What happens when a gateway starts with a great many callbacks due, half of them for a host that answers nothing: how fast the
// others are delivered meanwhile, and how much memory the working process takes. Run by hand: bun run bench/jobs-backlog.ts [--jobs 50000] [--postgres]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openLocalCertificate } from "../src/cli/local-certificate.ts";
import { createLog } from "../src/log.ts";
import { openStorage, type Storage } from "../src/storage/storage.ts";
import type { WorkItem } from "../src/storage/work-queue.ts";
import { startOwnPostgres } from "../test/support/postgres.ts";
import { Children, findFreePort, waitForAnswer } from "./children.ts";
import { readProcessTree } from "./process-tree.ts";

const { values: options } = parseArgs({
  options: {
    jobs: { type: "string", default: "50000" },
    seconds: { type: "string", default: "60" },
    postgres: { type: "boolean", default: false },
  },
});
const count = Number(options.jobs);
const seconds = Number(options.seconds);
const children = new Children(mkdtempSync(join(tmpdir(), "switchyard-backlog-")));
const postgres = options.postgres ? await startOwnPostgres() : null;
const node = Bun.which("node") ?? process.execPath;

try {
  const certificate = openLocalCertificate(join(children.folder, "certificate"), ["127.0.0.1"]);
  const receiver = children.startTool("load/job-receiver.ts", certificate);
  const { value } = await receiver.stdout.getReader().read();
  const ports = JSON.parse(new TextDecoder().decode(value)) as { receiverPort: number; tellerPort: number };
  // It takes connections and says nothing.
  const hole = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    SWITCHYARD_HOST: "127.0.0.1",
    SWITCHYARD_PORT: String(port),
    SWITCHYARD_WORKERS: "1",
    SWITCHYARD_DATA_DIR: join(children.folder, "data"),
    SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8",
    SWITCHYARD_LOG_LEVEL: "warn",
    NODE_EXTRA_CA_CERTS: certificate.path,
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
  };
  // Jobs that are over and were not reported yet, as a gateway leaves them that went down at that moment.
  const startedAt = performance.now();
  await leaveBacklog([ports.receiverPort, hole.port].map((one) => `https://127.0.0.1:${one}/hook`));
  console.log(`${count} callbacks due, made in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);

  const gateway = children.start(
    [node, join(import.meta.dir, "..", "bin/switchyard.mjs"), "serve"],
    environment,
    children.folder,
  );
  await waitForAnswer(gateway, `${url}/readyz`, 15_000);
  let before = 0;
  for (let elapsed = 5; elapsed <= seconds; elapsed += 5) {
    await Bun.sleep(5_000);
    const told = (await fetch(`http://127.0.0.1:${ports.tellerPort}/`).then((response) => response.json())) as {
      jobs: number;
    };
    const memory = readProcessTree(gateway.pid).map(({ pid }) => residentMegabytes(pid));
    console.log(
      `${elapsed} s: ${told.jobs} delivered, ${((told.jobs - before) / 5).toFixed(0)}/s; processes ${memory.join(", ")} MB`,
    );
    before = told.jobs;
    if (told.jobs >= count / 2) break;
  }
  hole.stop(true);
  await children.stop(gateway);
  await receiver.stop();
} finally {
  children.killAll();
  await postgres?.stop();
  rmSync(children.folder, { recursive: true, force: true });
}

async function leaveBacklog(receivers: readonly string[]): Promise<void> {
  const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => console.error(lines) });
  const databaseUrl = postgres?.url ?? null;
  const storage = await openStorage({ databaseUrl, dataDir: join(children.folder, "data"), works: true, log });
  let next = 0;
  async function leaveSome(): Promise<void> {
    for (let turn = next++; turn < count; turn = next++) {
      const now = Date.now();
      const receiver = receivers[turn % receivers.length] ?? "";
      const job = {
        id: crypto.randomUUID(),
        owner: "key:bench",
        keyId: "bench",
        feature: "text",
        subfeature: "sentiment_analysis",
        provider: "sandbox",
        model: null,
        createdAt: now,
        expiresAt: now + 86_400_000,
        webhookReceiver: receiver,
        request: JSON.stringify({ request: { webhook_receiver: receiver } }),
      };
      await storage.jobs.create(job, null);
      const item = await takeOne(storage);
      const taken = await storage.jobs.begin(item, { countRun: true });
      if (taken === null) throw new Error("the work of a job that was just made is not there");
      const result = {
        status: "success" as const,
        provider: "sandbox",
        model: null,
        finishedAt: now,
        cost: 0n,
        costReason: null,
        result: JSON.stringify({ output: { general_sentiment: "Positive", general_sentiment_rate: 0.9, items: [] } }),
      };
      await storage.jobs.finish(item, item.subject, result, { id: crypto.randomUUID() });
    }
  }
  await Promise.all(Array.from({ length: 32 }, leaveSome));
  await storage.close();
}

/** Not always the one that was made here: others take, too, and what began a moment before may not see what has come since. */
async function takeOne(storage: Storage): Promise<WorkItem> {
  for (let attempt = 1; attempt <= 100; attempt++) {
    const [item] = await storage.work.take({ kind: "run", limit: 1, ignoreGroups: [] });
    if (item !== undefined) return item;
  }
  throw new Error("there is less work than was made");
}

function residentMegabytes(pid: number): number {
  const status = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString();
  return Math.round(Number(status.trim()) / 1_024);
}
