// Installs packages that are missing: those of package.json, and those that only the tests use, which are installed beside the tests.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { dependencies, devDependencies } from "../../package.json";
import { findRecordings } from "../recordings/recording.ts";
import { whyNoPostgres } from "./postgres.ts";

const root = join(import.meta.dir, "../..");
const toolsFolder = join(root, "test/tools");
const stampName = "node_modules/.switchyard-lock";

/** Throws when npm cannot bring them: a suite that silently leaves its client out would prove nothing. */
export async function installTools(): Promise<void> {
  await installDependencies();
  await installFolder(toolsFolder);
  await installFolder(join(toolsFolder, "agents"));
  // A server of the machine's own is used where there is one.
  if (whyNoPostgres() !== null) await installFolder(join(toolsFolder, "postgres"));
  // The vendors' clients are many, and only for those who have recordings to read with them.
  if (findRecordings() !== null) await installFolder(join(toolsFolder, "recordings"));
}

/** After a change of package.json, such as a pull. */
async function installDependencies(): Promise<void> {
  const wanted = Object.entries({ ...dependencies, ...devDependencies });
  const versions = await Promise.all(wanted.map(([name]) => installedVersion(name)));
  if (wanted.every(([, version], index) => versions[index] === version)) return;
  await runNpm(["install", "--ignore-scripts"], root);
}

async function installedVersion(name: string): Promise<string | null> {
  const file = Bun.file(join(root, "node_modules", name, "package.json"));
  return (await file.exists()) ? ((await file.json()) as { version: string }).version : null;
}

async function installFolder(folder: string): Promise<void> {
  const lock = await Bun.file(join(folder, "package-lock.json")).text();
  const stamp = Bun.file(join(folder, stampName));
  if ((await stamp.exists()) && (await stamp.text()) === lock) return;

  await runNpm(["ci"], folder);
  if (!existsSync(join(folder, "node_modules"))) throw new Error(`npm ci left nothing in ${folder}`);
  await Bun.write(stamp, lock);
}

async function runNpm(args: readonly string[], folder: string): Promise<void> {
  // Not --prefix: with it npm ignores the machine's own npmrc, and with that a certificate or mirror.
  const npm = Bun.spawn(["npm", ...args, "--loglevel=error", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  const exitCode = await npm.exited;
  if (exitCode !== 0) throw new Error(`npm ${args[0]} in ${folder} ended with ${exitCode}`);
}
