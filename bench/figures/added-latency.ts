// P4: what a contestant adds to the vendor's own median answer time, one request at a time.

import { checkContestant, nameVendor } from "../contestants.ts";
import { checkRatio, type Figure, format, startField } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { median } from "../statistics.ts";

export const addedLatency: Figure = {
  id: "P4",
  title: "added p50, 1 connection",
  async measure(course) {
    const field = await startField(course, "plain");
    const vendor = nameVendor(course.vendors);
    await checkContestant(vendor, "plain");
    const rounds: Record<string, number[]> = {};
    const direct: number[] = [];
    for (const { prepare } of field.contestants) await readP50Us(prepare("plain"), course.warmUpMs);
    for (let round = 0; round < course.rounds; round++) {
      const directUs = await readP50Us(vendor.prepare("plain"), course.loadMs / 2);
      direct.push(directUs);
      for (const contestant of field.contestants) {
        const p50Us = await readP50Us(contestant.prepare("plain"), course.loadMs / 2);
        rounds[contestant.name] = [...(rounds[contestant.name] ?? []), p50Us - directUs];
      }
    }
    await field.stop();

    const values = Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, median(figures)]));
    return {
      values: { ...values, vendor: median(direct) },
      unit: "µs",
      checks: [checkRatio(values["Switchyard"], values["nginx"], "nginx", 3)],
      notes: [...field.absent, `the vendor itself answers in ${format(median(direct))} µs`],
      rounds: { ...rounds, vendor: direct },
    };

    async function readP50Us(call: ReturnType<typeof vendor.prepare>, durationMs: number): Promise<number> {
      const result = await sendPlainLoad(course.children, { call, connections: 1, durationMs, pauseMs: 0 });
      return result.p50Ms * 1000;
    }
  },
};
