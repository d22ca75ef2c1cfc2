// P14: five times as many requests as one serving process can answer, sent by one key at a fixed rate. How much is still answered, how fast are
// the others refused, and does another key notice it?

import { type GatewayContestant, startSwitchyard } from "../contestants.ts";
import { type Course, checkLeast, checkMost, defineFigure, format } from "../figure.ts";
import { type OpenResult, sendOpenLoad } from "../load/open-loop-load.ts";
import { sendPlainLoad } from "../load/plain-load.ts";
import { meterCpuMs } from "../process-tree.ts";
import { type Call, plainRequest } from "../requests.ts";

// Streams of another format, because they cost the gateway most in comparison with the client and the vendor, which use the same cores.
const kind = "translated";
const timesCapacity = 5;
const lightPerSecond = 10;
const overloadMs = 60_000;
const shortOverloadMs = 15_000;

export const overload = defineFigure("P14", "goodput at 5 × capacity", async (course) => {
  const { children, vendors } = course;
  const gateway = await startSwitchyard(course);
  const heavy = gateway.prepare(kind);
  const light: Call = {
    ...heavy,
    headers: { ...heavy.headers, authorization: `Bearer ${await gateway.createKey()}` },
  };
  // As long as a stream takes, and then some.
  const settleMs = vendors.chunks * 8 + 2_000;

  const { peak, steps } = await findPeak();
  const durationMs = (course.rounds < 5 ? shortOverloadMs : overloadMs) + settleMs;
  const alone = await send(light, lightPerSecond, settleMs + 5_000);
  const [flood, other] = await Promise.all([
    send(heavy, peak * timesCapacity, durationMs),
    send(light, lightPerSecond, durationMs),
  ]);
  const after = await send(heavy, peak / 2, settleMs + 5_000);
  await gateway.stop();
  const costs = await compareCosts(course);

  const goodput = (flood.servedPerSecond + other.servedPerSecond) / peak;
  return {
    values: { Switchyard: goodput },
    unit: "×",
    checks: [
      checkLeast("its peak", goodput, 0.9, ""),
      checkMost("p99 of a 503", flood.refusedP99Ms, 50, " ms"),
      checkLeast("another key: served", shareServed(other), 0.99, ""),
      checkMost(
        "another key: p99 until the first byte",
        other.firstByteP99Ms,
        Math.max(100, 3 * alone.firstByteP99Ms),
        " ms",
      ),
      checkLeast("afterwards: served", shareServed(after), 1, ""),
    ],
    notes: [
      `peak ${format(peak)} streams of ${vendors.chunks} chunks per second (${steps.join(", ")}); the flood ${describe(flood)}`,
      `the other key ${describe(other)}; alone, p99 until the first byte ${format(alone.firstByteP99Ms)} ms`,
      `CPU of a refused plain completion ${format(costs.refusedUs)} µs, of one that is served ${format(costs.servedUs)} µs: ${format((100 * costs.refusedUs) / costs.servedUs)} %`,
    ],
    rounds: {},
  };

  function send(call: Call, perSecond: number, durationMs: number): Promise<OpenResult> {
    return sendOpenLoad(children, { call, perSecond, durationMs, maxConnections: 8_000, ignoredMs: settleMs });
  }

  /** The most that is served per second at any rate, with rates that grow until requests are refused or are not served in time. */
  async function findPeak(): Promise<{ peak: number; steps: string[] }> {
    const steps: string[] = [];
    let peak = 0;
    for (let perSecond = 100; ; perSecond = Math.round(perSecond * 1.25)) {
      const { sentPerSecond, servedPerSecond, refused } = await send(heavy, perSecond, settleMs + 4_000);
      steps.push(`${format(servedPerSecond)} of ${perSecond}`);
      peak = Math.max(peak, servedPerSecond);
      if (refused > 0.1 * sentPerSecond || servedPerSecond < 0.85 * sentPerSecond) return { peak, steps };
    }
  }
});

/** The CPU time of plain completions that are served, and of such that are refused because too many requests run. */
async function compareCosts(course: Course): Promise<{ servedUs: number; refusedUs: number }> {
  const { children } = course;
  const served = await startSwitchyard(course);
  const settings = { SWITCHYARD_MAX_RUNNING_REQUESTS: "1" };
  const refusing = await startSwitchyard(course, { settings });
  const call = refusing.prepare("plain");
  const running = new AbortController();
  const body = plainRequest("bench-stream/silent");
  void fetch(call.url, { method: "POST", headers: call.headers, body, signal: running.signal }).catch(() => {});
  await Bun.sleep(500);
  const costs = { servedUs: await cost(served, false), refusedUs: await cost(refusing, true) };
  running.abort();
  await Promise.all([served.stop(), refusing.stop()]);
  return costs;

  async function cost(gateway: GatewayContestant, isRefused: boolean): Promise<number> {
    const load = { call: gateway.prepare("plain"), connections: 64, pauseMs: 0, isRefused };
    await sendPlainLoad(children, { ...load, durationMs: course.warmUpMs });
    const { cpuMs, result } = await meterCpuMs(gateway, () =>
      sendPlainLoad(children, { ...load, durationMs: 2 * course.loadMs }),
    );
    return (cpuMs * 1000) / result.requests;
  }
}

function shareServed({ servedPerSecond, sentPerSecond, refused, failed, unsent }: OpenResult): number {
  return refused + failed + unsent === 0 ? 1 : servedPerSecond / sentPerSecond;
}

function describe(result: OpenResult): string {
  const { sentPerSecond, servedPerSecond, refused, failed, unsent, lateMs } = result;
  return (
    `sent ${format(sentPerSecond)} per second over ${result.connections} connections, ${format(servedPerSecond)} were served, ` +
    `${refused} in all refused (p50 ${format(result.refusedP50Ms)} ms, p99 ${format(result.refusedP99Ms)} ms), ${failed} failed, ${unsent} not sent; ` +
    `until the first byte p50 ${format(result.firstByteP50Ms)} ms, p99 ${format(result.firstByteP99Ms)} ms; the client was ${format(lateMs)} ms late at worst`
  );
}
