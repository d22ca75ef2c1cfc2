// P10: from the start of the process to the first 200 of /readyz, with as many workers as the machine has cores.

import { join } from "node:path";
import { findFreePort, waitForAnswer } from "../children.ts";
import { type GatewaySettings, prepareSettings } from "../contestants.ts";
import { type Course, checkMost, defineFigure, format } from "../figure.ts";
import { readTreeCpuMs } from "../process-tree.ts";
import { median } from "../statistics.ts";

const starts = 5;

export const startUp = defineFigure("P10", "start-up to ready", async (course) => {
  const first: Start[] = [];
  const warm: Start[] = [];
  for (let start = 0; start < starts; start++) {
    const settings = prepareSettings(course.children, course.vendors);
    first.push(await startOnce(course, settings));
    warm.push(await startOnce(course, settings));
  }
  const rounds = { first: first.map((start) => start.tookMs), warm: warm.map((start) => start.tookMs) };
  const cpu = [first, warm].map((several) => format(median(several.map((start) => start.cpuMs))));
  return {
    values: { Switchyard: median(rounds.warm) },
    unit: "ms",
    checks: [
      checkMost("first start", median(rounds.first), 2_000, " ms"),
      checkMost("warm", median(rounds.warm), 1_000, " ms"),
    ],
    notes: [`CPU time of all processes until ready: ${cpu[0]} ms first, ${cpu[1]} ms warm`],
    rounds,
  };
});

type Start = { tookMs: number; cpuMs: number };

async function startOnce({ children, projectFolder }: Course, settings: GatewaySettings): Promise<Start> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = children.start(
    [Bun.which("node") ?? process.execPath, join(projectFolder, "bin/switchyard.mjs"), "serve"],
    { ...settings.environment, SWITCHYARD_PORT: String(port) },
    settings.folder,
  );
  await waitForAnswer(child, `http://127.0.0.1:${port}/readyz`, 15_000);
  const tookMs = performance.now() - startedAt;
  const cpuMs = readTreeCpuMs(child.pid);
  await children.stop(child);
  return { tookMs, cpuMs };
}
