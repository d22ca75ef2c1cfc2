// Runs the TypeScript programs that it reads, one per line of standard input, and writes a line about each. Started by api-samples.full.test.ts.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

interface Program {
  readonly source: string;
  /** False: only its syntax is checked. */
  readonly isRun: boolean;
  readonly env: Readonly<Record<string, string>>;
}

// The output of the programs does not matter.
console.log = () => {};
let count = 0;
for await (const line of console) {
  // Standard input has ended.
  if (line === "") break;
  const { source, isRun, env } = JSON.parse(line) as Program;
  const error = await run(source, isRun, env).catch((error: unknown) => String(error));
  process.stdout.write(`${JSON.stringify({ error: error ?? null })}\n`);
}

async function run(source: string, isRun: boolean, env: Readonly<Record<string, string>>): Promise<undefined> {
  if (!isRun) {
    new Bun.Transpiler({ loader: "ts" }).transformSync(source);
    return;
  }
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  // Each has a name of its own, because a module is run once.
  count += 1;
  const path = join(process.cwd(), `sample-${count}.ts`);
  writeFileSync(path, source);
  await import(path);
}
