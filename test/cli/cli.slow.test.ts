// The command line as an operator types it, in a process of its own: it refuses what it does not know, and creates no store.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../src/cli/commands.ts";
import { isFullRun } from "../support/test-size.ts";

const main = join(import.meta.dir, "../..", "src", "main.ts");
const folder = mkdtempSync(join(tmpdir(), "switchyard-cli-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The command in a process of its own, as an operator starts it. */
async function spawn(...args: string[]) {
  const env = { PATH: process.env["PATH"], SWITCHYARD_PORT: "0" };
  const child = Bun.spawn([process.execPath, main, ...args], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
  // A command that starts a gateway instead of refusing would never end.
  const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { out, errors, code };
}

/** The same in this process, which takes a hundredth of the time; in a full run all commands have their own process. */
async function run(...args: string[]) {
  if (isFullRun) return await spawn(...args);
  const lines = { out: "", errors: "" };
  const code = await runCommand(args, {
    print: (line) => {
      lines.out += `${line}\n`;
    },
    printError: (line) => {
      lines.errors += `${line}\n`;
    },
  });
  return { ...lines, code };
}

test.each([
  [["keys", "create", "--nmae", "x"], "unknown option '--nmae'\n(Did you mean --name?)"],
  [["keys", "create", "--name"], "option '--name <name>' argument missing"],
  [["keys", "create", "--name", "x", "--json=1"], "unknown option '--json=1'\n(Did you mean --json?)"],
  [["keys", "revoke", "a", "b"], "too many arguments"],
  [["keys", "revoke"], "missing required argument 'key id'"],
  [["engines", "add", "speeech"], 'Unknown group "speeech"; did you mean "speech"'],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, errors } = await run(...args);
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
  for (const args of [
    ["keys", "create", "--name", "x"],
    ["keys", "list"],
    ["keys", "revoke", id],
    ["webhooks", "keys"],
    ["webhooks", "rotate-key"],
    ["storage", "move", "--to", "postgres://127.0.0.1:1/x"],
    ["teams", "list"],
    ["usage"],
    ["usage", "check"],
    ["requests", "list"],
    ["jobs", "list"],
    ["jobs", "cancel", id, "--data-dir", "elsewhere"],
  ]) {
    const { code, out, errors } = await spawn(...args);
    expect([args, code, out]).toEqual([args, 1, ""]);
    expect(errors).toContain(`There is no store in ${join(folder, args.includes("elsewhere") ? "elsewhere" : "data")}`);
    expect(errors).toContain("--data-dir");
  }
  expect(existsSync(join(folder, "data"))).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});
