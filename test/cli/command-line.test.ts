// What all commands share: values of options, exit codes, and what is printed where.

import { describe, expect, test } from "bun:test";
import {
  CommandFailed,
  createCommand,
  printResult,
  runCommandLine,
  toBoolean,
  toNumber,
  toWholeNumber,
  UsageError,
} from "../../src/cli/command-line.ts";
import { SettingError, ValidationError } from "../../src/errors.ts";
import { runAndCollect } from "../support/run-command.ts";

describe("the value of an option", () => {
  test.each([
    ["0", 0],
    ["-2.5", -2.5],
    ["1e3", 1_000],
  ])("%s is a number", (given, value) => expect(toNumber(given)).toBe(value));

  test.each(["", " ", "many", "Infinity"])("%j is no number", (given) =>
    expect(() => toNumber(given)).toThrow("number"));

  test("is a whole number within its bounds, which belong to it", () => {
    const parse = toWholeNumber(1, 10);
    expect(["1", "10"].map(parse)).toEqual([1, 10]);
    for (const given of ["0", "11", "1.5", "-1", "", "ten"]) expect(() => parse(given)).toThrow("from 1 to 10");
  });

  test("is true or false, and nothing else", () => {
    expect(["true", "false"].map(toBoolean)).toEqual([true, false]);
    for (const given of ["yes", "", "TRUE"]) expect(() => toBoolean(given)).toThrow("true or false");
  });
});

describe("a command that fails", () => {
  const run = (error: Error) =>
    runAndCollect((output) => {
      const command = createCommand("example", "An example.", output);
      command.command("inner").action(() => {
        throw error;
      });
      return runCommandLine(command, ["inner"], output);
    });
  const invalid = (...loc: (string | number)[]) =>
    new ValidationError([{ loc, msg: "it should be a number", type: "number" }]);

  test.each([
    ["has printed why", new CommandFailed(), 1, ""],
    ["was interrupted", new CommandFailed(130), 130, ""],
    ["does not work", new Error("it broke"), 1, "it broke"],
    ["has a wrong setting", new SettingError("providers.openai", "it is wrong"), 2, "providers.openai: it is wrong"],
    ["has a wrong member", invalid("body", "budget", "amount"), 2, "budget.amount: it should be a number"],
    ["has a wrong value", invalid("query"), 2, "it should be a number"],
  ])("because it %s says so with its exit code", async (_, error, code, errors) => {
    expect(await run(error)).toMatchObject({ code, text: "", errors });
  });

  test("because of wrong arguments prints the help of that command as well", async () => {
    const { code, text, errors } = await run(new UsageError("Choose one."));
    expect([code, text]).toEqual([2, ""]);
    expect(errors).toStartWith("Choose one.\n\nUsage: example inner ");
  });
});

test("a command that succeeds exits with 0, and so does one that prints its help", async () => {
  const run = (...args: string[]) =>
    runAndCollect((output) => {
      const command = createCommand("example", "An example.", output);
      return runCommandLine(
        command.action(() => output.print("done")),
        args,
        output,
      );
    });
  expect(await run()).toMatchObject({ code: 0, text: "done", errors: "" });
  const help = await run("--help");
  expect([help.code, help.errors]).toEqual([0, ""]);
  expect(help.text).toContain("An example.");
  expect((await run("--unknown")).code).toBe(2);
});

test("a result is printed as JSON with --json, and as lines without it", async () => {
  const result = { json: { a: [1] }, lines: ["one", "two"] };
  const print = (isJson: boolean | undefined) =>
    runAndCollect(async (output) => {
      printResult(output, isJson, result);
      return 0;
    });
  expect((await print(true)).json()).toEqual({ a: [1] });
  expect((await print(undefined)).text).toBe("one\ntwo");
});
