// P6: readers that stop reading while the vendor floods. What they do not take must wait at the vendor, not in our memory,
// and a client that behaves must not notice them.

import type { Contestant } from "../contestants.ts";
import { type Course, checkMost, type Figure, firstLine, format, startField } from "../figure.ts";
import { sendWithOwnClient } from "../load/plain-load.ts";
import { readTreeCpuMs, watchGrowth } from "../process-tree.ts";
import { median } from "../statistics.ts";

const readers = 100;
const megabyte = 1024 * 1024;
// Far beyond the target: whoever gets here has no backpressure, and the machine need not suffer to show it.
const giveUpBytes = 1024 * megabyte;

type Outcome = { grownMb: number; p99BeforeMs: number; p99FillingMs: number; p99DuringMs: number; floodedMb: number };

export const stalledReaders: Figure = {
  id: "P6",
  title: `memory growth, ${readers} readers stall`,
  async measure(course) {
    const field = await startField(course, "flood");
    const outcomes: Record<string, Outcome> = {};
    const notes = [...field.absent];
    for (const contestant of field.contestants) {
      try {
        outcomes[contestant.name] = await stall(course, contestant);
      } catch (error) {
        if (contestant.name === "Switchyard") throw error;
        notes.push(`${contestant.name} not measured: ${firstLine(error as Error)}`);
      }
    }
    await field.stop();

    const own = outcomes["Switchyard"];
    if (!own) throw new Error("not measured");
    for (const [name, { p99BeforeMs, p99FillingMs, p99DuringMs, floodedMb }] of Object.entries(outcomes)) {
      const times = [`${formatP99(p99BeforeMs)} before`, `${formatP99(p99FillingMs)} while buffers fill`];
      const p99 = `p99 of a normal client ${times.join(", ")}, ${formatP99(p99DuringMs)} after`;
      notes.push(`${name}: ${p99}; ${format(floodedMb)} MB left the vendor before it was held back`);
    }
    return {
      values: Object.fromEntries(Object.entries(outcomes).map(([name, { grownMb }]) => [name, grownMb])),
      unit: "MB",
      checks: [checkMost("growth", own.grownMb, 100, " MB"), checkOthers(own)],
      notes,
      rounds: {},
    };
  },
};

function formatP99(p99Ms: number): string {
  return p99Ms === Number.POSITIVE_INFINITY ? "not answered" : `${format(p99Ms)} ms`;
}

/** Unaffected = once the buffers are full, its p99 stays below twice what it was, or within 5 ms of it: less than that is a scheduler's noise. */
function checkOthers({ p99BeforeMs, p99DuringMs }: Outcome) {
  const limit = Math.max(2 * p99BeforeMs, p99BeforeMs + 5);
  return { ...checkMost("others' p99", p99DuringMs, limit, " ms"), shown: formatP99(p99DuringMs) };
}

async function stall(course: Course, contestant: Contestant): Promise<Outcome> {
  const { children, vendors } = course;
  await readNormalP99Ms();
  const p99BeforeMs = await readNormalP99Ms();
  const floodedBefore = await readFlooded();
  const tool = children.startTool("load/stalled-readers.ts", { call: contestant.prepare("flood"), readers });
  const growth = watchGrowth(contestant.pid, (grownBytes) => {
    if (grownBytes > giveUpBytes) tool.kill();
  });
  try {
    const filling = askNormalClient(course.loadMs);
    await waitForWord(tool.stdout, "stalled");
    await waitUntilHeldBack();
    const p99FillingMs = await filling;
    const p99DuringMs = await readNormalP99Ms();
    const floodedMb = ((await readFlooded()) - floodedBefore) / megabyte;
    return {
      grownMb: growth.readBytes() / megabyte,
      p99BeforeMs,
      p99FillingMs,
      p99DuringMs,
      floodedMb,
    };
  } finally {
    growth.stop();
    await tool.stop();
  }

  /** The median of three slices, because one hiccup of the machine makes the p99 of a whole slice. */
  async function readNormalP99Ms(): Promise<number> {
    const slices: number[] = [];
    for (let slice = 0; slice < 3; slice++) slices.push(await askNormalClient(course.loadMs / 2));
    return median(slices);
  }

  /** A request that fails is infinitely late. */
  async function askNormalClient(durationMs: number): Promise<number> {
    const load = { call: contestant.prepare("plain"), connections: 1, durationMs, pauseMs: 3 };
    const { p99Ms, failed } = await sendWithOwnClient(children, load);
    return failed > 0 ? Number.POSITIVE_INFINITY : p99Ms;
  }

  async function readFlooded(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${vendors.streamPort}/sent`, {
      signal: AbortSignal.timeout(10_000),
    });
    return Number(await response.text());
  }

  /**
   * Buffers fill up first; at rest, or after 6 s without rest, the normal client is asked how it feels. Rest is when nothing leaves the
   * vendor and the contestant does no work: what has left the vendor may still be on its way through the contestant.
   */
  async function waitUntilHeldBack(): Promise<void> {
    let last = -1;
    let lastCpuMs = 0;
    for (let wait = 0; wait < 20; wait++) {
      const flooded = await readFlooded();
      const cpuMs = readTreeCpuMs(contestant.pid);
      if (flooded === last && cpuMs - lastCpuMs <= 30) return;
      last = flooded;
      lastCpuMs = cpuMs;
      await Bun.sleep(300);
    }
  }
}

async function waitForWord(stream: ReadableStream<Uint8Array>, word: string): Promise<void> {
  const reader = stream.getReader();
  const deadline = Bun.sleep(15_000).then(() => ({ value: undefined, done: true }));
  const { value } = await Promise.race([reader.read(), deadline]);
  const said = value ? new TextDecoder().decode(value).trim() : "nothing within 15 s";
  if (!said.startsWith(word)) throw new Error(`the stalled readers said: ${said}`);
}
