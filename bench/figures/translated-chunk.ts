// P3: what a streamed chunk costs when it is translated on its way, beside one that passes as it came.

import { startSwitchyard } from "../contestants.ts";
import { checkRatio, defineFigure, format } from "../figure.ts";
import { sendStreamLoad } from "../load/stream-load.ts";
import { meterCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const streams = 100;

export const translatedChunk = defineFigure("P3", "CPU per translated chunk", async (course) => {
  const { children, vendors } = course;
  const gateway = await startSwitchyard(course);
  const load = (kind: "stream" | "translated") =>
    sendStreamLoad(children, { call: gateway.prepare(kind), streams, chunks: vendors.chunks });
  const rounds = { translated: [] as number[], passed: [] as number[] };
  for (const kind of ["stream", "translated"] as const) await load(kind);
  for (let round = 0; round < course.rounds; round++) {
    for (const kind of ["stream", "translated"] as const) {
      const { cpuMs, result } = await meterCpuMs(gateway, () => load(kind));
      rounds[kind === "stream" ? "passed" : "translated"].push((cpuMs * 1000) / result.events);
    }
  }
  await gateway.stop();

  const [translated, passed] = [median(rounds.translated), median(rounds.passed)];
  return {
    values: { Switchyard: translated },
    unit: "µs",
    checks: [checkRatio(translated, passed, "a chunk that passes as it came", 2)],
    notes: [`a chunk that passes as it came: ${format(passed)} µs`],
    rounds,
  };
});
