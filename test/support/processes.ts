// The processes of this machine, as `ps` lists them.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Linux. */
const hasProc = existsSync("/proc/self/status");

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export async function listProcesses(): Promise<ProcessRow[]> {
  const output = await new Response(Bun.spawn(["ps", "-A", "-w", "-w", "-o", "pid=,ppid=,stat=,args="]).stdout).text();
  return output.split("\n").flatMap((line) => {
    const [pid, parent, state, ...command] = line.trim().split(/\s+/);
    // A zombie has ended; its parent has not read its exit code yet.
    if (pid === undefined || state === undefined || state.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        command: command.join(" "),
      },
    ];
  });
}

export function childrenOf(rows: readonly ProcessRow[], parent: number): number[] {
  return rows.filter((row) => row.parent === parent).map((row) => row.pid);
}

export async function descendantsOf(pid: number): Promise<number[]> {
  const rows = await listProcesses();
  function below(parent: number): number[] {
    return childrenOf(rows, parent).flatMap((child) => [child, ...below(child)]);
  }
  return below(pid);
}

/** Megabytes of memory that a process holds; 0 when it has ended. */
export async function residentMegabytes(pid: number): Promise<number> {
  if (hasProc) return Number(/^VmRSS:\s+(\d+) kB/m.exec(await readStatus(pid))?.[1] ?? 0) / 1_024;
  return Number(await new Response(Bun.spawn(["ps", "-o", "rss=", "-p", String(pid)]).stdout).text()) / 1_024;
}

/** Milliseconds of processor time that a process has used, which other programs do not change. */
export async function cpuMillisecondsOfProcess(pid: number): Promise<number> {
  const text = await Bun.file(`/proc/${pid}/stat`).text();
  // After the name, which may contain spaces: user and system time in hundredths of a second.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A zombie has ended. */
export async function isAlive(pid: number): Promise<boolean> {
  if (hasProc) return /^State:\s+[^ZX]/m.test(await readStatus(pid));
  return (await listProcesses()).some((row) => row.pid === pid);
}

/** Reading a file costs less than starting `ps`, which matters to those who poll. */
async function readStatus(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
}
