// Gauges of a process itself. The label `process` tells the processes of a gateway apart.

import type { Family } from "./family.ts";

export interface ProcessGauges {
  /** `serving` or `worker`. */
  readonly kind: string;
  /** Milliseconds that a request waits for the event loop now. */
  readonly readDelayMs?: () => number;
}

export function describeProcess({ kind, readDelayMs }: ProcessGauges): Family[] {
  const labels = { process: `${kind}-${process.pid}` };
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
    ...(readDelayMs === undefined
      ? []
      : [gauge("event_loop_delay_seconds", "How long a request waits for the event loop.", readDelayMs() / 1_000)]),
  ];
}

function startedAtSeconds(): number {
  return Math.round(Date.now() / 1_000 - process.uptime());
}
