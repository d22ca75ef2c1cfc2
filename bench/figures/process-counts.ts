// SCALE: throughput with one, two and four serving processes, beside what the model of scripts/capacity.ts predicts from one process.

import { predictThroughput } from "../../scripts/capacity-model.ts";
import { type Contestant, checkContestant, startSwitchyard } from "../contestants.ts";
import { defineFigure, format } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { readAllowedCores, readIdleMs, readTreeCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const connections = 64;
const counts = [1, 2, 4] as const;
/** A prediction that is wrong by more than this is no basis for a plan. */
const maxError = 0.3;

type Run = { perSecond: number; gatewayUs: number; otherUs: number; busyElsewhere: number };

export const processCounts = defineFigure("SCALE", "1, 2 and 4 processes, predicted", async (course) => {
  const cores = readAllowedCores();
  const { children } = course;
  const gateways = await Promise.all(
    counts.map(async (workers) => {
      const settings = { SWITCHYARD_OVERLOAD_DELAY_MS: "60000" };
      const options = { workers, isLimited: true, settings };
      return { workers, gateway: await startSwitchyard(course, options), runs: [] as Run[] };
    }),
  );
  for (const { gateway, workers } of gateways) {
    await checkContestant(gateway, "plain");
    await load(gateway, workers * course.warmUpMs);
  }
  for (let round = 0; round < course.rounds; round++)
    for (const { gateway, runs } of gateways) runs.push(await load(gateway, course.loadMs));
  await Promise.all(gateways.map(({ gateway }) => gateway.stop()));

  const one = gateways[0]?.runs ?? [];
  // What one process costs predicts what several do; the rest of the machine is taken as each round found it.
  const gatewayUs = median(one.map((run) => run.gatewayUs));
  const otherUs = median(one.map((run) => run.otherUs));
  const outcomes = gateways.map(({ workers, runs }) => {
    const measured = median(runs.map((run) => run.perSecond));
    const free = cores.length - median(runs.map((run) => run.busyElsewhere));
    const predicted = predictThroughput({ cores: free, processes: workers, gatewayUs, otherUs });
    const cpuUs = median(runs.map((run) => run.gatewayUs));
    return { workers, measured, predicted, free, cpuUs };
  });
  const worst = Math.max(...outcomes.map(({ measured, predicted }) => Math.abs(predicted / measured - 1)));
  return {
    values: { Switchyard: worst * 100 },
    unit: "%",
    checks: [
      {
        against: "prediction",
        value: worst,
        limit: maxError,
        isBest: "low",
        shown: `off by ${format(worst * 100)} %`,
        target: `≤ ${maxError * 100} %`,
      },
    ],
    notes: [
      ...outcomes.map(
        ({ workers, measured, predicted, free, cpuUs }) =>
          `${workers} processes: ${format(measured)} requests/s, predicted ${format(predicted)}; CPU per request ${format(cpuUs)} µs; ${format(free)} cores were free for the bench`,
      ),
      `vendor and load generator need ${format(otherUs)} µs per request`,
    ],
    rounds: Object.fromEntries(
      gateways.map(({ workers, runs }) => [`${workers} processes, requests/s`, runs.map((run) => run.perSecond)]),
    ),
  };

  async function load(gateway: Contestant, durationMs: number): Promise<Run> {
    const call = gateway.prepare("plain");
    const [gatewayBefore, allBefore] = [readTreeCpuMs(gateway.pid), readTreeCpuMs(process.pid)];
    const [idleBefore, startedAt] = [readIdleMs(cores), performance.now()];
    const { requests, durationMs: tookMs } = await sendPlainLoad(children, {
      call,
      connections,
      durationMs,
      pauseMs: 0,
    });
    const elapsedMs = performance.now() - startedAt;
    const idleMs = readIdleMs(cores) - idleBefore;
    const gatewayMs = readTreeCpuMs(gateway.pid) - gatewayBefore;
    const allMs = readTreeCpuMs(process.pid) - allBefore;
    return {
      perSecond: (requests * 1_000) / tookMs,
      gatewayUs: (gatewayMs * 1_000) / requests,
      otherUs: ((allMs - gatewayMs) * 1_000) / requests,
      busyElsewhere: Math.max(0, (elapsedMs * cores.length - idleMs - allMs) / elapsedMs),
    };
  }
});
