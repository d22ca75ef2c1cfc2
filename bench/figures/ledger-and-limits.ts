// P8: what the ledger, limits and budgets cost in CPU time. The same gateway with all of them, and with none.

import { checkContestant, type GatewayContestant, startSwitchyard } from "../contestants.ts";
import { checkMost, defineFigure, format } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { meterCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const connections = 64;
const limit = 1.1;

export const ledgerAndLimits = defineFigure("P8", "CPU with ledger, limits, budgets", async (course) => {
  const { children } = course;
  const withAll = await startSwitchyard(course, { isLimited: true });
  const withNone = await startSwitchyard(course, { settings: { SWITCHYARD_LEDGER: "false" } });
  for (const gateway of [withAll, withNone]) {
    await checkContestant(gateway, "plain");
    await load(gateway, course.warmUpMs);
  }
  const costs: { withAll: number[]; withNone: number[] } = { withAll: [], withNone: [] };
  // The difference is small: twice the rounds, each beside its counterpart.
  for (let round = 0; round < 2 * course.rounds; round++) {
    costs.withAll.push(await measure(withAll));
    costs.withNone.push(await measure(withNone));
  }
  await Promise.all([withAll.stop(), withNone.stop()]);
  const ratio = median(costs.withAll.map((cost, round) => cost / (costs.withNone[round] ?? Number.NaN)));
  return {
    values: { Switchyard: median(costs.withAll) },
    unit: "µs",
    checks: [checkMost("without them", ratio, limit, " ×")],
    notes: [
      `without them ${format(median(costs.withNone))} µs; the key and its team have three limits and a budget each`,
    ],
    rounds: { with: costs.withAll, without: costs.withNone },
  };

  async function measure(gateway: GatewayContestant): Promise<number> {
    const { cpuMs, result } = await meterCpuMs(gateway, () => load(gateway, course.loadMs));
    return (cpuMs * 1000) / result.requests;
  }

  function load(gateway: GatewayContestant, durationMs: number) {
    return sendPlainLoad(children, { call: gateway.prepare("plain"), connections, durationMs, pauseMs: 0 });
  }
});
