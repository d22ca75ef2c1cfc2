// What a request costs others: the memory that a process takes for it, and how long everyone else waits meanwhile.

import { residentMegabytes } from "./processes.ts";

export interface Watch {
  readonly started: Promise<unknown>;
  readonly stop: () => Promise<number>;
}

/** How many megabytes a process grows at most while it is watched. */
export function watchMemory(pid: number): Watch {
  let peak = 0;
  let watching = true;
  const started = residentMegabytes(pid);
  const watched = (async () => {
    while (watching) {
      peak = Math.max(peak, await residentMegabytes(pid));
      await Bun.sleep(50);
    }
  })();
  return {
    started,
    async stop() {
      watching = false;
      await watched;
      return peak - (await started);
    },
  };
}

/** The longest wait of another client while this one is served: what blocks the loop delays everyone. */
export function watchLatency(url: string): Watch {
  let longest = 0;
  let watching = true;
  async function once(): Promise<void> {
    const startedAt = performance.now();
    await (await fetch(`${url}/healthz`)).arrayBuffer();
    longest = Math.max(longest, performance.now() - startedAt);
  }
  const started = once().then(() => {
    longest = 0;
  });
  const watched = (async () => {
    await started;
    while (watching) {
      await once();
      await Bun.sleep(1);
    }
  })();
  return {
    started,
    async stop() {
      watching = false;
      await watched;
      return longest;
    },
  };
}
