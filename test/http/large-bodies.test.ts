// Megabytes in one request do not make other callers wait: the sandbox, which runs in the serving process, counts in linear time and refuses what it
// would have to work on for seconds.

import { expect, test } from "bun:test";
import { countTokens, splitTokens } from "../../src/providers/sandbox/tokens.ts";
import { measureGrowth } from "../support/cpu-time.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });
const key = await gateway.createKey();

async function send(path: string, body: unknown): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

test("tokens are counted as they are split", () => {
  const characters = ["a", "b", " ", "\n", "😀", "é", "\u2003", "\ud83d", "\ufeff", "\u00a0"];
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let round = 0; round < 3_000; round++) {
    const length = Math.floor(random() * 60);
    const text = Array.from({ length }, () => characters[Math.floor(random() * characters.length)]).join("");
    expect([text, countTokens(text)]).toEqual([text, splitTokens(text).length]);
  }
});

test("counting tokens needs about ten times the processor time for ten times the text, not a hundred times", async () => {
  const prepare = (length: number) => {
    const text = "a ".repeat(length);
    return () => countTokens(text);
  };
  const growth = await measureGrowth({ prepare, length: 400_000, factor: 10, most: 40, negligibleMs: 0 });
  expect(growth).toBeLessThanOrEqual(40);
});

test("a chat of 15 MB is answered by the sandbox with its number of tokens", async () => {
  const content = "lorem ipsum dolor ".repeat(830_000);
  const tools = [{ type: "function", function: { name: "lorem", parameters: { type: "object" } } }];
  const { status, answer } = await send("/v3/chat/completions", {
    model: "sandbox/echo",
    messages: [{ role: "user", content }],
    tools,
  });
  expect(status).toBe(200);
  const { usage } = answer as { usage: { prompt_tokens: number } };
  expect(usage.prompt_tokens).toBeGreaterThanOrEqual(3 * 830_000);
});

test("a task of the sandbox with megabytes of text is refused, in one text or in many", async () => {
  const inputs: readonly (readonly [task: string, input: unknown])[] = [
    ["text/syntax_analysis", { text: "word ".repeat(1_000_000) }],
    ["text/spell_check", { text: "word ".repeat(1_000_000) }],
    ["text/embeddings", { texts: Array.from({ length: 1_000 }, () => "word ".repeat(1_000)) }],
  ];
  for (const [task, input] of inputs) {
    const { status, answer } = await send("/v3/universal-ai", { model: `${task}/sandbox`, input });
    const { detail } = answer as { detail: { loc: unknown[]; type: string }[] };
    expect([task, status, detail[0]?.loc, detail[0]?.type]).toEqual([task, 422, ["body", "input"], "string_too_long"]);
  }
});
