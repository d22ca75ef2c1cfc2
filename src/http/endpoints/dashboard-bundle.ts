// The bundle of the dashboard: the one that the package carries, otherwise one that is built from the sources when it is first needed and kept
// on disk. Its files are read for each request, so that a gateway whose dashboard is never opened holds none of them in memory.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { messageOf } from "../../errors.ts";
import { endsWithin } from "../../lib/deadline.ts";
import { acceptsEncoding } from "../accept-encoding.ts";

export interface DashboardManifest {
  /** Identifies the sources from which the bundle was built. */
  readonly key: string;
  /** Names of files. */
  readonly script: string;
  readonly colorScheme: string;
  readonly style: string;
  /** Draws the pages of PDF files. */
  readonly pdfWorker: string;
  readonly files: Readonly<Record<string, BundledFile>>;
  /** Folders of the packages that are parts of the bundle, such as `node_modules/react`. */
  readonly packages: readonly string[];
}

interface BundledFile {
  readonly type: string;
  readonly encodings: readonly string[];
}

export interface DashboardBundle {
  readonly folder: string;
  readonly manifest: DashboardManifest;
  /** Null for a file that the bundle does not have. */
  read(name: string, acceptEncoding: string): Promise<Asset | null>;
}

export interface Asset {
  readonly bytes: Uint8Array;
  readonly type: string;
  /** Null: not compressed. */
  readonly encoding: string | null;
}

const packageFolder = resolve(import.meta.dir, "../../..");
const prebuiltFolder = join(packageFolder, "dist/dashboard");
const cacheFolder = join(packageFolder, "node_modules/.cache/switchyard");
const buildTimeoutMs = 120_000;
// A gateway of an older version may still serve files of its own bundle.
const keptBundles = 4;

/** Throws when there is no bundle and none can be built; the next call tries again. */
export function createDashboardLoader(): () => Promise<DashboardBundle> {
  let loading: Promise<DashboardBundle> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

async function load(): Promise<DashboardBundle> {
  const key = await computeKey();
  const cached = join(cacheFolder, `dashboard-${key}`);
  for (const folder of [prebuiltFolder, cached]) {
    const manifest = readManifest(folder);
    if (manifest?.key === key) return openBundle(folder, manifest);
  }
  const folder = await build(cached, key);
  const manifest = readManifest(folder);
  if (manifest === null) throw new Error("the bundler wrote no manifest");
  return openBundle(folder, manifest);
}

/** A hash of everything that the bundle is made from; exact versions of the libraries are in package.json. */
async function computeKey(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const files = ["package.json", "src/dashboard-build.ts"];
  for (const folder of ["src/dashboard", "src/lib"])
    for await (const path of new Bun.Glob("**/*.{ts,tsx,css,svg,json}").scan(join(packageFolder, folder)))
      files.push(join(folder, path));
  for (const path of files.toSorted())
    hash.update(`${path}\0`).update(await Bun.file(join(packageFolder, path)).bytes());
  return hash.digest("hex").slice(0, 24);
}

/** For the package. */
export async function buildInto(folder: string): Promise<void> {
  await runBundler(folder, await computeKey());
}

/** Builds in a folder of its own and moves it, so that no process ever sees half a bundle. */
async function build(target: string, key: string): Promise<string> {
  const folder = makeBuildFolder();
  await runBundler(folder, key);
  if (!folder.startsWith(cacheFolder)) return folder;
  try {
    renameSync(folder, target);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    // Another process was faster.
    if (readManifest(target)?.key !== key) throw new Error(`${target}: ${messageOf(error)}`, { cause: error });
  }
  removeOldBundles();
  return target;
}

async function runBundler(folder: string, key: string): Promise<void> {
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, "../../dashboard-build.ts"), folder, key], {
    cwd: packageFolder,
    env: { NODE_ENV: "production" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  if (!(await endsWithin(child.exited, buildTimeoutMs))) child.kill("SIGKILL");
  if ((await child.exited) !== 0) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error((await errors).trim() || "the bundler ended without a message");
  }
}

function removeOldBundles(): void {
  const bundles = readdirSync(cacheFolder)
    .filter((name) => name.startsWith("dashboard-"))
    .map((name) => join(cacheFolder, name))
    .toSorted((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const old of bundles.slice(keptBundles)) rmSync(old, { recursive: true, force: true });
}

/** Without a writable package folder, a bundle lives as long as the folder for temporary files. */
function makeBuildFolder(): string {
  try {
    mkdirSync(cacheFolder, { recursive: true });
    return mkdtempSync(join(cacheFolder, "building-"));
  } catch {
    return mkdtempSync(join(tmpdir(), "switchyard-dashboard-"));
  }
}

function readManifest(folder: string): DashboardManifest | null {
  const path = join(folder, "manifest.json");
  if (!existsSync(path)) return null;
  // Written by our own build.
  return JSON.parse(readFileSync(path, "utf8")) as DashboardManifest;
}

function openBundle(folder: string, manifest: DashboardManifest): DashboardBundle {
  const endings: Readonly<Record<string, string>> = { br: ".br", gzip: ".gz" };
  return {
    folder,
    manifest,
    async read(name, acceptEncoding) {
      const file = Object.hasOwn(manifest.files, name) ? manifest.files[name] : undefined;
      if (file === undefined) return null;
      const encoding = file.encodings.find((one) => acceptsEncoding(acceptEncoding, one)) ?? null;
      const path = join(folder, name + (encoding === null ? "" : (endings[encoding] ?? "")));
      return { bytes: await Bun.file(path).bytes(), type: file.type, encoding };
    },
  };
}
