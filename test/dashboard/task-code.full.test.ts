// "Copy as" of a task with files, or of one that runs as a job: each program is run against a gateway, as a person would paste it.

import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TaskRequest, toTaskCode } from "../../src/dashboard/pages/playground-tasks/task-code.ts";
import { runProgram } from "../support/run-program.ts";
import { sharedGateway } from "../support/test-gateway.ts";

const gateway = await sharedGateway({ jobWorkers: 1 });
const key = await gateway.createKey();
const folder = await mkdtemp(join(tmpdir(), "switchyard-task-code-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Every character that a shell, a script or Python could take for something else. */
const awkwardText = `It's "quoted" $HOME \`touch stolen\` \\n $(touch stolen) !! %s {{x}} \${x}\n'''"""\nJSON\t\u2028 Grüße 🚂`;
const awkwardName = `a "b" $(touch stolen) 'c'.txt`;
const content = "Dear Ada, the meeting moves to Thursday.";
const file = new File([content], awkwardName, { type: "text/plain" });
await Bun.write(join(folder, awkwardName), content);

const commands = {
  curl: ["sh", "sample.sh"],
  typescript: [process.execPath, "sample.ts"],
  python: ["python3", "sample.py"],
} as const;

async function run(language: keyof typeof commands, request: TaskRequest): Promise<Record<string, unknown>> {
  const command = commands[language];
  await Bun.write(join(folder, command[1]), toTaskCode(language, request, gateway.url));
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], SWITCHYARD_KEY: key };
  const { code, out, errors } = await runProgram(command, { cwd: folder, env });
  expect({ code, errors }).toEqual({ code: 0, errors: "" });
  expect(await Bun.file(join(folder, "stolen")).exists()).toBe(false);
  return JSON.parse(out) as Record<string, unknown>;
}

for (const language of ["curl", "typescript", "python"] as const) {
  const isAbsent = Bun.which(commands[language][0]) === null || Bun.which("curl") === null;

  test.skipIf(isAbsent)(`${language} uploads the file and runs the task`, async () => {
    const answer = await run(language, {
      task: "translation/document_translation",
      model: "translation/document_translation/sandbox",
      isJob: false,
      input: { file, target_language: "fr", source_language: null },
    });
    expect(answer).toMatchObject({ status: "success", provider: "sandbox" });
  });

  test.skipIf(isAbsent)(`${language} submits a job and waits for its result`, async () => {
    const answer = await run(language, {
      task: "video/generation_async",
      model: "video/generation_async/sandbox",
      isJob: true,
      input: { text: awkwardText },
    });
    expect(answer).toMatchObject({ status: "success", output: { video_resource_url: expect.any(String) } });
  });

  test.skipIf(isAbsent)(`${language} sends texts, lists and nested values as they are`, async () => {
    const answer = await run(language, {
      task: "text/custom_classification",
      model: "text/custom_classification/sandbox",
      isJob: false,
      input: { texts: [awkwardText], labels: ["a", "b"], examples: [[awkwardText, "a"]] },
    });
    expect(answer).toMatchObject({ output: { classifications: [{ input: awkwardText }] } });
  });
}
