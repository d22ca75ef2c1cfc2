// Engine processes reach neither the network nor the data folder, where the operating system can enforce that.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPool, type Pool } from "../../src/engines/local/pool.ts";
import { createLog } from "../../src/log.ts";
import { waitFor } from "../support/wait.ts";
import { poolJob } from "./pool-job.ts";

const listModule = new URL("./local-test-engines.ts", import.meta.url).href;
let folder: string;
let database: string;
let listener: Bun.TCPSocketListener;
let logged = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "switchyard-test-"));
  // Inside a folder that engines may read: that is where `npm start` in a checkout puts it.
  database = join(folder, "data", "switchyard.sqlite");
  await mkdir(join(folder, "data"));
  await writeFile(database, "keys");
  listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
});

afterAll(async () => {
  listener.stop(true);
  await rm(folder, { recursive: true, force: true });
});

function open(deniedPaths: readonly string[] | null): Pool {
  const log = createLog({ level: "info", format: "json", secrets: [], write: (lines) => (logged += lines) });
  const workers = { light: 1, heavy: 1 };
  const limits = {
    maxWaiting: 4,
    maxWaitingPerOwner: 4,
    idleMs: 60_000,
    maxMemoryBytes: 1_024 * 1_048_576,
    niceness: 0,
  };
  return createPool({ listModule, workers, ...limits, deniedPaths, log });
}

async function reach(pool: Pool): Promise<Record<string, string>> {
  const input = { port: listener.port, file: database, newFile: join(folder, "written") };
  const { output } = await pool.run(poolJob("test/reach", { input }));
  return output["result"] as Record<string, string>;
}

/** Starts one process and asks what the system enforces here. */
async function findConfinement() {
  const pool = open([]);
  await pool.run(poolJob("test/echo"));
  const found = pool.confinement();
  await pool.close();
  return found;
}

const confinement = await findConfinement();
const why = confinement?.problem ?? "";

describe("an engine process", () => {
  test.skipIf(confinement?.network !== true)(`can open no socket ${why}`, async () => {
    const pool = open([join(folder, "data")]);
    const { tcp, udp } = await reach(pool);
    await pool.close();
    expect(tcp).not.toBe("reached");
    expect(udp).not.toBe("reached");
  });

  test.skipIf(confinement?.files !== true)(
    `can read no file of the data folder, itself or by a program ${why}`,
    async () => {
      const pool = open([join(folder, "data")]);
      const reached = await reach(pool);
      await pool.close();
      const { read, list, parentEnvironment, writeOutside, writeScratch, readPackage } = reached;
      expect({ read, list, parentEnvironment, writeOutside }).toEqual({
        read: "EACCES",
        list: "EACCES",
        parentEnvironment: "EACCES",
        writeOutside: "EACCES",
      });
      expect(reached["readByProgram"]).not.toBe("reached");
      expect([writeScratch, readPackage]).toEqual(["reached", "reached"]);
    },
  );

  test.skipIf(confinement?.files !== true)(
    `does not see a denied folder inside the gateway's own folder ${why}`,
    async () => {
      const inside = new URL("../../docs", import.meta.url).pathname;
      database = join(inside, "settings.md");
      const pool = open([inside]);
      const { read, readPackage } = await reach(pool);
      await pool.close();
      expect([read, readPackage]).toEqual(["EACCES", "reached"]);
    },
  );

  test.skipIf(confinement?.files !== true)(
    `is not reported as confined if the launcher could not replace itself with it ${why}`,
    async () => {
      const launcher = Bun.fileURLToPath(new URL("../../src/engines/local/confine.ts", import.meta.url));
      const worker = join(folder, "worker.ts");
      await writeFile(worker, "console.log(process.argv.at(-1));");
      // Without the right to execute the runtime, execve fails.
      const grants = { readable: [folder, "/proc"], writable: [], denied: [] };
      const child = Bun.spawn([process.execPath, launcher, "0", JSON.stringify(grants), worker]);
      expect(await child.stdout.json()).toEqual({ network: false, files: false, problem: "execve was refused" });
    },
  );

  test("logs its restrictions", async () => {
    const expected = why === "" ? "without network and without access to the data folder" : "not fully confined";
    await waitFor("the log", () => logged.includes(expected));
  });

  test("is not restricted if confinement is switched off, and the log says so", async () => {
    const pool = open(null);
    const { tcp, readPackage } = await reach(pool);
    expect(pool.confinement()).toMatchObject({ network: false, files: false, problem: "confinement is switched off" });
    await pool.close();
    expect([tcp, readPackage]).toEqual(["reached", "reached"]);
    await waitFor("the log", () => logged.includes("confinement is switched off"));
  });
});
