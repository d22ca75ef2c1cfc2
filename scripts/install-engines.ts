// Adds every group of local engines that is not there, as `switchyard engines add` does. The tests need all of them.
// `--write-checksums <group> <package>/<glob>…` writes the group's table instead, from the files that are installed.

import { join } from "node:path";
import { addGroup } from "../src/engines/local/add-group.ts";
import { sha256Of } from "../src/engines/local/checksums.ts";
import { findNpm } from "../src/engines/local/find-npm.ts";
import { findGroup, findWrongFiles, listGroups, stateOf, withNeeds } from "../src/engines/local/groups.ts";

// Each: the largest is three hundred megabytes to fetch.
const fetchTimeoutMs = 4 * 60_000;

/** Throws when one cannot be had: tests that silently leave an engine out would prove nothing. */
export async function installEngines(): Promise<void> {
  // Pages are measured in English. Each language of tesseract would change how the others are read.
  const needed = listGroups().filter(({ name }) => !name.startsWith("ocr-"));
  const names = new Set(needed.flatMap(({ name }) => withNeeds(name).map((group) => group.name)));
  const groups = [...names].flatMap((name) => findGroup(name) ?? []);
  const missing = groups.filter(
    (group) => stateOf(group) !== "added" || findWrongFiles(group, join(group.folder, "node_modules")).length > 0,
  );
  await Promise.all(
    missing.map(async (group) => {
      console.error(`adding the engines of ${group.name}`);
      await addGroup(group, { npm: findNpm({ npmScript: null, nodePath: null }), timeoutMs: fetchTimeoutMs });
    }),
  );
}

async function writeChecksums(name: string, patterns: readonly string[]): Promise<void> {
  const group = findGroup(name);
  if (group === null) throw new Error(`there is no folder engines/${name}`);
  const table: Record<string, string> = {};
  for (const pattern of patterns) {
    const paths = await Array.fromAsync(new Bun.Glob(pattern).scan(join(group.folder, "node_modules")));
    if (paths.length === 0) throw new Error(`no file matches ${pattern}`);
    for (const path of paths.sort())
      table[path] = sha256Of(await Bun.file(join(group.folder, "node_modules", path)).bytes());
  }
  await Bun.write(join(group.folder, "checksums.json"), `${JSON.stringify(table, null, 2)}\n`);
}

if (import.meta.main) {
  const [flag, name = "", ...patterns] = process.argv.slice(2);
  if (flag === "--write-checksums") await writeChecksums(name, patterns);
  else await installEngines();
}
