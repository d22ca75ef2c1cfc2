// The options that set limits, as members of a request.

import { describe, expect, test } from "bun:test";
import { createCommand, runCommandLine, UsageError } from "../../src/cli/command-line.ts";
import { addLimitOptions, type CurrentLimits, describeBudget, toLimitMembers } from "../../src/cli/limit-options.ts";

const budget = { amount: 10, period: "monthly", time_zone: "Europe/Berlin", raise: null } as const;
const rates = { requests_per_second: 1, requests_per_minute: 60, tokens_per_minute: null, concurrent_requests: null };
const current: CurrentLimits = {
  rate_limit: rates,
  budget,
  model_limits: [
    { model: "openai/*", rate_limit: rates, budget: null },
    { model: "groq/*", rate_limit: null, budget },
  ],
};

async function read(words: string, before?: CurrentLimits) {
  const errors: string[] = [];
  const output = { print: () => {}, printError: (line: string) => void errors.push(line) };
  let members: unknown = null;
  const command = addLimitOptions(createCommand("limits", "", output)).action((options) => {
    members = toLimitMembers(options, before);
  });
  const code = await runCommandLine(command, words.split(" ").filter(Boolean), output);
  return { members, code, errors: errors.join("\n") };
}

describe("options of limits", () => {
  test("only what is given is set", async () => {
    expect((await read("")).members).toEqual({});
    expect((await read("--budget 2.5 --period daily --time-zone Asia/Tokyo")).members).toEqual({
      budget: { amount: 2.5, period: "daily", time_zone: "Asia/Tokyo" },
    });
    expect(
      (await read("--requests-per-second 1 --concurrent-requests 4 --model a/* --model b/c --tag a=b=c")).members,
    ).toEqual({
      rate_limit: { requests_per_second: 1, concurrent_requests: 4 },
      allowed_models: ["a/*", "b/c"],
      tags: { a: "b=c" },
    });
  });

  test("a change keeps what it does not name", async () => {
    expect((await read("--period daily", current)).members).toEqual({ budget: { ...budget, period: "daily" } });
    expect((await read("--tokens-per-minute 900 --requests-per-second none", current)).members).toEqual({
      rate_limit: { ...rates, tokens_per_minute: 900, requests_per_second: null },
    });
    const { members } = await read("--raise 5 --raise-until 7d", current);
    expect(members).toMatchObject({ budget: { ...budget, raise: { amount: 5 } } });
    const { until } = (members as { budget: { raise: { until: string } } }).budget.raise;
    expect(Math.round((Date.parse(until) - Date.now()) / 86_400_000)).toBe(7);
  });

  test("none removes: a budget, a raise, a rate, all models, all tags, all limits of models", async () => {
    const words =
      "--budget none --model none --tag none --model-limit none --requests-per-second none --requests-per-minute none";
    expect((await read(words, current)).members).toEqual({
      ...{ budget: null, allowed_models: null, tags: {}, model_limits: [], rate_limit: null },
    });
    const raised = { ...current, budget: { ...budget, raise: { amount: 1, until: "2040-01-01T00:00:00Z" } } };
    expect((await read("--raise none", raised)).members).toEqual({ budget });
  });

  test("limits of models are added, replaced and removed by their pattern", async () => {
    const added = await read(
      "--model-limit a/b=c/*=requests-per-minute:5,budget:0.5,period:weekly,time-zone:UTC",
      current,
    );
    expect(added.members).toEqual({
      model_limits: [
        ...current.model_limits,
        {
          model: "a/b=c/*",
          rate_limit: { requests_per_minute: 5 },
          budget: { amount: 0.5, period: "weekly", time_zone: "UTC" },
        },
      ],
    });
    const until = "2040-01-01T00:00:00Z";
    const changed = await read(
      `--model-limit openai/*=none --model-limit groq/*=budget:1,raise:2,raise-until:${until}`,
      current,
    );
    expect(changed.members).toEqual({
      model_limits: [{ model: "groq/*", budget: { amount: 1, raise: { amount: 2, until } } }],
    });
  });

  test.each([
    ["--budget much", "a number or"],
    ["--period daily", "--budget"],
    ["--budget 5 --raise 5", "--raise-until"],
    ["--budget 5 --raise-until 7d", "--raise"],
    ["--budget none --period daily", "no other option"],
    ["--tag novalue", "name=value"],
    ["--model-limit openai/*", "<pattern>=<limits>"],
    ["--model-limit openai/*=", 'not ""'],
    ["--model-limit openai/*=colour:red", "colour:red"],
    ["--model-limit openai/*=toString:1", "toString:1"],
    ["--model-limit openai/*=budget:much", "a number"],
    ["--model-limit openai/*=period:daily", "--budget"],
  ])("%s is explained, with 2", async (words, message) => {
    const { code, errors, members } = await read(words);
    expect([code, members]).toEqual([2, null]);
    expect(errors).toContain(message);
  });

  test("the pattern of a limit of models may have a single character", async () => {
    expect((await read("--model-limit *=requests-per-minute:5")).members).toEqual({
      model_limits: [{ model: "*", rate_limit: { requests_per_minute: 5 } }],
    });
    expect((await read("--model-limit =requests-per-minute:5")).code).toBe(2);
  });

  test("a budget is described with its raise and its period", () => {
    expect(describeBudget(null)).toBe("no budget");
    expect(describeBudget(budget)).toBe("10 USD monthly");
    const raise = { amount: 5, until: "2040-01-01T00:00:00Z" };
    expect(describeBudget({ ...budget, period: "none", raise })).toBe("10 + 5 USD");
  });

  test("a number that is missing is no zero", () => {
    expect(() => toLimitMembers({ modelLimit: ["a/*=budget:"] })).toThrow(UsageError);
  });
});
