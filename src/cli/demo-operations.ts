// What the people and programs of the invented company did beside calling models: jobs with their webhooks, files, and changes that the audit
// log shows.

import { join } from "node:path";
import { ownerOfTeam } from "../access/caller.ts";
import { createFileStore } from "../files/file-store.ts";
import type { StoredRequest } from "../jobs/job-request.ts";
import { dayMs, hourMs, minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import type { Actor, AuditEvent } from "../storage/audit.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import type { Storage } from "../storage/storage.ts";
import type { WorkItem, WorkKind } from "../storage/work-queue.ts";
import { createRandom, type StoredKey, toUuid } from "./demo-data.ts";

const jobLifetimeMs = 7 * dayMs;
const cancelledResult = JSON.stringify({ error: { message: "The job was cancelled." }, cancelled: true });

export interface OperationsFill {
  readonly dataDir: string;
  readonly seed: number;
  /** Epoch milliseconds. */
  readonly end: number;
  readonly keys: readonly StoredKey[];
  readonly log: Log;
}

/** Returns the lines of the ledger that belong to the jobs. */
export async function fillOperations(storage: Storage, options: OperationsFill): Promise<LedgerLine[]> {
  await storeFiles(storage, options);
  const lines = await storeJobs(storage, options);
  for (const [actor, event] of listEvents(options)) await storage.audit.insert(actor, event);
  return lines;
}

interface DemoTask {
  readonly key: string;
  /** The task, the provider and, where there is a choice, the model. */
  readonly model: string;
  /** The usual duration. */
  readonly ms: number;
  readonly costUsd: number;
  readonly receiver: string | null;
  readonly output: object;
}

const tasks: readonly DemoTask[] = [
  {
    ...{ key: "invoice-reader", model: "ocr/financial_parser/microsoft", ms: 9_000 },
    ...{ costUsd: 0.01, receiver: "https://books.example.com/hooks/invoices" },
    output: {
      extracted_data: [
        {
          customer_information: { name: "Nordlys Retail AS", billing_address: "Storgata 12, Oslo" },
          merchant_information: { name: "Paper & Ink GmbH", tax_id: "DE811234567" },
          payment_information: { total: 1_284.5, total_tax: 205.1, currency: "EUR" },
          financial_document_information: { invoice_receipt_id: "2026-1184", invoice_date: "2026-11-02" },
        },
      ],
    },
  },
  {
    ...{
      key: "voice-notes",
      model: "audio/speech_to_text_async/assemblyai/universal",
      ms: 48_000,
    },
    ...{ costUsd: 0.037, receiver: "https://helpdesk.example.com/hooks/transcripts" },
    output: {
      text: "Hello, I am calling about the order that I placed last week. The parcel arrived, but one of the two lamps is broken.",
      diarization: { total_speakers: 2 },
    },
  },
  {
    ...{ key: "catalogue-import", model: "ocr/ocr_async/google", ms: 21_000 },
    ...{ costUsd: 0.0045, receiver: "https://catalogue.example.com/import/done" },
    output: { raw_text: "Spring catalogue 2026\nTable lamp, oak, 42 cm\n129.00 EUR\n…", number_of_pages: 36 },
  },
  {
    ...{ key: "campaign-writer", model: "image/background_removal/photoroom", ms: 2_600 },
    ...{ costUsd: 0.02, receiver: null },
    output: { image_resource_url: "https://gateway.example.com/v3/resources/…" },
  },
  {
    ...{ key: "evaluation-runner", model: "text/summarize/openai/gpt-5-mini", ms: 6_200 },
    ...{ costUsd: 0.0021, receiver: "https://research.example.com/evaluations/callback" },
    output: { result: "The quarterly report shows growth in all regions but one, and lower costs of delivery." },
  },
];

/** What happened to each job, from the newest to the oldest; then the list begins again with `success`. */
const fates = [
  ...(["queued", "running", "success", "success", "failed", "success", "undelivered", "success", "cancelled"] as const),
  ...(["success", "success", "redelivered", "success", "failed"] as const),
];
type Fate = (typeof fates)[number];
const jobCount = 48;

async function storeJobs(storage: Storage, { seed, end, keys }: OperationsFill): Promise<LedgerLine[]> {
  const random = createRandom(seed + 2);
  const lines: LedgerLine[] = [];
  // The oldest first: a job that is created waits until it is taken.
  for (let index = jobCount - 1; index >= 0; index--) {
    const task = tasks[index % tasks.length] as DemoTask;
    const key = keys.find(({ name }) => name === task.key);
    if (key === undefined) continue;
    const fate: Fate = index < fates.length ? (fates[index] as Fate) : random() < 0.93 ? "success" : "failed";
    const ageMs = index < 2 ? 25_000 + index * 45_000 : Math.round((index ** 1.9 * 5.6 + random() * 8) * minuteMs);
    const createdAt = end - Math.min(ageMs, 6.8 * dayMs);
    const durationMs = Math.round(task.ms * (0.6 + random() * 1.4));
    const job = {
      task,
      key,
      fate,
      createdAt,
      durationMs,
      id: toUuid(createdAt, random),
      requestId: toUuid(createdAt, random),
    };
    if (createdAt + jobLifetimeMs > Date.now()) await storeJob(storage, job, end);
    lines.push(...toLines(job, random));
  }
  return lines;
}

interface DemoJob {
  readonly task: DemoTask;
  readonly key: StoredKey;
  readonly fate: Fate;
  readonly createdAt: number;
  readonly durationMs: number;
  readonly id: string;
  readonly requestId: string;
}

async function storeJob(storage: Storage, job: DemoJob, end: number): Promise<void> {
  const { task, key, fate, id, createdAt, durationMs, requestId } = job;
  const [feature = "", subfeature = "", provider = "", model = null] = task.model.split("/");
  const owner = ownerOfTeam(key.team);
  const request: StoredRequest = {
    request: { model: task.model, input: {} },
    userParameters: null,
    caller: { keyId: key.id, kind: "inference", owner: key.team },
    requestId,
    baseUrl: "https://gateway.example.com",
  };
  await storage.jobs.create(
    {
      ...{ id, owner, keyId: key.id, feature, subfeature, provider, model, createdAt },
      ...{ expiresAt: createdAt + jobLifetimeMs, webhookReceiver: task.receiver, request: JSON.stringify(request) },
      group: provider,
    },
    null,
  );
  const item = await take(storage, "run");
  // Its work is due when the demo is long over: the vendor of the demo performs no tasks.
  const later = { checkpoint: "{}", dueAt: end + jobLifetimeMs };
  if (fate === "queued") {
    await storage.jobs.saveStep(item, id, later);
    return;
  }
  await storage.jobs.begin(item, { countRun: true });
  const finishedAt = createdAt + durationMs;
  switch (fate) {
    case "running":
      await storage.jobs.setProgress(id, 1, 0.62);
      await storage.jobs.saveStep(item, id, later);
      return;
    case "cancelled":
      await storage.jobs.cancel(id, null, {
        at: finishedAt,
        result: cancelledResult,
        delivery: { id: crypto.randomUUID() },
      });
      break;
    default: {
      const isGood = fate !== "failed";
      const message = `${provider} did not answer within 120 seconds. The task may have been performed.`;
      const result = isGood ? { output: task.output } : { error: { message } };
      await storage.jobs.finish(
        item,
        id,
        {
          ...{ status: isGood ? "success" : "fail", provider, model, finishedAt },
          ...{ cost: isGood ? toPico(task.costUsd) : null, costReason: isGood ? null : "not_answered" },
          result: JSON.stringify(result),
        },
        { id: crypto.randomUUID() },
      );
    }
  }
  if (task.receiver !== null) await deliver(storage, job, finishedAt);
}

/** The attempts of the webhook. None is left to be made: the demo calls no one. */
async function deliver(storage: Storage, { id, fate }: DemoJob, finishedAt: number): Promise<void> {
  const good = { status: 204, error: null };
  const bad = { status: 503, error: "The receiver answered with status 503." };
  const plan =
    fate === "undelivered" ? [bad, bad, bad, bad] : fate === "redelivered" ? [bad, bad, bad, bad, good] : [good];
  const waits = [0, 1_080, 6_240, 31_500, 3_900_000];
  const common = { durationMs: 184, keyId: "demo" };
  for (const [index, outcome] of plan.entries()) {
    // After the fourth attempt, someone sent it again.
    if (index === 4)
      await storage.deliveries.redeliver(id, null, { id: crypto.randomUUID(), now: finishedAt + 3_890_000 });
    const item = await take(storage, "deliver");
    const isLast = index === plan.length - 1 || index === 3;
    const startedAt = finishedAt + 40 + (waits[index] ?? 0);
    await storage.deliveries.recordAttempt(
      item,
      { ...common, ...outcome, number: index + 1, startedAt },
      isLast
        ? { state: outcome.error === null ? "delivered" : "failed", nextAt: null }
        : { state: "pending", nextAt: finishedAt },
    );
  }
}

/** The work that was added last: there is no other. */
async function take(storage: Storage, kind: WorkKind): Promise<WorkItem> {
  const [item] = await storage.work.take({ kind, limit: 1, ignoreGroups: [] });
  if (item === undefined) throw new Error(`the ${kind} of a job of the demo is missing`);
  return item;
}

function toPico(usd: number): bigint {
  return BigInt(Math.round(usd * 1e12));
}

function toLines(
  { task, key, fate, id, createdAt, durationMs, requestId }: DemoJob,
  random: () => number,
): LedgerLine[] {
  if (fate === "queued" || fate === "running" || fate === "cancelled") return [];
  const [feature = "", subfeature = "", provider, model] = task.model.split("/");
  const common = {
    ...{ id: toUuid(createdAt, random), time: createdAt + 120, request_id: requestId, job_id: id, key_id: key.id },
    ...{
      team: key.team,
      tags: key.tags,
      endpoint: "/v3/universal-ai/async",
      provider,
      task: `${feature}/${subfeature}`,
    },
    ...{ model, deployment: provider, attempt: 1, count: 1 },
    ...({ is_stream: 0, is_cached: 0 } as const),
    latency_ms: durationMs - 120,
  };
  const pico = Number(toPico(task.costUsd));
  return [
    fate === "failed"
      ? { ...common, outcome: "provider_timeout", status: 504, counted_pico: 0, cost_reason: "not_answered" }
      : { ...common, outcome: "completed", status: 200, cost_pico: pico, counted_pico: pico, price_version: "demo" },
  ];
}

const pdfStart = "%PDF-1.7\n%Invented content of the demo\n";
const files = [
  ...[
    {
      name: "invoice-2026-1184.pdf",
      key: "invoice-reader",
      purpose: "invoices",
      kilobytes: 184,
      hours: 2,
      text: pdfStart,
    },
  ],
  ...[
    {
      name: "invoice-2026-1179.pdf",
      key: "invoice-reader",
      purpose: "invoices",
      kilobytes: 96,
      hours: 29,
      text: pdfStart,
    },
  ],
  ...[
    {
      name: "Rechnung März (2).pdf",
      key: "invoice-reader",
      purpose: "invoices",
      kilobytes: 240,
      hours: 75,
      text: pdfStart,
    },
  ],
  ...[
    {
      name: "spring-catalogue.pdf",
      key: "catalogue-import",
      purpose: "catalogue",
      kilobytes: 1_900,
      hours: 9,
      text: pdfStart,
    },
  ],
  ...[
    {
      name: "prices.csv",
      key: "catalogue-import",
      purpose: "catalogue",
      kilobytes: 58,
      hours: 33,
      text: "sku,price\nlamp-42,129.00\n",
    },
  ],
  ...[
    {
      name: "call-2026-11-14.wav",
      key: "voice-notes",
      purpose: "calls",
      kilobytes: 820,
      hours: 5,
      text: "RIFF\u0000\u0000\u0000\u0000WAVEfmt ",
    },
  ],
  ...[
    {
      name: "quarterly report, final.pdf",
      key: "notebooks",
      purpose: "general",
      kilobytes: 640,
      hours: 51,
      text: pdfStart,
    },
  ],
  ...[
    {
      name: "evaluation-set-7.jsonl",
      key: "evaluation-runner",
      purpose: "evaluation",
      kilobytes: 410,
      hours: 100,
      text: '{"question":"…"}\n',
    },
  ],
  ...[
    {
      name: "texte d’été.txt",
      key: "campaign-writer",
      purpose: "general",
      kilobytes: 12,
      hours: 140,
      text: "Lampe de table\n",
    },
  ],
] as const;

async function storeFiles(storage: Storage, { dataDir, end, keys, log }: OperationsFill): Promise<void> {
  for (const { name, key: keyName, purpose, kilobytes, hours, text } of files) {
    const key = keys.find((one) => one.name === keyName);
    if (key === undefined) continue;
    const createdAt = end - hours * hourMs;
    const store = createFileStore({
      // The store of files dates what it stores: of the demo, some of it is old.
      rows: {
        ...storage.files,
        create: (file, most) => storage.files.create({ ...file, createdAt, expiresAt: createdAt + 30 * dayMs }, most),
      },
      ...{ folder: join(dataDir, "files"), s3: null, storeId: "demo", log, reservedBytes: 0 },
    });
    const content = new Uint8Array(kilobytes * 1_000).fill(0x20);
    content.set(new TextEncoder().encode(text));
    const about = { owner: ownerOfTeam(key.team), kind: "upload" as const, name, mediaType: null, purpose };
    await store.put(content, { ...about, metadata: {}, lifetimeMs: 30 * dayMs });
  }
}

function person(name: string, id: string, role: Actor["role"], address: string, team: string | null = null): Actor {
  return { kind: "user", id, name, role, team, address, requestId: null };
}

const ada = person("ada@example.com", "ada", "administrator", "192.0.2.14");
const jonas = person("jonas@example.com", "jonas", "operator", "192.0.2.31");
const mei = person("mei@example.com", "mei", "administrator", "198.51.100.7", "research");
const command: Actor = { ...ada, kind: "command", id: null, name: "deploy", address: "gateway-1" };

/** Changes of the last thirty days. */
function* listEvents({ end, keys }: OperationsFill): Generator<readonly [Actor, AuditEvent]> {
  // Not all at the same time of the day.
  const at = (days: number, hour = 9) => end - days * dayMs - hour * 17 * minuteMs - ((days * 7_919) % 211) * minuteMs;
  const target = (kind: string, name: string, team: string | null = null) => {
    const id = kind === "key" ? (keys.find((key) => key.name === name)?.id ?? null) : null;
    return { kind, id, name, team };
  };
  const session = (actor: Actor) => ({ kind: "session", id: null, name: actor.name, team: actor.team });
  for (const days of [0.02, 1, 2, 3, 6, 8, 9, 13, 15, 20, 22, 27]) {
    const actor = days % 2 === 0 ? jonas : ada;
    yield [actor, { action: "session.start", target: session(actor), at: at(days) }];
  }
  yield [mei, { action: "session.start", target: session(mei), at: at(4) }];
  yield [
    { ...ada, kind: "gateway", id: null, name: "gateway", address: "203.0.113.99" },
    {
      ...{ action: "session.start", target: session(ada), outcome: "refused", code: "invalid_api_key", at: at(5, 3) },
    },
  ];
  const budget = (amount: number) => ({ amount, period: "monthly", time_zone: "UTC" });
  type Facts = Pick<AuditEvent, "before" | "after" | "outcome" | "code">;
  const event = (actor: Actor, action: string, about: AuditEvent["target"], days: number, facts: Facts = {}) =>
    [actor, { action, target: about, at: at(days), ...facts }] as const;
  const update = (actor: Actor, name: string, days: number, before: object, after: object, team: string) =>
    event(actor, "key.update", target("key", name, team), days, { before: { ...before }, after: { ...after } });
  yield update(ada, "support-assistant", 2, { budget: budget(22) }, { budget: budget(30) }, "support");
  yield update(
    jonas,
    "campaign-writer",
    6,
    { allowed_models: null },
    { allowed_models: ["openai/*", "google/*"] },
    "marketing",
  );
  yield update(mei, "evaluation-runner", 4, { tags: {} }, { tags: { project: "evaluation" } }, "research");
  yield update(
    ada,
    "product-search",
    13,
    { rate_limit: { requests_per_minute: 600 } },
    { rate_limit: { requests_per_minute: 1_200 } },
    "search",
  );
  const secrets = { before: { secret_tail: "k9Qe" }, after: { secret_tail: "x4Tz" } };
  yield event(jonas, "key.rotate", target("key", "invoice-reader", "finance"), 3, secrets);
  const budgets = { before: { budget: budget(5) }, after: { budget: budget(7) } };
  yield event(ada, "team.update", target("team", "marketing", "marketing"), 9, budgets);
  yield event(ada, "provider.set", target("provider", "in-house"), 8, { after: { members: ["api_key"] } });
  yield [ada, { action: "provider.test", target: target("provider", "in-house"), at: at(8, 8) }];
  const file = target("configuration", "switchyard.yaml");
  yield event(command, "configuration.reload", file, 1, { before: { generation: 4 }, after: { generation: 5 } });
  const problem = "providers.openai.base_url should be an address";
  yield event(command, "configuration.reload", file, 15, { outcome: "failed", code: problem });
  const receiver = { receiver_host: "catalogue.example.com" };
  yield event(jonas, "job.redeliver", target("job", "ocr/ocr_async/google", "search"), 0.4, { after: receiver });
  const states = { before: { status: "processing" }, after: { status: "fail" } };
  yield event(jonas, "job.cancel", target("job", "text/summarize/openai", "research"), 0.2, states);
  const deleted = { file_name: "old price list.pdf", file_size: 48_211, team: "search" };
  yield event(jonas, "file.delete", target("file", deleted.file_name, deleted.team), 20, { before: deleted });
  yield event(command, "webhook_keys.rotate", { kind: "webhook_keys", id: null, name: null, team: null }, 22);
}
