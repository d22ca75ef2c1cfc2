// What a contestant costs: CPU time and memory of a process and of everything that it started, read from /proc.

import { readdirSync, readFileSync } from "node:fs";

/** A pid is used again one day; together with the tick of its start it names one process for ever. */
export type ProcessUse = { pid: number; startTick: number; parentPid: number; cpuMs: number; rssBytes: number };

// The kernel reports CPU time in ticks of USER_HZ, which is 100 on every architecture that Bun runs on.
const msPerTick = 10;

/** The process and all of its descendants; threads are included, the kernel sums them per process. */
export function readProcessTree(rootPid: number): ProcessUse[] {
  const children = new Map<number, ProcessUse[]>();
  let root: ProcessUse | undefined;
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const use = readProcess(Number(entry));
    if (!use) continue;
    if (use.pid === rootPid) root = use;
    const siblings = children.get(use.parentPid);
    if (siblings) siblings.push(use);
    else children.set(use.parentPid, [use]);
  }
  if (!root) return [];
  const tree = [root];
  for (const member of tree) tree.push(...(children.get(member.pid) ?? []));
  return tree;
}

export function readTreeCpuMs(rootPid: number): number {
  const tree = readProcessTree(rootPid);
  if (tree.length === 0) throw new Error(`process ${rootPid} is gone`);
  return tree.reduce((sum, member) => sum + member.cpuMs, 0);
}

export function readTreeRssBytes(rootPid: number): number {
  return readProcessTree(rootPid).reduce((sum, member) => sum + member.rssBytes, 0);
}

/** Samples the memory of a process tree until it is stopped. */
export function watchGrowth(rootPid: number, onSample: (grownBytes: number) => void = () => {}) {
  const before = readTreeRssBytes(rootPid);
  let grownBytes = 0;
  const sampler = setInterval(() => {
    grownBytes = Math.max(grownBytes, readTreeRssBytes(rootPid) - before);
    onSample(grownBytes);
  }, 50);
  return { readBytes: () => grownBytes, stop: () => clearInterval(sampler) };
}

/** Time in which the main thread of a process ran or stood ready to run: how busy it was, however few cores it got. */
export function readBusyMs(pid: number): number {
  const [ranNs, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ").map(Number);
  return ((ranNs ?? 0) + (waitedNs ?? 0)) / 1e6;
}

/** Time that each of these cores has spent idle since the machine started. */
export function readIdleMs(cores: number[]): number {
  let idleTicks = 0;
  for (const line of readFileSync("/proc/stat", "utf8").split("\n")) {
    const [name, , , , idle, waiting] = line.split(/\s+/);
    if (!cores.some((core) => name === `cpu${core}`)) continue;
    idleTicks += Number(idle) + Number(waiting);
  }
  return idleTicks * msPerTick;
}

/** The cores that this process may run on: containers and taskset make them fewer than the machine has. */
export function readAllowedCores(): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return list.split(",").flatMap((range) => {
    const [first, last] = range.split("-").map(Number);
    if (first === undefined) return [];
    return Array.from({ length: (last ?? first) - first + 1 }, (_, index) => first + index);
  });
}

export function readProcess(pid: number): ProcessUse | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command name may itself hold spaces and brackets, so the fields are counted from its last bracket.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // user, system, and the same of children that have ended and been waited for
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
    const rssKiB = /^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
    return {
      pid,
      startTick: Number(fields[19]),
      parentPid: Number(fields[1]),
      cpuMs: ticks * msPerTick,
      rssBytes: Number(rssKiB) * 1024,
    };
  } catch {
    // It ended between the listing and the reading.
    return undefined;
  }
}

/** CPU time of a contestant and its processes over some work, with the time after it in which batched work (ledger, logs) is done. */
export async function meterCpuMs<Result>(
  contestant: { readonly pid: number },
  work: () => Promise<Result>,
): Promise<{ cpuMs: number; result: Result }> {
  const before = readTreeCpuMs(contestant.pid);
  const result = await work();
  await Bun.sleep(500);
  return { cpuMs: readTreeCpuMs(contestant.pid) - before, result };
}
