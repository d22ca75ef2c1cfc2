// Submits jobs as fast as they are accepted, and says how long that took.

export {};

interface Options {
  readonly url: string;
  readonly key: string;
  /** Taken in turns. */
  readonly bodies: readonly string[];
  readonly count: number;
  readonly connections: number;
}

const { url, key, bodies, count, connections } = JSON.parse(process.argv[2] ?? "{}") as Options;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
let next = 0;
let failed = 0;

async function send(): Promise<void> {
  for (let turn = next++; turn < count; turn = next++) {
    const body = bodies[turn % bodies.length] ?? "";
    const response = await fetch(url, { method: "POST", headers, body });
    await response.arrayBuffer();
    if (response.status !== 202) failed++;
  }
}

const startedAt = performance.timeOrigin + performance.now();
await Promise.all(Array.from({ length: connections }, send));
console.log(JSON.stringify({ startedAt, endedAt: performance.timeOrigin + performance.now(), failed }));
