// The control socket: `switchyard reload` reaches a running gateway over a Unix socket, which only the operating-system user of the gateway can
// open. A file in the data folder names the path of the socket.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../lib/lenient-json.ts";
import type { Log } from "../log.ts";
import type { ReloadOutcome } from "../supervisor.ts";

interface ControlOptions {
  readonly dataDir: string;
  /** The folder of the socket, which only the gateway's user can enter. */
  readonly folder: string;
  readonly reload: () => Promise<ReloadOutcome>;
  readonly log: Log;
}

/** The answer of one gateway. */
export interface ReloadAnswer extends ReloadOutcome {
  readonly pid: number;
}

// A reload takes as long as the processes need to start. Bun applies `idleTimeout` to Unix sockets, but its types lack the option there.
const noTimeout = { idleTimeout: 0 } as object;

/** If the socket cannot be opened, the gateway serves all the same, and SIGHUP reloads it. */
export function openControlSocket({ dataDir, folder, reload, log }: ControlOptions): Disposable {
  const { pid } = process;
  const socket = join(folder, "control.sock");
  const file = join(runFolder(dataDir), `${pid}.json`);
  let server: Bun.Server<undefined> | null = null;
  try {
    server = Bun.serve({
      unix: socket,
      ...noTimeout,
      development: false,
      routes: { "/reload": { POST: async () => Response.json({ pid, ...(await reload()) }) } },
    });
    mkdirSync(runFolder(dataDir), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ pid, socket }), { mode: 0o600 });
  } catch (error) {
    void server?.stop(true);
    log.warn("commands cannot reach this gateway; reload it with SIGHUP", { file, error });
    return { [Symbol.dispose]() {} };
  }
  return {
    [Symbol.dispose]() {
      rmSync(file, { force: true });
      void server.stop(true);
    },
  };
}

/** Reloads every gateway that uses the data folder. Returns an empty list when no gateway runs. */
export async function reloadGateways(dataDir: string): Promise<ReloadAnswer[]> {
  const answers = await Promise.all(listSockets(dataDir).map(requestReload));
  return answers.filter((answer) => answer !== null);
}

interface SocketFile {
  readonly file: string;
  readonly socket: string;
}

function listSockets(dataDir: string): SocketFile[] {
  const folder = runFolder(dataDir);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // no gateway has used this data folder, or this user may not read it
  }
  return names.flatMap((name) => {
    const file = join(folder, name);
    try {
      const content: unknown = JSON.parse(readFileSync(file, "utf8"));
      return isObject(content) && typeof content["socket"] === "string" ? [{ file, socket: content["socket"] }] : [];
    } catch {
      return []; // the gateway is writing the file, or has just deleted it
    }
  });
}

const noListenerCodes: ReadonlySet<unknown> = new Set([
  "ENOENT",
  "ECONNREFUSED",
  "ConnectionRefused",
  "FailedToOpenSocket",
]);

/** Returns null and deletes the file when nothing listens on the socket: a gateway that was killed could not delete its file. */
async function requestReload({ file, socket }: SocketFile): Promise<ReloadAnswer | null> {
  let response: Response;
  try {
    response = await fetch("http://gateway/reload", { unix: socket, method: "POST", timeout: false, proxy: false });
  } catch (error) {
    if (!noListenerCodes.has((error as { readonly code?: unknown }).code))
      throw new Error("The gateway closed the connection before it answered. Read its log, then reload it again.", {
        cause: error,
      });
    rmSync(file, { force: true });
    return null;
  }
  // The route in openControlSocket writes this type.
  return (await response.json()) as ReloadAnswer;
}

function runFolder(dataDir: string): string {
  return join(dataDir, "run");
}
