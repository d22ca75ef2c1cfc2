// The requests that ship in examples/: each one, sent to a gateway that was just started, has an answer in the shape of its task.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listExamples, tryExample } from "../../examples/try-all.ts";
import { findTask } from "../../src/contract/tasks.ts";
import { localEngines } from "../../src/engines/local/list.ts";
import { findPackage } from "../../src/engines/local/resolve-package.ts";
import { findTool } from "../../src/engines/local/system-tools.ts";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";
import { runProgram } from "../support/run-program.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const examples = await listExamples();
const root = join(import.meta.dir, "../..");

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  jobWorkers: 1,
  env: { SWITCHYARD_LOCAL_WORKERS: "1", SWITCHYARD_LOCAL_MEDIA_TIMEOUT_MS: "240000" },
});
const key = await gateway.createKey();

function engineOf(model: string) {
  const [feature, subfeature, , ...named] = model.split("/");
  const task = `${feature}/${subfeature}`;
  return localEngines.find(
    (engine) => engine.task === task && (named.length === 0 || engine.models?.includes(named.join("/"))),
  );
}

function isAdded(engine: (typeof localEngines)[number]): boolean {
  return engine.packages.every((name) => findPackage(name) !== null);
}

function hasTools({ tools = [] }: (typeof localEngines)[number]): boolean {
  return tools.every((name) => findTool(name) !== null);
}

describe("each request", () => {
  for (const example of examples) {
    test(`${example.name} is answered as its task says, or with the command that adds its engine`, async () => {
      const { model } = example.request;
      const engine = engineOf(model);
      if (engine === undefined) throw new Error(`no local engine does ${model}`);
      const { status, output, message } = await tryExample({ url: gateway.url, key }, example);
      if (!isAdded(engine) || !hasTools(engine)) {
        expect(status).toBe(503);
        expect(output).toBeNull();
        expect(message).toContain(isAdded(engine) ? "ffmpeg" : `engines add ${engine.group}`);
        return;
      }
      expect(message).toBeNull();
      expect(status).toBe(200);
      const schema = new SchemaDocument(findTask(engine.task)?.outputSchema ?? {}, "unlimited");
      expect(fitsSchema(output as Json, schema.root, schema)).toBe(true);
    }, 300_000);
  }
});

describe.skipIf(!localEngines.filter(({ group }) => group === "vision").every(isAdded))("the drawn faces", () => {
  async function ask(task: string, input: Readonly<Record<string, string>>): Promise<number[]> {
    const request = { model: `image/${task}/local`, input };
    const { output, message } = await tryExample({ url: gateway.url, key }, { name: "image/faces.json", request });
    expect(message).toBeNull();
    return (output as { items: readonly { confidence: number }[] }).items.map(({ confidence }) => confidence);
  }

  test.each(["face-one", "face-one-again", "face-two"])("%s.jpg has one face, and it is found", async (name) => {
    const found = await ask("face_detection", { file: `@${name}.jpg` });
    expect(found).toHaveLength(1);
    expect(found[0]).toBeGreaterThan(0.7);
  }, 300_000);

  test("one face is known again in other light and turned, and another is not taken for it", async () => {
    const [same = 0] = await ask("face_compare", { file1: "@face-one.jpg", file2: "@face-one-again.jpg" });
    expect(same).toBeGreaterThan(0.9);
    for (const file1 of ["@face-one.jpg", "@face-one-again.jpg"]) {
      const [other = 1] = await ask("face_compare", { file1, file2: "@face-two.jpg" });
      expect(other).toBeLessThan(0.5);
    }
  }, 300_000);
});

const page = await Bun.file(join(root, "examples", "README.md")).text();

test("the commands of the page succeed, in their order", async () => {
  const folder = mkdtempSync(join(tmpdir(), "switchyard-examples-"));
  symlinkSync(join(root, "examples"), join(folder, "examples"));
  await Bun.write(join(folder, "data/first-keys/inference.key"), key);
  const isMissing = (group: string) => !localEngines.filter((engine) => engine.group === group).every(isAdded);
  const blocks = Array.from(page.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, text = ""]) => text).filter(
    (text) =>
      // Its requests are tests of their own, above.
      !text.includes("try-all.ts") &&
      !(text.includes("tasks/image/") && isMissing("vision")) &&
      !(text.includes("/transcriptions") && isMissing("speech")),
  );
  expect(blocks.length).toBeGreaterThan(5);
  // A refused request fails the command.
  const lines = [
    "set -euo pipefail",
    'curl() { command curl --fail-with-body -sS "$@"; }',
    ...blocks.map((text) => text.replaceAll("http://127.0.0.1:8080", gateway.url)),
    "test -s good-morning.mp3",
  ];
  try {
    const { code, out, errors } = await runProgram(["bash", "-c", lines.join("\n")], {
      cwd: folder,
      timeoutMs: 240_000,
    });
    expect([code, out, errors]).toEqual([0, out, errors]);
    for (const part of ['"general_sentiment"', '"job_id"', '"flagged":true']) expect(out).toContain(part);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);

// With this, the requests above show that none of the engines needs the network.
test.skipIf(process.platform !== "linux")("the processes of the engines were denied the network", () => {
  const line = gateway.log().match(/^.*"network_denied":.*$/m)?.[0] ?? "{}";
  expect(JSON.parse(line)).toMatchObject({ network_denied: true });
});

// A collection has to be created first; docs/universal-ai.md shows how.
const needsCollection = "image/face_recognition";

test("every local task has a request", () => {
  const shown = new Set(examples.map(({ request }) => request.model.split("/").slice(0, 2).join("/")));
  const offered = localEngines.filter(({ isInternal, task }) => isInternal !== true && task !== needsCollection);
  expect(offered.map(({ task }) => task).filter((task) => !shown.has(task))).toEqual([]);
});

test("every file that a page or a request names is there", async () => {
  const named = [...page.matchAll(/examples\/[\w/-]+\.\w+/g)].map(([path]) => path);
  const beside = examples.flatMap(({ name, request }) =>
    Object.values(request.input).flatMap((value) =>
      typeof value === "string" && value.startsWith("@") ? [join("examples/tasks", name, "..", value.slice(1))] : [],
    ),
  );
  expect(beside.length).toBeGreaterThan(8);
  for (const path of [...named, ...beside]) expect(await Bun.file(join(root, path)).exists(), path).toBe(true);
});
