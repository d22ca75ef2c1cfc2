// Changes single lines of src at random, one at a time, and reports which changes the tests notice. Run it in a clone of its own, because
// it edits files: `node bin/bun.mjs run scripts/mutate.ts --count 60 --seed 1 [--only src/jobs,src/http] [--list]`.
//
// `--near` runs only the test files with the fewest imports between them and the change. `--part 1/2` and `--part 2/2`, in two clones, share a sample.
// `--from 10` leaves out the first nine changes of the sample or part, to continue a run.
//
// A change that no test can notice (an equal result by another way) has to be judged by a person: the report shows each line.

import { dirname, join, normalize } from "node:path";
import { parseArgs } from "node:util";

interface Mutation {
  readonly file: string;
  readonly line: number;
  readonly before: string;
  readonly after: string;
}

/** Each rule changes one occurrence in a line of code. */
const rules: readonly (readonly [RegExp, (match: string) => string])[] = [
  [/ (<|>)(?= )/g, (match) => `${match}=`],
  [/ (<=|>=)(?= )/g, (match) => match.slice(0, -1)],
  [/ === /g, () => " !== "],
  [/ !== /g, () => " === "],
  [/ && /g, () => " || "],
  [/ \|\| /g, () => " && "],
  [/ \?\? (?=\w)/g, () => " && "],
  [/ \+ (?=\d)/g, () => " - "],
  [/ - (?=\d)/g, () => " + "],
  [/(?<=[ (:[])\d[\d_]*(?=[,;)\]])/g, changeNumber],
  [/\btrue\b/g, () => "false"],
  [/\bfalse\b/g, () => "true"],
  [/Math\.min/g, () => "Math.max"],
  [/Math\.max/g, () => "Math.min"],
  [/\.some\(/g, () => ".every("],
  [/\.every\(/g, () => ".some("],
  [/\.at\(-1\)/g, () => ".at(0)"],
  [/^ +(?:this|[a-z]\w*)\.[\w.#]+\([^=]*\);$/g, () => "    void 0;"],
];
/** A row of a table of data: a number without code around it. */
const dataRow = /^[\s\w"'\-.,:[\]{}]*$/;
/** The nearest test files run first; the others run only for a change that those did not notice. */
const nearestFiles = 8;
const nearestFullFiles = 2;
const timeoutMs = 900_000;

const { values: options } = parseArgs({
  options: {
    count: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "src" },
    list: { type: "boolean", default: false },
    near: { type: "boolean", default: false },
    part: { type: "string", default: "1/1" },
    from: { type: "string", default: "1" },
  },
});

const random = createRandom(Number(options.seed));
const [part = 1, parts = 1] = options.part.split("/").map(Number);
const mutations = (await sampleMutations(Number(options.count)))
  .filter((_, index) => index % parts === part - 1)
  .slice(Number(options.from) - 1);
if (options.list) {
  for (const mutation of mutations) console.log(describe(mutation));
  process.exit();
}
const importers = await readImporters();
let noticed = 0;
for (const mutation of mutations) {
  const outcome = await tryMutation(mutation);
  if (outcome !== "survived") noticed++;
  console.log(`${outcome.padEnd(10)}${describe(mutation)}`);
}
console.log(`${noticed} of ${mutations.length} noticed`);

async function sampleMutations(count: number): Promise<Mutation[]> {
  const candidates: Mutation[][] = [];
  for (const folder of options.only.split(",")) {
    for await (const file of new Bun.Glob(`${folder}/**/*.ts`).scan(".")) {
      const mutationsOfFile = mutationsOf(file, await Bun.file(file).text());
      if (mutationsOfFile.length > 0) candidates.push(mutationsOfFile);
    }
  }
  candidates.sort((one, another) => (one[0]?.file ?? "").localeCompare(another[0]?.file ?? ""));
  const all = candidates.flat();
  const placeOf = ({ file, line }: Mutation) => `${file}:${line}`;
  const lines = new Set(all.map(placeOf)).size;
  const chosen = new Map<string, Mutation>();
  while (chosen.size < Math.min(count, lines)) {
    const mutation = all[Math.floor(random() * all.length)];
    if (mutation !== undefined) chosen.set(placeOf(mutation), mutation);
  }
  return [...chosen.values()];
}

function mutationsOf(file: string, text: string): Mutation[] {
  if (text.startsWith("// Generated")) return [];
  return text.split("\n").flatMap((line, index) => {
    if (/^\s*(\/\/|\*|\/\*|import |export type|type )/.test(line)) return [];
    return rules.flatMap(([pattern, replace]) =>
      [...line.matchAll(pattern)]
        .filter((match) => !isInsideString(line, match.index) && !(replace === changeNumber && dataRow.test(line)))
        .map((match) => ({
          file,
          line: index + 1,
          before: line,
          after: line.slice(0, match.index) + replace(match[0]) + line.slice(match.index + match[0].length),
        })),
    );
  });
}

function isInsideString(line: string, index: number): boolean {
  return (line.slice(0, index).match(/["`]/g) ?? []).length % 2 === 1;
}

async function tryMutation({ file, line, after }: Mutation): Promise<"noticed" | "compiler" | "survived"> {
  const original = await Bun.file(file).text();
  const lines = original.split("\n");
  lines[line - 1] = after;
  await Bun.write(file, lines.join("\n"));
  try {
    const near = nearestTests(file);
    // Without the name of a file, Bun would run them all, one after the other.
    if (near.length > 0 && !(await passes(["test", "--bail", "--timeout=120000", ...near]))) return "noticed";
    if (!(await passes([join("node_modules", "typescript", "bin", "tsc"), "--noEmit"]))) return "compiler";
    if (options.near || (await passes(["run", "scripts/test.ts", "--bail"]))) return "survived";
    return "noticed";
  } finally {
    await Bun.write(file, original);
  }
}

async function passes(command: readonly string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    timeout: timeoutMs,
  });
  return (await child.exited) === 0;
}

function changeNumber(match: string): string {
  return String(Number(match.replaceAll("_", "")) * 2 + 1);
}

/** Test files in the order of how many imports lie between them and the file; those of the full run come last. */
function nearestTests(file: string): string[] {
  const found: string[] = [];
  const seen = new Set([file]);
  for (let layer = [file]; layer.length > 0 && found.length < nearestFiles; ) {
    layer = layer.flatMap((path) => [...(importers.get(path) ?? [])]).filter((path) => !seen.has(path));
    for (const path of layer) seen.add(path);
    found.push(...new Set(layer.filter((path) => path.endsWith(".test.ts") && !path.includes(".load."))));
  }
  const isFull = (path: string) => path.includes(".full.");
  return [
    ...found.filter((path) => !isFull(path)).slice(0, nearestFiles),
    ...found.filter(isFull).slice(0, nearestFullFiles),
  ].map((path) => `./${path}`);
}

async function readImporters(): Promise<Map<string, Set<string>>> {
  const transpilers = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };
  const found = new Map<string, Set<string>>();
  for await (const file of new Bun.Glob("{src,test}/**/*.{ts,tsx}").scan(".")) {
    if (file.includes("node_modules")) continue;
    const transpiler = file.endsWith(".tsx") ? transpilers.tsx : transpilers.ts;
    const text = await Bun.file(file).text();
    const paths = [...transpiler.scanImports(text).map(({ path }) => path), ...startedFiles(text)];
    for (const path of paths) {
      if (!path.startsWith(".")) continue;
      const imported = normalize(join(dirname(file), path));
      found.set(imported, (found.get(imported) ?? new Set()).add(file));
    }
  }
  return found;
}

/** Files that the code starts as a thread or a process, which it names instead of importing them. */
function startedFiles(text: string): string[] {
  return Array.from(text.matchAll(/(?:new URL\(|import\.meta\.dir, )"(\.[^"]+\.ts)"/g), ([, path = ""]) => path);
}

/** The same seed gives the same sample. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function describe({ file, line, before, after }: Mutation): string {
  return `${file}:${line}\n    - ${before.trim()}\n    + ${after.trim()}`;
}
