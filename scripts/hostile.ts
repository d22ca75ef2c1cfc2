// Runs every local engine that reads text on hostile texts and prints how long each took, in milliseconds, as a table task × text.
// `--length 250000` sets the length (each engine gets at most its own limit), `--limit 30` the seconds after which a cell is ended,
// `--only text/anonymization` one task, `--token http` the texts whose name contains it.

import { parseArgs } from "node:util";
import { createLocalEngines } from "../src/engines/local/index.ts";
import { ValidationError } from "../src/errors.ts";
import { createLog } from "../src/log.ts";
import { hostileTasks, toHostileInput } from "../test/engines/hostile/tasks.ts";
import { hostileTexts } from "../test/engines/hostile/texts.ts";
import { runLocal } from "../test/engines/local-call.ts";

const { values } = parseArgs({
  options: {
    length: { type: "string", default: "250000" },
    limit: { type: "string", default: "30" },
    only: { type: "string", default: "" },
    token: { type: "string", default: "" },
    slow: { type: "string", default: "0" },
  },
});
const log = createLog({ level: "error", format: "text", secrets: [], write: (lines) => process.stderr.write(lines) });
const local = createLocalEngines({ concurrency: 1, log });

for (const { task, model, mostCharacters } of hostileTasks) {
  const name = model === null ? task : `${task}/${model}`;
  if (!name.includes(values.only)) continue;
  const engine = local.engines.find((one) => one.task === task && (model === null || one.models.includes(model)));
  if (engine === undefined || engine.unavailableReason !== null) {
    console.log(`${name}: ${engine?.unavailableReason ?? "not offered"}`);
    continue;
  }
  const length = Math.min(Number(values.length), mostCharacters);
  await attempt(task, model, "Hello.");
  for (const text of hostileTexts) {
    if (!text.name.includes(values.token)) continue;
    const startedAt = performance.now();
    const outcome = await attempt(task, model, text.of(length));
    const milliseconds = performance.now() - startedAt;
    if (milliseconds >= Number(values.slow) || outcome !== "answered")
      console.log(
        `${name.padEnd(40)} ${text.name.padEnd(28)} ${String(length).padStart(7)} ${milliseconds.toFixed(0).padStart(7)} ${outcome}`,
      );
  }
}
await local.close();

async function attempt(task: string, model: string | null, text: string): Promise<string> {
  try {
    await runLocal(local, task, toHostileInput(task, text), { model, withinMs: Number(values.limit) * 1_000 });
    return "answered";
  } catch (error) {
    return error instanceof ValidationError ? `refused: ${error.message.slice(0, 70)}` : String(error);
  }
}
