// How commands reach a running gateway: over a Unix socket that only the user of the gateway can open. A file in the data folder names it.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServedConfiguration } from "../contract/health.ts";
import { isObject } from "../lib/lenient-json.ts";
import type { Log } from "../log.ts";
import type { ReloadOutcome } from "../supervisor.ts";

interface ControlOptions {
  readonly dataDir: string;
  /** Only the user of the gateway can enter it. */
  readonly folder: string;
  readonly reload: () => Promise<ReloadOutcome>;
  readonly describe: () => ServedConfiguration;
  readonly log: Log;
}

/** The answer of one gateway. */
export interface ReloadAnswer extends ReloadOutcome {
  readonly pid: number;
}

// A reload takes as long as the processes need to start. Bun applies the option to Unix sockets as well, which its types do not know.
const noTimeout = { idleTimeout: 0 } as object;

/** Without it the gateway serves all the same, and SIGHUP reloads it. */
export function startControl({ dataDir, folder, reload, describe, log }: ControlOptions): Disposable {
  const socket = join(folder, "control.sock");
  const file = join(runFolder(dataDir), `${process.pid}.json`);
  const { pid } = process;
  try {
    const server = Bun.serve({
      unix: socket,
      ...noTimeout,
      development: false,
      routes: {
        "/": { GET: () => Response.json({ pid, configuration: describe() }) },
        "/reload": { POST: async () => Response.json({ pid, ...(await reload()) }) },
      },
    });
    mkdirSync(runFolder(dataDir), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify({ pid, socket }), { mode: 0o600 });
    return {
      [Symbol.dispose]() {
        rmSync(file, { force: true });
        void server.stop(true);
      },
    };
  } catch (error) {
    log.warn("commands cannot reach this gateway; reload it with SIGHUP", { file, error });
    return { [Symbol.dispose]() {} };
  }
}

/** Asks every gateway that runs on the data folder. Empty when no gateway runs. */
export async function reloadGateways(dataDir: string): Promise<ReloadAnswer[]> {
  const answers = await Promise.all(listSockets(dataDir).map(({ file, socket }) => ask(file, socket)));
  return answers.filter((answer) => answer !== null);
}

/** Null when no gateway listens there: it was killed, and could not delete its file. */
async function ask(file: string, socket: string): Promise<ReloadAnswer | null> {
  let response: Response;
  try {
    response = await fetch("http://gateway/reload", { unix: socket, method: "POST", timeout: false, proxy: false });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if (code !== "ENOENT" && code !== "ECONNREFUSED" && code !== "ConnectionRefused" && code !== "FailedToOpenSocket")
      throw new Error("The gateway ended before it answered.", { cause: error });
    rmSync(file, { force: true });
    return null;
  }
  return (await response.json()) as ReloadAnswer;
}

function listSockets(dataDir: string): { file: string; socket: string }[] {
  let names: string[];
  try {
    names = readdirSync(runFolder(dataDir));
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const file = join(runFolder(dataDir), name);
    try {
      const written: unknown = JSON.parse(readFileSync(file, "utf8"));
      return isObject(written) && typeof written["socket"] === "string" ? [{ file, socket: written["socket"] }] : [];
    } catch {
      return []; // the gateway is writing it, or has just deleted it
    }
  });
}

function runFolder(dataDir: string): string {
  return join(dataDir, "run");
}
