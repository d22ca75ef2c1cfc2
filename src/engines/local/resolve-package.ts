// Finds the packages of engines: among the gateway's own, or in the folder of an installed group.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const requireHere = createRequire(import.meta.url);
/** `switchyard engines add speech` installs into engines/speech, with the lockfile in that folder. */
export const groupsFolder = Bun.fileURLToPath(new URL("../../../engines/", import.meta.url));

/** Remembered, because most packages serve several engines, and reading their descriptions is a tenth of a gateway's start. */
const foundFolders = new Map<string, string>();

/** The folder of a package; null: it is not installed. `require.resolve` is not used, because many packages hide files behind `exports`. */
export function findPackage(name: string): string | null {
  const known = foundFolders.get(name);
  if (known !== undefined) return known;
  for (const folder of packageFolders()) {
    const description = join(folder, name, "package.json");
    if (!existsSync(description) || isPlaceholder(description)) continue;
    foundFolders.set(name, join(folder, name));
    return join(folder, name);
  }
  return null;
}

/** The overrides of a group replace packages that are not needed by this one. */
function isPlaceholder(description: string): boolean {
  return JSON.parse(readFileSync(description, "utf8")).name === "empty-npm-package";
}

export function packageFolder(name: string): string {
  const folder = findPackage(name);
  if (folder === null) throw new Error(`the package ${name} is not installed`);
  return folder;
}

/** Also imports packages of groups, which `import` would not find. */
export async function importPackage<Module>(name: string): Promise<Module> {
  const from = join(packageFolder(ownerOf(name)), "package.json");
  return (await import(pathToFileURL(Bun.resolveSync(name, from)).href)) as Module;
}

/** `@scope/name/path/in/it` is a file of `@scope/name`. */
export function ownerOf(path: string): string {
  const [scopeOrName = "", second = ""] = path.split("/");
  return scopeOrName.startsWith("@") ? `${scopeOrName}/${second}` : scopeOrName;
}

/** The names of all groups, installed or not. */
export function listGroupFolders(): string[] {
  if (!existsSync(groupsFolder)) return [];
  const names = readdirSync(groupsFolder);
  return names.filter((name) => existsSync(join(groupsFolder, name, "package.json"))).sort();
}

function packageFolders(): string[] {
  const added = listGroupFolders().map((group) => join(groupsFolder, group, "node_modules"));
  return [...(requireHere.resolve.paths("x") ?? []), ...added];
}
