import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequestsCommand } from "../../src/cli/requests.ts";
import { createUsageCommand } from "../../src/cli/usage.ts";
import { readConfig } from "../../src/config.ts";
import { requestDetail, requestList, usageReport } from "../../src/contract/usage.ts";
import { createOfflineExplainer } from "../../src/services.ts";
import { createFolders, quiet, withStorage } from "../contracts/engines.ts";
import { addLines, makeLine, makeRefusal } from "../support/ledger-lines.ts";
import { countOpenings } from "../support/open-test-storage.ts";
import { runCommand } from "../support/run-command.ts";

const folders = createFolders();
afterAll(() => folders.remove());

const time = Date.parse("2026-03-01T10:30:00Z");
const request_id = "0198f3a2-7c1e-7000-8000-5d0c7a3c1e42";
const lines = [
  makeLine({ time, model: "model-a", cost_pico: 9_007_199_254_740_991n, tags: { project: "a" } }),
  makeLine({
    time: time + 1,
    model: "model-b",
    cost_pico: 7n,
    first_token_ms: 40,
    usage: { usage: { prompt_tokens: 1, completion_tokens: 1 } },
  }),
  makeLine({
    ...{ time: time + 2, request_id, model: "model-b", cost_pico: 20_000_000n, price_version: "v1" },
    ...{ key_id: "0198f3a2-0000-7000-8000-000000000001", first_token_ms: 40 },
    ...{ tokens: { input: 10, output: 5 }, usage: { usage: { prompt_tokens: 10, completion_tokens: 5 } } },
  }),
  makeRefusal({ time: time + 86_400_000, reason: "bad \u001b[31m reason", count: 3 }),
];

// Prices in USD per million tokens.
const pricesFile = join(folders.create(), "switchyard.yaml");
writeFileSync(
  pricesFile,
  "providers: { mock: { base_url: http://127.0.0.1:9 } }\nprices: { mock/model-b: { input: 1, output: 2 } }\n",
);
const config = readConfig({ SWITCHYARD_CONFIG: pricesFile });

async function createCommands() {
  const options = { databaseUrl: null, dataDir: folders.create(), log: quiet };
  await withStorage(options, async () => {});
  await addLines(options, lines);
  const { openStorage, timesOpened } = countOpenings(options);
  const context = {
    openStorage,
    loadExplainCost: async () => createOfflineExplainer(config, quiet),
  };
  const run = async (name: "usage" | "requests", ...args: string[]) => {
    const printed: string[] = [];
    const errors: string[] = [];
    const output = {
      print: (line: string) => void printed.push(line),
      printError: (line: string) => void errors.push(line),
    };
    const code =
      name === "usage"
        ? await runCommand(createUsageCommand, args, { ...context, ...output })
        : await runCommand(createRequestsCommand, args, { ...context, ...output });
    return { code, text: printed.join("\n"), errors: errors.join("\n") };
  };
  return { run, timesOpened };
}

describe("switchyard usage", async () => {
  const { run } = await createCommands();
  const range = ["--from", "2026-03-01", "--to", "2026-03-31"];

  test("prints a table with totals", async () => {
    const { code, text } = await run("usage", ...range, "--by", "day,model");
    expect(code).toBe(0);
    const table = text.split("\n").map((line) => line.split(/\s{2,}/).map((cell) => cell.trim()));
    expect(table[0]?.slice(0, 3)).toEqual(["day", "model", "lines"]);
    expect(table[1]).toEqual(["2026-03-01", "model-a", "1", "10", "5", "0", "0", "9007.199254740991", "0", "100", "-"]);
    expect(table[3]?.slice(0, 3)).toEqual(["2026-03-02", "-", "3"]);
    expect(text).toMatch(/^total .* 9007\.199274740998 /m);
    expect(text).toContain("2026-03-01T00:00:00.000Z to 2026-04-01T00:00:00.000Z");
  });

  test("prints JSON and CSV", async () => {
    const json = await run("usage", ...range, "--by", "model", "--by", "tag:project", "--json");
    const report = usageReport.parse(JSON.parse(json.text));
    expect(report.group_by).toEqual(["model", "tag:project"]);
    expect(report.rows[0]).toMatchObject({ model: "model-a", "tag:project": "a", lines: 1 });
    expect(json.text).toContain('"cost": 9007.199274740998');
    const csv = await run("usage", ...range, "--by", "model", "--csv");
    expect(csv.text.split("\r\n")).toHaveLength(4);
    expect(csv.text.split("\r\n")[1]).toBe("model-a,1,10,5,0,0,9007.199254740991,0,100,");
  });

  test("a ledger that agrees with its totals has no differences", async () => {
    const { code, text } = await run("usage", "check");
    expect([code, text]).toEqual([0, expect.stringMatching(/^4 lines, .*: no differences\.$/)]);
    const json = JSON.parse((await run("usage", "check", "--json")).text);
    expect(json).toMatchObject({ lines: 4, differences: [], has_more: false });
    expect(JSON.parse((await run("usage", "--json", "check")).text)).toEqual(json);
  });

  test("takes filters", async () => {
    const { text } = await run("usage", ...range, "--model", "model-b", "--outcome", "completed", "--json");
    expect(usageReport.parse(JSON.parse(text)).totals.lines).toBe(2);
  });
});

describe("switchyard requests", async () => {
  const { run } = await createCommands();

  test("lists lines, newest first, page by page", async () => {
    const first = requestList.parse(JSON.parse((await run("requests", "list", "--limit", "3", "--json")).text));
    expect(first.items.map(({ id }) => id)).toEqual(
      lines
        .map(({ id }) => id)
        .reverse()
        .slice(0, 3),
    );
    const rest = await run("requests", "list", "--limit", "3", "--cursor", first.next_cursor ?? "");
    expect(rest.text).toContain("mock/model-a");
    expect(rest.text).toContain("9007.199254740991");
    const table = await run("requests", "list", "--limit", "2");
    expect(table.text).toContain("rate_limit_exceeded × 3");
    expect(table.text).toMatch(/ completed +\S+ +mock\/model-b /);
    expect(table.text).toMatch(/More: --cursor \S+$/);
    expect((await run("requests", "list", "--min-cost", "9007", "--json")).text).toContain('"model": "model-a"');
  });

  test("shows how a cost was computed, and the parts add up", async () => {
    const { code, text } = await run("requests", "show", request_id);
    expect(code).toBe(0);
    expect(text).toContain(`request ${request_id}, cost 0.00002 USD`);
    expect(text).toContain("version operator");
    expect(text).toMatch(/ attempt 1: mock\/model-b$/m);
    expect(text).toMatch(/^ {2}key +unknown \(/m);
    expect(text).toMatch(/^ {2}time +100 ms, first token after 40 ms$/m);
    expect(text).toMatch(/^ {2}tokens +10 input, 5 output$/m);
    expect(text).not.toMatch(/null|undefined/);
    expect(text).toMatch(/input +10 +× +0\.000001 += +0\.00001$/m);
    expect(text).toMatch(/output +5 +× +0\.000002 += +0\.00001$/m);
    const shown = requestDetail.parse(JSON.parse((await run("requests", "show", request_id, "--json")).text));
    expect(shown.attempts[0]?.cost_parts?.map(({ amount }) => amount)).toEqual([0.00001, 0.00001]);
  });

  test("shows a refusal without the control characters that it contains", async () => {
    const { text } = await run("requests", "show", lines[3]?.request_id ?? "");
    expect(text).toContain("refused");
    expect(text).toContain("bad ?[31m reason");
    expect(text).not.toMatch(/attempt|tokens|null|undefined/);
  });

  test("shows no parts that do not add up to the recorded cost", async () => {
    const { text } = await run("requests", "show", lines[1]?.request_id ?? "", "--json");
    expect(JSON.parse(text).attempts[0]).toMatchObject({
      cost_parts: null,
      price: null,
      cost_note: expect.stringContaining("prices have changed"),
    });
  });
});

test("wrong arguments end with code 2 before the store is opened, and every command has help", async () => {
  const { run, timesOpened } = await createCommands();
  const wrong: ["usage" | "requests", ...string[]][] = [
    ["usage", "--by", "colour"],
    ["usage", "--from", "soon"],
    ["usage", "--time-zone", "Mars"],
    ["usage", "--json", "--csv"],
    ["usage", "--sort", "x"],
    ["usage", "unknown"],
    ["requests"],
    ["requests", "list", "--cursor", "x"],
    ["requests", "list", "--min-cost", "much"],
    ["requests", "show"],
    ["requests", "show", "a b"],
  ];
  for (const [name, ...args] of wrong) {
    const { code, text, errors } = await run(name, ...args);
    expect([name, ...args, code, text]).toEqual([name, ...args, 2, ""]);
    expect(errors).not.toBe("");
  }
  expect(timesOpened()).toBe(0);
  for (const [name, ...args] of [["usage"], ["requests"], ["requests", "list"], ["requests", "show"]] as const) {
    const { code, text } = await run(name as "usage", ...args, "--help");
    expect([name, code]).toEqual([name, 0]);
    expect(text).toContain(args.length === 0 && name === "requests" ? "Commands:" : "--json");
  }
  expect(await run("requests", "show", "unknown")).toMatchObject({
    code: 1,
    errors: expect.stringContaining("no request"),
  });
});
