// The control socket: `switchyard reload` reaches a running gateway over a Unix socket, which only the operating-system user of the gateway can
// open. The socket is in the data folder, where commands see it even if they have another folder of temporary files than the gateway, as with
// systemd's `PrivateTmp` and in containers. A file beside it describes it, and the gateway holds a lock on another one for as long as it runs.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isObject } from "../lib/lenient-json.ts";
import type { Log } from "../log.ts";
import { type FileLock, tryFileLock } from "../storage/file-lock.ts";
import type { ReloadOutcome } from "../supervisor.ts";

interface ControlOptions {
  readonly dataDir: string;
  /** The folder of the socket where the data folder cannot contain one. Only the gateway's user can enter it. */
  readonly folder: string;
  readonly reload: () => Promise<ReloadOutcome>;
  readonly log: Log;
}

/** The answer of one gateway. */
export interface ReloadAnswer extends ReloadOutcome {
  readonly pid: number;
}

export interface ReloadAnswers {
  readonly answers: readonly ReloadAnswer[];
  /** The process ids of gateways that run, but whose socket cannot be opened from here. */
  readonly unreachable: readonly number[];
}

// A reload takes as long as the processes need to start. Bun applies `idleTimeout` to Unix sockets, but its types lack the option there.
const noTimeout = { idleTimeout: 0 } as object;
/** The longest path of a Unix socket, in bytes; macOS allows four fewer than Linux. */
const maxSocketPath = 103;

/** If the socket cannot be opened, the gateway serves all the same, and SIGHUP reloads it. */
export function openControlSocket({ dataDir, folder, reload, log }: ControlOptions): Disposable {
  const { pid } = process;
  // Process ids are not unique: containers that share a data folder count their own.
  const files = filesOf(runFolder(dataDir), crypto.randomUUID().slice(0, 8));
  const answer = async () => Response.json({ pid, ...(await reload()) });
  let server: Bun.Server<undefined> | null = null;
  let lock: FileLock | null = null;
  try {
    mkdirSync(runFolder(dataDir), { recursive: true, mode: 0o700 });
    lock = tryFileLock(files.lock);
    const opened = listen([files.socket, join(folder, "control.sock")], answer);
    server = opened.server;
    writeFileSync(files.description, JSON.stringify({ pid, socket: opened.socket }), { mode: 0o600 });
  } catch (error) {
    void server?.stop(true);
    lock?.release();
    remove(files);
    log.warn("commands cannot reach this gateway; reload it with SIGHUP", { file: files.description, error });
    return { [Symbol.dispose]() {} };
  }
  return {
    [Symbol.dispose]() {
      void server.stop(true);
      lock?.release();
      remove(files);
    },
  };
}

/** Listens at the first of the paths that can hold a socket: some network disks cannot. */
function listen(paths: readonly string[], answer: () => Promise<Response>) {
  let failure: unknown = null;
  for (const socket of paths) {
    if (Buffer.byteLength(socket) > maxSocketPath) continue;
    try {
      const routes = { "/reload": { POST: answer } };
      return { socket, server: Bun.serve({ unix: socket, ...noTimeout, development: false, routes }) };
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure ?? new Error(`The paths are too long for a socket: ${paths.join(", ")}`);
}

/** Reloads every gateway that uses the data folder. Both lists are empty when no gateway runs. */
export async function reloadGateways(dataDir: string): Promise<ReloadAnswers> {
  const outcomes = await Promise.all(listGateways(dataDir).map(requestReload));
  return {
    answers: outcomes.filter((outcome) => typeof outcome === "object" && outcome !== null),
    unreachable: outcomes.filter((outcome) => typeof outcome === "number"),
  };
}

interface GatewayFiles {
  readonly description: string;
  readonly lock: string;
  readonly socket: string;
}

interface RunningGateway {
  readonly files: GatewayFiles;
  readonly pid: number;
  readonly socket: string;
}

function listGateways(dataDir: string): RunningGateway[] {
  const folder = runFolder(dataDir);
  return readNames(folder).flatMap((name) => {
    const id = name.replace(/\.json$/, "");
    if (id === name) return [];
    const files = filesOf(folder, id);
    try {
      const content: unknown = JSON.parse(readFileSync(files.description, "utf8"));
      if (!isObject(content) || typeof content["socket"] !== "string") return [];
      return [{ files, pid: Number(content["pid"]), socket: findSocket(files, content["socket"]) }];
    } catch {
      return []; // the gateway is writing the file, or has just deleted it
    }
  });
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "ENOENT") return [];
    throw new Error(`The folder ${folder} cannot be read. Run the command as the user of the gateway, or as root.`, {
      cause: error,
    });
  }
}

/** The data folder may have another path in the container of the gateway. */
function findSocket(files: GatewayFiles, named: string): string {
  return named.endsWith(files.socket.slice(files.socket.lastIndexOf("/"))) ? files.socket : named;
}

const noListenerCodes: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
]);

/** Returns null when the gateway has ended, and its process id when it runs but its socket cannot be opened. */
async function requestReload({ files, pid, socket }: RunningGateway): Promise<ReloadAnswer | number | null> {
  let response: Response;
  try {
    response = await fetch("http://gateway/reload", { unix: socket, method: "POST", timeout: false, proxy: false });
  } catch (error) {
    if (!noListenerCodes.has((error as { readonly code?: unknown }).code))
      throw new Error("The gateway closed the connection before it answered. Read its log, then reload it again.", {
        cause: error,
      });
    return removeIfEnded(files) ? null : pid;
  }
  // The route in openControlSocket writes this type.
  return (await response.json()) as ReloadAnswer;
}

/** A gateway that was killed could not delete its files, but its lock is free. */
function removeIfEnded(files: GatewayFiles): boolean {
  // Gateways of version 0.1 have no lock. Whether they run is unknown, so nothing is deleted.
  if (!existsSync(files.lock)) return true;
  const lock = tryFileLock(files.lock);
  if (lock === null) return false;
  remove(files);
  lock.release();
  return true;
}

function remove({ description, lock, socket }: GatewayFiles): void {
  try {
    for (const file of [description, socket, lock]) rmSync(file, { force: true });
  } catch {
    // The folder is read-only now. Files that stay are ignored, because their lock is free.
  }
}

function filesOf(folder: string, id: string): GatewayFiles {
  const path = join(resolve(folder), id);
  return { description: `${path}.json`, lock: `${path}.lock`, socket: `${path}.sock` };
}

function runFolder(dataDir: string): string {
  return join(dataDir, "run");
}
