// A gateway inside the test's own process: the real configuration, store, server and, where a test is about jobs, the real job worker.
// Tests about signals, restarts, crashes, memory and several processes use gateway-process.ts.

import { afterAll } from "bun:test";
import { describeProblem } from "../../src/config/config-file.ts";
import { readConfig, secretsOf } from "../../src/config.ts";
import { startGateway } from "../../src/gateway.ts";
import type { LoadLimits } from "../../src/http/load-watch.ts";
import { createLog } from "../../src/log.ts";
import { startWorkerProcess } from "../../src/worker-process.ts";
import { createManagementClient, type Gateway, type GatewaySettings, prepareSettings } from "./gateway-settings.ts";
import { patientLimits } from "./patient-admission.ts";
import { type Behaviour, startVendor, type Vendor } from "./vendor.ts";

export interface TestGatewayOptions extends GatewaySettings {
  /** Serves the providers mock, mock2 and mockchat. Without one the gateway starts a vendor that behaves as `behaviour` says. */
  readonly vendor?: Vendor;
  readonly behaviour?: Behaviour;
  /** For tests about overload. */
  readonly loadLimits?: Partial<LoadLimits>;
}

export interface TestGateway extends Gateway, AsyncDisposable {
  readonly vendor: Vendor;
}

/** `await using gateway = await testGateway()` stops it at the end of the test. */
export async function testGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const vendor = options.vendor ?? (await startVendor(options.behaviour));
  const { dataFolder, adminKey, environment, removeFolder } = await prepareSettings(vendor, options);
  const config = readConfig({ SWITCHYARD_PORT: "0", SWITCHYARD_WORKERS: "1", ...environment });
  let written = "";
  const log = createLog({
    level: config.logLevel,
    format: "json",
    secrets: secretsOf(config),
    write: (lines) => {
      written += lines;
    },
  });
  for (const warning of config.warnings) log.warn(describeProblem(warning));
  const mayServe = () => Promise.resolve();
  const gateway = await startGateway(config, log, mayServe, { loadLimits: options.loadLimits ?? patientLimits });
  const worker = config.jobWorkers === 0 ? null : await startWorkerProcess(config, log, mayServe);
  const url = `http://127.0.0.1:${gateway.port}`;

  async function stop(): Promise<void> {
    await Promise.all([gateway.stop(), worker?.stop()]);
    if (options.vendor === undefined) await vendor.stop();
    log.flush();
    await removeFolder();
  }

  return {
    url,
    adminKey,
    dataFolder,
    vendor,
    ...createManagementClient(url, adminKey),
    log() {
      log.flush();
      return written;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** The gateway of all tests of a file: it and its vendor stop after the last one. */
export async function sharedGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const gateway = await testGateway(options);
  afterAll(async () => {
    await gateway.stop();
    await options.vendor?.stop();
  });
  return gateway;
}
