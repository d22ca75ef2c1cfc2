// Bundles the dashboard into a folder: `bun src/dashboard-build.ts <folder> <key>`. A process of its own, because the bundler needs memory that
// a serving process would keep.

import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { DashboardManifest } from "./http/endpoints/dashboard-bundle.ts";

const sources = join(import.meta.dir, "dashboard");
// A file that is smaller than a packet is not worth a second copy.
const minCompressedBytes = 1_024;
// The highest quality takes ten times as long and saves four percent.
const brotliQuality = 9;

const [folder, key] = process.argv.slice(2);
if (folder === undefined || key === undefined) throw new Error("Usage: dashboard-build.ts <folder> <key>");
await build(folder, key);

async function build(folder: string, key: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { outputs, metafile } = await Bun.build({
    entrypoints: ["main.tsx", "color-scheme.ts", "styles.css", "pdf/pdf-worker.ts"].map((name) => join(sources, name)),
    outdir: folder,
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    metafile: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const entries = new Map(
    outputs
      .filter(({ kind }) => kind !== "chunk")
      .map(({ path }) => [basename(path).replace(/-[a-z0-9]+\./, "."), path]),
  );
  const files: Record<string, { type: string; encodings: string[] }> = {};
  for (const output of outputs) {
    const bytes = new Uint8Array(await output.arrayBuffer());
    const encodings: string[] = [];
    if (bytes.length >= minCompressedBytes && !isRarelyLoaded(output.path)) {
      const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
      await Bun.write(`${output.path}.br`, brotliCompressSync(bytes, { params }));
      await Bun.write(`${output.path}.gz`, gzipSync(bytes, { level: 9 }));
      encodings.push("br", "gzip");
    }
    files[basename(output.path)] = { type: output.type, encodings };
  }
  const packages = listPackages(Object.keys(metafile?.inputs ?? {}));
  // The licences of most libraries demand their text beside copies of the code, also of minified ones.
  await Bun.write(join(folder, "licences.txt"), packages.map(readLicence).join("\n\n"));
  const manifest: DashboardManifest = {
    key,
    script: nameOf(entries, "main.js"),
    colorScheme: nameOf(entries, "color-scheme.js"),
    style: nameOf(entries, "styles.css"),
    pdfWorker: nameOf(entries, "pdf-worker.js"),
    files,
    packages,
  };
  await Bun.write(join(folder, "manifest.json"), JSON.stringify(manifest));
}

/** Folders of the packages of which the bundle has files, such as `node_modules/react`. The bundler names files from the folder in which it runs. */
function listPackages(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].toSorted();
}

function readLicence(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as PackageJson;
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
  return [`## ${name} ${version} (${license})`, ...texts].join("\n\n");
}

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Few people need it, once: two more copies would double the size of the package. */
function isRarelyLoaded(path: string): boolean {
  return path.endsWith(".wasm");
}

function nameOf(entries: ReadonlyMap<string, string>, name: string): string {
  const path = entries.get(name);
  if (path === undefined) throw new Error(`the bundler wrote no ${name}`);
  return basename(path);
}
