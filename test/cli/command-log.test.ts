import { expect, test } from "bun:test";
import { join } from "node:path";
import { runProgram } from "../support/run-program.ts";

const program = `
  import { createCommandLog } from "${join(import.meta.dir, "../../src")}/cli/command-log.ts";
  const log = createCommandLog(null);
  log.info("not shown");
  log.warn("first");
  log.error("second");
  log.warn("third");
  process.exit(0);
`;

test("warnings and errors of a command are written before it ends", async () => {
  const { out, errors } = await runProgram([process.execPath, "-e", program]);
  const messages = errors.trimEnd().split("\n");
  expect([out, messages.map((line) => line.split(" ").at(-1))]).toEqual(["", ["first", "second", "third"]]);
});
