// P13: one client misuses the gateway; how much later is another key answered, and how much does the memory grow? One serving process,
// so that there is no other process for the normal client to go to.

import { type GatewayContestant, startSwitchyard } from "../contestants.ts";
import { type Check, type Course, checkMost, defineFigure, format } from "../figure.ts";
import { type Abuse, type AbuseName, abuses } from "../load/abuses.ts";
import { sendWithOwnClient } from "../load/plain-load.ts";
import { watchGrowth } from "../process-tree.ts";
import { median } from "../statistics.ts";

const megabyte = 1024 * 1024;
const limit = 3;
// Differences below this are noise of the machine's scheduler.
const noiseMs = 5;
const settleMs = 1_000;

type Slice = { p99Ms: number; longestMs: number };
type Round = { before: Slice; during: Slice; grownMb: number };

export const abuse = defineFigure("P13", "p99 of another key under abuse", async (course) => {
  const checks: Check[] = [];
  const notes: string[] = [];
  let worst = 0;
  for (const [name, { title }] of Object.entries<Abuse>(abuses)) {
    const rounds: Round[] = [];
    // A new gateway for each round, because jobs that the abuse leaves behind would slow down the next comparison.
    for (let round = 0; round < course.rounds; round++) {
      const gateway = await startSwitchyard(course);
      rounds.push(await suffer(course, gateway, name as AbuseName));
      await gateway.stop();
    }
    // One hiccup of the machine makes the p99 of a whole slice, so the median of the rounds is taken.
    const p99BeforeMs = median(rounds.map(({ before }) => before.p99Ms));
    const p99DuringMs = median(rounds.map(({ during }) => during.p99Ms));
    const longestMs = Math.max(...rounds.map(({ during }) => during.longestMs));
    const grownMb = Math.max(...rounds.map((round) => round.grownMb));
    const ratio =
      p99DuringMs - p99BeforeMs < noiseMs ? Math.min(limit, p99DuringMs / p99BeforeMs) : p99DuringMs / p99BeforeMs;
    worst = Math.max(worst, ratio);
    const check = checkMost(name, ratio, limit, " ×");
    checks.push({ ...check, target: `${check.target}, or + ${noiseMs} ms` });
    const times = `${format(p99BeforeMs)} ms before, ${format(p99DuringMs)} ms during, longest ${format(longestMs)} ms`;
    notes.push(`${name} (${title}): p99 ${times}; memory +${format(grownMb)} MB`);
  }
  return { values: { Switchyard: worst }, unit: "×", checks, notes, rounds: {} };
});

/** Before and during the abuse in turns, because the machine is slower in some minutes than in others. */
async function suffer(course: Course, gateway: GatewayContestant, name: AbuseName): Promise<Round> {
  const { children } = course;
  const { hostname, port } = new URL(gateway.prepare("plain").url);
  const target = { host: hostname, port: Number(port), key: await gateway.createKey(), model: "bench-plain/plain" };
  await ask(course.loadMs);
  const before = await ask(course.loadMs);
  const growth = watchGrowth(gateway.pid);
  const tool = children.startTool("load/abuse-client.ts", { name, target });
  try {
    await tool.stdout.getReader().read();
    await Bun.sleep(settleMs);
    const during = await ask(course.loadMs);
    return { before, during, grownMb: growth.readBytes() / megabyte };
  } finally {
    growth.stop();
    await tool.stop();
  }

  /** A request that fails is infinitely late. */
  async function ask(durationMs: number): Promise<Slice> {
    const load = { call: gateway.prepare("plain"), connections: 1, durationMs, pauseMs: 3 };
    const { p99Ms, longestMs, failed } = await sendWithOwnClient(children, load);
    const isFailed = failed > 0;
    return {
      p99Ms: isFailed ? Number.POSITIVE_INFINITY : p99Ms,
      longestMs: isFailed ? Number.POSITIVE_INFINITY : longestMs,
    };
  }
}
