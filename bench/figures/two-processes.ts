// P7: what a second serving process brings, on two cores.

import { startSwitchyard } from "../contestants.ts";
import { checkLeast, defineFigure, format } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { type ProcessUse, readAllowedCores, readBusyMs, readIdleMs, readProcessTree } from "../process-tree.ts";
import { median } from "../statistics.ts";

type Run = {
  requestsPerSecond: number;
  cpuUsPerRequest: number;
  idleShare: number;
  shares: number[];
  capacity: number;
};

const connections = 64;

export const twoProcesses = defineFigure("P7", "two processes against one", async (course) => {
  const cores = readAllowedCores();
  if (cores.length < 2) throw new Error("needs two cores");
  const { children } = course;
  const one = await startSwitchyard(course);
  const two = await startSwitchyard(course, { workers: 2 });
  const runs: Record<1 | 2, Run[]> = { 1: [], 2: [] };
  await load(1, course.warmUpMs);
  // Two processes share the requests, so each needs twice the time until its code is compiled.
  await load(2, 2 * course.warmUpMs);
  for (let round = 0; round < course.rounds; round++) {
    runs[1].push(await load(1, course.loadMs));
    runs[2].push(await load(2, course.loadMs));
  }
  await Promise.all([one.stop(), two.stop()]);

  const capacities = { one: runs[1].map((run) => run.capacity), two: runs[2].map((run) => run.capacity) };
  const scale = median(capacities.two.map((capacity, round) => capacity / (capacities.one[round] ?? Number.NaN)));
  const measured =
    median(runs[2].map((run) => run.requestsPerSecond)) / median(runs[1].map((run) => run.requestsPerSecond));
  const balance = runs[2].map((run) => run.shares.map((share) => `${Math.round(share * 100)}`).join(" : "));
  return {
    values: { Switchyard: scale },
    unit: "×",
    checks: [checkLeast("one process", scale, 1.7, " ×")],
    notes: [
      `CPU per request ${describe((run) => run.cpuUsPerRequest)} µs; idle core time ${describe((run) => run.idleShare * 100)} %`,
      `throughput as it came, vendor and load generator on the same ${cores.length} cores: ${format(measured)} ×`,
      `busy time of the two processes, round by round: ${balance.join(", ")}`,
    ],
    rounds: { "requests/s per core of one": capacities.one, "requests/s of two cores of two": capacities.two },
  };

  function describe(read: (run: Run) => number): string {
    return `${format(median(runs[1].map(read)))} with one, ${format(median(runs[2].map(read)))} with two`;
  }

  async function load(workers: 1 | 2, durationMs: number): Promise<Run> {
    const { pid, prepare } = workers === 1 ? one : two;
    const before = new Map(readProcessTree(pid).map((member) => [member.pid, readUse(member)]));
    const idleBefore = readIdleMs(cores);
    const load = { call: prepare("plain"), connections, durationMs, pauseMs: 0 };
    const { requests, durationMs: tookMs } = await sendPlainLoad(children, load);
    const idleMs = readIdleMs(cores) - idleBefore;
    await Bun.sleep(500);
    const used = readProcessTree(pid).map((member) => {
      const [now, then] = [readUse(member), before.get(member.pid)];
      return { cpuMs: now.cpuMs - (then?.cpuMs ?? 0), busyMs: now.busyMs - (then?.busyMs ?? 0) };
    });
    return judge({ workers, requests, tookMs, idleMs, cores: cores.length, used });
  }
});

type Use = { cpuMs: number; busyMs: number };

function readUse({ pid, cpuMs }: ProcessUse): Use {
  return { cpuMs, busyMs: readBusyMs(pid) };
}

type Load = { workers: 1 | 2; requests: number; tookMs: number; idleMs: number; cores: number; used: Use[] };

/**
 * Capacity = what the processes would answer with a core each for themselves. On two cores they never have that: vendor and
 * load generator take their part. So it is counted in core time: requests per second of it, times the cores.
 * With two processes, time in which a core stood idle counts as used (a process that waits for a lock is no capacity), and
 * so does the time in which the less busy process could have worked as much as the busier one. Busy is who runs or stands
 * ready to run: which of two saturated processes gets the larger part of a crowded machine is the machine's doing.
 */
function judge({ workers, requests, tookMs, idleMs, cores, used }: Load): Run {
  const cpuMs = used.reduce((sum, use) => sum + use.cpuMs, 0);
  const busy = used.map((use) => use.busyMs).sort((left, right) => right - left);
  const shares = busy
    .slice(0, workers)
    .map((busyMs, _, serving) => busyMs / serving.reduce((sum, other) => sum + other, 0));
  // Cores beyond the two that the figure is about may idle as they like.
  const idleOfTwoMs = Math.max(0, idleMs - (cores - 2) * tookMs);
  const neededMs = workers === 1 ? cpuMs : Math.max(cpuMs + idleOfTwoMs, cpuMs * 2 * (shares[0] ?? 1));
  return {
    requestsPerSecond: (requests * 1000) / tookMs,
    cpuUsPerRequest: (cpuMs * 1000) / requests,
    idleShare: idleMs / (tookMs * cores),
    shares,
    capacity: ((requests * 1000) / neededMs) * workers,
  };
}
