// Runs npm or pip with a time limit, and explains why it failed.

import { GroupError } from "./group-error.ts";

export interface InstallerRun {
  readonly command: readonly string[];
  readonly folder: string;
  readonly timeoutMs: number;
  readonly groupName: string;
  readonly toolName: string;
  /** Matches the output of the tool if it could not reach its index. */
  readonly offline: RegExp;
}

const maxErrorOutput = 2_000;

export async function runInstaller(run: InstallerRun): Promise<void> {
  const { command, folder, timeoutMs, groupName, toolName, offline } = run;
  const child = Bun.spawn([...command], {
    cwd: folder,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
  });
  const errorOutput = await new Response(child.stderr).text();
  const exitCode = await child.exited;
  if (exitCode === 0) return;
  if (child.signalCode === "SIGKILL")
    throw new GroupError(`The packages of ${groupName} did not arrive within ${Math.round(timeoutMs / 1_000)} s.`);
  const reason = offline.test(errorOutput)
    ? `${toolName} cannot reach its registry. Check the network, a proxy or ${toolName}'s settings`
    : `${toolName} ended with ${exitCode}`;
  throw new GroupError(`${groupName} could not be fetched: ${reason}.\n${errorOutput.trim().slice(-maxErrorOutput)}`);
}
