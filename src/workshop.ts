// A working process: runs jobs and reports them. It listens to nobody; whatever it does stands in the store.

import type { Config } from "./config.ts";
import { openHouse } from "./house.ts";
import { createDeliverer } from "./jobs/deliverer.ts";
import { createRunner } from "./jobs/runner.ts";
import { openWebhookKeys, storeWebhookKeysIn } from "./jobs/webhook-keys.ts";
import { startJobWorker } from "./jobs/worker.ts";
import type { Log } from "./log.ts";

export interface Workshop {
  /** Takes no more work, and waits for what runs, within a bound. */
  stop(): Promise<void>;
}

const dayMs = 86_400_000;

/** `mayServe` resolves when jobs may be taken. */
export async function startWorkshop(config: Config, log: Log, mayServe: () => Promise<void>): Promise<Workshop> {
  const house = await openHouse(config, log, { processes: 1, works: true });
  const { storage, universalAi, resources, calling, egress, ending } = house;
  const keys = openWebhookKeys({ store: storeWebhookKeysIn(storage.secrets), log });
  const lifetimeMs = config.jobLifetimeDays * dayMs;
  await mayServe();
  const worker = startJobWorker({
    storage,
    run: createRunner({
      jobs: storage.jobs,
      universalAi,
      // For as long as the result that names them.
      publish: ({ bytes, mediaType }, owner, base) => resources.publish(bytes, mediaType, owner, { base, lifetimeMs }),
      report: calling.report,
      jobTimeoutMs: config.jobTimeoutMs,
      log,
    }),
    deliverer: createDeliverer({ egress, keys, log }),
    runsAtOnce: config.jobsAtOnce,
    deliveriesAtOnce: config.deliveriesAtOnce,
    deliveriesPerHost: config.deliveriesPerHost,
    log,
  });

  async function stop(): Promise<void> {
    await worker.stop(config.drainTimeoutMs);
    ending.abort();
    await house.close();
    await storage.close();
  }

  return { stop };
}
