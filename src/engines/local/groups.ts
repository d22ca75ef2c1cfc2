// The groups of packages that are added by command: what each one's folder says of it, and whether it is there.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readChecksums, sha256Of } from "./checksums.ts";
import { groupsFolder, listGroupFolders, ownerOf } from "./resolve-package.ts";

export interface Group {
  readonly name: string;
  readonly folder: string;
  readonly description: string;
  /** Exact versions, by package. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Other folders that are added with it. */
  readonly needs: readonly string[];
  /** It is what others need, and of no use alone. */
  readonly isShared: boolean;
  /** Tasks that work without it, and better with it. */
  readonly improves: readonly string[];
  /** By package: globs of what is read of it. A package without a line is kept whole. */
  readonly keep: Readonly<Record<string, readonly string[]>>;
}

export type GroupState = "added" | "outdated" | "absent";

/** What package.json of a group holds, as far as we read it. Ours, so it is trusted. */
interface GroupManifest {
  readonly description: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly switchyard?: Partial<Pick<Group, "needs" | "isShared" | "improves" | "keep">>;
}

/** Beside the packages: the sum of what they were installed from. */
export const stampName = ".switchyard-group";

export function findGroup(name: string): Group | null {
  return listGroupFolders().includes(name) ? readGroup(join(groupsFolder, name)) : null;
}

export function readGroup(folder: string): Group {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as GroupManifest;
  const { needs = [], isShared = false, improves = [], keep = {} } = manifest.switchyard ?? {};
  const { description, dependencies } = manifest;
  return { name: basename(folder), folder, description, dependencies, needs, isShared, improves, keep };
}

/** Those that can be asked for, shared ones left out. */
export function listGroups(): Group[] {
  return listGroupFolders()
    .map(findGroup)
    .filter((group) => group !== null)
    .filter((group) => !group.isShared);
}

/** The group after all that it needs. Throws when there is no such group. */
export function withNeeds(name: string): Group[] {
  const group = findGroup(name);
  if (group === null) throw new Error(`engines/${name} is not there`);
  return [...new Set(group.needs)].flatMap(withNeeds).concat(group);
}

export function stateOf(group: Group): GroupState {
  const modules = join(group.folder, "node_modules");
  const isThere = Object.keys(group.dependencies).every((name) => existsSync(join(modules, name, "package.json")));
  if (!isThere) return "absent";
  const stamp = join(modules, stampName);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === stampOf(group) ? "added" : "outdated";
}

/** Changes whenever the packages, or what is kept of them, do. */
export function stampOf(group: Group): string {
  const files = ["package.json", "package-lock.json", "checksums.json"].map((name) => join(group.folder, name));
  const parts = files.filter((file) => existsSync(file)).map((file) => readFileSync(file));
  return sha256Of(Buffer.concat([...parts, Buffer.from(`${process.platform} ${process.arch}`)]));
}

/** Every file of a package that is kept must match one of these; null: it is kept whole. */
export function keptOf(group: Group, packageName: string): Bun.Glob[] | null {
  return keepPatterns(group, packageName)?.map((pattern) => new Bun.Glob(pattern)) ?? null;
}

export function keepPatterns(group: Group, packageName: string): string[] | null {
  const patterns = group.keep[packageName];
  return patterns?.map((one) => one.replace("{platform}", process.platform).replace("{machine}", process.arch)) ?? null;
}

/** What is wrong with the files in a folder of packages, in words; empty: each is byte for byte the one that was measured. */
export function findWrongFiles(group: Group, modules: string): string[] {
  return Object.entries(readChecksums(group.folder)).flatMap(([key, expected]) => {
    const owner = ownerOf(key);
    const kept = keptOf(group, owner);
    if (kept !== null && !kept.some((glob) => glob.match(key.slice(owner.length + 1)))) return [];
    const file = join(modules, key);
    if (!existsSync(file)) return [`${key} is missing`];
    return sha256Of(readFileSync(file)) === expected ? [] : [`${key} is not the file that was measured`];
  });
}

export function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  return bytes;
}
