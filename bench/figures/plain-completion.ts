// P1: what one plain completion costs in CPU time.

import type { Contestant } from "../contestants.ts";
import { checkRatio, defineFigure, format, readMedians, startField, takeRounds, warmUp } from "../figure.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { meterCpuMs, readTreeRssBytes } from "../process-tree.ts";

const connections = 64;

export const plainCompletion = defineFigure("P1", "CPU per plain completion", async (course) => {
  const field = await startField(course, "plain");
  await warmUp(field, (contestant) => load(contestant, course.warmUpMs));
  const rounds = await takeRounds(course, field, async (contestant) => {
    const { cpuMs, result } = await meterCpuMs(contestant, () => load(contestant, course.loadMs));
    // What was under way when the load ended has been paid for too; a slow peer would look slower without it.
    return (cpuMs * 1000) / (result.requests + connections);
  });
  const memory = field.contestants.map(({ name, pid }) => `${name} ${format(readTreeRssBytes(pid) / 1024 / 1024)} MB`);
  await field.stop();

  const values = readMedians(rounds);
  return {
    values,
    unit: "µs",
    checks: [
      checkRatio(values.Switchyard, values.nginx, "nginx", 4),
      checkRatio(values.Switchyard, values.Portkey, "Portkey", 1 / 12),
      ...(values.Bifrost === undefined ? [] : [checkRatio(values.Switchyard, values.Bifrost, "Bifrost", 1 / 5)]),
    ],
    notes: [...field.absent, `resident memory after the load, all processes: ${memory.join(", ")}`],
    rounds,
  };

  function load(contestant: Contestant, durationMs: number) {
    const call = contestant.prepare("plain");
    return sendPlainLoad(course.children, { call, connections, durationMs, pauseMs: 0 });
  }
});
