// Runs a program in a process of its own, or a command of the gateway in this process, and collects what it prints.

import { join } from "node:path";
import { runCommand } from "../../src/cli/commands.ts";

/** The gateway's program, for the runtime of the tests. */
export const gatewayProgram = [process.execPath, join(import.meta.dir, "../../src/main.ts")] as const;

export interface Finished {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text for the standard input. */
  readonly input?: string;
  /** For a program that would never end if the test fails. */
  readonly timeoutMs?: number;
}

export async function runProgram(command: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const { cwd = process.cwd(), env = process.env, input = "", timeoutMs } = options;
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...env },
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    ...(timeoutMs !== undefined && { timeout: timeoutMs, killSignal: "SIGKILL" }),
  });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, errors };
}

/** Takes a hundredth of the time of a process. */
export async function runInProcess(...args: string[]): Promise<Finished> {
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
