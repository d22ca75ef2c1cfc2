// Rate limits of two gateways with two serving processes each, on one PostgreSQL.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { answer, completion } from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { type OwnPostgres, startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startVendor();
const missing = whyNoOwnPostgres();

describe.skipIf(missing !== null)("two gateways on one database", () => {
  let postgres: OwnPostgres;
  let databaseUrl = "";
  let gateways: GatewayProcess[] = [];

  beforeAll(async () => {
    postgres = await startOwnPostgres();
    databaseUrl = await postgres.createStore();
    const start = () => startGatewayProcess({ vendor, workers: 2, env: { DATABASE_URL: databaseUrl } });
    gateways = [await start(), await start()];
    await untilKnown();
  }, 300_000);

  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await postgres.stop();
  }, 300_000);

  /** A gateway leases from the store when the others have had time to notice it. */
  async function untilKnown(): Promise<void> {
    const database = new Bun.SQL(databaseUrl, { max: 1 });
    let firstSeen: number | null = null;
    try {
      await waitFor("both gateways to know each other", async () => {
        const rows = (await database`select seen_at from gateways`) as { seen_at: string }[];
        const times = rows.map(({ seen_at }) => Number(seen_at));
        if (times.length < 2) return false;
        firstSeen ??= Math.max(...times);
        return Math.min(...times) > firstSeen + 4_000;
      });
    } finally {
      await database.close();
    }
  }

  /** What was leased in a step and not used is known to the others a moment after its end. So a burst begins early in a step. */
  const beginningOfStep = () => waitFor("the beginning of a step", () => Date.now() % 10_000 < 4_000);

  async function burst(key: string, counts: readonly number[], body: unknown = hello): Promise<number[]> {
    await beginningOfStep();
    const passed = await Promise.all(
      counts.map(async (count, index) => {
        const url = gateways[index]?.url ?? "";
        const requests = Array.from({ length: count }, () => ask(url, key, body, { headers: { connection: "close" } }));
        const responses = await Promise.all(requests);
        for (const { status } of responses) expect([200, 429]).toContain(status);
        return responses.filter(({ status }) => status === 200).length;
      }),
    );
    return passed;
  }

  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

  test("never let more than the limit pass together, and nearly all of it", async () => {
    const key = await gateways[0]?.createKey({ rate_limit: { requests_per_minute: 60 } });
    const passed = await burst(key ?? "", [100, 100]);
    expect(sum(passed)).toBeLessThanOrEqual(60);
    // What one gateway leased last and did not use.
    expect(sum(passed)).toBeGreaterThanOrEqual(55);
    for (const one of passed) expect(one).toBeGreaterThan(5);
  });

  test("give a key that uses one of them the whole limit", async () => {
    const key = await gateways[0]?.createKey({ rate_limit: { requests_per_minute: 60 } });
    expect(await burst(key ?? "", [0, 100])).toEqual([0, 60]);
  });

  test("share tokens in the same way", async () => {
    const key = await gateways[0]?.createKey({ rate_limit: { tokens_per_minute: 40_000 } });
    vendor.on("silent", answer(200, completion("x", { usage: undefined })));
    const body = { ...hello, model: "mock/silent", max_tokens: 1_000 };
    const first = await ask(gateways[0]?.url ?? "", key ?? "", body);
    const each = 40_000 - Number(first.headers.get("x-ratelimit-remaining-tokens"));
    const passed = 1 + sum(await burst(key ?? "", [60, 60], body));
    expect(passed).toBeLessThanOrEqual(Math.floor(40_000 / each));
    expect(passed).toBeGreaterThanOrEqual(Math.floor(40_000 / each) - 4);
  });

  test("run one request each of a key that may run one", async () => {
    const key = await gateways[0]?.createKey({ rate_limit: { concurrent_requests: 1 } });
    for (const gateway of gateways) expect((await ask(gateway.url, key ?? "", hello)).status).toBe(200);
  });

  test("each use at most their share while the database is down", async () => {
    const key = await gateways[0]?.createKey({ rate_limit: { requests_per_minute: 60 } });
    expect(sum(await burst(key ?? "", [1, 1]))).toBe(2);
    await postgres.kill();
    const passed = await burst(key ?? "", [100, 100]);
    for (const one of passed) {
      expect(one).toBeGreaterThanOrEqual(29);
      // The part of a minute, and what it had leased when the database went away.
      expect(one).toBeLessThanOrEqual(31);
    }
    expect(sum(await burst(key ?? "", [10, 10]))).toBe(0);
    await postgres.start();
  });
});
