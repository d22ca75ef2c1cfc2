// A worker process: runs jobs and delivers webhooks. Everything it does is recorded in the store. Where no serving process runs beside it, it
// answers probes and shows the metrics.

import { openKeyring } from "./access/keys.ts";
import type { Config } from "./config.ts";
import { startProbeServer } from "./http/probe-server.ts";
import { createDeliverer } from "./jobs/deliverer.ts";
import { createRunner } from "./jobs/runner.ts";
import { openWebhookKeys } from "./jobs/webhook-keys.ts";
import { startJobWorker } from "./jobs/worker.ts";
import { dayMs } from "./lib/time-units.ts";
import type { Log } from "./log.ts";
import { createServices, type ServicesOptions } from "./services.ts";

/** Takes no jobs until `mayServe` resolves. */
export async function startWorkerProcess(
  config: Config,
  log: Log,
  mayServe: () => Promise<void>,
  options: Omit<ServicesOptions, "works"> = {},
) {
  const services = await createServices(config, log, { ...options, works: true });
  const { storage, metrics, tracing, universalAi, resources, calling, egress, shutdown } = services;
  // Jobs keep to the limits that their key and team have when they run.
  const keyring = await openKeyring({
    ...{ storage, adminKey: null, staleAfterMs: config.keysStaleAfterMs, log },
    names: services.countedNames,
  });
  const keys = openWebhookKeys({ secrets: storage.secrets, log });
  const lifetimeMs = config.jobLifetimeDays * dayMs;
  await mayServe();
  const worker = startJobWorker({
    storage,
    run: createRunner({
      jobs: storage.jobs,
      universalAi,
      // Binary results live as long as the job whose result links to them.
      publish: ({ bytes, mediaType }, owner, base) => resources.publish(bytes, mediaType, owner, { base, lifetimeMs }),
      report: calling.report,
      callLimits: calling.callLimits,
      findCaller: keyring.findCaller,
      checkLedger: calling.checkLedger,
      jobTimeoutMs: config.jobTimeoutMs,
      metrics,
      tracing,
      log,
    }),
    deliverer: createDeliverer({ egress, keys, tracing, log }),
    runsAtOnce: config.jobsAtOnce,
    deliveriesAtOnce: config.deliveriesAtOnce,
    deliveriesPerHost: config.deliveriesPerHost,
    metrics,
    log,
  });
  const { host, metricsPort, tls } = config;
  const probes =
    options.gateway?.serves === false && metricsPort !== null
      ? startProbeServer({ host, port: metricsPort, tls, readMetrics: services.readAll })
      : null;

  return {
    takesJobs: true as const,
    /** Stops leasing work and waits for running jobs, at most for the drain timeout. */
    async stop(): Promise<void> {
      probes?.beginDrain();
      await worker.stop(config.drainTimeoutMs);
      await probes?.stop();
      shutdown.abort();
      await services.close();
      await keyring.close();
      await storage.close();
    },
  };
}
