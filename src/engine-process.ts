// The engine process: runs the workers of the local engines for all serving and worker processes of a gateway, so that a model is loaded once
// and stays warm. The supervisor starts it when it is first needed.

import type { Config } from "./config.ts";
import { createLocalPool, toPoolOptions } from "./engines/local/index.ts";
import { describePools } from "./engines/local/pool-gauges.ts";
import { servePools } from "./engines/local/serve-pools.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { watchProcess } from "./metrics/process-gauges.ts";

export interface EngineProcessOptions {
  readonly socketPath: string;
  readonly metrics: Metrics;
}

export async function startEngineProcess(
  config: Config,
  log: Log,
  mayServe: () => Promise<void>,
  { socketPath, metrics }: EngineProcessOptions,
) {
  const options = toPoolOptions(config, log);
  const pools = { requests: createLocalPool(options), jobs: createLocalPool(options) };
  const watch = watchProcess("engine");
  metrics.addGauges(() => [...watch.describe(), ...describePools(pools)]);
  await mayServe();
  const server = await servePools(pools, { socketPath, idleMs: config.localIdleMs });
  const closePools = () => Promise.all(Object.values(pools).map((pool) => pool.close()));

  return {
    /** Resolves after some time without a job, when the process has let its last client go. */
    finished: server.idle.then(() => server.close()).then(closePools),
    async stop(): Promise<void> {
      const closed = server.close();
      await closePools();
      await closed;
    },
  };
}
