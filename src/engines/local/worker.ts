// The entry of a worker: a process of its own that loads engines when they are first asked for and does one job at a time.
// Started by the pool: worker.ts <module that lists the engines> <most memory in bytes> <niceness> [<what confine.ts enforces, as JSON>].

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { toFailure } from "./failure.ts";
import type { LocalAnswer, LocalEngine, LocalFile, LocalRun } from "./local-engine.ts";
import {
  type Assignment,
  type CarriedAnswer,
  type CarriedBinary,
  longestInlineBytes,
  type Progress,
  type Ready,
} from "./messages.ts";

const smallestStep = 0.01;
const [listModule = "", maxMemoryBytes = "", niceness = "0", confinement = "null"] = process.argv.slice(2);

const { localEngines } = (await import(listModule)) as { readonly localEngines: readonly LocalEngine[] };
const loaded = new Map<LocalEngine, Promise<LocalRun>>();

try {
  setPriority(Number(niceness));
} catch {
  // Some sandboxes forbid it: then the engines merely compete with the gateway as equals.
}
new Worker(new URL("./watch.ts", import.meta.url).href, { argv: [maxMemoryBytes] }).unref();
process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  // Only the pool is at the other end.
  void work(message as Assignment);
});
const ready: Ready = { confinement: JSON.parse(confinement) };
process.send?.(ready);

async function work(assignment: Assignment): Promise<void> {
  const result = await perform(assignment).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ failure: toFailure(error) }),
  );
  process.send?.({ id: assignment.id, result, memoryBytes: process.memoryUsage.rss() });
}

async function perform({ id, task, model, input, files }: Assignment): Promise<CarriedAnswer> {
  const received: Record<string, LocalFile> = {};
  for (const [member, file] of Object.entries(files)) received[member] = { ...file, bytes: await receive(file.bytes) };
  const run = await load(findEngine(task, model));
  return toCarried(id, await run({ model, input, files: received, tellProgress: createTeller(id) }));
}

/** Says no more than a hundred times a job how far it is, however often the engine does. */
function createTeller(id: number): (share: number) => void {
  let said = 0;
  return (share) => {
    if (!(share - said >= smallestStep)) return;
    said = Math.min(1, share);
    const message: Progress = { id, progress: said };
    process.send?.(message);
  };
}

async function receive(bytes: Uint8Array | string): Promise<Uint8Array> {
  if (typeof bytes !== "string") return bytes;
  const content = await readFile(bytes);
  await rm(bytes);
  return content;
}

/** Several engines may do a task, each with models of its own; the first is meant when none is named. */
function findEngine(task: string, model: string | null): LocalEngine {
  const engine = localEngines.find((one) => one.task === task && (model === null || one.models?.includes(model)));
  if (engine === undefined) throw new Error(`no local engine for ${task}${model === null ? "" : `/${model}`}`);
  return engine;
}

function load(engine: LocalEngine): Promise<LocalRun> {
  const known = loaded.get(engine);
  if (known !== undefined) return known;
  const loading = engine.load();
  loaded.set(engine, loading);
  // A load that failed is tried again by the next call.
  loading.catch(() => loaded.delete(engine));
  return loading;
}

async function toCarried(id: number, answer: LocalAnswer): Promise<CarriedAnswer> {
  const binaries: CarriedBinary[] = [];
  for (const binary of answer.binaries ?? []) {
    if (binary.bytes.length <= longestInlineBytes) {
      binaries.push(binary);
      continue;
    }
    const folder = join(process.cwd(), String(id));
    await mkdir(folder, { recursive: true });
    const path = join(folder, `result-${binaries.length}`);
    await writeFile(path, binary.bytes);
    binaries.push({ ...binary, bytes: path });
  }
  return { outputJson: JSON.stringify(answer.output), original: answer.original, units: answer.units, binaries };
}
