// Metrics of each process of the gateway: event loop, memory and processor time. The label `process` identifies the process.

import type { Family, Labels } from "./family.ts";
import { Histogram } from "./series.ts";

export interface ProcessWatch {
  readonly describe: () => Family[];
  close(): void;
}

const sampleEveryMs = 100;
const delayBoundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Measures the event loop from now on. `kind`: `serving`, `worker` or `engine`. */
export function watchProcess(kind: string): ProcessWatch {
  const labels = { process: `${kind}-${process.pid}` };
  const delays = new Histogram(delayBoundsSeconds);
  let dueAt = performance.now() + sampleEveryMs;
  const timer = setInterval(() => {
    const now = performance.now();
    delays.observe(Math.max(0, now - dueAt) / 1_000);
    dueAt = now + sampleEveryMs;
  }, sampleEveryMs);
  timer.unref();
  return {
    describe: () => [...describeProcess(labels), describeDelays(labels, delays)],
    close: () => clearInterval(timer),
  };
}

function describeDelays(labels: Labels, delays: Histogram): Family {
  return {
    name: "event_loop_delay_seconds",
    help: "How late the timers of each process fire, which is how long its requests wait; measured ten times a second.",
    type: "histogram",
    bounds: delayBoundsSeconds,
    samples: [delays.toSample(labels)],
  };
}

function describeProcess(labels: Labels): Family[] {
  const gauge = (name: string, help: string, value: number): Family => ({
    name,
    help,
    type: "gauge",
    merge: "sum",
    samples: [{ labels, value }],
  });
  const { user, system } = process.cpuUsage();
  return [
    gauge("process_resident_memory_bytes", "Resident memory of each process.", process.memoryUsage.rss()),
    gauge("process_start_time_seconds", "When each process started, in Unix time.", startedAtSeconds()),
    {
      name: "process_cpu_seconds_total",
      help: "Processor time of each process.",
      type: "counter",
      samples: [{ labels, value: (user + system) / 1e6 }],
    },
  ];
}

function startedAtSeconds(): number {
  return Math.round(Date.now() / 1_000 - process.uptime());
}
