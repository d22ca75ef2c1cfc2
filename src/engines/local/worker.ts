// The entry of a worker process. It loads engines on first use and runs one job at a time.
// The pool starts it: worker.ts <module with the list of engines> <id of the gateway's process> <memory limit in bytes> <niceness>
// [<confinement as JSON>].

import { rm } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { fitsOutput } from "../../contract/fits-output.ts";
import { findTask } from "../../contract/tasks.ts";
import { toFailure } from "./failure.ts";
import { loadOnce } from "./load-once.ts";
import type { LocalEngine, LocalFile } from "./local-engine.ts";
import type { Assignment, CarriedAnswer, CarriedBinary, Progress, Ready } from "./messages.ts";
import { carry, receive } from "./messages.ts";

const minProgressStep = 0.01;
const [listModule = "", gatewayPid = "", maxMemoryBytes = "", niceness = "0", confinement = "null"] =
  process.argv.slice(2);

const { localEngines } = (await import(listModule)) as { readonly localEngines: readonly LocalEngine[] };
const engines = localEngines.map((engine) => ({ ...engine, load: loadOnce(() => engine.load()) }));

try {
  setPriority(Number(niceness));
} catch {
  // Some sandboxes forbid it. The engines then have the same priority as the gateway.
}
process.on("disconnect", () => process.exit());
process.on("message", (message) => {
  // The cast is safe, because only the pool sends messages.
  void work(message as Assignment);
});
// Awaited, because the thread cannot start while an engine computes.
await startWatch();
const ready: Ready = { confinement: JSON.parse(confinement) };
process.send?.(ready);

async function startWatch(): Promise<void> {
  const watch = new Worker(new URL("./watch.ts", import.meta.url).href, { argv: [gatewayPid, maxMemoryBytes] });
  await new Promise((resolve) => {
    watch.onmessage = resolve;
  });
  watch.unref();
}

async function work(assignment: Assignment): Promise<void> {
  const result = await perform(assignment).then(
    (answer) => ({ answer }),
    (error: unknown) => ({ failure: toFailure(error) }),
  );
  process.send?.({ id: assignment.id, result, memoryBytes: process.memoryUsage.rss() });
}

async function perform({ id, task, model, input, files }: Assignment): Promise<CarriedAnswer> {
  const received: Record<string, LocalFile> = {};
  for (const [member, file] of Object.entries(files)) {
    received[member] = { ...file, bytes: await receive(file.bytes) };
    if (typeof file.bytes === "string") await rm(file.bytes);
  }
  const run = await findEngine(task, model).load();
  const answer = await run({ model, input, files: received, onProgress: createProgressReporter(id) });
  const binaries: CarriedBinary[] = [];
  for (const [index, binary] of (answer.binaries ?? []).entries())
    binaries.push({ ...binary, bytes: await carry(binary.bytes, join(process.cwd(), String(id)), `result-${index}`) });
  const { output, original, units } = answer;
  // Here, because checking a thousand pages takes seconds, during which the gateway would answer no other request. What does not fit the schema
  // is checked again by the process that asked: the vectors of faces, for example, are for a collection and not for a caller.
  const known = findTask(task);
  const isChecked = binaries.length === 0 && known !== undefined && fitsOutput(output, known);
  return { outputJson: JSON.stringify(output), original, units, binaries, isChecked };
}

/** Reports the progress of a job at most a hundred times, however often the engine does. */
function createProgressReporter(id: number): (share: number) => void {
  let reported = 0;
  return (share) => {
    if (!(share - reported >= minProgressStep)) return;
    reported = Math.min(1, share);
    const message: Progress = { id, progress: reported };
    process.send?.(message);
  };
}

/** Several engines may perform a task, each with its own models. The gateway names the model, unless the engine has none. */
function findEngine(task: string, model: string | null): LocalEngine {
  const engine = engines.find(
    (one) => one.task === task && (model === null ? one.models === undefined : one.models?.includes(model)),
  );
  if (engine === undefined) throw new Error(`There is no local engine for ${task}${model === null ? "" : `/${model}`}`);
  return engine;
}
