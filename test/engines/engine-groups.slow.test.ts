// Groups of local engines, added by command: with the real npm, from a registry on this machine that serves packages made here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEnginesCommand } from "../../src/cli/engines.ts";
import { addGroup } from "../../src/engines/local/add-group.ts";
import { readGroup, stateOf } from "../../src/engines/local/groups.ts";
import { expectAdded, expectRefusal, refusalOf } from "../support/engine-groups.ts";
import { findFreePort } from "../support/free-port.ts";
import { runCommand } from "../support/run-command.ts";

const model = "weights of a model";
let folder: string;
let registry: Bun.Server<undefined>;
const tarball = packTarball({
  "package.json": JSON.stringify({
    name: "some-model",
    version: "1.0.0",
    scripts: { install: "node -e \"require('fs').writeFileSync('ran','')\"" },
  }),
  "model/weights.bin": model,
  "model/other.bin": "weights that nobody reads",
  "docs/manual.txt": "a manual",
  "docs/LICENSE": "a licence",
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "switchyard-groups-"));
  registry = Bun.serve({
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      if (pathname.endsWith(".tgz")) return new Response(tarball);
      if (pathname !== "/some-model") return new Response("{}", { status: 404 });
      const dist = { tarball: `${origin}/some-model-1.0.0.tgz`, integrity: integrityOf(tarball) };
      const version = { name: "some-model", version: "1.0.0", dist, hasInstallScript: true };
      return Response.json({ name: "some-model", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } });
    },
  });
});
afterAll(async () => {
  await registry.stop(true);
  await rm(folder, { recursive: true, force: true });
});

interface Making {
  readonly weights?: string;
  readonly keep?: readonly string[];
}

async function makeGroup({ weights = model, keep }: Making = {}) {
  const at = await mkdtemp(join(folder, "group-"));
  const dependencies = { "some-model": "1.0.0" };
  const switchyard = keep === undefined ? {} : { keep: { "some-model": keep } };
  const manifest = { name: "a-group", description: "a group", private: true, switchyard, dependencies };
  const locked = { version: "1.0.0", integrity: integrityOf(tarball), hasInstallScript: true };
  const lock = {
    name: "a-group",
    lockfileVersion: 3,
    requires: true,
    packages: { "": { name: "a-group", dependencies }, "node_modules/some-model": locked },
  };
  await Bun.write(join(at, "package.json"), JSON.stringify(manifest));
  await Bun.write(join(at, "package-lock.json"), JSON.stringify(lock));
  await Bun.write(join(at, "checksums.json"), JSON.stringify({ "some-model/model/weights.bin": sha256Of(weights) }));
  return readGroup(at);
}

function npmAt(address: string, options: readonly string[] = []): string[] {
  const settings = [`npm_config_registry=${address}`, `npm_config_cache=${join(folder, "cache")}`, ...options];
  return ["env", ...settings, "npm"];
}

const fromHere = () => ({ npm: npmAt(registry.url.href), timeoutMs: 60_000 });

describe("adding a group", () => {
  test("brings its packages, runs none of their scripts, and leaves nothing else behind", async () => {
    const group = await makeGroup();
    await expectAdded(group, fromHere());
    const files = await readdir(join(group.folder, "node_modules/some-model"), { recursive: true });
    expect(files).toContain("model/other.bin");
    expect(files).not.toContain("ran");
    expect((await readdir(group.folder)).sort()).toEqual([
      "checksums.json",
      "node_modules",
      "package-lock.json",
      "package.json",
    ]);
  });

  test("keeps of a package what is read of it, and its licences", async () => {
    const group = await makeGroup({ keep: ["model/weights.bin"] });
    await addGroup(group, fromHere());
    const found = await readdir(join(group.folder, "node_modules/some-model"), { recursive: true });
    expect(found.sort()).toEqual(["docs", "docs/LICENSE", "model", "model/weights.bin", "package.json"]);
  });

  test("a package that has nothing for this machine is not enabled", async () => {
    const group = await makeGroup({ keep: ["model/weights.bin", "bin/{platform}-{machine}/*"] });
    await expectRefusal(group, fromHere(), `bin/${process.platform}-${process.arch}/*`);
  });

  test("a file that is not the one that was measured leaves it absent, and what was there before as it was", async () => {
    const group = await makeGroup({ weights: "weights of another model" });
    await expectRefusal(group, fromHere(), "some-model/model/weights.bin does not match its checksum");
    const older = join(group.folder, "node_modules/some-model");
    await mkdir(older, { recursive: true });
    await Bun.write(join(older, "package.json"), "{}");
    await refusalOf(addGroup(group, fromHere()));
    expect(await readdir(older)).toEqual(["package.json"]);
    expect(stateOf(group)).toBe("outdated");
  });

  test("without a network it says so", async () => {
    const group = await makeGroup();
    const address = `http://127.0.0.1:${await findFreePort()}/`;
    const npm = npmAt(address, ["npm_config_fetch_retries=0", `npm_config_cache=${join(folder, "empty-cache")}`]);
    await expectRefusal(group, { npm, timeoutMs: 60_000 }, "npm cannot reach its registry");
  });

  test("a registry that never answers is given up", async () => {
    const group = await makeGroup();
    const silent = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<Response>(() => {}) });
    const npm = npmAt(silent.url.href, [`npm_config_cache=${join(folder, "silent-cache")}`]);
    expect(await refusalOf(addGroup(group, { npm, timeoutMs: 1_500 }))).toContain("did not arrive within 2 s");
    await silent.stop(true);
  });

  // Nothing is forbidden to root.
  test.skipIf(process.getuid?.() === 0)("a folder that cannot be written is refused with what to do", async () => {
    const group = await makeGroup();
    await chmod(group.folder, 0o555);
    expect(await refusalOf(addGroup(group, fromHere()))).toContain("cannot be written");
    await chmod(group.folder, 0o755);
  });
});

describe("the command", () => {
  async function run(...args: string[]) {
    const printed: string[] = [];
    const said: string[] = [];
    const code = await runCommand(createEnginesCommand, args, {
      npmScript: null,
      nodePath: null,
      print: (line) => void printed.push(line),
      printError: (line) => void said.push(line),
    });
    return { code, printed: printed.join("\n"), said: said.join("\n") };
  }

  test("list says which groups there are, whether they are added, and what they bring", async () => {
    const { code, printed } = await run("list", "--json");
    expect(code).toBe(0);
    const { groups } = JSON.parse(printed);
    const speech = groups.find(({ name }: { name: string }) => name === "speech");
    expect(speech).toMatchObject({ state: "added", tasks: ["audio/speech_to_text_async"] });
    expect(speech.bytes).toBeGreaterThan(50e6);
    expect(groups.map(({ name }: { name: string }) => name)).not.toContain("onnx");
    const table = (await run("list")).printed;
    expect(table).toMatch(/^speech +added .* audio\/speech_to_text_async$/m);
    // A group without models of its own is a better way to do the task.
    expect(table).toMatch(/^ocr +added .* ocr\/ocr \(better\), /m);
    expect(table).toMatch(/^grammar +added .* text\/spell_check\/local\/harper$/m);
  });

  test("what is there already and right is not fetched again", async () => {
    const { code, printed } = await run("add", "speech");
    expect(code).toBe(0);
    expect(printed).toContain("onnx is already installed");
    expect(printed).toContain("speech is already installed");
    expect(printed).toContain("audio/speech_to_text_async/local");
    expect(printed).not.toContain("fetching");
  });

  test("what is not understood is said, with the groups that there are", async () => {
    for (const args of [
      [],
      ["add"],
      ["add", "nonsense"],
      ["add", "onnx"],
      ["add", "../speech"],
      ["list", "speech"],
      ["--no"],
    ]) {
      const { code, said } = await run(...args);
      expect(code).toBe(2);
      expect(said).toContain("Usage: engines ");
    }
    expect((await run("add", "nonsense")).said).toContain("speech");
  });

  test("without npm it says what is missing", async () => {
    const script = `import { createEnginesCommand } from ${JSON.stringify(join(process.cwd(), "src/cli/engines.ts"))};
import { runCommand } from ${JSON.stringify(join(process.cwd(), "test/support/run-command.ts"))};
const context = { npmScript: null, nodePath: null, print: console.log, printError: console.error };
process.exit(await runCommand(createEnginesCommand, ["add", "speech"], context));`;
    const child = Bun.spawn([process.execPath, "-e", script], {
      env: { PATH: folder },
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toContain("npm was not found");
  });
});

describe("a group that is not added", () => {
  test("its tasks cannot be run, and the reason is the command that adds it", async () => {
    const copy = await mkdtemp(join(folder, "checkout-"));
    await cp("src", join(copy, "src"), { recursive: true });
    await symlink(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
    await mkdir(join(copy, "engines/speech"), { recursive: true });
    await cp("engines/speech/package.json", join(copy, "engines/speech/package.json"));
    const script = `import { createLocalEngines } from "./src/engines/local/index.ts";
const none = () => {};
const log = { debug: none, info: none, warn: none, error: none, hide: none, redact: String, flush: none };
const { engines } = createLocalEngines({ log });
console.log(JSON.stringify(engines.map(({ task, unavailableReason }) => ({ task, unavailableReason }))));`;
    await Bun.write(join(copy, "ask.ts"), script);
    const child = Bun.spawn([process.execPath, "ask.ts"], { cwd: copy, stdout: "pipe", stderr: "inherit" });
    const engines: { task: string; unavailableReason: string | null }[] = JSON.parse(
      await new Response(child.stdout).text(),
    );
    const reasonOf = (task: string) => engines.find((engine) => engine.task === task)?.unavailableReason;
    expect(reasonOf("audio/speech_to_text_async")).toContain("Run `npx switchyard-gateway engines add speech`");
    expect(reasonOf("audio/tts")).toBeNull();
  });
});

describe("the folders of groups", () => {
  test("each has a lockfile that names no registry, and a sum for every model", async () => {
    for (const name of await readdir("engines")) {
      if (!existsSync(join("engines", name, "package.json"))) continue;
      const { dependencies, wheels } = readGroup(join("engines", name));
      for (const version of [dependencies, wheels].flatMap((versions) => Object.values(versions)))
        expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      const sums = await Bun.file(join("engines", name, "checksums.json")).json();
      expect(Object.keys(sums).length).toBeGreaterThan(0);
      // Only npm packages have one.
      if (Object.keys(dependencies).length === 0) continue;
      const lock = await Bun.file(join("engines", name, "package-lock.json")).json();
      for (const [path, entry] of Object.entries<{ resolved?: string; license?: string }>(lock.packages)) {
        expect([name, path, entry.resolved]).toEqual([name, path, undefined]);
        // Their terms would have to be passed on with the gateway.
        expect([name, path, /(?<!L)GPL/.test(entry.license ?? "")]).toEqual([name, path, false]);
      }
    }
  });
});

function integrityOf(bytes: Uint8Array): string {
  return `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** As npm packs: everything under package/. */
function packTarball(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const head = Buffer.alloc(512);
    head.write(`package/${name}`, 0);
    head.write("0000644\0", 100);
    head.write("0000000\0", 108);
    head.write("0000000\0", 116);
    head.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    head.write(`${"0".repeat(11)}\0`, 136);
    head.write("        0", 148);
    head.write("ustar\x0000", 257);
    const sum = head.reduce((total, byte) => total + byte, 0);
    head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Bun.gzipSync(Buffer.concat([...blocks, Buffer.alloc(1_024)]));
}
