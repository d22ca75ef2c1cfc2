// The topology of deploy/compose.yaml as processes of this machine: PostgreSQL, two gateways, a worker, and nginx with the sample configuration.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "./free-port.ts";
import { createManagementClient, type Gateway, prepareSettings } from "./gateway-settings.ts";
import { startNginx, type TestNginx, whyNoNginx } from "./nginx.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "./postgres.ts";
import { descendantsOf } from "./processes.ts";
import type { Vendor } from "./vendor.ts";
import { waitFor, within } from "./wait.ts";

export interface Topology extends Pick<Gateway, "manage" | "createKey"> {
  /** The address of nginx. */
  readonly url: string;
  readonly postgres: OwnPostgres;
  readonly gateways: readonly Part[];
  readonly worker: Part;
  readonly nginx: TestNginx;
  /** What the parts logged last, without the lines of requests. */
  describe(): string;
  stop(): Promise<void>;
}

/** A gateway or a worker, started as an operator does. */
export interface Part {
  /** The address of a gateway, and that of the probes of a worker. */
  readonly url: string;
  log(): string;
  /** SIGTERM; then, after it has ended with exit code 0, a new one at the same address. */
  restart(): Promise<void>;
}

const root = join(import.meta.dir, "../..");
const startWithinMs = 90_000;
const maxStarts = 5;
const stopWithinMs = 120_000;
// As in deploy/compose.yaml: longer than keepalive_timeout of the sample.
const drainDelayMs = 5_000;

export function whyNoTopology(): string | null {
  return whyNoNginx() ?? whyNoOwnPostgres();
}

export async function startTopology(vendor: Vendor): Promise<Topology> {
  const postgres = await startOwnPostgres();
  const { folder, adminKey, environment, removeFolder } = await prepareSettings(vendor, {
    env: {
      DATABASE_URL: postgres.url,
      SWITCHYARD_WORKERS: "2",
      SWITCHYARD_DRAIN_DELAY_MS: String(drainDelayMs),
      SWITCHYARD_DRAIN_TIMEOUT_MS: "100000",
    },
  });
  const running: RunningPart[] = [];
  let nginx: TestNginx | null = null;

  async function stop(): Promise<void> {
    await nginx?.stop();
    await Promise.all(running.map((part) => part.stop()));
    await postgres.stop();
    await removeFolder();
  }

  async function add(command: "serve" | "work", more: Record<string, string>): Promise<RunningPart> {
    const part = createPart(command, folder, { ...environment, ...more });
    running.push(part);
    await part.start();
    return part;
  }

  try {
    const ports = [await findFreePort(), await findFreePort()] as const;
    const gateways = await Promise.all(ports.map((port) => add("serve", { SWITCHYARD_PORT: String(port) })));
    const probePort = String(await findFreePort());
    const worker = await add("work", { SWITCHYARD_JOB_WORKERS: "1", SWITCHYARD_METRICS_PORT: probePort });
    nginx = await startNginx(mkdtempSync(join(tmpdir(), "switchyard-nginx-")), ports);
    const { url } = nginx;
    return { url, postgres, gateways, worker, nginx, ...createManagementClient(url, adminKey), describe, stop };
  } catch (error) {
    const text = `the topology did not start: ${error}\n${describe()}`;
    await stop();
    throw new Error(text);
  }

  function describe(): string {
    const parts = running.map((part) =>
      part
        .log()
        .split("\n")
        .filter((line) => !line.includes('"request_id"')),
    );
    return [...parts.map((lines) => lines.slice(-40).join("\n")), nginx?.log().slice(-4_000)].join("\n\n");
  }
}

interface RunningPart extends Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}

function createPart(command: "serve" | "work", folder: string, environment: Record<string, string>): RunningPart {
  const port = environment[command === "serve" ? "SWITCHYARD_PORT" : "SWITCHYARD_METRICS_PORT"];
  const url = `http://127.0.0.1:${port}`;
  let log = "";
  let child: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;

  async function collect(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of output) log += decoder.decode(bytes, { stream: true });
  }

  /** As systemd and container engines do: a start that failed is repeated. On a busy machine the store can miss its deadline. */
  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await startOnce();
        return;
      } catch (error) {
        if (attempt === maxStarts || child?.exitCode !== 1) throw error;
      }
    }
  }

  async function startOnce(): Promise<void> {
    const before = log.length;
    const started = Bun.spawn(["node", join(root, "bin/switchyard.mjs"), command], {
      cwd: folder,
      env: environment,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    child = started;
    void Promise.all([collect(started.stdout), collect(started.stderr)]);
    const isReady = () => {
      if (started.exitCode !== null) throw new Error(`${command} ended with ${started.exitCode}: ${log.slice(before)}`);
      // One serving process answers before the others have started, and the gateway ends if one of them fails to.
      return log.slice(before).includes(command === "serve" ? '"message":"serving"' : "runs jobs");
    };
    await waitFor(`${command} to be ready`, isReady, { withinMs: startWithinMs, everyMs: 50 });
  }

  async function end(): Promise<number> {
    child?.kill("SIGTERM");
    return await within(stopWithinMs, `${command} to end; its log: ${log.slice(-2_000)}`, child?.exited ?? never());
  }

  return {
    url,
    log: () => log,
    start,
    async restart() {
      const code = await end();
      if (code !== 0) throw new Error(`${command} ended with ${code}: ${log.slice(-2_000)}`);
      await start();
    },
    async stop() {
      if (child === null || child.exitCode !== null) return;
      const pids = await descendantsOf(child.pid);
      for (const pid of [child.pid, ...pids]) killQuietly(pid);
      await child.exited;
    },
  };
}

async function never(): Promise<number> {
  throw new Error("it was not started");
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
