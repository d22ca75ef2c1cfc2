// Commands of the gateway in one process of their own, for tests that run many. Commands that read standard input or have options that stand
// for settings, such as --config, need a process each: `runProgram`.

import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finished } from "./run-program.ts";
import { waitFor } from "./wait.ts";

export interface Commands extends AsyncDisposable {
  /** For programs that are not tests, such as curl. */
  readonly socket: string;
  run(args: readonly string[]): Promise<Finished>;
}

interface Settings {
  /** The working directory. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function startCommands({ folder, env }: Settings): Promise<Commands> {
  // Not in the folder: a test may be about what is in it.
  const socket = join(tmpdir(), `switchyard-commands-${crypto.randomUUID()}.sock`);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "command-server.ts"), socket], {
    cwd: folder,
    env: { ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  await waitFor("the server of commands", () => existsSync(socket));
  return {
    socket,
    async run(args) {
      const response = await fetch("http://commands/", {
        unix: socket,
        method: "POST",
        headers: { accept: "application/json" },
        body: args.map((argument) => `${argument}\0`).join(""),
      });
      return (await response.json()) as Finished;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(socket, { force: true });
    },
  };
}
