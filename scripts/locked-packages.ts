// The packages that users install, from the lockfiles of the gateway and of the groups of local engines.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Group, listGroups, withNeeds } from "../src/engines/local/groups.ts";
import { createDashboardLoader } from "../src/http/endpoints/dashboard-bundle.ts";

interface Lockfile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>> | undefined;
}

export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** As the package states it; null: it states none. */
  readonly licence: string | null;
  /** `sha512-…` in base64. */
  readonly integrity: string | null;
  /** A build of another package for one kind of machine. */
  readonly isOptional: boolean;
  /** `name@version` of the packages that it needs. */
  readonly needs: readonly string[];
}

/** All groups, with those that only other groups need. */
export function listAllGroups(): Group[] {
  const groups = listGroups().flatMap(({ name }) => withNeeds(name));
  return [...new Map(groups.map((group) => [group.name, group])).values()];
}

/** The packages of a group; none for a group of wheels, which has no lockfile. */
export function listPackagesOf(group: Group): LockedPackage[] {
  if (Object.keys(group.dependencies).length === 0) return [];
  return listLockedPackages(join("engines", group.name, "package-lock.json"));
}

/** Without packages for development. */
export function listLockedPackages(lockfile: string): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as Lockfile;
  return Object.entries(packages).flatMap(([folder, entry]) =>
    folder === "" || entry.dev === true ? [] : toLockedPackages(folder, entry, packages),
  );
}

/** The packages whose code is a part of the dashboard's bundle. Most of them are not installed with the gateway. */
export async function listBundledPackages(): Promise<LockedPackage[]> {
  const { manifest } = await createDashboardLoader()();
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lockfile;
  return manifest.packages.flatMap((folder) => {
    const entry = packages[folder];
    if (entry === undefined) throw new Error(`package-lock.json has no ${folder}, which is bundled into the dashboard`);
    return toLockedPackages(folder, entry, packages);
  });
}

function toLockedPackages(folder: string, entry: LockEntry, packages: Lockfile["packages"]): LockedPackage[] {
  const { version, license, integrity, optional } = entry;
  // An empty package stands in for one that is not needed.
  if (version === undefined || entry.name === "empty-npm-package") return [];
  return [
    {
      name: nameOf(folder, entry),
      version,
      licence: license ?? null,
      integrity: integrity ?? null,
      isOptional: optional === true,
      needs: listNeeds(folder, entry, packages),
    },
  ];
}

/** `name@version` of what the root of a lockfile needs itself, for development too. */
export function listRootNeeds(lockfile: string): string[] {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as Lockfile;
  const { dependencies, devDependencies, optionalDependencies } = packages[""] ?? {};
  return listNeeds("", { dependencies: { ...dependencies, ...devDependencies }, optionalDependencies }, packages);
}

function listNeeds(folder: string, entry: LockEntry, packages: Lockfile["packages"]): string[] {
  const names = Object.keys({ ...entry.dependencies, ...entry.optionalDependencies });
  return names.flatMap((name) => {
    const found = findFolder(folder, name, packages);
    const needed = found === null ? undefined : packages[found];
    if (found === null || needed === undefined || needed.name === "empty-npm-package") return [];
    return [`${nameOf(found, needed)}@${needed.version}`];
  });
}

/** As Node resolves a package: in the folder itself, then in the folders above it. */
function findFolder(folder: string, name: string, packages: Lockfile["packages"]): string | null {
  const candidate = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
  if (packages[candidate] !== undefined) return candidate;
  if (folder === "") return null;
  const end = folder.lastIndexOf("/node_modules/");
  return findFolder(end === -1 ? "" : folder.slice(0, end), name, packages);
}

function nameOf(folder: string, { name }: LockEntry): string {
  return name ?? folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}
