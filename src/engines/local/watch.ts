// A thread beside the engines of a worker. While an engine computes, the worker's own thread hears nothing, so this one sees to it
// that the worker neither outlives the gateway nor outgrows its memory.

import { memorySignal } from "./messages.ts";

const everyMs = 250;
const gateway = process.ppid;
const maxMemoryBytes = Number(process.argv[2]);

setInterval(() => {
  if (process.ppid !== gateway) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > maxMemoryBytes) process.kill(process.pid, memorySignal);
}, everyMs);
