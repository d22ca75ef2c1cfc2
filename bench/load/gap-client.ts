// Reads streams one after another for a while, several at once, and tells how long the pauses between their chunks were.

import { percentile } from "../statistics.ts";
import type { GapLoad, GapResult } from "./gap-load.ts";

const { call, streams, durationMs } = JSON.parse(process.argv[2] ?? "{}") as GapLoad;
const endsAt = performance.now() + durationMs;
const gaps: number[] = [];
const faults: string[] = [];

await Promise.all(Array.from({ length: streams }, () => readStreams().catch((error) => faults.push(String(error)))));
const result: GapResult = { gaps: gaps.length, p50Ms: percentile(gaps, 50), p99Ms: percentile(gaps, 99), faults };
console.log(JSON.stringify(result));
process.exit(0);

async function readStreams(): Promise<void> {
  while (performance.now() < endsAt) {
    const response = await fetch(call.url, {
      method: "POST",
      headers: call.headers,
      body: call.body,
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
    let last: number | null = null;
    for await (const _bytes of response.body) {
      const now = performance.now();
      if (last !== null) gaps.push(now - last);
      last = now;
    }
  }
}
