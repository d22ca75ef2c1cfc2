// What a request costs: the memory and the processor time that a process uses for it.

import { cpuMillisecondsOfProcess, residentMegabytes } from "./processes.ts";

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

/** How many milliseconds of processor time a process uses while it is watched. While it computes, all its other clients wait. */
export function watchCpu(pid: number): Watch {
  const started = cpuMillisecondsOfProcess(pid);
  return { started, stop: async () => (await cpuMillisecondsOfProcess(pid)) - (await started) };
}
