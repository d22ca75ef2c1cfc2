// A thread that ends the worker when the gateway has exited or when the worker exceeds its memory limit. The main thread cannot do so
// while an engine computes.

import { memorySignal } from "./messages.ts";

const everyMs = 250;
const [gatewayPid, maxMemoryBytes] = process.argv.slice(2).map(Number) as [number, number];
declare const self: Worker;

setInterval(() => {
  if (process.ppid !== gatewayPid) process.kill(process.pid, "SIGKILL");
  if (process.memoryUsage.rss() > maxMemoryBytes) process.kill(process.pid, memorySignal);
}, everyMs);

self.postMessage("watching");
