// The whole command tree: every command explains itself with an example, refuses options that it does not know, and has JSON output.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type CommandInfo, listCommands } from "../../src/cli/command-tree.ts";
import { createProgram } from "../../src/cli/commands.ts";
import { runInProcess as run } from "../support/run-program.ts";

const commands = listCommands(await createProgram(null, { print() {}, printError() {} }));
const runnable = commands.filter(({ isRunnable }) => isRunnable);

test("the commands are those of the documentation", () => {
  const nouns = [...new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""))];
  for (const noun of [
    ...["serve", "work", "keys", "teams", "usage", "requests", "models", "tasks", "jobs", "webhooks", "engines"],
    ...["storage", "doctor", "completion", "licences", "version", "help"],
  ])
    expect(nouns).toContain(noun);
  const page = readFileSync("docs/command-line.md", "utf8");
  for (const { name } of commands) expect(page).toContain(`${name.includes(" ") ? "###" : "##"} ${name}\n`);
});

describe.each(
  commands.map(({ name, ...info }): [string, Omit<CommandInfo, "name">] => [name, info]),
)("switchyard %s", (name, info) => {
  const words = name.split(" ");

  test("--help prints usage and an example", async () => {
    const { code, out, errors } = await run(...words, "--help");
    expect([code, errors]).toEqual([0, ""]);
    expect(out).toContain(`Usage: switchyard ${name}`);
    expect(out).toMatch(/^(.*\. )?Example: .*switchyard/m);
    for (const { name: option, meaning } of info.options) {
      expect(out).toContain(option);
      expect(meaning).not.toBe("");
    }
    for (const below of info.commands) expect(out).toContain(`\n  ${below} `);
  });

  test("an unknown option is refused with the nearest one", async () => {
    const { code, out, errors } = await run(...words, "--helpp");
    expect([code, out]).toEqual([2, ""]);
    expect(errors).toContain("unknown option '--helpp'\n(Did you mean --help?)");
  });

  test("has JSON output, unless it only groups commands", () => {
    if (info.isRunnable) expect(info.options.map((option) => option.name)).toContain("--json");
  });

  test("an unknown command below it is refused with the nearest one", async () => {
    const [first] = info.commands;
    if (first === undefined) return;
    const { code, errors } = await run(...words, `${first}x`);
    expect(code).toBe(2);
    // `usage` takes options itself, so a word is an argument too many.
    if (!info.isRunnable) expect(errors).toContain(`unknown command '${first}x'\n(Did you mean ${first}?)`);
  });
});

test("an example of every command is understood by that command", () => {
  for (const { name, example, options } of runnable) {
    expect(example).toContain(`${name.split(" ")[0]}`);
    const given = Array.from(example?.matchAll(/ (--[a-z][a-z-]*)/g) ?? [], ([, option = ""]) => option);
    for (const option of given)
      expect([name, options.map((one) => one.name)]).toEqual([name, expect.arrayContaining([option])]);
  }
});

test.each([["keys"], ["keys create"], ["serve"]])("help %s prints the help of that command", async (words) => {
  const { code, out, errors } = await run("help", ...words.split(" "));
  expect([code, errors, out]).toEqual([0, "", (await run(...words.split(" "), "--help")).out]);
});

test("help --json lists every command", async () => {
  const { code, out } = await run("help", "--json");
  expect(code).toBe(0);
  expect((JSON.parse(out) as CommandInfo[]).map(({ name }) => name)).toEqual(commands.map(({ name }) => name));
});

test("version --json names the version of the runtime as well", async () => {
  expect(JSON.parse((await run("version", "--json")).out)).toEqual({ version: expect.any(String), bun: Bun.version });
});

test.each([
  [["srve"], "unknown command 'srve'\n(Did you mean serve?)"],
  [["serve", "now"], "too many arguments"],
  [
    ["serve", "--port", "many"],
    "option '--port <n>' argument 'many' is invalid. It takes a whole number from 0 to 65535.",
  ],
  [["webhooks", "listen", "--count", "0"], "argument '0' is invalid. It takes a whole number from 1 to 1000000."],
  // Without a command, options are those of serve.
  [["--port", "70000"], "option '--port <n>' argument '70000' is invalid"],
  [["--prt", "8081"], "unknown option '--prt'\n(Did you mean --port?)"],
])("%j is refused with exit code 2", async (args, message) => {
  const { code, errors } = await run(...args);
  expect(code).toBe(2);
  expect(errors).toContain(message);
});
