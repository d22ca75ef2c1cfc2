// The processes of this machine.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Linux. */
const hasProc = existsSync("/proc/self/status");

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export async function listProcesses(): Promise<ProcessRow[]> {
  // Starting `ps` would cost more than reading these files, which matters to those who poll.
  if (hasProc) return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readRow(Number(name)) : []));
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

/** Empty for a process that has ended, also if its parent has not read its exit code yet. */
function readRow(pid: number): ProcessRow[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which may contain spaces and parentheses.
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if ("ZX".includes(state)) return [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return [{ pid, parent: Number(parent), command }];
  } catch {
    return [];
  }
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

async function readStatus(pid: number): Promise<string> {
  return await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
}

/** Whether the end of a connection at `localPort` is open. Both ends of a connection within this machine have such an entry. */
export function isConnected(localPort: number, remotePort: number): boolean {
  const ports = [localPort, remotePort].map((port) => port.toString(16).toUpperCase().padStart(4, "0"));
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .some((line) => {
      const [, local = "", remote = "", state] = line.trim().split(/\s+/);
      return state === "01" && local.endsWith(`:${ports[0]}`) && remote.endsWith(`:${ports[1]}`);
    });
}

/** How many sockets of all processes listen on the port: one for each serving process that accepts connections. */
export function countListeners(port: number): number {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const isListening = (line: string) => {
    const [, address = "", , state] = line.trim().split(/\s+/);
    return state === "0A" && address.endsWith(ending);
  };
  return readFileSync("/proc/net/tcp", "utf8").split("\n").filter(isListening).length;
}
