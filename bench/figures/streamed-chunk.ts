// P2: what one streamed chunk costs in CPU time. The chunks come a few milliseconds apart, so that each is an arrival of its own.

import type { Contestant } from "../contestants.ts";
import { checkRatio, defineFigure, format, readMedians, startField, takeRounds, warmUp } from "../figure.ts";
import { sendStreamLoad } from "../load/stream-load.ts";
import { meterCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const streams = 100;

export const streamedChunk = defineFigure("P2", "CPU per streamed chunk", async (course) => {
  const field = await startField(course, "stream");
  const eventsPerRead: Record<string, number[]> = {};
  await warmUp(field, load);
  const rounds = await takeRounds(course, field, async (contestant) => {
    const { cpuMs, result } = await meterCpuMs(contestant, () => load(contestant));
    eventsPerRead[contestant.name] = [...(eventsPerRead[contestant.name] ?? []), result.events / result.reads];
    return (cpuMs * 1000) / result.events;
  });
  await field.stop();

  const values = readMedians(rounds);
  const together = Object.entries(eventsPerRead).map(([name, figures]) => `${name} ${format(median(figures))}`);
  return {
    values,
    unit: "µs",
    checks: [checkRatio(values.Switchyard, values.nginx, "nginx", 2.5)],
    notes: [...field.absent, `events that reached the client in one read: ${together.join(", ")}`],
    rounds,
  };

  function load(contestant: Contestant) {
    const call = contestant.prepare("stream");
    return sendStreamLoad(course.children, { call, streams, chunks: course.vendors.chunks });
  }
});
