import { afterAll, describe, expect, test } from "bun:test";
import { createKeysCommand } from "../../src/cli/keys.ts";
import { createTeamsCommand } from "../../src/cli/teams.ts";
import { createFolders } from "../contracts/engines.ts";
import { countOpenings } from "../support/open-test-storage.ts";
import { runAndCollect, runCommand } from "../support/run-command.ts";

const folders = createFolders();
afterAll(() => folders.remove());

function createCommands() {
  const { openStorage, timesOpened } = countOpenings({ dataDir: folders.create() });
  const readDefaults = () => ({ key: { tags: { from: "defaults" } }, team: { allowed_models: ["sandbox/*"] } });
  const run = (group: "keys" | "teams", words: string) => {
    const create = group === "keys" ? createKeysCommand : createTeamsCommand;
    const args = words.split(" ").filter(Boolean);
    return runAndCollect((output) => runCommand(create, args, { openStorage, readDefaults, ...output }));
  };
  return {
    teams: (words: string) => run("teams", words),
    keys: (words: string) => run("keys", words),
    timesOpened,
  };
}

describe("switchyard teams", () => {
  test("creates, lists, shows, updates and deletes", async () => {
    const { teams, keys } = createCommands();
    const made = (await teams("create --name research --display-name R --tag a=b --json")).json();
    // The defaults of the settings apply.
    expect(made).toMatchObject({
      ...{ name: "research", display_name: "R", tags: { a: "b" }, allowed_models: ["sandbox/*"], enabled: true },
    });
    expect((await teams("create --name free --model none --json")).json()).toMatchObject({ allowed_models: null });
    expect(await teams("create --name research")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("already"),
    });
    expect((await teams("list")).text.split("\n")).toEqual([
      expect.stringMatching(/^id +state +budget +name +display name$/),
      expect.stringContaining("free"),
      expect.stringMatching(/active {2}no budget {2}research {2}R$/),
    ]);
    expect((await teams("list --limit 1 --json")).json()).toMatchObject({ total: 2, page: 1, total_pages: 2 });
    expect((await teams(`show ${made.id} --json`)).json()).toEqual(made);
    expect((await teams("show research")).text).toContain('tags            {"a":"b"}');
    const changed = (await teams("update research --enabled false --display-name none --tag none --json")).json();
    expect(changed).toEqual({ ...made, enabled: false, display_name: null, tags: {} });
    expect((await teams("list --enabled false --json")).json()).toMatchObject({ total: 1 });
    const key = (await keys("create --name ci --team research --json")).json();
    expect(key).toMatchObject({ team: "research", tags: { from: "defaults" } });
    expect(await teams("delete research")).toMatchObject({ code: 1, errors: expect.stringContaining("1 key") });
    expect((await keys(`revoke ${key.id}`)).code).toBe(0);
    expect((await teams("delete research --json")).json()).toEqual({ id: made.id, deleted: true });
    expect(await teams("show research")).toMatchObject({ code: 1, errors: expect.stringContaining("no team") });
  });

  test("a key is changed: its team, its name, its limits, whether it works", async () => {
    const { teams, keys } = createCommands();
    await teams("create --name research");
    const { key: _, ...made } = (await keys("create --name ci --requests-per-minute 60 --json")).json();
    const words = "--name renamed --team research --requests-per-second 2 --scope chat --expires 30d --enabled false";
    const changed = (await keys(`update ${made.id} ${words} --json`)).json();
    expect(changed).toEqual({
      ...made,
      ...{ name: "renamed", team: "research", owner: "research", scopes: ["chat"], enabled: false },
      rate_limit: { ...made.rate_limit, requests_per_second: 2 },
      expires_at: expect.any(String),
    });
    expect((await keys("list --team research --json")).json()).toMatchObject({ total: 1 });
    const rest = "--team none --expires none --requests-per-minute none --requests-per-second none --enabled true";
    expect((await keys(`update ${made.id} ${rest} --json`)).json()).toMatchObject({
      ...{ name: "renamed", team: null, expires_at: null, rate_limit: null, enabled: true },
    });
    expect(await keys(`update ${made.id} --team unknown`)).toMatchObject({
      code: 2,
      errors: expect.stringContaining("no team"),
    });
    expect(await keys(`update ${crypto.randomUUID()} --name x`)).toMatchObject({ code: 1 });
  });

  test("limits are set, changed one by one, and removed", async () => {
    const { teams, keys } = createCommands();
    const words =
      "--budget 2.5 --period daily --tokens-per-minute 1000 --model-limit openai/*=budget:1,concurrent-requests:4";
    const made = (await teams(`create --name research ${words} --json`)).json();
    const budget = { amount: 2.5, period: "daily", time_zone: "UTC", raise: null };
    expect(made).toMatchObject({
      budget,
      rate_limit: { tokens_per_minute: 1000, requests_per_minute: null },
      model_limits: [
        { model: "openai/*", rate_limit: { concurrent_requests: 4 }, budget: { amount: 1, period: "none" } },
      ],
    });
    const raised = (await teams("update research --raise 5 --raise-until 2040-01-01T00:00:00+01:00 --json")).json();
    expect(raised).toEqual({ ...made, budget: { ...budget, raise: { amount: 5, until: "2039-12-31T23:00:00.000Z" } } });
    expect((await teams("list")).text).toContain("2.5 + 5 USD daily");
    expect((await teams("update research --raise none --model-limit openai/*=none --json")).json()).toEqual({
      ...made,
      model_limits: [],
    });
    const key = (await keys("create --name ci --budget 1 --json")).json();
    expect((await keys(`update ${key.id} --period weekly --time-zone Asia/Tokyo --json`)).json()).toMatchObject({
      budget: { amount: 1, period: "weekly", time_zone: "Asia/Tokyo" },
    });
    expect((await keys(`update ${key.id} --budget none --json`)).json()).toMatchObject({ budget: null });
    expect(await keys(`update ${key.id} --period daily`)).toMatchObject({
      code: 2,
      errors: expect.stringContaining("--budget"),
    });
  });

  test("what it does not understand is explained, with 2, before the store is touched", async () => {
    const { teams, keys, timesOpened } = createCommands();
    const wrong = [
      "",
      "destroy",
      "create",
      "create --name x --colour red",
      "create --name x --budget much",
      "create --name x --budget -1",
      "create --name x --period daily",
      "create --name x --budget 0 --time-zone Europe/Berlim",
      "create --name x --model-limit openai/*",
      "list --page 0",
      "show",
      "update",
      "update x --enabled maybe",
      "update x --budget 0.0000001",
      `delete ${"x".repeat(257)}`,
    ];
    for (const words of wrong) {
      const { code, text, errors } = await teams(words);
      expect([words, code, text]).toEqual([words, 2, ""]);
      expect(errors).not.toBe("");
    }
    for (const words of ["update", "update x --name y", `update ${crypto.randomUUID()} --budget -1`])
      expect([words, (await keys(words)).code]).toEqual([words, 2]);
    expect(timesOpened()).toBe(0);
  });
});
