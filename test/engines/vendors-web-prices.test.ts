// What tasks of the web cost: the vendors bill credits or by the call, and the list has a price per token.

import { describe, expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import type { TaskResult } from "../../src/engines/engine.ts";
import { chargeForTask } from "../../src/inference/universal-ai/unit-price.ts";
import { firecrawl } from "../../src/providers/firecrawl/index.ts";
import { linkup } from "../../src/providers/linkup/index.ts";
import { runJob } from "./vendors-jobs/job.ts";

function costOf(task: Parameters<typeof findTask>[0], provider: string, answer: TaskResult): number | null {
  const found = findTask(task);
  if (found === undefined) throw new Error(`there is no task ${task}`);
  return chargeForTask(found, provider, null, answer).cost;
}

describe("an extraction by firecrawl", () => {
  const task = "web/structured_extraction_async";
  const extract = (stated: object) =>
    runJob({
      row: firecrawl,
      task,
      input: { urls: ["https://a.example"], prompt: "who?", schema: null },
      answers: [{ json: { success: true, id: "e1" } }, { json: { status: "completed", data: {}, ...stated } }],
    });

  // One credit is 15 tokens, and 0.0038 USD.
  test.each([
    [{ creditsUsed: 20 }, 0.076, 20],
    [{ tokensUsed: 300 }, 0.076, 20],
    [{ tokensUsed: 291, creditsUsed: 20 }, 0.076, 20],
    [{}, null, null],
  ])("that states %j costs %p", async (stated, cost, credits) => {
    const { answer, output } = await extract(stated);
    const charged = costOf(task, "firecrawl", answer);
    if (cost === null) expect(charged).toBeNull();
    else expect(charged).toBeCloseTo(cost, 5);
    expect(output["usage"]).toEqual(credits === null ? null : { credits });
  });
});

describe("a call of linkup", () => {
  test.each([
    [{}, {}, 0.005],
    [{ depth: "standard" }, {}, 0.005],
    [{ depth: "deep" }, {}, 0.05],
    [{}, { outputType: "sourcedAnswer" }, 0.006],
    [{ depth: "deep" }, { outputType: "structured", structuredOutputSchema: "{}" }, 0.055],
    [{ depth: "deep" }, { depth: "fast" }, 0.005],
    [{}, { depth: "deep" }, 0.05],
    [{}, { depth: "deeper" }, null],
    [{}, { outputType: "another" }, null],
  ])("that searches with %j and the parameters %j costs %p", async (more, providerParams, cost) => {
    const task = "web/search";
    const input = { query: "a", depth: null, max_results: null, ...more };
    const { answer } = await runJob({ row: linkup, task, input, providerParams, answers: [{ json: { results: [] } }] });
    expect(costOf(task, "linkup", answer)).toBe(cost);
  });

  test.each([
    [{}, 0.001],
    [{ renderJs: false }, 0.001],
    [{ renderJs: true }, 0.005],
  ])("that fetches a page with the parameters %j costs %p", async (providerParams, cost) => {
    const task = "web/scraping";
    const input = { url: "https://a.example" };
    const { answer } = await runJob({
      row: linkup,
      task,
      input,
      providerParams,
      answers: [{ json: { markdown: "A" } }],
    });
    expect(costOf(task, "linkup", answer)).toBe(cost);
  });

  test.each([
    ["S", {}, "S", 0.25],
    ["M", {}, "M", 0.5],
    ["L", {}, "L", 1.5],
    ["XL", {}, "XL", 2.5],
    [null, {}, "L", 1.5],
    ["XL", { reasoningDepth: "S" }, "S", 0.25],
    ["S", { reasoningDepth: "XXL" }, "XXL", null],
  ])("that researches at the depth %p with the parameters %j has the depth %s and costs %p", async (...row) => {
    const [reasoning_depth, providerParams, sent, cost] = row;
    const task = "web/research_async";
    const { answer, seen } = await runJob({
      row: linkup,
      task,
      input: { prompt: "revenue?", schema: null, reasoning_depth },
      providerParams,
      answers: [
        { json: { id: "r1", status: "pending" } },
        { json: { id: "r1", status: "completed", output: { answer: "245.1 billion", sources: [] } } },
      ],
    });
    expect(seen[0]?.json["reasoningDepth"]).toBe(sent);
    expect(costOf(task, "linkup", answer)).toBe(cost);
  });
});
