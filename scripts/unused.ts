// Finds values that src exports and no other file names, and files of src that no other file imports. It compares words, so an export whose
// name also occurs elsewhere is not found; everything that it reports is unused.

import { basename } from "node:path";

const exportLine = /^(\/\*\* @public .*\n)?export (?:async )?(?:function\*?|class|const|enum) ([A-Za-z_$][\w$]*)/gm;
/** Processes and threads start these files; no file imports them. */
const entryFiles = new Set(["src/main.ts", "src/dashboard/main.tsx", "src/dashboard/color-scheme.ts"]);

export async function findUnusedCode(): Promise<string[]> {
  const texts = new Map<string, string>();
  for await (const path of new Bun.Glob("{src,test,scripts,bench}/**/*.{ts,tsx}").scan("."))
    if (!path.includes("node_modules")) texts.set(path, await Bun.file(path).text());
  const filesByWord = new Map<string, Set<string>>();
  for (const [path, text] of texts)
    for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) {
      const files = filesByWord.get(word) ?? new Set();
      filesByWord.set(word, files.add(path));
    }
  const allText = [...texts.values()].join("\n");
  const problems: string[] = [];
  for (const [path, text] of texts) {
    if (!path.startsWith("src/")) continue;
    if (!entryFiles.has(path) && !allText.includes(`/${basename(path)}`)) problems.push(`${path}: no file imports it`);
    for (const [, publicNote, name = ""] of text.matchAll(exportLine))
      if (publicNote === undefined && (filesByWord.get(name)?.size ?? 0) < 2)
        problems.push(`${path}: no other file uses the export ${name}`);
  }
  return problems;
}
