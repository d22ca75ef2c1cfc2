// A thread that ends the worker when the gateway has exited or when the worker exceeds its memory limit. The main thread cannot do so
// while an engine computes.

import { memorySignal } from "./messages.ts";

const everyMs = 250;
const gateway = process.ppid;
const maxMemoryBytes = Number(process.argv[2]);

setInterval(() => {
  if (process.ppid !== gateway) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > maxMemoryBytes) process.kill(process.pid, memorySignal);
}, everyMs);
