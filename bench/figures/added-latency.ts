// P4: what a contestant adds to the vendor's own median answer time, one request at a time.

import { type Contestant, checkContestant, nameVendor } from "../contestants.ts";
import { checkRatio, defineFigure, format, readMedians, startField, takeRounds, warmUp } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { median } from "../statistics.ts";

export const addedLatency = defineFigure("P4", "added p50, 1 connection", async (course) => {
  const field = await startField(course, "plain");
  const vendor = nameVendor(course.vendors);
  await checkContestant(vendor, "plain");
  await warmUp(field, (contestant) => readP50Us(contestant, course.warmUpMs / 2));
  const everyone = { ...field, contestants: [vendor, ...field.contestants] };
  const { vendor: direct = [], ...through } = await takeRounds(course, everyone, (contestant) =>
    readP50Us(contestant, course.loadMs / 2),
  );
  await field.stop();

  // Each against the vendor of its own round, so that a machine that slows down half-way does not tilt the difference.
  const added = Object.fromEntries(
    Object.entries(through).map(([name, values]) => [name, values.map((value, round) => value - (direct[round] ?? 0))]),
  );
  const values = readMedians(added);
  return {
    values,
    unit: "µs",
    checks: [checkRatio(values.Switchyard, values.nginx, "nginx", 3)],
    notes: [...field.absent, `the vendor itself answers in ${format(median(direct))} µs`],
    rounds: { ...added, vendor: direct },
  };

  async function readP50Us(contestant: Contestant, durationMs: number): Promise<number> {
    const call = contestant.prepare("plain");
    const { p50Ms } = await sendPlainLoad(course.children, { call, connections: 1, durationMs, pauseMs: 0 });
    return p50Ms * 1000;
  }
});
