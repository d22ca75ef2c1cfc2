// A load generator for plain completions, run as its own process: the stand-in where wrk is missing, and the normal
// client of the stalled-readers figure, which pauses between its requests.

import { percentile } from "../statistics.ts";
import type { PlainLoad } from "./plain-load.ts";

const load = JSON.parse(process.argv[2] ?? "{}") as PlainLoad;
const { call, connections, durationMs, pauseMs } = load;
const latenciesMs: number[] = [];
let failed = 0;

const startedAt = performance.now();
await Promise.all(Array.from({ length: connections }, askUntilTheEnd));
console.log(
  JSON.stringify({
    requests: latenciesMs.length,
    failed,
    durationMs: performance.now() - startedAt,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    longestMs: latenciesMs.reduce((longest, latencyMs) => Math.max(longest, latencyMs), 0),
  }),
);
process.exit(0);

async function askUntilTheEnd(): Promise<void> {
  while (performance.now() - startedAt < durationMs) {
    const askedAt = performance.now();
    const isAnswered = await ask();
    if (isAnswered) latenciesMs.push(performance.now() - askedAt);
    else failed += 1;
    if (pauseMs > 0) await Bun.sleep(pauseMs);
  }
}

function ask(): Promise<boolean> {
  return fetch(call.url, {
    method: "POST",
    headers: call.headers,
    body: call.body,
    signal: AbortSignal.timeout(5_000),
  }).then(
    async (response) => (await response.text()).includes("chat.completion") && response.ok,
    () => false,
  );
}
