// Runs every local engine that is installed on some input, and prints what became of each. Started without a network by
// local-offline.full.test.ts. The requests of examples/ are left out: examples.full.test.ts runs them in processes that are denied the network.

import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { listExamples } from "../../examples/try-all.ts";
import { findTask } from "../../src/contract/tasks.ts";
import type { InputFile } from "../../src/engines/engine.ts";
import { createLocalEngines, describeMissingTools } from "../../src/engines/local/index.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { ValidationError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { longTimeLimitsMs, runLocal } from "./local-call.ts";

const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const sentence = "Good morning. The train to Edinburgh leaves from platform four.";
const usualFile = "examples/tasks/ocr/receipt.jpg";
const files: Readonly<Record<string, string>> = {
  audio: "test/engines/speech-samples/sentence.opus",
  // A document with text is read in an instant; one picture shows that tesseract stays at home as well.
  ocr: "examples/tasks/ocr/resume.pdf",
  video: "examples/tasks/video/three-shots.mp4",
  "ocr/ocr": "examples/tasks/ocr/ticket-with-qr-code.png",
};
const local = createLocalEngines({ concurrency: 1, timeLimitsMs: longTimeLimitsMs, log });
const outcomes: Record<string, string> = {};
const examples = new Set((await listExamples()).map(({ request }) => request.model.replace("/local", "")));

for (const { task, models, unavailableReason } of local.engines) {
  // Programs of the system, such as ffmpeg, may be missing.
  if (localEngines.some((one) => one.task === task && describeMissingTools(one) !== null)) continue;
  if (unavailableReason !== null) {
    outcomes[task] = unavailableReason;
    continue;
  }
  // A model that only one of them loads may be the one that is fetched.
  for (const model of models.length === 0 ? [null] : models) {
    const name = model === null ? task : `${task}/${model}`;
    if (!examples.has(name)) outcomes[name] = await attempt(task, model);
  }
}
await local.close();
console.log(JSON.stringify({ interfaces: Object.keys(networkInterfaces()), outcomes }));

/** A refusal is an answer as well: it ran, and found no face, or no table. */
async function attempt(task: string, model: string | null): Promise<string> {
  try {
    const { input, named } = someInput(task);
    await runLocal(local, task, input, { files: named, model, withinMs: 120_000 });
    return "answered";
  } catch (error) {
    return error instanceof ValidationError ? "answered" : String(error);
  }
}

function someInput(task: string) {
  const { properties = {}, required = [] } = (findTask(task)?.inputSchema ?? {}) as InputSchema;
  const input: Record<string, unknown> = {};
  const named: Record<string, InputFile> = {};
  for (const name of required) {
    const { $ref = "", type } = properties[name] ?? {};
    if (!$ref.includes("file")) {
      input[name] = type === "array" ? ["travel", "cooking"] : sentence;
      continue;
    }
    const path = files[task] ?? files[task.split("/", 1)[0] ?? ""] ?? usualFile;
    const bytes = readFileSync(path);
    named[name] = { name: path, mediaType: Bun.file(path).type, size: bytes.length, read: async () => bytes };
    input[name] = path;
  }
  return { input, named };
}

interface InputSchema {
  readonly properties?: Readonly<Record<string, { readonly $ref?: string; readonly type?: unknown }>>;
  readonly required?: readonly string[];
}
