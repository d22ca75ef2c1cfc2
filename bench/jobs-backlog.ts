// What happens when a gateway starts with a great many callbacks due, half of them for a host that answers nothing: how fast the
// others are delivered meanwhile, and how much memory the working process takes. Run by hand: bun run bench/jobs-backlog.ts [--jobs 50000] [--postgres]

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openLocalCertificate } from "../src/cli/local-certificate.ts";
import { startPostgres } from "../test/support/postgres.ts";
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
const postgres = options.postgres ? await startPostgres() : null;
const node = Bun.which("node") ?? process.execPath;
const adminKey = "mgmt-bench-0123456789abcdef";

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
    SWITCHYARD_ADMIN_KEY: adminKey,
    SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8",
    SWITCHYARD_LOG_LEVEL: "warn",
    NODE_EXTRA_CA_CERTS: certificate.path,
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
  };
  const start = (more: Record<string, string>) =>
    children.start(
      [node, join(import.meta.dir, "..", "bin/switchyard.mjs"), "serve"],
      { ...environment, ...more },
      children.folder,
    );

  // First the jobs come in and nobody works; then they are run, and nobody can be told.
  const first = start({ SWITCHYARD_JOB_WORKERS: "0" });
  await waitForAnswer(first, `${url}/readyz`, 15_000);
  const key = await createKey(url);
  const startedAt = performance.now();
  for (const receiverPort of [ports.receiverPort, hole.port]) {
    const client = children.startTool("load/job-client.ts", {
      url: `${url}/v3/universal-ai/async`,
      key,
      count: count / 2,
      connections: 32,
      body: JSON.stringify({
        model: "text/sentiment_analysis/sandbox",
        input: { text: "A short text." },
        webhook_receiver: `https://127.0.0.1:${receiverPort}/hook`,
      }),
    });
    const { failed } = JSON.parse(await client.stdout.text()) as { failed: number };
    await client.stop();
    if (failed > 0) throw new Error(`${failed} jobs were not accepted`);
  }
  console.log(`${count} jobs accepted in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await children.stop(first);

  const second = start({ SWITCHYARD_JOB_WORKERS: "1", SWITCHYARD_JOBS_AT_ONCE: "64" });
  await waitForAnswer(second, `${url}/readyz`, 15_000);
  let before = 0;
  for (let elapsed = 5; elapsed <= seconds; elapsed += 5) {
    await Bun.sleep(5_000);
    const told = (await fetch(`http://127.0.0.1:${ports.tellerPort}/`).then((response) => response.json())) as {
      jobs: number;
    };
    const memory = readProcessTree(second.pid).map(({ pid }) => residentMegabytes(pid));
    console.log(
      `${elapsed} s: ${told.jobs} delivered, ${((told.jobs - before) / 5).toFixed(0)}/s; processes ${memory.join(", ")} MB`,
    );
    before = told.jobs;
    if (told.jobs >= count / 2) break;
  }
  hole.stop(true);
  await children.stop(second);
  await receiver.stop();
} finally {
  children.killAll();
  await postgres?.stop();
  rmSync(children.folder, { recursive: true, force: true });
}

async function createKey(base: string): Promise<string> {
  const response = await fetch(`${base}/v3/manage/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench" }),
  });
  return ((await response.json()) as { key: string }).key;
}

function residentMegabytes(pid: number): number {
  const status = Bun.spawnSync(["ps", "-o", "rss=", "-p", String(pid)]).stdout.toString();
  return Math.round(Number(status.trim()) / 1_024);
}
