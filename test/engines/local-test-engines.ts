// Engines that behave badly on purpose, for the tests of the pool: what a worker lists in place of the real ones.

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import type { Lane, LocalCall, LocalEngine } from "../../src/engines/local/local-engine.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";

/** (module (func (export "run") (loop br 0))): WebAssembly that never ends. */
const endlessLoop = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0, 10, 9, 1, 7, 0,
  3, 0x40, 0x0c, 0, 0x0b, 0x0b,
]);
/** (module (func (export "run") unreachable)): how WebAssembly ends that ran out of its memory. */
const abort = new Uint8Array([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0, 10, 5, 1, 3, 0,
  0, 0x0b,
]);

type Run = (call: LocalCall) => unknown;

function engine(task: string, run: Run, lane: Lane = "light"): LocalEngine {
  return {
    task,
    packages: [],
    lane,
    load: async () => async (call) => {
      const result = await run(call);
      return { output: { pid: process.pid, result }, original: null, units: {} };
    },
  };
}

function runWebAssembly(bytes: Uint8Array<ArrayBuffer>): void {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  (instance.exports["run"] as () => void)();
}

function compute(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

function fillMemory(): void {
  const kept: Uint8Array[] = [];
  for (let megabytes = 0; megabytes < 4_000; megabytes += 4) {
    kept.push(new Uint8Array(4 * 1_048_576).fill(1));
    compute(2);
  }
}

async function outcomeOf(attempt: () => Promise<unknown>): Promise<string> {
  try {
    await attempt();
    return "reached";
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
}

async function connectTcp(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}

async function sendUdp(): Promise<void> {
  const socket = createSocket("udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.send("x", 9, "127.0.0.1", (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    socket.close();
  }
}

async function runProgram(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { stdout: "ignore", stderr: "ignore" });
  if ((await child.exited) !== 0) throw new Error("the program failed");
}

const failures = { loads: 0 };
const held: Uint8Array[] = [];

export const localEngines: readonly LocalEngine[] = [
  engine("test/echo", ({ input }) => input),
  engine("test/compute", ({ input }) => compute(Number(input["milliseconds"]))),
  engine("test/heavy_compute", ({ input }) => compute(Number(input["milliseconds"])), "heavy"),
  engine("test/progress", ({ onProgress }) => {
    // Without a pause: an engine computes, and its worker hears and says nothing else meanwhile.
    for (let step = 1; step <= 1_000; step++) {
      onProgress(step / 1_000);
      compute(0.5);
    }
    onProgress(7);
    onProgress(Number.NaN);
    onProgress(0.1);
  }),
  engine("test/endless", () => runWebAssembly(endlessLoop)),
  engine("test/abort", () => runWebAssembly(abort)),
  engine("test/exit", ({ input }) => (input["stays"] === true ? null : process.exit(7))),
  engine("test/crash", () => process.kill(process.pid, "SIGSEGV")),
  engine("test/fill_memory", fillMemory),
  engine("test/hold_memory", ({ input }) => {
    held.push(new Uint8Array(Number(input["megabytes"]) * 1_048_576).fill(1));
    return { pid: process.pid };
  }),
  engine("test/environment", () => ({ ...process.env, folder: process.cwd() })),
  engine("test/reach", async ({ input }) => ({
    tcp: await outcomeOf(() => connectTcp(Number(input["port"]))),
    udp: await outcomeOf(sendUdp),
    read: await outcomeOf(() => readFile(String(input["file"]))),
    list: await outcomeOf(() => readdir(dirname(String(input["file"])))),
    readByProgram: await outcomeOf(() => runProgram(["cat", String(input["file"])])),
    parentEnvironment: await outcomeOf(() => readFile(`/proc/${process.ppid}/environ`)),
    writeOutside: await outcomeOf(() => writeFile(String(input["newFile"]), "x")),
    writeScratch: await outcomeOf(() => writeFile("scratch-file", "x")),
    readPackage: await outcomeOf(() => readFile(new URL("../../package.json", import.meta.url))),
  })),
  engine("test/refuse", () => {
    throw new ValidationError([{ loc: ["body", "input", "text"], msg: "not this one", type: "value_error" }]);
  }),
  engine("test/too_slow_today", () => {
    throw new GatewayError("provider_unavailable", "come back tomorrow", { param: "text" });
  }),
  engine("test/bug", () => {
    throw new TypeError("secret detail of a bug");
  }),
  {
    task: "test/loads_at_second_try",
    packages: [],
    lane: "light",
    load: async () => {
      failures.loads++;
      if (failures.loads === 1) throw new Error("the model is not the one that was measured");
      return async () => ({ output: { loads: failures.loads }, original: null, units: {} });
    },
  },
  // A task of the catalogue, whose output has a schema.
  {
    task: "text/keyword_extraction",
    packages: [],
    lane: "light",
    load:
      async () =>
      async ({ input }) => ({ output: { items: input["items"] }, original: null, units: {} }),
  },
  {
    task: "test/double",
    packages: [],
    lane: "light",
    load:
      async () =>
      async ({ files }) => {
        const bytes = files["file"]?.bytes ?? new Uint8Array();
        const twice = Buffer.concat([bytes, bytes]);
        return {
          output: { size: bytes.length, name: files["file"]?.name, type: files["file"]?.mediaType },
          original: null,
          units: { file: 1 },
          binaries: [{ base64Path: null, urlPath: ["url"], bytes: twice, mediaType: "application/octet-stream" }],
        };
      },
  },
];
