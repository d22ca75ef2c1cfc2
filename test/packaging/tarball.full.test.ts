// The package as users get it: packed, installed in an empty folder with nothing but Node and npm, and started with npx.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import packageJson from "../../package.json";
import { listLockedPackages } from "../../scripts/locked-packages.ts";
import { findFreePort } from "../support/free-port.ts";
import { waitFor } from "../support/wait.ts";

const root = join(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "switchyard-package-"));
const installed = join(folder, "user", "node_modules", packageJson.name);
let files: readonly string[] = [];
let size = 0;

// Only what comes with Node, and the tools of every system.
const path = `${dirname(Bun.which("node") ?? "node")}:/usr/bin:/bin`;
const environment = { ...process.env, PATH: path };

function npm(args: readonly string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["npm", ...args], {
    cwd,
    env: environment,
    stdout: "pipe",
    stderr: "pipe",
  });
  if (exitCode !== 0) throw new Error(`npm ${args.join(" ")} failed: ${stdout}${stderr}`);
  return String(stdout);
}

beforeAll(() => {
  mkdirSync(join(folder, "user"));
  const [packed] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], root)) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  files = packed?.files.map((file) => file.path) ?? [];
  size = packed?.size ?? 0;
  writeFileSync(join(folder, "user", "package.json"), "{}");
  // npm asks the registry only for what `npm ci` has not fetched before.
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  npm(["install", ...options, join(folder, packed?.filename ?? "")], join(folder, "user"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the package has all that a gateway needs, and no tests, benchmarks or installed engines", () => {
  for (const needed of [
    ...["bin/switchyard.mjs", "src/main.ts", "LICENSE", "README.md", "CHANGELOG.md", "docs/settings.md"],
    ...["docs/switchyard.schema.json", "docs/sbom.cdx.json", "engines/models.json", "engines/speech/package.json"],
    ...["engines/speech/package-lock.json", "engines/speech/checksums.json"],
  ])
    expect(files).toContain(needed);
  const unwanted = files.filter((file) =>
    /^(?:test|bench|scripts|\.ci|\.github|data)\/|node_modules|\.test\.ts$/.test(file),
  );
  expect(unwanted).toEqual([]);
  expect(size).toBeLessThan(8 * 1_048_576);
});

test("npx starts the gateway, and the command that it prints works as pasted", async () => {
  const port = await findFreePort();
  const child = Bun.spawn(["npx", packageJson.name, "--port", String(port)], {
    cwd: join(folder, "user"),
    env: { PATH: path, HOME: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const output = { out: "", errors: "" };
  const collect = async (name: keyof typeof output, stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) output[name] += Buffer.from(bytes).toString();
  };
  void collect("out", child.stdout);
  void collect("errors", child.stderr);
  try {
    const command = await waitFor("the curl command", () => /^curl [\s\S]*?\n\n/m.exec(output.errors)?.[0] ?? null);
    const pasted = Bun.spawnSync(["sh", "-c", command], { cwd: folder, env: { PATH: path }, stderr: "ignore" });
    expect(JSON.parse(String(pasted.stdout)).choices[0].message.content).toContain("Hello");
    // Another command of the package, on the store of the gateway that runs.
    const listed = Bun.spawnSync(["npx", "switchyard", "keys", "list"], {
      cwd: join(folder, "user"),
      env: environment,
    });
    expect(String(listed.stdout)).toMatch(/^id +kind +key /);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
  }
});

test("the installed package has a bill of materials, engine groups and a command that finds problems", () => {
  const bin = join(folder, "user", "node_modules", ".bin", "switchyard");
  const run = (...args: string[]) => Bun.spawnSync([bin, ...args], { cwd: join(folder, "user"), env: { PATH: path } });
  expect(JSON.parse(String(run("licences", "--sbom").stdout))).toMatchObject({ bomFormat: "CycloneDX" });
  expect(String(run("engines", "list").stdout)).toMatch(/^speech +absent/m);
  expect(JSON.parse(String(run("doctor", "--json").stdout))).toMatchObject({ version: packageJson.version });
  expect(existsSync(join(installed, "engines", "speech", "checksums.json"))).toBe(true);
});

test("the bill of materials lists the packages that npm lists", () => {
  interface Listed {
    readonly components: readonly { readonly purl?: string }[];
  }
  const purlsOf = (text: string) =>
    (JSON.parse(text) as Listed).components.flatMap(({ purl }) => (purl?.startsWith("pkg:npm/") ? [purl] : []));
  const ours = purlsOf(readFileSync(join(root, "docs", "sbom.cdx.json"), "utf8"));
  const options = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only", "--omit=dev"];
  const theirs = purlsOf(npm(options, root));
  expect(theirs.length).toBeGreaterThan(40);
  expect(theirs.filter((purl) => !ours.includes(purl))).toEqual([]);
  expect(listLockedPackages(join(root, "package-lock.json")).length).toBeGreaterThanOrEqual(theirs.length);
});
