// Every process that the bench starts, and its end. Only pids that are noted here are ever signalled.

import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { type ProcessUse, readProcess, readProcessTree } from "./process-tree.ts";

export type Child = { pid: number; process: Subprocess; logPath: string };

export class Children {
  readonly folder: string;
  readonly #running = new Set<Child>();
  #started = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** A server: its output goes to a file, as in production, so that nobody's CPU time is spent on reading it here. */
  start(command: string[], environment: Record<string, string>, workingFolder: string): Child {
    const logPath = join(this.folder, `${++this.#started}.log`);
    const log = openSync(logPath, "a");
    const process = Bun.spawn(command, {
      cwd: workingFolder,
      env: { ...cleanEnvironment(), ...environment },
      stdin: "ignore",
      stdout: log,
      stderr: log,
    });
    const child = { pid: process.pid, process, logPath };
    this.#running.add(child);
    return child;
  }

  /** A tool of the bench that says things on its standard output and ends when its standard input closes. */
  startTool(script: string, options: unknown): Subprocess<"pipe", "pipe", "inherit"> & { stop: () => Promise<void> } {
    const tool = Bun.spawn(
      [globalThis.process.execPath, "run", join(import.meta.dir, script), JSON.stringify(options)],
      {
        // More than the 256 outgoing requests that Bun makes at once unless told.
        env: { ...cleanEnvironment(), BUN_CONFIG_MAX_HTTP_REQUESTS: "2000" },
        stdin: "pipe",
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    const child = { pid: tool.pid, process: tool, logPath: "" };
    this.#running.add(child);
    return Object.assign(tool, { stop: () => this.stop(child) });
  }

  /** Run a command of ours to its end and return what it printed. */
  async run(command: string[], environment: Record<string, string>, timeoutMs: number): Promise<string> {
    const process = Bun.spawn(command, {
      env: { ...cleanEnvironment(), ...environment },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const child = { pid: process.pid, process, logPath: "" };
    this.#running.add(child);
    const [printed, complaint] = await Promise.all([process.stdout.text(), process.stderr.text()]);
    const exitCode = await process.exited;
    this.#running.delete(child);
    if (exitCode !== 0) {
      throw new Error(
        `${command[0]} ended with ${exitCode ?? process.signalCode}: ${(complaint || printed).trim().slice(-400)}`,
      );
    }
    return printed;
  }

  /** Asked to end by SIGTERM; after 8 s it and whatever it left behind is killed. */
  async stop(child: Child): Promise<void> {
    if (!this.#running.delete(child)) return;
    const tree = readProcessTree(child.pid);
    child.process.kill("SIGTERM");
    await Promise.race([child.process.exited, Bun.sleep(8_000)]);
    for (const member of tree) killIfAlive(member);
  }

  async stopAll(): Promise<void> {
    await this.stopAllBut(new Set());
  }

  listRunning(): Set<Child> {
    return new Set(this.#running);
  }

  /** A figure that failed half-way leaves its contestants; the vendors from before it stay. */
  async stopAllBut(kept: Set<Child>): Promise<void> {
    const others = [...this.#running].filter((child) => !kept.has(child));
    await Promise.all(others.map((child) => this.stop(child)));
  }

  /** For the watchdog, which has no time to be polite. */
  killAll(): void {
    for (const child of this.#running) for (const member of readProcessTree(child.pid)) killIfAlive(member);
  }
}

/** All processes end with `run`, also when it fails or is interrupted. */
export async function withChildren(run: (children: Children) => Promise<void>): Promise<void> {
  const children = new Children(mkdtempSync(join(tmpdir(), "switchyard-bench-")));
  const stop = () => {
    children.killAll();
    process.exit(1);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    await run(children);
  } finally {
    await children.stopAll();
    rmSync(children.folder, { recursive: true, force: true });
  }
}

export function readLogTail(child: Child): string {
  return readFileSync(child.logPath, "utf8").trim().slice(-600);
}

/** A port that was free a moment ago, for servers that cannot be told to choose one and say which. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

/** Poll until the address answers with a status below 500, or fail with the end of the child's log. */
export async function waitForAnswer(child: Child, url: string, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (child.process.exitCode !== null) throw new Error(`ended while starting: ${readLogTail(child)}`);
    const status = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    );
    if (status > 0 && status < 500) return;
    await Bun.sleep(5);
  }
  throw new Error(`not ready after ${timeoutMs} ms: ${readLogTail(child)}`);
}

function killIfAlive(member: ProcessUse): void {
  if (readProcess(member.pid)?.startTick !== member.startTick) return;
  try {
    process.kill(member.pid, "SIGKILL");
  } catch {
    // It ended by itself in between.
  }
}

/** The operator's own gateway settings and provider keys must not leak into what is measured. */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^SWITCHYARD_|_API_KEY$|_BASE_URL$|^DATABASE_URL$|^NODE_OPTIONS$|^(HTTPS?|ALL)_PROXY$/i.test(name),
  );
  return Object.fromEntries(kept.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
