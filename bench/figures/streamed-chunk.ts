// P2: what one streamed chunk costs in CPU time. The chunks come a few milliseconds apart, so that each is an arrival of its own.

import { checkRatio, type Figure, format, meterCpuMs, startField } from "../figure.ts";
import { sendStreamLoad } from "../load/stream-load.ts";
import { median } from "../statistics.ts";

const streams = 100;

export const streamedChunk: Figure = {
  id: "P2",
  title: "CPU per streamed chunk",
  async measure(course) {
    const { children, vendors } = course;
    const field = await startField(course, "stream");
    const rounds: Record<string, number[]> = {};
    const eventsPerRead: Record<string, number[]> = {};
    for (const { prepare } of field.contestants) {
      await sendStreamLoad(children, { call: prepare("stream"), streams, chunks: vendors.chunks });
    }
    for (let round = 0; round < course.rounds; round++) {
      for (const contestant of field.contestants) {
        const load = { call: contestant.prepare("stream"), streams, chunks: vendors.chunks };
        const { cpuMs, result } = await meterCpuMs(contestant, () => sendStreamLoad(children, load));
        rounds[contestant.name] = [...(rounds[contestant.name] ?? []), (cpuMs * 1000) / result.events];
        eventsPerRead[contestant.name] = [...(eventsPerRead[contestant.name] ?? []), result.events / result.reads];
      }
    }
    await field.stop();

    const values = Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, median(figures)]));
    const together = Object.entries(eventsPerRead).map(([name, figures]) => `${name} ${format(median(figures))}`);
    return {
      values,
      unit: "µs",
      checks: [checkRatio(values["Switchyard"], values["nginx"], "nginx", 2.5)],
      notes: [...field.absent, `events that reached the client in one read: ${together.join(", ")}`],
      rounds,
    };
  },
};
