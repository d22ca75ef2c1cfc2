// Shell completion, in the shells themselves where they are installed.

import { describe, expect, test } from "bun:test";
import { runCommand } from "../../src/cli/commands.ts";

async function script(shell: string): Promise<string> {
  let printed = "";
  const print = (line: string) => {
    printed += `${line}\n`;
  };
  expect(await runCommand(["completion", shell], { print, printError() {} })).toBe(0);
  return printed;
}

async function runShell(command: string[], input: string): Promise<{ code: number; text: string }> {
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: "pipe", stderr: "pipe" });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, text: `${out}${errors}` };
}

describe.if(Bun.which("bash") !== null)("bash", () => {
  async function complete(...words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(" ");
    const lines = `COMP_WORDS=(switchyard ${quoted}); COMP_CWORD=${words.length}; _switchyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { code, text } = await runShell(["bash", "--norc"], `${await script("bash")}\n${lines}`);
    expect([code, text]).toEqual([0, text]);
    return text.split("\n").filter((line) => line !== "");
  }

  test("completes commands, the commands below them, and options", async () => {
    expect(await complete("ke")).toEqual(["keys"]);
    expect(await complete("")).toContain("doctor");
    expect(await complete("keys", "")).toEqual(
      expect.arrayContaining(["create", "list", "revoke", "rotate", "update"]),
    );
    expect(await complete("keys", "create", "--na")).toEqual(["--name"]);
    expect(await complete("webhooks", "verify", "--check")).toEqual(["--check-age"]);
    expect(await complete("serve", "--p")).toEqual(["--port"]);
  });

  test("leaves the value of an option to the shell", async () => {
    expect(await complete("serve", "--config", "")).toEqual([]);
    expect(await complete("keys", "create", "--name", "")).toEqual([]);
  });

  test("an option before it does not hide the command", async () => {
    expect(await complete("keys", "create", "--json", "--na")).toEqual(["--name"]);
  });
});

for (const shell of ["zsh", "fish"])
  test.if(Bun.which(shell) !== null)(`${shell} accepts its script`, async () => {
    expect(await runShell([shell, "-n"], await script(shell))).toMatchObject({ code: 0, text: "" });
  });

test.each(["zsh", "fish"])("the script for %s names every command of keys", async (shell) => {
  const text = await script(shell);
  for (const word of ["create", "list", "update", "revoke", "rotate", "requests-per-minute"])
    expect(text).toContain(word);
});

test("another shell is refused with the ones that are known", async () => {
  let errors = "";
  const printError = (line: string) => {
    errors += line;
  };
  expect(await runCommand(["completion", "powershell"], { print() {}, printError })).toBe(2);
  expect(errors).toContain("Allowed choices are bash, zsh, fish.");
});
