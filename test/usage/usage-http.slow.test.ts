// Usage reports over real HTTP, compared with sums that are computed from single lines.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { usageReport } from "../../src/contract/usage.ts";
import { hourMs } from "../../src/lib/time-units.ts";
import type { StorageOptions } from "../../src/storage/storage.ts";
import { createEngines, describeOn, type Engine } from "../contracts/engines.ts";
import { addLines, addTotals, makeLine, makeRefusal, sumLines, type TestLine } from "../support/ledger-lines.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";

const march = Date.parse("2026-03-01T00:00:00Z");
const everything = "from=2026-01-01&to=2026-12-31";

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function makeLines(keys: readonly string[], count: number): TestLine[] {
  const random = createRandom(7);
  const pick = <Item>(items: readonly Item[]) => items[random(items.length)] as Item;
  return Array.from({ length: count }, () => {
    const time = march + random(60 * 24) * hourMs + random(hourMs);
    const where = { time, key_id: pick([...keys, null]), team: pick(["web", "data", null]) };
    const tags = pick([{}, { project: "a" }, { project: "b", stage: "test" }, { stage: "live" }]);
    if (random(8) === 0) return makeRefusal({ ...where, tags, count: 1 + random(3) });
    return makeLine({
      ...where,
      tags,
      provider: pick(["mock", "mock2"]),
      model: pick(["model-a", "model-b", "vendor/model-c"]),
      task: pick([null, null, "text/summarize"]),
      endpoint: pick(["/v3/chat/completions", "/v3/universal-ai"]),
      outcome: pick(["completed", "completed", "completed", "provider_timeout"]),
      input_tokens: random(10_000),
      output_tokens: random(1_000),
      cached_tokens: random(100),
      reasoning_tokens: random(50),
      cost_pico: random(5) === 0 ? null : BigInt(random(2_000_000_000)) * 1_000_003n,
      latency_ms: random(5_000),
      first_token_ms: random(2) === 0 ? null : random(900),
    });
  });
}

const values: Readonly<Record<string, (line: TestLine) => (string | null)[]>> = {
  day: ({ time }) => [new Date(time).toISOString().slice(0, 10)],
  hour: ({ time }) => [new Date(Math.floor(time / hourMs) * hourMs).toISOString()],
  key: ({ key_id }) => [key_id],
  team: ({ team }) => [team],
  tag: ({ tags }) => {
    const pairs = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
    return pairs.length === 0 ? [null] : pairs;
  },
  "tag:project": ({ tags }) => [tags["project"] ?? null],
  provider: ({ provider }) => [provider],
  model: ({ model }) => [model],
  task: ({ task }) => [task],
  endpoint: ({ endpoint }) => [endpoint],
  outcome: ({ outcome }) => [outcome],
};

/** The rows that a report must have, by their values. */
function groupLines(lines: readonly TestLine[], groupBy: readonly string[]): Map<string, ReturnType<typeof sumLines>> {
  const groups = new Map<string, TestLine[]>();
  for (const line of lines) {
    let combinations: (string | null)[][] = [[]];
    for (const name of groupBy)
      combinations = combinations.flatMap((start) => (values[name]?.(line) ?? []).map((value) => [...start, value]));
    for (const combination of combinations) {
      const key = JSON.stringify(combination);
      groups.set(key, [...(groups.get(key) ?? []), line]);
    }
  }
  return new Map([...groups].map(([key, group]) => [key, sumLines(group)]));
}

/** The digits of a cost as they were sent: JSON.parse would round them. */
function readCosts(text: string): string[] {
  return [...text.matchAll(/"cost":(null|[\d.]+)/g)].map(([, digits = ""]) => digits);
}

function toDigits({ cost, unknown }: { cost: bigint; unknown: number }): string {
  if (cost === 0n && unknown > 0) return "null";
  const digits = String(cost).padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, "");
}

function describeReports(engine: Engine): void {
  describeOn(engine, "usage reports", () => {
    let gateway: TestGateway;
    let store: StorageOptions;
    let lines: TestLine[];
    let keys: { id: string; key: string }[];

    beforeAll(async () => {
      store = await engine.createStore();
      const env = store.databaseUrl === null ? {} : { DATABASE_URL: store.databaseUrl };
      gateway = await testGateway({ env });
      if (store.databaseUrl === null) store = { ...store, dataDir: gateway.dataFolder };
      const create = async (name: string) =>
        (await gateway.manage("POST", "/keys", { name })) as { id: string; key: string };
      keys = [await create("first"), await create('=cmd|" /C calc"!A0')];
      lines = makeLines(
        keys.map(({ id }) => id),
        2_000,
      );
      await addLines(store, lines);
    }, 300_000);
    afterAll(() => gateway.stop(), 120_000);

    async function get(path: string, headers: Record<string, string> = {}) {
      const response = await fetch(`${gateway.url}/v3/manage${path}`, {
        headers: { authorization: `Bearer ${gateway.adminKey}`, ...headers },
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    }

    async function report(query: string) {
      const { status, text } = await get(`/usage?${query}`);
      expect([query, status, status === 200 ? "" : text]).toEqual([query, 200, ""]);
      return { ...usageReport.parse(JSON.parse(text)), costs: readCosts(text) };
    }

    const combinations = [
      ["day"],
      ["hour"],
      ["key"],
      ["team"],
      ["tag"],
      ["tag:project"],
      ["provider", "model"],
      ["outcome", "endpoint"],
      ["task"],
      ["day", "key", "model"],
      ["tag", "tag:project", "team"],
      ["hour", "day", "provider"],
    ];
    for (const groupBy of combinations) {
      test(`by ${groupBy.join(", ")}, every sum is that of its lines`, async () => {
        const { rows, row_count, totals, costs } = await report(`${everything}&group_by=${groupBy.join(",")}`);
        const expected = groupLines(lines, groupBy);
        expect(row_count).toBe(expected.size);
        expect(rows).toHaveLength(expected.size);
        for (const [index, row] of rows.entries()) {
          const key = JSON.stringify(groupBy.map((name) => row[name]));
          const sums = expected.get(key);
          if (sums === undefined) throw new Error(`There is no line of ${key}`);
          expect(row).toMatchObject(toAmounts(sums));
          expect(costs[index]).toBe(toDigits(sums));
        }
        expect(totals).toMatchObject(toAmounts(sumLines(lines)));
        expect(costs.at(-1)).toBe(toDigits(sumLines(lines)));
      });
    }

    function toAmounts(sums: ReturnType<typeof sumLines>) {
      return {
        lines: sums.lines,
        input_tokens: sums.input_tokens,
        output_tokens: sums.output_tokens,
        cached_tokens: sums.cached_tokens,
        reasoning_tokens: sums.reasoning_tokens,
        cost_unknown: sums.unknown,
        average_latency_ms: Math.round((sums.latency_ms / sums.lines) * 10) / 10,
        average_first_token_ms: sums.streams === 0 ? null : Math.round((sums.firstToken / sums.streams) * 10) / 10,
      };
    }

    test("a report by days is in the order of days, and another one by cost", async () => {
      const days = (await report(`${everything}&group_by=day`)).rows.map(({ day }) => day ?? "");
      expect(days).toEqual(days.toSorted());
      const costs = (await report(`${everything}&group_by=model,team`)).rows.map(({ cost }) => cost ?? 0);
      expect(costs).toEqual(costs.toSorted((one, other) => other - one));
      const byLines = await report(`${everything}&group_by=model,team&sort=lines&limit=3`);
      expect(byLines.rows).toHaveLength(3);
      expect(byLines.row_count).toBeGreaterThan(3);
      const counts = byLines.rows.map((row) => row.lines);
      expect(counts).toEqual(counts.toSorted((one, other) => other - one));
      expect(byLines.totals.lines).toBe(sumLines(lines).lines);
    });

    test("filters select the lines that a report counts", async () => {
      const [first] = keys;
      const cases: [string, (line: TestLine) => boolean][] = [
        [`key=${first?.id}`, ({ key_id }) => key_id === first?.id],
        ["key=", ({ key_id }) => key_id === null],
        ["team=web&team=data", ({ team }) => team !== null],
        ["team=", ({ team }) => team === null],
        ["model=model-a", ({ model }) => model === "model-a"],
        ["model=mock2/vendor/model-c", ({ provider, model }) => `${provider}/${model}` === "mock2/vendor/model-c"],
        ["provider=mock&outcome=completed", (line) => line.provider === "mock" && line.outcome === "completed"],
        ["task=text/summarize", ({ task }) => task === "text/summarize"],
        ["endpoint=/v3/universal-ai", ({ endpoint }) => endpoint === "/v3/universal-ai"],
        ["tag=project", ({ tags }) => "project" in tags],
        ["tag=project=b&tag=stage=test", ({ tags }) => tags["project"] === "b"],
        ["tag=project=a&tag=stage=test", () => false],
        ["provider=nobody", () => false],
      ];
      for (const [query, matches] of cases) {
        const { totals, rows } = await report(`${everything}&group_by=day&${query}`);
        const expected = sumLines(lines.filter(matches));
        expect([query, totals.lines, totals.output_tokens]).toEqual([query, expected.lines, expected.output_tokens]);
        expect(rows.reduce((sum, row) => sum + row.lines, 0)).toBe(expected.lines);
      }
    });

    test("the time of a report consists of whole hours, and a date is included as a whole", async () => {
      const day = lines.filter(({ time }) => new Date(time).toISOString().startsWith("2026-03-09"));
      const one = await report("from=2026-03-09&to=2026-03-09");
      expect(one).toMatchObject({ from: "2026-03-09T00:00:00.000Z", to: "2026-03-10T00:00:00.000Z" });
      expect(one.totals.lines).toBe(sumLines(day).lines);
      const part = await report("from=2026-03-09T10:20:00%2B01:00&to=2026-03-09T12:00:00Z");
      expect(part).toMatchObject({ from: "2026-03-09T09:00:00.000Z", to: "2026-03-09T12:00:00.000Z" });
      expect(part.rows).toEqual([]);
      const hours = day.filter(({ time }) => time >= Date.parse(part.from) && time < Date.parse(part.to));
      expect(part.totals.lines).toBe(sumLines(hours).lines);
      expect((await report("from=24h")).totals).toMatchObject({ lines: 0, cost: 0, average_latency_ms: null });
    });

    test("days are those of the time zone, also where clocks change", async () => {
      // Berlin changes its clocks on 29 March 2026, New York on 8 March; Kolkata never does, and is half an hour off.
      for (const zone of ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]) {
        const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" });
        // An hour belongs to the day on which it begins.
        const expected = Map.groupBy(lines, ({ time }) => calendar.format(Math.floor(time / hourMs) * hourMs));
        const { rows, time_zone } = await report(`from=2026-01-01&to=2026-12-31&group_by=day&time_zone=${zone}`);
        expect(time_zone).toBe(zone);
        expect(rows.map(({ day, lines: count }) => [day, count])).toEqual(
          [...expected]
            .map(([day, group]): [string, number] => [day, sumLines(group).lines])
            .sort(([one], [other]) => (one < other ? -1 : 1)),
        );
      }
    });

    test("dates are days of the time zone", async () => {
      const berlin = await report("from=2026-03-29&to=2026-03-29&time_zone=Europe/Berlin");
      expect(berlin).toMatchObject({ from: "2026-03-28T23:00:00.000Z", to: "2026-03-29T22:00:00.000Z" });
      const hours = lines.filter(({ time }) => time >= Date.parse(berlin.from) && time < Date.parse(berlin.to));
      expect(berlin.totals.lines).toBe(sumLines(hours).lines);
      const autumn = await report("from=2026-10-25&to=2026-10-25&time_zone=Europe/Berlin");
      expect(Date.parse(autumn.to) - Date.parse(autumn.from)).toBe(25 * hourMs);
    });

    test("CSV has the same rows, and no cell that a spreadsheet executes", async () => {
      const query = `/usage?${everything}&group_by=key,team`;
      const json = usageReport.parse(JSON.parse((await get(query)).text));
      const asked = await get(`${query}&format=csv`);
      expect(asked.headers.get("content-type")).toStartWith("text/csv");
      expect(asked.headers.get("content-disposition")).toContain("usage.csv");
      expect((await get(query, { accept: "text/csv" })).text).toBe(asked.text);
      expect((await get(`${query}&format=json`, { accept: "text/csv" })).text).toStartWith("{");
      expect((await get(query, { accept: "application/json, text/csv" })).text).toStartWith("{");
      const [header, ...rows] = asked.text.split("\r\n").slice(0, -1);
      expect(header).toStartWith("key,key_name,team,lines,input_tokens,");
      expect(rows).toHaveLength(json.rows.length);
      expect(asked.text).toContain(`${keys[1]?.id},"'=cmd|"" /C calc""!A0",web,`);
      for (const row of rows) expect(row).not.toMatch(/(?:^|,)"?[=+\-@]/);
    });

    test("the report of a key is the report with its filter", async () => {
      const [first] = keys;
      const all = await report(`${everything}&group_by=day,model&key=${first?.id}`);
      const { text } = await get(`/keys/${first?.id}/usage?${everything}&group_by=day,model`);
      const { costs: _, ...expected } = all;
      expect(usageReport.parse(JSON.parse(text))).toEqual(expected);
      expect(expected.totals.lines).toBeGreaterThan(0);
      const unknown = await get(`/keys/${crypto.randomUUID()}/usage`);
      expect([unknown.status, JSON.parse(unknown.text).error.code]).toEqual([404, "key_not_found"]);
    });

    test("a wrong query is refused with its parameter and the reason", async () => {
      const wrong: [query: string, parameter: string, message: RegExp][] = [
        ["group_by=colour", "group_by", /'colour' is not a dimension; use day, hour/],
        ["group_by=modle", "group_by", /did you mean 'model'/],
        ["group_by=tag:", "group_by", /not a dimension/],
        ["from=yesterday", "from", /a date such as/],
        ["from=2026-02-30", "from", /a date such as/],
        ["to=2026-13-01", "to", /a date such as/],
        ["from=2026-03-02&to=2026-03-01", "from", /before 'to'/],
        ["from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z", "from", /before 'to'/],
        ["from=0001-01-01", "from", /at most 3700 days/],
        ["time_zone=Mars/Olympus_Mons", "time_zone", /IANA/],
        ["key=not-a-key", "key", /UUID/],
        ["sort=colour", "sort", /'name'/],
        ["limit=0", "limit", /greater than or equal to 1/],
        ["team=%00", "team", /control characters/],
        ["format=xml", "format", /'json' or 'csv'/],
      ];
      for (const [query, parameter, message] of wrong) {
        const { status, text } = await get(`/usage?${query}`);
        expect([query, status]).toEqual([query, 422]);
        const { detail, error } = JSON.parse(text);
        expect([query, ...detail[0].loc.slice(0, 2)]).toEqual([query, "query", parameter]);
        expect(detail[0].msg).toMatch(message);
        expect(error.message).toContain(detail[0].msg);
      }
    });

    test("a report with more rows than anyone reads is refused", async () => {
      const start = Date.parse("2024-01-01T00:00:00Z");
      const many = Array.from({ length: 20_001 }, (_, index) =>
        makeLine({ time: start + (index % 700) * hourMs, model: `m-${index}` }),
      );
      await addTotals(store, many);
      const { status, text } = await get("/usage?from=2024-01-01&to=2024-02-28&group_by=model");
      expect(status).toBe(422);
      expect(JSON.parse(text).detail[0]).toMatchObject({ loc: ["query", "group_by"], type: "too_long" });
      expect((await report("from=2024-01-01&to=2024-02-28")).totals.lines).toBe(20_001);
    }, 300_000);

    test("a sum above 9.2 million USD is exact", async () => {
      const time = Date.parse("2023-05-05T05:00:00Z");
      const large = 9_007_199_254_740_991n * 1_000n;
      const costly = [1n, 2n, 3n].map((rest, index) =>
        makeLine({ time: time + index * hourMs, cost_pico: large + rest }),
      );
      await addLines(store, costly);
      const { costs } = await report("from=2023-05-05&to=2023-05-05");
      expect(costs).toEqual([toDigits({ cost: large * 3n + 6n, unknown: 0 })]);
    });
  });
}

describe("usage over HTTP", () => {
  for (const engine of createEngines()) describeReports(engine);
});
