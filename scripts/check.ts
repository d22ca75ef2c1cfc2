// `npm run check`: format and lint, types, unused code, imports, tables, generated pages. It runs all checks, then lists the failures.

import { installTools } from "../test/support/tools.ts";
import { findBrokenArrows } from "./arrows.ts";
import { pages } from "./pages.ts";
import { findUnguardedTables } from "./tables.ts";
import { findUnusedCode } from "./unused.ts";

const problems: string[] = [];

// The types of the client SDKs that the tests use.
await installTools();
const others = Promise.all([checkStyle(), checkTypes()]);

for (const unused of await findUnusedCode()) problems.push(`unused code: ${unused}`);

for (const broken of await findBrokenArrows()) problems.push(`imports: ${broken}`);

for (const unguarded of await findUnguardedTables()) problems.push(`tables: ${unguarded}`);

for (const [path, text] of await pages()) {
  const file = Bun.file(path);
  if (!(await file.exists()) || (await file.text()) !== text)
    problems.push(`${path} is not what its generator writes: run \`node bin/bun.mjs run scripts/pages.ts\``);
}

await others;
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "check: no problems" : `check: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

async function checkStyle(): Promise<void> {
  await run("format and lint", ["node_modules/.bin/biome", "check", "."]);
  for (const place of await findFloatingPromises())
    problems.push(`${place}: this promise is neither awaited nor handled`);
}

async function checkTypes(): Promise<void> {
  await run("types", ["node_modules/.bin/tsc", "-p", "."]);
  await run("types of the dashboard", ["node_modules/.bin/tsc", "-p", "src/dashboard"]);
  await run("types of the documentation site", ["node_modules/.bin/tsc", "-p", "src/docs-site/client"]);
}

/** Prints the output when the command has ended, because several run at the same time. */
async function run(name: string, command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  process.stdout.write(output);
  process.stderr.write(errors);
  if ((await child.exited) !== 0) problems.push(`${name}: failed`);
}

/** A run of its own: the rule makes biome 2.5.3 panic on some files, which would then be neither formatted nor linted. */
async function findFloatingPromises(): Promise<string[]> {
  const rule = "nursery/noFloatingPromises";
  const command = ["node_modules/.bin/biome", "lint", ".", `--only=${rule}`, "--max-diagnostics=none"];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const text = `${output}${errors}`;
  if (!text.includes("Checked ")) return [`biome did not run: ${text}`];
  return Array.from(text.matchAll(/^(\S+) lint\/nursery\/noFloatingPromises/gm), ([, place = ""]) => place);
}
