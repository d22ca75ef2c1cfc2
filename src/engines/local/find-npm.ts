// Finds the npm that installs groups of local engines.

import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { GroupError } from "./group-error.ts";

export interface NpmLocation {
  /** The npm script that started this process; null when npm did not. */
  readonly npmScript: string | null;
  /** The Node on which npm, or the launcher, runs. */
  readonly nodePath: string | null;
}

/** The npm that started this process, else the one on the PATH, else the one that came with Node. */
export function findNpm({ npmScript, nodePath }: NpmLocation): string[] {
  const node = nodePath ?? Bun.which("node");
  // Other package managers set the same variable to a script of their own.
  if (npmScript !== null && node !== null && /^np[mx]-cli\.js$/.test(basename(npmScript)) && existsSync(npmScript))
    return [node, join(dirname(npmScript), "npm-cli.js")];
  const onPath = Bun.which("npm");
  if (onPath !== null) return [onPath];
  if (node !== null) {
    const beside = join(dirname(realpathSync(node)), process.platform === "win32" ? "npm.cmd" : "npm");
    if (existsSync(beside)) return [beside];
  }
  throw new GroupError("npm was not found. It comes with Node.js: put it on the PATH and try again.");
}
