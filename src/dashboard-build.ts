// Bundles the dashboard into a folder: `bun src/dashboard-build.ts <folder> <key>`. A process of its own, because the bundler needs memory that
// a serving process would keep.

import { mkdirSync, rmSync } from "node:fs";
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
  const { outputs } = await Bun.build({
    entrypoints: ["main.tsx", "color-scheme.ts", "styles.css"].map((name) => join(sources, name)),
    outdir: folder,
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
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
    if (bytes.length >= minCompressedBytes) {
      const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
      await Bun.write(`${output.path}.br`, brotliCompressSync(bytes, { params }));
      await Bun.write(`${output.path}.gz`, gzipSync(bytes, { level: 9 }));
      encodings.push("br", "gzip");
    }
    files[basename(output.path)] = { type: output.type, encodings };
  }
  const manifest: DashboardManifest = {
    key,
    script: nameOf(entries, "main.js"),
    colorScheme: nameOf(entries, "color-scheme.js"),
    style: nameOf(entries, "styles.css"),
    files,
  };
  await Bun.write(join(folder, "manifest.json"), JSON.stringify(manifest));
}

function nameOf(entries: ReadonlyMap<string, string>, name: string): string {
  const path = entries.get(name);
  if (path === undefined) throw new Error(`the bundler wrote no ${name}`);
  return basename(path);
}
