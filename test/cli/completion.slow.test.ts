// Shell completion, in the shells themselves where they are installed.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInProcess, runProgram } from "../support/run-program.ts";
import { waitFor } from "../support/wait.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-completion-"));
const fileName = "options.yaml";
writeFileSync(join(folder, fileName), "");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function script(shell: string): Promise<string> {
  const { code, out } = await runInProcess("completion", shell);
  expect(code).toBe(0);
  return out;
}

async function runShell(command: string[], input: string): Promise<{ code: number; text: string }> {
  const { code, out, errors } = await runProgram(command, { input });
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

  test("an option before it does not hide the command, and its value is no command", async () => {
    expect(await complete("keys", "create", "--json", "--na")).toEqual(["--name"]);
    expect(await complete("usage", "--team", "check", "--sor")).toEqual(["--sort"]);
  });

  test("completes the options of the program", async () => {
    expect(await complete("--")).toEqual(["--help", "--version"]);
  });
});

describe.if(Bun.which("fish") !== null)("fish", () => {
  async function complete(line: string): Promise<string[]> {
    const ask = `cd ${folder}; complete -C ${JSON.stringify(line)}`;
    const { code, text } = await runShell(["fish", "--no-config"], `${await script("fish")}\n${ask}\n`);
    expect([code, text]).toEqual([0, text]);
    // A tab is before the description.
    return text
      .split("\n")
      .filter((suggestion) => suggestion !== "")
      .map((suggestion) => suggestion.split("\t")[0] ?? "");
  }

  test("completes commands, the commands below them, and options", async () => {
    expect(await complete("switchyard ke")).toEqual(["keys"]);
    expect(await complete("switchyard-gateway doc")).toEqual(["doctor"]);
    expect(await complete("switchyard keys ")).toEqual(["create", "list", "revoke", "rotate", "update"]);
    expect(await complete("switchyard keys create --na")).toEqual(["--name"]);
    expect(await complete("switchyard keys create --json --na")).toEqual(["--name"]);
    expect(await complete("switchyard --")).toEqual(["--help", "--version"]);
  });

  test("the value of an option is a file, and no command", async () => {
    expect(await complete("switchyard serve --config op")).toEqual([fileName]);
    expect(await complete("switchyard usage --team check --sor")).toEqual(["--sort"]);
  });
});

describe.if(Bun.which("zsh") !== null)("zsh", () => {
  /** Types into a zsh whose `switchyard` prints its arguments; `args` is what it got, and `screen` everything that was shown. */
  async function type(keys: string): Promise<{ args: string | undefined; screen: string }> {
    const setup = [
      `cd ${folder}`,
      `fpath=(${folder} $fpath)`,
      `autoload -Uz compinit && compinit -u -d ${folder}/dump`,
      // Otherwise, a tab is a character while more input waits.
      "zstyle ':completion:*' insert-tab false",
      "for name in switchyard switchyard-gateway; do functions[$name]='print -r -- \"args:$*.\"; exit'; done",
      // The terminal echoes this line, which must not look like its output.
      "print is-'ready'",
    ];
    await Bun.write(join(folder, "_switchyard"), await script("zsh"));
    let screen = "";
    const env = { TERM: "dumb", HOME: folder, LISTMAX: "1000", PATH: process.env["PATH"] };
    const child = Bun.spawn(["zsh", "-f", "-i"], {
      env,
      terminal: {
        cols: 120,
        rows: 200,
        data(_, bytes) {
          screen += Buffer.from(bytes).toString();
        },
      },
    });
    child.terminal?.write(`${setup.join("; ")}\n`);
    await waitFor("the shell", () => screen.includes("\nis-ready"));
    child.terminal?.write(`${keys}\n`);
    await child.exited;
    await waitFor("the arguments", () => /\nargs:.*\./.test(screen));
    child.terminal?.close();
    return { args: /\nargs:(.*)\./.exec(screen)?.[1], screen };
  }

  test("completes commands, the commands below them, and options", async () => {
    expect((await type("switchyard ke\tcr\t--json --na\tx")).args).toBe("keys create --json --name x");
    expect((await type("switchyard-gateway doc\t")).args).toBe("doctor");
    expect((await type("switchyard --v\t")).args).toBe("--version");
    const { screen } = await type("switchyard keys \t");
    for (const name of ["create", "list", "revoke", "rotate", "update"])
      expect(screen).toMatch(new RegExp(`\\n${name} +-- [A-Z]`));
  });

  test("the value of an option is a file, and no command", async () => {
    expect((await type("switchyard serve --config op\t")).args).toBe(`serve --config ${fileName}`);
    expect((await type("switchyard usage --team check --sor\tcost")).args).toBe("usage --team check --sort cost");
  });

  test("an argument is a file", async () => {
    expect((await type("switchyard config import op\t")).args).toBe(`config import ${fileName}`);
  });

  test("the script can also be sourced", async () => {
    const setup = "autoload -Uz compinit && compinit -u -D";
    const { code, text } = await runShell(
      ["zsh", "-f"],
      `${setup}\n${await script("zsh")}\nprint $_comps[switchyard]\n`,
    );
    expect([code, text]).toEqual([0, "_switchyard\n"]);
  });
});

test.each(["zsh", "fish"])("the script for %s names every command of keys", async (shell) => {
  const text = await script(shell);
  for (const word of ["create", "list", "update", "revoke", "rotate", "requests-per-minute"])
    expect(text).toContain(word);
});

test("another shell is refused with the ones that are known", async () => {
  const { code, errors } = await runInProcess("completion", "powershell");
  expect(code).toBe(2);
  expect(errors).toContain("Allowed choices are bash, zsh, fish.");
});
