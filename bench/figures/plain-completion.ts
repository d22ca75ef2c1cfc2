// P1: what one plain completion costs in CPU time.

import { checkRatio, type Figure, format, meterCpuMs, startField } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { readTreeRssBytes } from "../process-tree.ts";
import { median } from "../statistics.ts";

const connections = 64;

export const plainCompletion: Figure = {
  id: "P1",
  title: "CPU per plain completion",
  async measure(course) {
    const field = await startField(course, "plain");
    const rounds: Record<string, number[]> = {};
    for (const { prepare } of field.contestants) await load(prepare("plain"), course.warmUpMs);
    for (let round = 0; round < course.rounds; round++) {
      for (const contestant of field.contestants) {
        const call = contestant.prepare("plain");
        const { cpuMs, result } = await meterCpuMs(contestant, () => load(call, course.loadMs));
        rounds[contestant.name] = [...(rounds[contestant.name] ?? []), (cpuMs * 1000) / result.requests];
      }
    }
    const memory = field.contestants.map(
      ({ name, pid }) => `${name} ${format(readTreeRssBytes(pid) / 1024 / 1024)} MB`,
    );
    await field.stop();

    const values = Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, median(figures)]));
    const { Switchyard, nginx, Portkey } = values;
    return {
      values,
      unit: "µs",
      checks: [checkRatio(Switchyard, nginx, "nginx", 4), checkRatio(Switchyard, Portkey, "Portkey", 1 / 15)],
      notes: [...field.absent, `resident memory after the load, all processes: ${memory.join(", ")}`],
      rounds,
    };

    function load(call: ReturnType<(typeof field.contestants)[number]["prepare"]>, durationMs: number) {
      return sendPlainLoad(course.children, { call, connections, durationMs, pauseMs: 0 });
    }
  },
};
