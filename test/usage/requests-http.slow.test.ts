// The list of requests and single requests over real HTTP.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { requestDetail, requestList, toCursor } from "../../src/contract/usage.ts";
import { minuteMs } from "../../src/lib/time-units.ts";
import type { LinePage, LinePosition } from "../../src/storage/ledger-lines.ts";
import type { StorageOptions } from "../../src/storage/storage.ts";
import { createEngines, describeOn, type Engine, withStorage } from "../contracts/engines.ts";
import { addLines, makeLine, makeRefusal, type TestLine } from "../support/ledger-lines.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";

const start = Date.parse("2026-03-01T00:00:00Z");

function newestFirst(lines: readonly TestLine[]): TestLine[] {
  return lines.toSorted((one, other) => other.time - one.time || (one.id < other.id ? 1 : -1));
}

function describeRequests(engine: Engine): void {
  describeOn(engine, "requests", () => {
    let gateway: TestGateway;
    let store: StorageOptions;
    let key: { id: string };
    let lines: TestLine[];

    beforeAll(async () => {
      store = await engine.createStore();
      gateway = await testGateway({ env: store.databaseUrl === null ? {} : { DATABASE_URL: store.databaseUrl } });
      if (store.databaseUrl === null) store = { ...store, dataDir: gateway.dataFolder };
      key = (await gateway.manage("POST", "/keys", { name: "a caller" })) as { id: string };
      lines = Array.from({ length: 250 }, (_, index) => {
        // Some lines have the same time.
        const time = start + Math.floor(index / 2) * minuteMs;
        if (index % 10 === 9) return makeRefusal({ time, key_id: index % 20 === 9 ? null : key.id });
        return makeLine({
          time,
          key_id: key.id,
          team: index % 3 === 0 ? "web" : null,
          provider: index % 2 === 0 ? "mock" : "mock2",
          model: `model-${index % 4}`,
          task: index % 5 === 0 ? "text/summarize" : null,
          endpoint: index % 5 === 0 ? "/v3/universal-ai" : "/v3/chat/completions",
          outcome: index % 7 === 0 ? "provider_timeout" : "completed",
          status: index % 7 === 0 ? 504 : 200,
          cost_pico: BigInt(index) * 1_000_000_001n,
          latency_ms: index * 10,
          tags: index % 6 === 0 ? { project: `site-${index % 4}`, stage: "test" } : {},
        });
      });
      await addLines(store, lines);
    }, 300_000);
    afterAll(() => gateway.stop(), 120_000);

    async function get(path: string) {
      const response = await fetch(`${gateway.url}/v3/manage/requests${path}`, {
        headers: { authorization: `Bearer ${gateway.adminKey}` },
      });
      return { status: response.status, text: await response.text() };
    }

    async function list(query: string) {
      const { status, text } = await get(`?${query}`);
      expect([query, status, status === 200 ? "" : text]).toEqual([query, 200, ""]);
      return requestList.parse(JSON.parse(text));
    }

    async function listAll(query: string, onPage: (page: number) => Promise<void> = async () => {}) {
      const ids: string[] = [];
      let cursor = "";
      for (let page = 1; page < 500; page++) {
        const { items, next_cursor } = await list(`${query}${cursor}`);
        ids.push(...items.map(({ id }) => id));
        if (next_cursor === null) return ids;
        cursor = `&cursor=${next_cursor}`;
        await onPage(page);
      }
      throw new Error("The list did not end");
    }

    test("lists lines with their key, newest first", async () => {
      const { items } = await list("limit=3");
      expect(items.map(({ id }) => id)).toEqual(
        newestFirst(lines)
          .slice(0, 3)
          .map(({ id }) => id),
      );
      const [refusal] = (await list("outcome=rate_limit_exceeded&limit=1")).items;
      expect(refusal).toMatchObject({
        attempt: 0,
        provider: null,
        model: null,
        status: 429,
        cost: null,
        reason: "60 requests per minute",
      });
      const [answered] = (await list("outcome=completed&limit=1")).items;
      expect(answered).toMatchObject({ key: key.id, key_name: "a caller", attempt: 1, cost_reason: null, tags: {} });
    });

    test("pages contain every line once, while lines arrive", async () => {
      const arrived: TestLine[] = [];
      const ids = await listAll("limit=17&to=2027-01-01", async (page) => {
        const line = makeLine({ time: start + 400 * minuteMs + page, key_id: key.id });
        arrived.push(line);
        await addLines(store, [line], { totals: false });
      });
      expect(ids).toEqual(newestFirst(lines).map(({ id }) => id));
      lines.push(...arrived);
    });

    test("filters select lines", async () => {
      const cases: [string, (line: TestLine) => boolean][] = [
        [`key=${key.id}`, ({ key_id }) => key_id === key.id],
        ["key=", ({ key_id }) => key_id === null],
        [`key=${key.id}&key=${crypto.randomUUID()}`, ({ key_id }) => key_id === key.id],
        ["team=web", ({ team }) => team === "web"],
        ["team=", ({ team }) => team === null],
        ["provider=mock&model=model-2", (line) => line.provider === "mock" && line.model === "model-2"],
        ["model=mock2/model-3", ({ model }) => model === "model-3"],
        ["task=text/summarize", ({ task }) => task === "text/summarize"],
        ["endpoint=/v3/universal-ai", ({ endpoint }) => endpoint === "/v3/universal-ai"],
        ["outcome=provider_timeout&outcome=rate_limit_exceeded", ({ outcome }) => outcome !== "completed"],
        ["tag=project", ({ tags }) => tags["project"] !== undefined],
        ["tag=project%3Dsite-2", ({ tags }) => tags["project"] === "site-2"],
        ["tag=project%3Dsite-2&tag=stage%3Dtest", ({ tags }) => tags["project"] === "site-2"],
        ["tag=project%3Dsite-2&tag=stage%3Dlive", () => false],
        // Not a tag, but a member of every object.
        ["tag=constructor", () => false],
        ["status=504", ({ status }) => status === 504],
        ["min_cost=0.200000000200", ({ cost_pico }) => cost_pico !== null && cost_pico >= 200_000_000_200n],
        ["min_latency_ms=1000", ({ latency_ms }) => latency_ms >= 1_000],
        [
          "from=2026-03-01T01:00:00Z&to=2026-03-01T01:30:00Z",
          ({ time }) => time >= start + 60 * minuteMs && time < start + 90 * minuteMs,
        ],
        ["provider=nobody", () => false],
      ];
      for (const [query, matches] of cases) {
        const expected = newestFirst(lines).filter(matches);
        expect([query, await listAll(`limit=40&${query}`)]).toEqual([query, expected.map(({ id }) => id)]);
      }
    });

    test("a rare line is found behind many others, over pages that may be empty", async () => {
      const old = start - 1_000 * minuteMs;
      const rare = makeLine({ time: old - 12_000, provider: "rare" });
      const others = Array.from({ length: 12_000 }, (_, index) => makeLine({ time: old - index }));
      await addLines(store, [...others, rare], { totals: false });
      expect(await listAll("provider=rare&limit=5")).toEqual([rare.id]);
      expect(await listAll("key=&provider=rare&limit=5")).toEqual([rare.id]);
      // However little time there is, a page leads further, and the last one is the end.
      const found = await withStorage(store, async ({ usageReports }) => {
        const sizes: number[] = [];
        const query = {
          from: null,
          to: old + 1,
          status: null,
          minCostPico: null,
          minLatencyMs: null,
          limit: 5,
          scanMs: 0,
        };
        for (let after: LinePosition | null = null; ; ) {
          const page: LinePage = await usageReports.listLines({ ...query, after, filters: { provider: ["rare"] } });
          sizes.push(page.lines.length);
          if (page.next === null) return sizes;
          after = page.next;
        }
      });
      // Filters of blocks leave the one with the rare line; a page reads at least two blocks.
      expect(found.length).toBeGreaterThan(2);
      expect(found.at(-1)).toBe(1);
      expect(found.reduce((sum, size) => sum + size, 0)).toBe(1);
    }, 300_000);

    test("a request shows every attempt, in order", async () => {
      const request_id = "a-request.of_mine-1";
      const time = start + 500 * minuteMs;
      const failed = makeLine({ request_id, time, outcome: "provider_timeout", status: 504, cost_pico: 0n });
      const answered = makeLine({
        ...{ request_id, time: time + 2_000, attempt: 2, provider: "mock2", cost_pico: 9_007_199_254_740_991n },
        ...{ tokens: { input: 10, output: 5 }, usage: { usage: { prompt_tokens: 10, completion_tokens: 5 } } },
      });
      await addLines(store, [answered, failed], { totals: false });
      const { status, text } = await get(`/${request_id}`);
      expect(status).toBe(200);
      const found = requestDetail.parse(JSON.parse(text));
      expect(found.attempts.map(({ id, attempt }) => [id, attempt])).toEqual([
        [failed.id, 1],
        [answered.id, 2],
      ]);
      expect(found.has_more).toBe(false);
      expect(found.attempts[1]).toMatchObject({ tokens: { input: 10, output: 5 }, provider: "mock2" });
      expect(text).toContain('"cost":9007.199254740991');
    });

    test("a refused request is shown with its reason, and costs nothing", async () => {
      const refusal = makeRefusal({ time: start + 600 * minuteMs, count: 7 });
      await addLines(store, [refusal], { totals: false });
      const found = requestDetail.parse(JSON.parse((await get(`/${refusal.request_id}`)).text));
      expect(found).toMatchObject({
        cost: 0,
        attempts: [{ attempt: 0, count: 7, reason: refusal.reason, cost: null, cost_parts: null, price: null }],
      });
    });

    test("a request with an unknown cost has no total", async () => {
      const request_id = crypto.randomUUID();
      const time = start + 700 * minuteMs;
      const unknown = makeLine({ request_id, time, attempt: 2, cost_pico: null, cost_reason: "price_unknown" });
      await addLines(store, [makeLine({ request_id, time }), unknown], { totals: false });
      const found = requestDetail.parse(JSON.parse((await get(`/${request_id}`)).text));
      expect(found.cost).toBeNull();
      expect(found.attempts[1]).toMatchObject({ cost: null, cost_reason: "price_unknown", cost_parts: null });
      expect(found.attempts[1]?.cost_note).toContain("price_unknown");
    });

    test("of a request id that a client repeats, the newest attempts are shown", async () => {
      const request_id = `repeated-${crypto.randomUUID()}`;
      const repeated = Array.from({ length: 205 }, (_, index) => makeLine({ request_id, time: start + index }));
      await addLines(store, repeated, { totals: false });
      const found = requestDetail.parse(JSON.parse((await get(`/${request_id}`)).text));
      expect(found.has_more).toBe(true);
      expect(found.attempts.map(({ id }) => id)).toEqual(repeated.slice(5).map(({ id }) => id));
    });

    test("an unknown request is 404, and a wrong query 422", async () => {
      const missing = await get(`/${crypto.randomUUID()}`);
      expect([missing.status, JSON.parse(missing.text).error.code]).toEqual([404, "request_not_found"]);
      const wrong: [query: string, parameter: string][] = [
        ["?cursor=bm90IG91cnM", "cursor"],
        ["?cursor=%00", "cursor"],
        [`?cursor=${toCursor({ time: 1, id: "Z" })}`, "cursor"],
        ["?status=1000", "status"],
        ["?min_cost=-1", "min_cost"],
        ["?min_cost=1e3", "min_cost"],
        ["?from=2026-03-02&to=2026-03-01", "from"],
        ["?limit=1001", "limit"],
        ["?time_zone=Nowhere", "time_zone"],
        ["/a%20b", "request_id"],
      ];
      for (const [query, parameter] of wrong) {
        const { status, text } = await get(query);
        expect([query, status, status === 422 ? JSON.parse(text).detail[0].loc[1] : text]).toEqual([
          query,
          422,
          parameter,
        ]);
      }
    });
  });
}

describe("requests over HTTP", () => {
  for (const engine of createEngines()) describeRequests(engine);
});
