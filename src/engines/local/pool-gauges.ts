// The queues of the local engines, for the metrics.

import type { Family, Sample } from "../../metrics/family.ts";
import type { LaneState, Pool } from "./pool.ts";
import type { PoolName } from "./socket-messages.ts";

type Pools = Readonly<Partial<Record<PoolName, Pick<Pool, "state">>>>;

const gauges: readonly (readonly [name: string, help: string, read: (state: LaneState) => number])[] = [
  ["local_engine_waiting", "Local tasks that wait for a process.", ({ waiting }) => waiting],
  ["local_engine_running", "Local tasks that run.", ({ busy }) => busy],
  ["local_engine_workers", "Processes of local engines.", ({ workers }) => workers],
  ["local_engine_memory_bytes", "Memory of the processes of local engines.", ({ memoryBytes }) => memoryBytes],
];

/** By the purpose of the pool (requests or jobs) and by lane (light or heavy tasks). */
export function describePools(pools: Pools): Family[] {
  const lanes = Object.entries(pools).flatMap(([pool, { state }]) =>
    Object.entries(state()).map(([lane, one]) => ({ labels: { pool, lane }, state: one })),
  );
  return gauges.map(([name, help, read]) => {
    const samples = lanes.map(({ labels, state }): Sample => ({ labels, value: read(state) }));
    return { name, help, type: "gauge", merge: "sum", samples };
  });
}
