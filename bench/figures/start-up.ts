// P10: from the start of the process to the first 200 of /readyz, with as many workers as the machine has cores.

import { join } from "node:path";
import { findFreePort, waitForAnswer } from "../children.ts";
import { type GatewaySettings, prepareSettings } from "../contestants.ts";
import { type Check, type Course, type Figure, format } from "../figure.ts";
import { median } from "../statistics.ts";

const starts = 5;

export const startUp: Figure = {
  id: "P10",
  title: "start-up to ready",
  async measure(course) {
    const first: number[] = [];
    const warm: number[] = [];
    for (let start = 0; start < starts; start++) {
      const settings = prepareSettings(course.children, course.vendors);
      first.push(await startOnce(course, settings));
      warm.push(await startOnce(course, settings));
    }
    return {
      values: { Switchyard: median(warm) },
      unit: "ms",
      checks: [check("first start", median(first), 2_000), check("warm", median(warm), 1_000)],
      notes: [],
      rounds: { first, warm },
    };
  },
};

async function startOnce({ children, projectFolder }: Course, settings: GatewaySettings): Promise<number> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = children.start(
    [Bun.which("node") ?? process.execPath, join(projectFolder, "bin/switchyard.mjs"), "serve"],
    { ...settings.environment, SWITCHYARD_PORT: String(port) },
    settings.folder,
  );
  await waitForAnswer(child, `http://127.0.0.1:${port}/readyz`, 15_000);
  const tookMs = performance.now() - startedAt;
  await children.stop(child);
  return tookMs;
}

function check(against: string, value: number, limit: number): Check {
  return { against, value, limit, isBest: "low", shown: `${format(value)} ms`, target: `≤ ${limit} ms` };
}
