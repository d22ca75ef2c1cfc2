// The real gateway as a child process, started the way an operator starts it, with its settings in the environment and
// a temporary folder of its own.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Vendor } from "./vendor.ts";
import { waitFor, within } from "./wait.ts";

const root = join(import.meta.dir, "..", "..");

/** The mock vendor's key at every mock provider. It must never come out of the gateway but towards the vendor. */
export const providerSecret = "sk-PROVIDERSECRET-4f1c09d2a7";

export interface GatewayOptions {
  /** Serves the providers mock, mock2 and mockchat. */
  readonly vendor: Vendor;
  readonly workers?: number;
  /** Working processes; none unless a test is about jobs. */
  readonly jobWorkers?: number;
  /** The limit of open files of each process, `ulimit -n`. */
  readonly maxOpenFiles?: number;
  /** More settings, by their environment names. */
  readonly env?: Readonly<Record<string, string>>;
  /** More members of switchyard.yaml; `providers` is merged with the mock ones. */
  readonly config?: Readonly<Record<string, unknown>> & { readonly providers?: Readonly<Record<string, unknown>> };
}

export interface KeyRequest {
  readonly name?: string;
  readonly kind?: "inference" | "management" | "sandbox";
  readonly scopes?: readonly string[];
  readonly allowed_models?: readonly string[];
  readonly rate_limit?: Readonly<Record<string, number>>;
  readonly budget?: { readonly amount: number; readonly period: string };
  readonly expires_at?: string;
  readonly enabled?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Gateway {
  readonly url: string;
  readonly adminKey: string;
  readonly dataFolder: string;
  /** The launcher's process: it passes signals on to the supervisor. */
  readonly pid: number;
  /** Everything written so far to standard output and error. */
  log(): string;
  /** A new key's secret. */
  createKey(request?: KeyRequest): Promise<string>;
  /** A call of the management interface; throws unless it succeeds. */
  manage(method: string, path: string, body?: unknown): Promise<unknown>;
  processes(): Promise<GatewayProcesses>;
  signal(signal: "SIGTERM" | "SIGINT" | "SIGHUP"): void;
  /** Resolves with the launcher's exit code. */
  exited(withinMs?: number): Promise<number>;
  /** SIGTERM, then cleaning up. Throws when the gateway does not end by itself. */
  stop(): Promise<void>;
  /** SIGKILL to the whole tree, then cleaning up. */
  kill(): Promise<void>;
}

interface GatewayProcesses {
  readonly supervisor: number;
  readonly serving: readonly number[];
  readonly working: readonly number[];
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { vendor, workers = 1, jobWorkers = 0, maxOpenFiles = null, env = {}, config = {} } = options;
  const folder = await mkdtemp(join(tmpdir(), "switchyard-test-"));
  const dataFolder = join(folder, "data");
  const configFile = join(folder, "switchyard.yaml");
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const adminKey = `mgmt-sy-${crypto.randomUUID().replaceAll("-", "")}`;

  const providers = { ...mockProviders(vendor), ...config.providers };
  // JSON is YAML.
  await writeFile(configFile, JSON.stringify({ ...config, providers }, null, 2));

  const command = ["node", join(root, "bin", "switchyard.mjs"), "serve"];
  const limited = ["bash", "-c", 'ulimit -n "$0" && exec "$@"', String(maxOpenFiles), ...command];
  const child = Bun.spawn(maxOpenFiles === null ? command : limited, {
    cwd: folder,
    env: {
      ...ownEnvironment(),
      SWITCHYARD_HOST: "127.0.0.1",
      SWITCHYARD_PORT: String(port),
      SWITCHYARD_DATA_DIR: dataFolder,
      SWITCHYARD_WORKERS: String(workers),
      SWITCHYARD_JOB_WORKERS: String(jobWorkers),
      SWITCHYARD_ADMIN_KEY: adminKey,
      SWITCHYARD_CONFIG: configFile,
      SWITCHYARD_LOG_FORMAT: "json",
      SWITCHYARD_DRAIN_DELAY_MS: "0",
      SWITCHYARD_DRAIN_TIMEOUT_MS: "2000",
      ...env,
    },
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
    await within(5_000, "the gateway's output to end", collected).catch(() => {});
    await rm(folder, { recursive: true, force: true });
  }

  async function kill(): Promise<void> {
    for (const pid of await descendants(child.pid)) killQuietly(pid);
    killQuietly(child.pid);
    await child.exited;
    await cleanUp();
  }

  async function manage(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${url}/v3/manage${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /v3/manage${path} answered ${response.status}: ${text}`);
    return text === "" ? null : JSON.parse(text);
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
    manage,
    async createKey(request = {}) {
      const created = await manage("POST", "/keys", { name: "a test's key", ...request });
      if (typeof created !== "object" || created === null || !("key" in created) || typeof created.key !== "string") {
        throw new Error(`no key in ${JSON.stringify(created)}`);
      }
      return created.key;
    },
    async processes() {
      const table = await processTable();
      const [supervisor] = childrenOf(table, child.pid);
      if (supervisor === undefined) throw new Error("the launcher has no child");
      const children = table.filter((row) => row.parent === supervisor);
      const named = (name: string) => children.filter(({ command }) => command.includes(name)).map(({ pid }) => pid);
      return { supervisor, serving: named("serving-process"), working: named("working-process") };
    },
    signal: (signal) => child.kill(signal),
    exited: (withinMs = 15_000) => within(withinMs, "the gateway to end", child.exited),
    async stop() {
      child.kill("SIGTERM");
      try {
        await within(15_000, `the gateway to stop; its log:\n${log.slice(-4_000)}`, child.exited);
      } catch (error) {
        await kill();
        throw error;
      }
      await cleanUp();
    },
    kill,
  };
}

/** Paths tell the providers apart at the vendor. */
function mockProviders(vendor: Vendor): Record<string, unknown> {
  const origin = `http://127.0.0.1:${vendor.port}`;
  return {
    mock: { dialect: "openai", base_url: `${origin}/v1`, api_key: providerSecret, responses: "native" },
    mock2: { dialect: "openai", base_url: `${origin}/mock2/v1`, api_key: providerSecret, responses: "native" },
    mockchat: { dialect: "openai", base_url: `${origin}/mockchat/v1`, api_key: providerSecret },
  };
}

/** Nothing that configures a gateway or a vendor may leak in from the shell that runs the tests. */
function ownEnvironment(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "TMPDIR", "LANG", "TZ"]) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

async function waitForReady(url: string, child: Bun.Subprocess, log: () => string): Promise<void> {
  async function isReady(): Promise<boolean> {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}:\n${log()}`);
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    await response?.arrayBuffer();
    return response?.status === 200;
  }
  await waitFor(`the gateway to be ready; its log:\n${log()}`, isReady, { withinMs: 15_000, everyMs: 20 }).catch(
    (error) => {
      throw new Error(`${error instanceof Error ? error.message : error}\n${log()}`);
    },
  );
}

export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly residentKilobytes: number;
  readonly command: string;
}

async function processTable(): Promise<ProcessRow[]> {
  const output = await new Response(
    Bun.spawn(["ps", "-A", "-w", "-w", "-o", "pid=,ppid=,rss=,stat=,args="]).stdout,
  ).text();
  return output.split("\n").flatMap((line) => {
    const [pid, parent, residentKilobytes, state, ...command] = line.trim().split(/\s+/);
    // Dead and not yet buried.
    if (pid === undefined || state === undefined || state.startsWith("Z")) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        residentKilobytes: Number(residentKilobytes),
        command: command.join(" "),
      },
    ];
  });
}

function childrenOf(table: readonly ProcessRow[], parent: number): number[] {
  return table.filter((row) => row.parent === parent).map((row) => row.pid);
}

async function descendants(pid: number): Promise<number[]> {
  const table = await processTable();
  function below(parent: number): number[] {
    return childrenOf(table, parent).flatMap((child) => [child, ...below(child)]);
  }
  return below(pid);
}

/** Megabytes of memory that a process holds; 0 when it is gone. */
export async function residentMegabytes(pid: number): Promise<number> {
  const row = (await processTable()).find((one) => one.pid === pid);
  return (row?.residentKilobytes ?? 0) / 1_024;
}

export async function isAlive(pid: number): Promise<boolean> {
  return (await processTable()).some((row) => row.pid === pid);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}

/** Every byte of every file below a folder, as text that can be searched for secrets. */
export async function readFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
  return texts.join("\n");
}
