// `switchyard models` and `switchyard tasks` against a gateway.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createModelsCommand } from "../../src/cli/models.ts";
import { createTasksCommand } from "../../src/cli/tasks.ts";
import { findFreePort } from "../support/free-port.ts";
import { runCommand } from "../support/run-command.ts";
import { type TestGateway, testGateway } from "../support/test-gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({ env: { OPENAI_API_KEY: "sk-unused" } });
});
afterAll(() => gateway.stop());

async function run(create: typeof createModelsCommand, ...args: string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const code = await runCommand(create, args, {
    readAddress: () => gateway.url,
    print: (line) => void printed.push(line),
    printError: (line) => void errors.push(line),
  });
  return { code, text: printed.join("\n"), errors: errors.join("\n"), json: () => JSON.parse(printed.join("\n")) };
}

const models = (...args: string[]) => run(createModelsCommand, ...args);
const tasks = (...args: string[]) => run(createTasksCommand, ...args);

describe("switchyard models", () => {
  test("lists models with prices per million tokens", async () => {
    const { code, text } = await models("list", "--provider", "openai");
    expect(code).toBe(0);
    expect(text).toMatch(/^model +configured +context +input +output +cached input\n/);
    const shown = (await models("show", "openai/gpt-5", "--json")).json();
    const perMillion = (shown.pricing.input_cost_per_token * 1_000_000).toFixed(6).replace(/\.?0+$/, "");
    expect(text).toMatch(new RegExp(`^openai/gpt-5 +yes +400000 +${perMillion.replace(".", "\\.")} `, "m"));
    expect(text).not.toContain("anthropic/");
    const count = text.split("\n").filter((line) => line.startsWith("openai/")).length;
    expect(text).toContain(`\n\n${count} models. Prices are in USD per million tokens`);
  });

  test("lists models with all of several capabilities", async () => {
    const idsWith = async (...capabilities: string[]) => {
      const options = capabilities.flatMap((name) => ["--capability", name]);
      const { data } = (await models("list", "--all", "--json", ...options)).json();
      return data.map(({ id }: { id: string }) => id) as string[];
    };
    const reasoning = await idsWith("reasoning");
    const both = await idsWith("vision", "reasoning");
    expect(both).toEqual((await idsWith("vision")).filter((id) => reasoning.includes(id)));
    expect(both.length).toBeWithin(1, reasoning.length);
  });

  test("searches all words, also among providers that are not configured", async () => {
    expect((await models("search", "claude", "sonnet")).text).toContain("No model was found.");
    const { data } = (await models("search", "CLAUDE", "sonnet", "--all", "--json")).json();
    expect(data.length).toBeGreaterThan(0);
    for (const { id, configured } of data) expect([configured, /claude.*sonnet/.test(id)]).toEqual([false, true]);
  });

  test("shows one model, and names the nearest for an unknown one", async () => {
    const { text } = await models("show", "openai/gpt-5");
    expect(text).toMatch(/^model +openai\/gpt-5$/m);
    expect(text).toMatch(/^input cost per token +\S+ USD per million tokens$/m);
    const { capabilities } = (await models("show", "openai/gpt-5", "--json")).json();
    const supported = Object.keys(capabilities).filter((name) => capabilities[name] === true);
    expect(/^supports +(.*)$/m.exec(text)?.[1]?.split(", ")).toEqual(
      supported.map((name) => name.replace("supports_", "").replaceAll("_", " ")),
    );
    expect(await models("show", "openai/gtp-5")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("did you mean 'openai/gpt-5'?"),
    });
    expect(await models("list", "--provider", "opnai")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("did you mean 'openai'?"),
    });
  });
});

describe("switchyard tasks", () => {
  test("lists and searches tasks with their providers", async () => {
    const { code, text } = await tasks("list");
    expect(code).toBe(0);
    expect(text).toMatch(/^task +runs as +name +providers\n/);
    expect(text).toMatch(/^text\/moderation +request .*local/m);
    const found = (await tasks("search", "INVOICE", "--all", "--json")).json().tasks as { task: string }[];
    expect(found.map(({ task }) => task)).toContain("ocr/financial_parser");
    expect(found.map(({ task }) => task)).not.toContain("text/moderation");
  });

  test("shows the engines of a task with their prices, and its schemas as JSON", async () => {
    const { text } = await tasks("show", "text/moderation", "--all");
    expect(text).toMatch(/^model +configured +default model +price$/m);
    expect(text).toMatch(/^text\/moderation\/local +yes +.*free$/m);
    expect((await tasks("show", "text/moderation", "--json")).json()).toMatchObject({
      input_schema: { type: "object" },
      output_schema: { type: "object" },
    });
    expect(await tasks("show", "text/moderatoin")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("moderation"),
    });
    for (const wrong of ["moderation", "text/", "text/moderation/openai"])
      expect((await tasks("show", wrong)).code).toBe(2);
  });
});

interface Listed {
  readonly task: string;
  readonly models: readonly { readonly configured: boolean }[];
}

test("a task says what each engine costs, and whether any is configured", async () => {
  const args = ["show", "text/summarize", "--all"];
  const { text } = await tasks(...args);
  const { models: engines } = (await tasks(...args, "--json")).json();
  expect(engines.length).toBeGreaterThan(2);
  for (const { model, pricing } of engines) {
    const row = text.split("\n").find((line) => line.startsWith(`${model} `)) ?? "";
    const isFree = pricing?.price === 0 && (pricing.output_price ?? 0) === 0;
    if (pricing === null) expect(row).toEndWith("-");
    else if (isFree) expect(row).toEndWith("free");
    else expect(row).toMatch(new RegExp(` ${pricing.price} USD.* per .*${pricing.price_unit_type}$`));
    expect(row.includes("output")).toBe(!isFree && pricing?.output_price !== undefined);
  }
  const all = (await tasks("list", "--all", "--json")).json().tasks as Listed[];
  const missing = all.find(({ models: offers }) => offers.every(({ configured }) => !configured))?.task ?? "none";
  expect((await tasks("show", missing)).text).toContain("No configured provider performs it. --all shows those");
  expect((await tasks("list")).text).toMatch(/^ocr\/ocr_async +job /m);
});

test("a gateway that does not answer is named, with what to do", async () => {
  const address = `http://127.0.0.1:${await findFreePort()}`;
  for (const [command, verb] of [
    [models, "list"],
    [tasks, "list"],
  ] as const) {
    const { code, errors } = await command(verb, "--from", address);
    expect(code).toBe(1);
    expect(errors).toContain(`The gateway at ${address} does not answer`);
    expect(errors).toContain("npx switchyard-gateway serve");
  }
  expect((await models("list", "--from", "ftp://127.0.0.1")).code).toBe(2);
});
