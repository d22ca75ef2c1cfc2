// The real gateway as a child process, started the way an operator starts it, with its settings in the environment and a temporary folder of
// its own. For tests about signals, restarts, crashes, memory and several processes; all others use test-gateway.ts, which starts sooner.

import { afterAll } from "bun:test";
import { join } from "node:path";
import { findFreePort } from "./free-port.ts";
import { createManagementClient, type Gateway, type GatewaySettings, prepareSettings } from "./gateway-settings.ts";
import { childrenOf, descendantsOf, listProcesses } from "./processes.ts";
import type { Vendor } from "./vendor.ts";
import { waitFor, within } from "./wait.ts";

const root = join(import.meta.dir, "..", "..");
// A machine that runs many other programs may take ten times as long as a quiet one.
const startWithinMs = 200_000;
const stopWithinMs = 200_000;

export interface GatewayProcessOptions extends GatewaySettings {
  /** Serves the providers mock, mock2 and mockchat. */
  readonly vendor: Vendor;
  readonly workers?: number;
  /** The limit of open files of each process, `ulimit -n`. */
  readonly maxOpenFiles?: number;
}

export interface GatewayProcess extends Gateway {
  /** The launcher's process: it passes signals on to the supervisor. */
  readonly pid: number;
  processes(): Promise<ProcessIds>;
  signal(signal: "SIGTERM" | "SIGINT" | "SIGHUP"): void;
  /** Resolves with the launcher's exit code. */
  exited(withinMs?: number): Promise<number>;
  /** SIGTERM, then cleaning up. Throws when the gateway does not end by itself. */
  stop(): Promise<void>;
  /** SIGKILL to the whole tree, then cleaning up. */
  kill(): Promise<void>;
}

interface ProcessIds {
  readonly supervisor: number;
  readonly serving: readonly number[];
  readonly working: readonly number[];
}

export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { vendor, workers = 1, maxOpenFiles = null } = options;
  const { folder, dataFolder, adminKey, environment, removeFolder } = await prepareSettings(vendor, options);
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;

  const command = ["node", join(root, "bin", "switchyard.mjs"), "serve"];
  const limited = ["bash", "-c", 'ulimit -n "$0" && exec "$@"', String(maxOpenFiles), ...command];
  const child = Bun.spawn(maxOpenFiles === null ? command : limited, {
    cwd: folder,
    env: { SWITCHYARD_PORT: String(port), SWITCHYARD_WORKERS: String(workers), ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  // A test run that is interrupted leaves no gateway behind.
  const endWithUs = () => child.kill("SIGTERM");
  process.once("exit", endWithUs);

  let log = "";
  async function collect(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of output) log += decoder.decode(bytes, { stream: true });
  }
  const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);

  async function cleanUp(): Promise<void> {
    process.off("exit", endWithUs);
    await within(60_000, "the gateway's output to end", collected).catch(() => {});
    await removeFolder();
  }

  async function kill(): Promise<void> {
    for (const pid of await descendantsOf(child.pid)) killQuietly(pid);
    killQuietly(child.pid);
    await child.exited;
    await cleanUp();
  }

  try {
    await waitForReady(url, child, () => log);
  } catch (error) {
    await kill();
    throw error;
  }

  return {
    url,
    adminKey,
    dataFolder,
    pid: child.pid,
    log: () => log,
    ...createManagementClient(url, adminKey),
    async processes() {
      const rows = await listProcesses();
      const [supervisor] = childrenOf(rows, child.pid);
      if (supervisor === undefined) throw new Error("the launcher has no child");
      const children = rows.filter((row) => row.parent === supervisor);
      const named = (name: string) => children.filter(({ command }) => command.includes(name)).map(({ pid }) => pid);
      return { supervisor, serving: named("serving-process"), working: named("worker-process") };
    },
    signal: (signal) => child.kill(signal),
    exited: (withinMs = stopWithinMs) => within(withinMs, "the gateway to end", child.exited),
    async stop() {
      child.kill("SIGTERM");
      try {
        await within(stopWithinMs, `the gateway to stop; its log:\n${log.slice(-4_000)}`, child.exited);
      } catch (error) {
        await kill();
        throw error;
      }
      await cleanUp();
    },
    kill,
  };
}

/** The gateway of all tests of a file: it and its vendor stop after the last one. */
export async function sharedGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(options);
  afterAll(async () => {
    await gateway.stop();
    await options.vendor.stop();
  });
  return gateway;
}

async function waitForReady(url: string, child: Bun.Subprocess, log: () => string): Promise<void> {
  async function isReady(): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}:\n${log()}`);
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(60_000) }).catch(() => null);
    await response?.arrayBuffer();
    return response?.status === 200;
  }
  await waitFor("the gateway to be ready", isReady, { withinMs: startWithinMs, everyMs: 20 }).catch((error) => {
    throw new Error(`${error instanceof Error ? error.message : error}\n${log()}`);
  });
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
