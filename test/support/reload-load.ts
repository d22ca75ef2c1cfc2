// Reloads of a gateway in processes of its own, under load. Every configuration has a number that its answers state, so that the load can tell
// whether an older configuration answered after a newer one had.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReloadAnswer } from "../../src/cli/control-socket.ts";
import { answer, completion } from "./answers.ts";
import { chatPath } from "./chat.ts";
import { runLane } from "./connection-lane.ts";
import { type GatewayProcess, type GatewayProcessOptions, startGatewayProcess } from "./gateway-process.ts";
import { isOverloaded } from "./gateway-settings.ts";
import { openConnection, type RawConnection, requestBytes } from "./raw-http.ts";
import { startVendor, type Vendor } from "./vendor.ts";
import { waitFor } from "./wait.ts";

export interface ReloadedGateway extends AsyncDisposable {
  readonly gateway: GatewayProcess;
  readonly vendor: Vendor;
  readonly key: string;
  readonly file: string;
  /** Writes the file of the configuration with this number, and with these members. */
  write(number: number, members?: object): void;
  /** What `switchyard reload` asks the gateway. */
  reload(): Promise<ReloadAnswer>;
  /** Repeats a reload that failed because the machine is busy with other programs. */
  reloadPatiently(): Promise<ReloadAnswer>;
  /** The number of the configuration that answers a request on a new connection. */
  ask(): Promise<number>;
}

export async function startReloadedGateway(
  options: Omit<GatewayProcessOptions, "vendor"> = {},
): Promise<ReloadedGateway> {
  // The alias of each configuration names a model of its own, which the vendor repeats.
  const vendor = await startVendor((request) => answer(200, completion(request.model)));
  const config = { ...options.config, aliases: { which: "mock/1" }, start_timeout_ms: 120_000 };
  // A replaced process must not end before it has answered, however busy the machine is.
  const env = { SWITCHYARD_DRAIN_TIMEOUT_MS: "100000", ...options.env };
  const gateway = await startGatewayProcess({ ...options, vendor, config, env });
  const key = await gateway.createKey();
  const file = join(dirname(gateway.dataFolder), "switchyard.yaml");
  const usual = JSON.parse(readFileSync(file, "utf8"));
  const request = chatRequest(key);

  async function askOnce(): Promise<number | null> {
    const connection = await openConnection(gateway.url);
    try {
      connection.send(request);
      const { status, body } = await connection.receive();
      if (status === 200) return readNumber(body.toString());
      if (!isOverloaded(status, body.toString())) throw new Error(`${status}: ${body.toString().slice(0, 300)}`);
      return null;
    } finally {
      connection.leave();
    }
  }
  const ask = () => waitFor("a gateway that is not overloaded", askOnce);

  async function reload(): Promise<ReloadAnswer> {
    const socket = readControl(gateway.dataFolder);
    const response = await fetch("http://gateway/reload", { unix: socket, method: "POST", timeout: false });
    return (await response.json()) as ReloadAnswer;
  }

  let known = 0;
  await waitFor("the key to be known in every process", async () => {
    known = (await ask().catch(() => 0)) === 1 ? known + 1 : 0;
    return known > 20;
  });
  return {
    gateway,
    vendor,
    key,
    file,
    ask,
    write(number, members = {}) {
      const config = { ...usual, aliases: { which: `mock/${number}` }, ...members };
      writeFileSync(`${file}.new`, JSON.stringify(config, null, 2));
      renameSync(`${file}.new`, file);
    },
    reload,
    reloadPatiently: () =>
      waitFor("a reload on a busy machine", async () => {
        const outcome = await reload();
        return outcome.reason === null || !isBusy.test(outcome.reason) ? outcome : null;
      }),
    async [Symbol.asyncDispose]() {
      await gateway.kill();
      await vendor.stop();
    },
  };
}

const isBusy = /The store does not answer/;

function readControl(dataFolder: string): string {
  const folder = join(dataFolder, "run");
  const name = readdirSync(folder).find((one) => one.endsWith(".json")) ?? "";
  return JSON.parse(readFileSync(join(folder, name), "utf8")).socket;
}

function chatRequest(key: string): Buffer {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "which", messages: [{ role: "user", content: "hello" }] });
  return requestBytes({ path: chatPath, headers, body });
}

function readNumber(text: string): number {
  return Number((JSON.parse(text) as { choices: [{ message: { content: string } }] }).choices[0].message.content);
}

export interface ReloadLoad {
  /** Requests that failed, and answers of a configuration that was no longer active when its request was sent. */
  readonly problems: string[];
  readonly served: () => number;
  /** No request that is sent from now on may be answered by an earlier configuration. */
  expectAtLeast(number: number): void;
  stop(): Promise<void>;
}

/** A lane that never rests would take the processor time that the processes need to start. */
const pauseMs = 20;

/** Some lanes keep their connection, the others open one for every request. */
export function startReloadLoad({ gateway, key }: ReloadedGateway, lanes: { kept: number; fresh: number }): ReloadLoad {
  const request = chatRequest(key);
  const problems: string[] = [];
  let served = 0;
  let newest = 1;
  let isRunning = true;

  async function once(connection: RawConnection, isKept: boolean): Promise<boolean> {
    const kind = isKept ? "kept" : "new";
    const oldest = newest;
    connection.send(request);
    const { status, complete, body, headers } = await connection.receive();
    const text = body.toString();
    if (status === 200 && complete) {
      const number = readNumber(text);
      served += 1;
      if (!(number >= oldest))
        problems.push(`configuration ${number} answered after ${oldest} on a ${kind} connection`);
      newest = Math.max(newest, number);
    } else if (!isOverloaded(status, text)) problems.push(`${status} on a ${kind} connection: ${text.slice(0, 200)}`);
    return status !== 0 && headers["connection"]?.toLowerCase() !== "close";
  }

  const lane = (keeps: boolean) =>
    runLane({
      url: gateway.url,
      keeps,
      pauseMs,
      once,
      isRunning: () => isRunning,
      onError: (message) => problems.push(message),
    });

  const all = Promise.all([
    ...Array.from({ length: lanes.kept }, () => lane(true)),
    ...Array.from({ length: lanes.fresh }, () => lane(false)),
  ]);
  return {
    problems,
    served: () => served,
    expectAtLeast(number) {
      newest = Math.max(newest, number);
    },
    async stop() {
      isRunning = false;
      await all;
    },
  };
}

/** What goes wrong in a reload, and what the answer says about it. */
export interface BrokenReload {
  readonly name: string;
  readonly says: RegExp;
  run(gateway: ReloadedGateway): Promise<ReloadAnswer>;
}

export const brokenReloads: readonly BrokenReload[] = [
  {
    name: "a syntax error",
    says: /switchyard\.yaml:\d+:/,
    async run({ file, reload }) {
      writeFileSync(file, "aliases: { which: mock/0\n");
      return await reload();
    },
  },
  {
    name: "an alias of an unknown provider, which only the processes find",
    says: /unknown provider 'nosuch'/,
    async run({ write, reload }) {
      write(0, { aliases: { which: "mock/0", wrong: "nosuch/x" } });
      return await reload();
    },
  },
  {
    name: "a misspelt setting",
    says: /retires/,
    async run({ write, reload }) {
      write(0, { retires: 3 });
      return await reload();
    },
  },
  {
    name: "a file that is missing",
    says: /there is no file/,
    async run({ file, reload }) {
      rmSync(file);
      return await reload();
    },
  },
  {
    name: "a folder instead of the file",
    says: /is a folder/,
    async run({ file, reload }) {
      rmSync(file, { force: true });
      mkdirSync(file);
      const outcome = await reload();
      rmdirSync(file);
      return outcome;
    },
  },
  {
    name: "another data folder",
    says: /data_dir cannot change|database_url cannot change/,
    async run({ write, reload }) {
      write(0, { database_url: "postgres://127.0.0.1:1/x" });
      return await reload();
    },
  },
  {
    name: "a process that is killed while it starts",
    says: /A serving process ended while it was starting \(signal SIGKILL\)/,
    run: (gateway) => whileStarting(gateway, "SIGKILL"),
  },
  {
    name: "a process that hangs while it starts",
    says: /did not start within/,
    run: (gateway) => whileStarting(gateway, "SIGSTOP"),
  },
];

/** Sends the signal to the first serving process that the reload starts. It takes hundreds of milliseconds until such a process could serve. */
async function whileStarting(
  { gateway, write, reload }: ReloadedGateway,
  signal: "SIGKILL" | "SIGSTOP",
): Promise<ReloadAnswer> {
  write(0, { start_timeout_ms: 3_000 });
  const { supervisor } = await gateway.processes();
  const list = () => readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, "utf8").trim().split(/\s+/);
  const before = new Set(list());
  // Before it has its own command line, the supervisor waits for the process, which is still a part of itself.
  const isSuccessor = (pid: string) => !before.has(pid) && readCommand(pid).includes("serving-process");
  const outcome = reload();
  const pid = await waitFor("a process that starts", () => list().find(isSuccessor), { everyMs: 2 });
  process.kill(Number(pid), signal);
  return await outcome;
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended
  }
}
