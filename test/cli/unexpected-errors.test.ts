import { expect, test } from "bun:test";
import { join } from "node:path";

const modules = join(import.meta.dir, "../../src");
const program = `
  import { createLog } from "${modules}/log.ts";
  import { surviveUnexpectedErrors } from "${modules}/cli/unexpected-errors.ts";
  const log = createLog({ level: "error", format: "json", secrets: [], write: (line) => void process.stdout.write(line + "\\n") });
  surviveUnexpectedErrors(log);
  void Promise.reject(new Error("first"));
  setTimeout(() => { throw new RangeError("Out of memory"); }, 1);
  setTimeout(() => void Promise.reject({ get message() { throw new Error("hidden"); } }), 5);
  setTimeout(() => void Promise.reject(undefined), 10);
  setTimeout(() => process.stdout.write("alive\\n"), 50);
`;

test("a process survives rejections and exceptions outside of every request, and logs and counts them", async () => {
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
  const [output, code] = [await new Response(child.stdout).text(), await child.exited];
  const lines = output.split("\n").filter((line) => line.startsWith("{"));
  const entries = lines.map((line) => JSON.parse(line) as { message: string; count: number });
  expect(entries.map(({ message, count }) => `${count} ${message}`)).toEqual([
    "1 unhandled rejection",
    "2 uncaught exception",
    "3 unhandled rejection",
    "4 unhandled rejection",
  ]);
  expect(output).toContain("first");
  expect(output).toContain("Out of memory");
  // The log is written in batches, so its last lines may follow this one.
  expect([output.split("\n").includes("alive"), code]).toEqual([true, 0]);
});
