// The command line as an operator types it, in a process of its own: it refuses what it does not know, and creates no store.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCommands } from "../support/commands.ts";
import { gatewayProgram, runInProcess, runProgram } from "../support/run-program.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

const env = { PATH: process.env["PATH"], SWITCHYARD_PORT: "0" };

/** The command in a process of its own, as an operator starts it. */
async function spawn(...args: string[]) {
  // A command that starts a gateway instead of refusing would never end.
  return await runProgram([...gatewayProgram, ...args], { cwd: folder, env, timeoutMs: 100_000 });
}

test.each([
  [["keys", "create", "--nmae", "x"], "unknown option '--nmae'\n(Did you mean --name?)"],
  [["keys", "create", "--name"], "option '--name <name>' argument missing"],
  [["keys", "create", "--name", "x", "--json=1"], "unknown option '--json=1'\n(Did you mean --json?)"],
  [["keys", "revoke", "a", "b"], "too many arguments"],
  [["keys", "revoke"], "missing required argument 'key id'"],
  [["engines", "add", "speeech"], "Unknown group 'speeech'; did you mean 'speech'?"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, errors } = await runInProcess(...args);
  expect(code).toBe(2);
  expect(errors).toContain(message);
});

test("a command in its own process prints and exits in the same way", async () => {
  const help = await spawn("keys", "--help");
  expect([help.code, help.errors]).toEqual([0, ""]);
  expect(help.out).toContain("switchyard keys");
  const unknown = await spawn("srve");
  expect([unknown.code, unknown.out]).toEqual([2, ""]);
  expect(unknown.errors).toContain("unknown command 'srve'\n(Did you mean serve?)");
});

test("a command that needs the store of a gateway creates none, and says where it looked", async () => {
  const id = crypto.randomUUID();
  await using commands = await startCommands({ folder, env });
  for (const args of [
    ["keys", "create", "--name", "x"],
    ["keys", "list"],
    ["keys", "revoke", id],
    ["webhooks", "keys"],
    ["webhooks", "rotate-key"],
    ["storage", "backup", "copy"],
    ["storage", "move", "--to", "postgres://127.0.0.1:1/x"],
    ["teams", "list"],
    ["usage"],
    ["usage", "check"],
    ["requests", "list"],
    ["jobs", "list"],
    ["jobs", "cancel", id, "--data-dir", "elsewhere"],
  ]) {
    const { code, out, errors } = await (args.includes("--data-dir") ? spawn(...args) : commands.run(args));
    expect([args, code, out]).toEqual([args, 1, ""]);
    expect(errors).toContain(`There is no store in ${join(folder, args.includes("elsewhere") ? "elsewhere" : "data")}`);
    expect(errors).toContain("--data-dir");
  }
  expect(existsSync(join(folder, "data"))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});
