// The files that `docker build .` sends to the builder: the folder without what .dockerignore leaves out.

import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Rule {
  readonly pattern: string;
  readonly glob: Bun.Glob;
  /** The line begins with `!`. */
  readonly isException: boolean;
}

export function copyDockerContext(root: string, target: string): void {
  const rules = readRules(readFileSync(join(root, ".dockerignore"), "utf8"));
  for (const path of listFiles(root, "", rules)) cpSync(join(root, path), join(target, path), { recursive: true });
}

function readRules(text: string): Rule[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const pattern = line.replace(/^!/, "");
      return { pattern, glob: new Bun.Glob(pattern), isException: line.startsWith("!") };
    });
}

function listFiles(root: string, folder: string, rules: readonly Rule[]): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const isOut = isLeftOut(path, rules);
    if (!entry.isDirectory()) return isOut ? [] : [path];
    const mayHaveExceptions = rules.some((rule) => rule.isException && rule.pattern.startsWith(`${path}/`));
    return isOut && !mayHaveExceptions ? [] : listFiles(root, path, rules);
  });
}

/** The last rule that matches the path or a folder above it decides. */
function isLeftOut(path: string, rules: readonly Rule[]): boolean {
  const parts = path.split("/");
  const candidates = parts.map((_, index) => parts.slice(0, index + 1).join("/"));
  const last = rules.findLast(({ glob }) => candidates.some((candidate) => glob.match(candidate)));
  return last !== undefined && !last.isException;
}
