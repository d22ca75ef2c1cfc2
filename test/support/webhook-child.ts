// A deliverer in a process of its own, because which certificates are trusted belongs to a process. It takes one task a line.

import { createEgress } from "../../src/egress/egress.ts";
import { createDeliverer, type DeliveryOutcome } from "../../src/jobs/deliverer.ts";
import { openWebhookKeys, toKeySet } from "../../src/jobs/webhook-keys.ts";
import { createLog } from "../../src/log.ts";
import type { DeliveryAttempt, DeliveryRecord, JobRecord } from "../../src/storage/job-records.ts";
import { takeRsaPair } from "./rsa-pairs.ts";
import { createMemorySecrets } from "./webhook-secrets.ts";

export interface DeliveryTask {
  readonly id: string;
  readonly receiver: string;
  readonly attempts: readonly DeliveryAttempt[];
  readonly job: Omit<JobRecord, "cost">;
  readonly allow: readonly string[];
  /** What names resolve to; a name that is not here is unknown. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs: number;
  /** What the dice say, 0..1, instead of being thrown. */
  readonly random?: number;
  /** Null: it is not told to stop. */
  readonly stopAfterMs: number | null;
}

export interface DeliveryReport {
  /** Null: it threw. */
  readonly outcome: DeliveryOutcome | null;
  readonly thrown: string | null;
  readonly endedAt: number;
}

export interface WebhookChild {
  readonly keys: { readonly keys: readonly Record<string, string>[] };
  deliver(task: DeliveryTask): Promise<DeliveryReport>;
  stop(): void;
}

export async function startWebhookChild(trustedCertificate: string): Promise<WebhookChild> {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: trustedCertificate },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = readLines(child.stdout);
  const next = async () => JSON.parse((await lines.next()).value ?? "null");
  const keys = await next();
  return {
    keys,
    async deliver(task) {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      child.stdin.flush();
      return await next();
    },
    stop: () => child.kill(),
  };
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let waiting = "";
  const decoder = new TextDecoder();
  for await (const part of stream) {
    waiting += decoder.decode(part, { stream: true });
    const lines = waiting.split("\n");
    waiting = lines.pop() ?? "";
    yield* lines;
  }
}

async function run(task: DeliveryTask): Promise<DeliveryReport> {
  const lookup = async (name: string) => {
    const addresses = task.names[name];
    if (addresses === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return addresses;
  };
  const egress = createEgress({ allow: task.allow, lookup, log });
  const deliverer = createDeliverer({
    egress,
    keys,
    log,
    timeoutMs: task.timeoutMs,
    random: () => task.random ?? Math.random(),
  });
  const { id, receiver, attempts } = task;
  const job: JobRecord = { ...task.job, cost: null };
  const delivery: DeliveryRecord = {
    ...{ id, jobId: job.id, owner: job.owner, receiver, attempts },
    ...{ state: "pending", createdAt: Date.now(), nextAttemptAt: Date.now() },
  };
  const stop = new AbortController();
  const timer =
    task.stopAfterMs === null ? undefined : setTimeout(() => stop.abort(new Error("stop")), task.stopAfterMs);
  const report = await deliverer.attempt({ delivery, job }, stop.signal).then(
    (outcome) => ({ outcome, thrown: null }),
    (error: unknown) => ({ outcome: null, thrown: String(error) }),
  );
  clearTimeout(timer);
  return { ...report, endedAt: Date.now() };
}

const log = createLog({
  level: "error",
  format: "text",
  secrets: [],
  write: (lines) => void process.stderr.write(lines),
});
const keys = openWebhookKeys({ secrets: createMemorySecrets().store, log, createRsaPair: takeRsaPair });

if (import.meta.main) {
  console.log(JSON.stringify(toKeySet(await keys.published())));
  for await (const line of console) console.log(JSON.stringify(await run(JSON.parse(line))));
}
