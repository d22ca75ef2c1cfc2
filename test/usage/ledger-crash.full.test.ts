// No line of an answered call is lost: serving processes are killed under load, and PostgreSQL is killed and started again. Every answer that a
// caller received has exactly one line, and the sum of the ledger is the sum of the costs that callers were told.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { picoPerUsd } from "../../src/lib/money.ts";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { readLines, type StoredLine } from "../support/ledger.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { countListeners } from "../support/processes.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const callers = 8;
const engines = [
  { engine: "SQLite", why: null },
  { engine: "PostgreSQL", why: whyNoOwnPostgres() },
] as const;

for (const { engine, why } of engines) {
  describe.skipIf(why !== null)(`on ${engine}`, () => {
    let vendor: Vendor;
    let gateway: GatewayProcess;
    let postgres: OwnPostgres | null = null;
    let databaseUrl: string | null = null;
    let key: string;
    /** What callers were told, by the id of the request. */
    let told: Map<string, bigint>;

    beforeAll(async () => {
      vendor = await startVendor();
      postgres = engine === "SQLite" ? null : await startOwnPostgres();
      databaseUrl = (await postgres?.createStore()) ?? null;
      gateway = await startGatewayProcess({
        vendor,
        workers: 2,
        env: { ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }), SWITCHYARD_RETRIES: "0" },
        config: { prices: { "mock/*": { input: 0.123457, output: 7.654321 } } },
      });
      key = await gateway.createKey();
    }, 300_000);

    afterAll(async () => {
      await gateway?.stop();
      await vendor?.stop();
      await postgres?.stop();
    }, 300_000);

    /** Callers ask one request after the other until `work` is done; a broken connection ends a request without an answer. */
    async function underLoad(work: () => Promise<void>): Promise<void> {
      told = new Map();
      let isDone = false;
      const load = Array.from({ length: callers }, async (_, caller) => {
        for (let count = 0; !isDone; count++) {
          const requestId = `${caller}-${count}-${crypto.randomUUID()}`;
          const headers = { "x-request-id": requestId };
          try {
            const response = await ask(gateway.url, key, hello, { headers });
            const body = (await response.json()) as { cost?: number };
            if (response.status === 200) told.set(requestId, BigInt(Math.round((body.cost ?? 0) * picoPerUsd)));
          } catch {
            // The process was killed before its answer was complete.
          }
          // Callers that never rest would take the processor time that a new process needs to start.
          await Bun.sleep(10);
        }
      });
      await work();
      isDone = true;
      await Promise.all(load);
    }

    /** Whether two processes accept connections. */
    function isWhole(): boolean {
      return countListeners(Number(new URL(gateway.url).port)) === 2;
    }

    async function expectEveryLine(): Promise<void> {
      const place = { gateway, ...(databaseUrl !== null && { databaseUrl }) };
      const byRequest = await waitFor(
        "the lines of all answered calls",
        async () => {
          const lines = (await readLines(place)).filter((line) => line["outcome"] === "completed");
          const found = Map.groupBy(lines, (line) => String(line["request_id"]));
          return [...told.keys()].every((id) => found.has(id)) ? found : null;
        },
        { everyMs: 250, withinMs: 60_000 },
      );
      const linesTold = [...told.keys()].flatMap((id) => byRequest.get(id) ?? []);
      expect(linesTold).toHaveLength(told.size);
      const sum = [...told.values()].reduce((total, cost) => total + cost, 0n);
      expect(linesTold.reduce((total, line: StoredLine) => total + (line["cost_pico"] as bigint), 0n)).toBe(sum);
      expect(sum).toBeGreaterThan(0n);
    }

    test("kill -9 of serving processes under load loses no line of an answered call", async () => {
      await underLoad(async () => {
        for (let kill = 0; kill < 3; kill++) {
          const before = told.size;
          await waitFor("some answers", () => told.size > before + 50);
          const { serving } = await gateway.processes();
          process.kill(serving[kill % serving.length] ?? 0, "SIGKILL");
          await waitFor("the process to be replaced", async () => {
            const now = await gateway.processes();
            return now.serving.some((pid) => !serving.includes(pid)) && isWhole();
          });
        }
        const before = told.size;
        await waitFor("more answers", () => told.size > before + 20);
      });
      await expectEveryLine();
    }, 300_000);

    test.skipIf(engine === "SQLite")(
      "an outage of PostgreSQL, with kill -9 of a serving process during it, loses no line",
      async () => {
        await underLoad(async () => {
          await waitFor("some answers", () => told.size > 50 && isWhole());
          await postgres?.kill();
          const before = told.size;
          // Calls are answered while the store is away.
          await waitFor("answers without the store", () => told.size > before + 50);
          const { serving } = await gateway.processes();
          process.kill(serving[0] ?? 0, "SIGKILL");
          const later = told.size;
          await waitFor("answers of the other process", () => told.size > later + 20);
          await postgres?.start();
          await waitFor("answers with the store", () => told.size > later + 60);
        });
        await expectEveryLine();
      },
      180_000,
    );
  });
}
