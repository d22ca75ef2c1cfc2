// The package groups of `switchyard engines add`: their manifests and whether they are installed.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readChecksums, sha256Of } from "./checksums.ts";
import { groupsFolder, listGroupFolders, ownerOf } from "./resolve-package.ts";

export interface Group {
  readonly name: string;
  readonly folder: string;
  readonly description: string;
  /** npm packages: exact versions, by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Packages of the Python Package Index, of which only files are used: exact versions, by name. */
  readonly wheels: Readonly<Record<string, string>>;
  /** Groups that are installed together with this one. */
  readonly needs: readonly string[];
  /** Only other groups need it, so it cannot be added by itself. */
  readonly isShared: boolean;
  /** Tasks that work without the group, but better with it. */
  readonly improves: readonly string[];
  /** Globs of the files to keep, by package. Packages that are not listed are kept completely. */
  readonly keep: Readonly<Record<string, readonly string[]>>;
}

export type GroupState = "added" | "outdated" | "absent";

/** The members of a group's package.json that we read. It is part of this repository, so it is not validated. */
interface GroupManifest {
  readonly description: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly switchyard?: Partial<Pick<Group, "needs" | "isShared" | "improves" | "keep" | "wheels">>;
}

/** The file beside the packages with the checksum of the manifest and the lockfile. */
export const stampName = ".switchyard-group";

export function findGroup(name: string): Group | null {
  return listGroupFolders().includes(name) ? readGroup(join(groupsFolder, name)) : null;
}

export function readGroup(folder: string): Group {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as GroupManifest;
  const { needs = [], isShared = false, improves = [], keep = {}, wheels = {} } = manifest.switchyard ?? {};
  const { description, dependencies = {} } = manifest;
  return { name: basename(folder), folder, description, dependencies, wheels, needs, isShared, improves, keep };
}

/** The groups that can be added, without the shared ones. */
export function listGroups(): Group[] {
  const groups = listGroupFolders().map((name) => readGroup(join(groupsFolder, name)));
  return groups.filter((group) => !group.isShared);
}

/** The groups that this one needs, followed by the group itself. Throws if there is no such group. */
export function withNeeds(name: string): Group[] {
  const group = findGroup(name);
  if (group === null) throw new Error(`The folder engines/${name} does not exist`);
  return [...new Set(group.needs)].flatMap(withNeeds).concat(group);
}

/** The names of all packages that the group installs, whatever index they come from. */
export function packagesOf({ dependencies, wheels }: Group): string[] {
  return [...Object.keys(dependencies), ...Object.keys(wheels)];
}

export function stateOf(group: Group): GroupState {
  const modules = join(group.folder, "node_modules");
  const isThere = packagesOf(group).every((name) => existsSync(join(modules, name, "package.json")));
  if (!isThere) return "absent";
  const stamp = join(modules, stampName);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stampOf(group) ? "added" : "outdated";
}

/** Changes if the manifest, the lockfile or the checksums change. */
export function stampOf(group: Group): string {
  const files = ["package.json", "package-lock.json", "checksums.json"].map((name) => join(group.folder, name));
  const parts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file));
  return sha256Of(Buffer.concat([...parts, Buffer.from(`${process.platform} ${process.arch}`)]));
}

/** The globs of the files to keep, by their pattern; null: all files. */
export function globsToKeep({ keep }: Group, packageName: string): ReadonlyMap<string, Bun.Glob> | null {
  const patterns = keep[packageName]?.map((pattern) =>
    pattern.replace("{platform}", process.platform).replace("{machine}", process.arch),
  );
  return patterns === undefined ? null : new Map(patterns.map((pattern) => [pattern, new Bun.Glob(pattern)]));
}

/** The problems of the installed files, as sentences; empty if every file matches its checksum. */
export function findWrongFiles(group: Group, modules: string): string[] {
  return Object.entries(readChecksums(group.folder)).flatMap(([key, expected]) => {
    const owner = ownerOf(key);
    const globs = globsToKeep(group, owner)?.values();
    if (globs !== undefined && !globs.some((glob) => glob.match(key.slice(owner.length + 1)))) return [];
    const file = join(modules, key);
    if (!existsSync(file)) return [`${key} is missing`];
    return sha256Of(readFileSync(file)) === expected ? [] : [`${key} does not match its checksum`];
  });
}

export function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  return bytes;
}
