// Installs the packages that only the tests use beside the tests, on first use and whenever their lockfile has changed.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { findRecordings } from "../recordings/recording.ts";
import { whyNoPostgres } from "./postgres.ts";

const toolsFolder = join(import.meta.dir, "../tools");
const stampName = "node_modules/.switchyard-lock";

/** Throws when npm cannot bring them: a suite that silently leaves its client out would prove nothing. */
export async function installTools(): Promise<void> {
  const folders = ["", "agents", "browser", "sbom"];
  // A server of the machine's own is used where there is one.
  if (whyNoPostgres() !== null) folders.push("postgres");
  // The vendors' clients are many, and only for those who have recordings to read with them.
  if (findRecordings() !== null) folders.push("recordings");
  await Promise.all(folders.map((name) => installFolder(join(toolsFolder, name))));
}

async function installFolder(folder: string): Promise<void> {
  const lock = await Bun.file(join(folder, "package-lock.json")).text();
  const stamp = Bun.file(join(folder, stampName));
  if ((await stamp.exists()) && (await stamp.text()) === lock) return;

  await runNpmCi(folder);
  if (!existsSync(join(folder, "node_modules"))) throw new Error(`npm ci left nothing in ${folder}`);
  await Bun.write(stamp, lock);
}

async function runNpmCi(folder: string): Promise<void> {
  // Not --prefix: with it npm ignores the machine's own npmrc, and with that a certificate or mirror.
  const npm = Bun.spawn(["npm", "ci", "--loglevel=error", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  const exitCode = await npm.exited;
  if (exitCode !== 0) throw new Error(`npm ci in ${folder} ended with ${exitCode}`);
}
