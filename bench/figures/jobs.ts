// P9: jobs from acceptance to delivery: submitted over HTTP, run (the sandbox's answer, which costs nothing), signed and delivered over TLS.
// Every report has a signature of its own, so the machine's signatures per second are the ceiling of all of it: they are measured too.

import { generateKeyPairSync, sign } from "node:crypto";
import { join } from "node:path";
import { openLocalCertificate } from "../../src/cli/local-certificate.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../../test/support/postgres.ts";
import { waitForAnswer } from "../children.ts";
import { prepareSettings, startServing } from "../contestants.ts";
import { type Check, type Course, checkLeast, defineFigure, format, type Measured } from "../figure.ts";
import { readTreeCpuMs } from "../process-tree.ts";

type Engine = "SQLite" | "PostgreSQL";

type Run = { perSecond: number; acceptedPerSecond: number; cpuMsPerJob: number };

const connections = 32;
const signingMs = 2_000;
const targets: Record<Engine, number> = { SQLite: 300, PostgreSQL: 500 };

export const jobs = defineFigure("P9", "jobs accepted, run and delivered", async (course) => {
  const counts = course.rounds > 2 ? [1_000, 4_000] : [1_000];
  const checks: Check[] = [];
  const notes: string[] = [];
  const rounds: Record<string, number[]> = {};
  let first: number | undefined;
  for (const engine of ["SQLite", "PostgreSQL"] as const) {
    const why = engine === "PostgreSQL" ? whyNoOwnPostgres() : null;
    const runs = why === null ? await measureEngine(course, engine, counts) : [];
    const best = runs.at(-1);
    first ??= best?.perSecond;
    rounds[`${engine}, jobs/s`] = runs.map(({ perSecond }) => perSecond);
    rounds[`${engine}, CPU ms a job`] = runs.map(({ cpuMsPerJob }) => cpuMsPerJob);
    checks.push(checkLeast(engine, best?.perSecond ?? null, targets[engine], "/s"));
    if (why !== null) notes.push(`${engine}: ${why}`);
    for (const [index, run] of runs.entries())
      notes.push(
        `${engine}, ${counts[index]} jobs: accepted at ${format(run.acceptedPerSecond)}/s, CPU of all our processes ${format(run.cpuMsPerJob)} ms a job`,
      );
  }
  notes.push(`RSA signatures and nothing else, on all cores: ${format(await countSignatures())}/s`);
  const measured: Measured = { values: {}, unit: "jobs/s", checks, notes, rounds };
  return first === undefined ? measured : { ...measured, values: { Switchyard: first } };
});

async function measureEngine(course: Course, engine: Engine, counts: readonly number[]): Promise<Run[]> {
  const { children, vendors } = course;
  const postgres: OwnPostgres | null = engine === "PostgreSQL" ? await startOwnPostgres() : null;
  const certificate = openLocalCertificate(join(children.folder, "certificate"), ["127.0.0.1"]);
  const receiver = children.startTool("load/job-receiver.ts", certificate);
  const { value } = await receiver.stdout.getReader().read();
  const ports = JSON.parse(new TextDecoder().decode(value)) as { receiverPort: number; tellerPort: number };
  const settings = prepareSettings(children, vendors);
  const { child: gateway, base: url } = await startServing(course, settings, {
    SWITCHYARD_WORKERS: "1",
    SWITCHYARD_JOB_WORKERS: "1",
    SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8",
    NODE_EXTRA_CA_CERTS: certificate.path,
    ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
  });
  try {
    await waitForAnswer(gateway, `${url}/readyz`, 15_000);
    const key = await createKey(url, settings.environment["SWITCHYARD_ADMIN_KEY"] ?? "");
    const body = JSON.stringify({
      model: "text/sentiment_analysis/sandbox",
      input: { text: "A short text, for a task that takes no time." },
      webhook_receiver: `https://127.0.0.1:${ports.receiverPort}/hook`,
    });
    let before = 0;
    const run = async (count: number): Promise<Run> => {
      const cpuBefore = readTreeCpuMs(gateway.pid);
      const client = children.startTool("load/job-client.ts", {
        url: `${url}/v3/universal-ai/async`,
        key,
        bodies: [body],
        count,
        connections,
      });
      const sent = JSON.parse(await client.stdout.text()) as { startedAt: number; endedAt: number; failed: number };
      await client.stop();
      if (sent.failed > 0) throw new Error(`${sent.failed} of ${count} jobs were not accepted`);
      const lastAt = await waitForJobs(ports.tellerPort, before + count);
      before += count;
      return {
        perSecond: (count * 1_000) / (lastAt - sent.startedAt),
        acceptedPerSecond: (count * 1_000) / (sent.endedAt - sent.startedAt),
        cpuMsPerJob: (readTreeCpuMs(gateway.pid) - cpuBefore) / count,
      };
    };
    await run(200);
    const runs: Run[] = [];
    for (const count of counts) runs.push(await run(count));
    return runs;
  } finally {
    await children.stop(gateway);
    await receiver.stop();
    await postgres?.stop();
  }
}

/** Per second, with the key length of the gateway. */
async function countSignatures(): Promise<number> {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 3_072 });
  const digest = Buffer.alloc(64, "a");
  const startedAt = performance.now();
  let count = 0;
  const signOnAndOn = async () => {
    while (performance.now() - startedAt < signingMs) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      sign("sha256", digest, privateKey, (error) => (error === null ? resolve() : reject(error)));
      await promise;
      count++;
    }
  };
  await Promise.all(Array.from({ length: connections }, signOnAndOn));
  return (count * 1_000) / (performance.now() - startedAt);
}

async function createKey(url: string, adminKey: string): Promise<string> {
  const response = await fetch(`${url}/v3/manage/keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "bench" }),
  });
  return ((await response.json()) as { key: string }).key;
}

/** When the last of so many was reported, in epoch milliseconds. */
async function waitForJobs(tellerPort: number, count: number): Promise<number> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${tellerPort}/`);
    const told = (await response.json()) as { jobs: number; lastAt: number };
    if (told.jobs >= count) return told.lastAt;
    if (performance.now() > deadline) throw new Error(`only ${told.jobs} of ${count} jobs were reported`);
    await Bun.sleep(20);
  }
}
