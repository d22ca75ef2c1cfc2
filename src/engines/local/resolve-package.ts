// Where a package of an engine is: with the gateway's own, or in the folder of a group that was added.

import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const requireHere = createRequire(import.meta.url);
/** `switchyard engines add speech` installs into engines/speech, with the lockfile that stands there. */
const groupsFolder = Bun.fileURLToPath(new URL("../../../engines/", import.meta.url));

/** The folder of a package; null: it is not installed. By folder, since many hide their files behind `exports`. */
export function findPackage(name: string): string | null {
  for (const folder of packageFolders()) if (existsSync(join(folder, name, "package.json"))) return join(folder, name);
  return null;
}

export function packageFolder(name: string): string {
  const folder = findPackage(name);
  if (folder === null) throw new Error(`the package ${name} is not installed`);
  return folder;
}

/** Also imports what a group brought, which a bare `import` would not find. */
export async function importPackage<Module>(name: string): Promise<Module> {
  const [scopeOrName = "", second = ""] = name.split("/");
  const owner = scopeOrName.startsWith("@") ? `${scopeOrName}/${second}` : scopeOrName;
  const from = join(packageFolder(owner), "package.json");
  return (await import(pathToFileURL(Bun.resolveSync(name, from)).href)) as Module;
}

function packageFolders(): string[] {
  const groups = existsSync(groupsFolder) ? readdirSync(groupsFolder) : [];
  const added = groups.map((group) => join(groupsFolder, group, "node_modules"));
  return [...(requireHere.resolve.paths("x") ?? []), ...added];
}
