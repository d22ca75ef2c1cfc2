// What the programs of the invented company did beside calling models: files, and jobs with their webhooks.

import { extname, join } from "node:path";
import { ownerOfTeam } from "../access/caller.ts";
import { createFileStore } from "../files/file-store.ts";
import type { StoredRequest } from "../jobs/job-request.ts";
import { cancelledResult } from "../jobs/jobs.ts";
import { picoPerUsd } from "../lib/money.ts";
import { dayMs, hourMs, minuteMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import type { AuditTarget } from "../storage/audit.ts";
import type { JobResult } from "../storage/job-records.ts";
import type { LedgerLine } from "../storage/ledger-line.ts";
import { toJobTarget } from "../storage/owner.ts";
import type { Storage } from "../storage/storage.ts";
import type { WorkItem, WorkKind } from "../storage/work-queue.ts";
import { jonas } from "./demo-changes.ts";
import { createRandom, findKey, type StoredKey, toUuid } from "./demo-data.ts";

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
  return await storeJobs(storage, options);
}

const files = [
  { name: "invoice-2026-1184.pdf", key: "invoice-reader", purpose: "invoices", kilobytes: 184, ageHours: 2 },
  { name: "invoice-2026-1179.pdf", key: "invoice-reader", purpose: "invoices", kilobytes: 96, ageHours: 29 },
  { name: "Rechnung März (2).pdf", key: "invoice-reader", purpose: "invoices", kilobytes: 240, ageHours: 75 },
  { name: "spring-catalogue.pdf", key: "catalogue-import", purpose: "catalogue", kilobytes: 1_900, ageHours: 9 },
  { name: "prices.csv", key: "catalogue-import", purpose: "catalogue", kilobytes: 58, ageHours: 33 },
  { name: "call-2026-11-14.wav", key: "voice-notes", purpose: "calls", kilobytes: 820, ageHours: 5 },
  { name: "quarterly report, final.pdf", key: "notebooks", purpose: "general", kilobytes: 640, ageHours: 51 },
  { name: "evaluation-set-7.jsonl", key: "evaluation-runner", purpose: "evaluation", kilobytes: 410, ageHours: 100 },
  { name: "texte d’été.txt", key: "campaign-writer", purpose: "general", kilobytes: 12, ageHours: 140 },
] as const;
/** How a file begins, by its extension: the gateway detects the type from the first bytes. */
const fileStarts: ReadonlyMap<string, string> = new Map([
  [".pdf", "%PDF-1.7\n%Invented content of the demo\n"],
  [".csv", "sku,price\nlamp-42,129.00\n"],
  [".wav", "RIFF\u0000\u0000\u0000\u0000WAVEfmt "],
  [".jsonl", '{"question":"…"}\n'],
  [".txt", "Lampe de table\n"],
]);
const fileLifetimeMs = 30 * dayMs;

async function storeFiles(storage: Storage, { dataDir, end, keys, log }: OperationsFill): Promise<void> {
  for (const { name, key, purpose, kilobytes, ageHours } of files) {
    const createdAt = end - ageHours * hourMs;
    const store = createFileStore({
      // The file store would set the current time, and the files of the demo are older.
      rows: {
        ...storage.files,
        create: (file, maxBytes) =>
          storage.files.create({ ...file, createdAt, expiresAt: createdAt + fileLifetimeMs }, maxBytes),
      },
      folder: join(dataDir, "files"),
      s3: null,
      storeId: "demo",
      log,
      reservedBytes: 0,
    });
    const content = new Uint8Array(kilobytes * 1_000).fill(0x20);
    content.set(new TextEncoder().encode(fileStarts.get(extname(name))));
    await store.put(content, {
      owner: ownerOfTeam(findKey(keys, key).team),
      kind: "upload",
      name,
      mediaType: null,
      purpose,
      metadata: {},
      lifetimeMs: fileLifetimeMs,
    });
  }
}

interface DemoTask {
  /** The name of the key that submits it. */
  readonly key: string;
  /** The task, the provider and, where there is a choice, the model. */
  readonly taskModel: string;
  readonly usualDurationMs: number;
  readonly costUsd: number;
  readonly receiver: string | null;
  readonly output: object;
}

const tasks: readonly DemoTask[] = [
  {
    key: "invoice-reader",
    taskModel: "ocr/financial_parser/microsoft",
    usualDurationMs: 9_000,
    costUsd: 0.01,
    receiver: "https://books.example.com/hooks/invoices",
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
    key: "voice-notes",
    taskModel: "audio/speech_to_text_async/assemblyai/universal",
    usualDurationMs: 48_000,
    costUsd: 0.037,
    receiver: "https://helpdesk.example.com/hooks/transcripts",
    output: {
      text: "Hello, I am calling about the order that I placed last week. The parcel arrived, but one of the two lamps is broken.",
      diarization: { total_speakers: 2 },
    },
  },
  {
    key: "catalogue-import",
    taskModel: "ocr/ocr_async/google",
    usualDurationMs: 21_000,
    costUsd: 0.0045,
    receiver: "https://catalogue.example.com/import/done",
    output: { raw_text: "Spring catalogue 2026\nTable lamp, oak, 42 cm\n129.00 EUR\n…", number_of_pages: 36 },
  },
  {
    key: "campaign-writer",
    taskModel: "image/background_removal/photoroom",
    usualDurationMs: 2_600,
    costUsd: 0.02,
    receiver: null,
    output: { image_resource_url: "https://gateway.example.com/v3/resources/…" },
  },
  {
    key: "evaluation-runner",
    taskModel: "text/summarize/openai/gpt-5-mini",
    usualDurationMs: 6_200,
    costUsd: 0.0021,
    receiver: "https://research.example.com/evaluations/callback",
    output: { result: "The quarterly report shows growth in all regions but one, and lower costs of delivery." },
  },
];

type Fate = "queued" | "running" | "success" | "failed" | "cancelled" | "undelivered" | "redelivered";

/** What became of the newest jobs, the newest first. Most of the older ones succeeded, and the others failed. */
const newestFates: readonly Fate[] = [
  "queued",
  "running",
  "success",
  "success",
  "failed",
  "success",
  "undelivered",
  "success",
  "cancelled",
  "success",
  "success",
  "redelivered",
  "success",
  "failed",
];
const jobCount = 48;
const jobLifetimeMs = 7 * dayMs;

interface DemoJob {
  readonly task: DemoTask;
  readonly key: StoredKey;
  readonly fate: Fate;
  readonly createdAt: number;
  readonly durationMs: number;
  readonly id: string;
  readonly requestId: string;
}

async function storeJobs(storage: Storage, { seed, end, keys }: OperationsFill): Promise<LedgerLine[]> {
  const random = createRandom(seed + 2);
  const lines: LedgerLine[] = [];
  for (let index = jobCount - 1; index >= 0; index--) {
    const task = tasks[index % tasks.length] as DemoTask;
    const fate = newestFates[index] ?? (random() < 0.93 ? "success" : "failed");
    const isFinished = fate !== "queued" && fate !== "running";
    const ageMs = isFinished ? Math.round((index ** 1.9 * 5.6 + random() * 8) * minuteMs) : 25_000 + index * 45_000;
    const createdAt = end - ageMs;
    const durationMs = Math.round(task.usualDurationMs * (0.6 + random() * 1.4));
    const [id, requestId] = [toUuid(createdAt, random), toUuid(createdAt, random)];
    const job = { task, key: findKey(keys, task.key), fate, createdAt, durationMs, id, requestId };
    // The store starts no job that has expired.
    if (createdAt + jobLifetimeMs > Date.now()) await storeJob(storage, job, end);
    if (isFinished && fate !== "cancelled") lines.push(toLine(job, toUuid(createdAt, random)));
  }
  return lines;
}

async function storeJob(storage: Storage, job: DemoJob, end: number): Promise<void> {
  const { task, key, fate, id, createdAt, durationMs, requestId } = job;
  const { taskModel, receiver } = task;
  const { feature, subfeature, provider, model } = splitTaskModel(taskModel);
  const request: StoredRequest = {
    request: { model: taskModel, input: {} },
    userParameters: null,
    caller: { keyId: key.id, kind: "inference", owner: key.team },
    requestId,
    baseUrl: "https://gateway.example.com",
  };
  const newJob = {
    id,
    owner: ownerOfTeam(key.team),
    keyId: key.id,
    feature,
    subfeature,
    provider,
    model,
    createdAt,
    expiresAt: createdAt + jobLifetimeMs,
    webhookReceiver: receiver,
    request: JSON.stringify(request),
    group: provider,
  };
  await storage.jobs.create(newJob, null);
  const item = await takeWork(storage, "run");
  // Due only when the job has expired, so that no gateway runs it: the vendor of the demo performs no tasks.
  const postponed = { checkpoint: "{}", dueAt: end + jobLifetimeMs };
  if (fate === "queued") {
    await storage.jobs.saveStep(item, id, postponed);
    return;
  }
  await storage.jobs.begin(item, { countRun: true });
  if (fate === "running") {
    await storage.jobs.setProgress(id, 1, 0.62);
    await storage.jobs.saveStep(item, id, postponed);
    return;
  }
  const finishedAt = createdAt + durationMs;
  const delivery = { id: crypto.randomUUID() };
  const target = toJobTarget(newJob);
  if (fate === "cancelled") {
    await storage.jobs.cancel(id, null, { at: finishedAt, result: cancelledResult, delivery });
    const [before, after] = [{ status: "processing" }, { status: "fail" }];
    await storage.audit.insert(jonas, { action: "job.cancel", target, before, after, at: finishedAt });
  } else await storage.jobs.finish(item, id, toResult(job, finishedAt), delivery);
  if (receiver !== null) await storeAttempts(storage, { id, fate, target, receiver, finishedAt });
}

function splitTaskModel(name: string) {
  const [feature = "", subfeature = "", provider = "", model = null] = name.split("/");
  return { feature, subfeature, provider, model };
}

/** The only work that is due: all jobs before this one are finished or postponed. */
async function takeWork(storage: Storage, kind: WorkKind): Promise<WorkItem> {
  const [item] = await storage.work.take({ kind, limit: 1, ignoreGroups: [] });
  if (item === undefined) throw new Error(`the demo has no work of the kind '${kind}'`);
  return item;
}

function toResult({ task, fate }: DemoJob, finishedAt: number): JobResult {
  const { provider, model } = splitTaskModel(task.taskModel);
  const common = { provider, model, finishedAt };
  if (fate !== "failed") {
    const result = JSON.stringify({ output: task.output });
    return { ...common, status: "success", cost: BigInt(toPico(task.costUsd)), costReason: null, result };
  }
  const message = `${provider} did not answer within 120 seconds. The task may have been performed.`;
  const result = JSON.stringify({ error: { message } });
  return { ...common, status: "fail", cost: null, costReason: "not_answered", result };
}

function toPico(usd: number): number {
  return Math.round(usd * picoPerUsd);
}

const accepted = { status: 204, error: null };
const refused = { status: 503, error: "The receiver answered with status 503." };

interface AttemptedDelivery extends Pick<DemoJob, "id" | "fate"> {
  /** The job in the audit log. */
  readonly target: AuditTarget;
  readonly receiver: string;
  readonly finishedAt: number;
}

/** The attempts of the webhook. None is left for later, so that no gateway calls the receiver. */
async function storeAttempts(
  storage: Storage,
  { id, fate, target, receiver, finishedAt }: AttemptedDelivery,
): Promise<void> {
  let number = 0;
  const storeAttempt = async (
    delayMs: number,
    outcome: typeof accepted | typeof refused,
    state: "pending" | "delivered" | "failed",
  ) => {
    const item = await takeWork(storage, "deliver");
    number++;
    const attempt = { ...outcome, number, startedAt: finishedAt + delayMs, durationMs: 184, keyId: "demo" };
    // The next attempt is due at once, so that it can be taken.
    await storage.deliveries.recordAttempt(item, attempt, { state, nextAt: state === "pending" ? finishedAt : null });
  };
  if (fate !== "undelivered" && fate !== "redelivered") {
    await storeAttempt(40, accepted, "delivered");
    return;
  }
  for (const delayMs of [40, 1_120, 6_280]) await storeAttempt(delayMs, refused, "pending");
  await storeAttempt(31_540, refused, "failed");
  if (fate === "undelivered") return;
  const delivery = { id: crypto.randomUUID(), now: finishedAt + 3_890_000 };
  await storage.deliveries.redeliver(id, null, delivery);
  const after = { delivery_id: delivery.id, receiver_host: new URL(receiver).host };
  await storage.audit.insert(jonas, { action: "job.redeliver", target, after, at: delivery.now });
  await storeAttempt(3_900_040, accepted, "delivered");
}

function toLine({ task, key, fate, createdAt, durationMs, id, requestId }: DemoJob, lineId: string): LedgerLine {
  const { feature, subfeature, provider, model } = splitTaskModel(task.taskModel);
  const queuedMs = 120;
  const common = {
    id: lineId,
    time: createdAt + queuedMs,
    request_id: requestId,
    job_id: id,
    key_id: key.id,
    team: key.team,
    tags: key.tags,
    endpoint: "/v3/universal-ai/async",
    provider,
    task: `${feature}/${subfeature}`,
    model: model ?? undefined,
    deployment: provider,
    attempt: 1,
    count: 1,
    is_stream: 0,
    is_cached: 0,
    latency_ms: durationMs - queuedMs,
  } as const;
  if (fate === "failed")
    return { ...common, outcome: "provider_timeout", status: 504, counted_pico: 0, cost_reason: "not_answered" };
  const pico = toPico(task.costUsd);
  return {
    ...common,
    outcome: "completed",
    status: 200,
    cost_pico: pico,
    counted_pico: pico,
    price_version: "demo",
  };
}
