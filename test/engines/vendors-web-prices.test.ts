// What tasks of the web cost: the vendors bill credits or by the call, and the list has a price per token.

import { describe, expect, test } from "bun:test";
import { findTask } from "../../src/contract/tasks.ts";
import type { TaskResult } from "../../src/engines/engine.ts";
import { chargeForTask } from "../../src/inference/universal-ai/unit-price.ts";
import { firecrawl } from "../../src/providers/firecrawl/index.ts";
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
