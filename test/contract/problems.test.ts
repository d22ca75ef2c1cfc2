// A refused request gets an answer of bounded size, and finding its problems takes bounded work, whatever the body holds.

import { describe, expect, test } from "bun:test";
import { z } from "zod";
import { createChatCompletionRequest } from "../../src/contract/chat-completions.ts";
import { createMessagesRequest } from "../../src/contract/messages.ts";
import { parse } from "../../src/contract/problems.ts";
import { createResponseRequest } from "../../src/contract/responses.ts";
import { type Problem, ValidationError } from "../../src/errors.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { problemsFoundBy } from "../support/thrown.ts";

const maxAnswerBytes = 64 * 1024;

describe("the list of problems", () => {
  test("has at most 100 entries, and the last one says how many were left out", () => {
    const problems = problemsOf(
      z.array(z.string()),
      Array.from({ length: 1_000 }, () => 1),
    );
    expect(problems).toHaveLength(100);
    expect(problems[0]).toEqual({ loc: ["body", 0], msg: "Input should be a valid string", type: "string_type" });
    expect(problems.at(-1)).toEqual({ loc: ["body"], msg: "901 more problems", type: "problems_left_out" });
  });

  test("counts one problem in the singular", () => {
    const problem = { loc: ["body"], msg: "Field required", type: "missing" };
    expect(new ValidationError([problem], 1).problems.at(-1)?.msg).toBe("1 more problem");
  });

  test("of exactly 100 is complete", () => {
    const problems = problemsOf(
      z.array(z.string()),
      Array.from({ length: 100 }, () => 1),
    );
    expect(problems).toHaveLength(100);
    expect(problems.at(-1)?.loc).toEqual(["body", 99]);
  });

  test("shortens long names and stays within its size", () => {
    const name = "🙂".repeat(50_000);
    const body = Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`${at}${name}`, 1]));
    const problems = problemsOf(z.strictObject({}), body);
    expect(JSON.stringify(problems).length).toBeLessThan(maxAnswerBytes);
    expect(JSON.stringify(problems).isWellFormed()).toBe(true);
    expect(String(problems[0]?.loc[1]).length).toBeLessThanOrEqual(100);
  });

  test("of a large value holds the first problem only, and says so", () => {
    const body = { texts: Array.from({ length: 50_000 }, () => 1) };
    const problems = problemsOf(z.object({ texts: z.array(z.string()) }), body);
    expect(problems.map(({ loc, type }) => [loc, type])).toEqual([
      [["body", "texts", 0], "string_type"],
      [["body"], "problems_left_out"],
    ]);
  });

  test("ends with the first problem of every large body: 80,000 parts took up to five seconds", () => {
    const parts = Array.from({ length: 80_000 }, () => ({}));
    const numbers = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [at, at]));
    const noAliases = new Set<string>();
    const user = (content: unknown) => [{ role: "user", content }];
    const large: readonly (readonly [z.ZodType, unknown])[] = [
      [createChatCompletionRequest(noAliases), { model: "a/b", messages: user(parts) }],
      [createChatCompletionRequest(noAliases), { model: "a/b", messages: user("x"), tags: numbers }],
      [createMessagesRequest(noAliases), { model: "a/b", max_tokens: 1, messages: user(parts) }],
      [
        createMessagesRequest(noAliases),
        { model: "a/b", max_tokens: 1, messages: user([{ type: "tool_result", content: parts }]) },
      ],
      [createResponseRequest(noAliases), { model: "a/b", input: user(parts) }],
      [createResponseRequest(noAliases), { model: "a/b", input: "x", metadata: numbers }],
    ];
    for (const [schema, body] of large) {
      const count = problemsOf(schema, body).length;
      expect(count).toBeGreaterThan(0);
      expect(count).toBeLessThanOrEqual(3);
    }
  });
});

const gateway = await sharedGateway();
const key = await gateway.createKey();

describe("the answer", () => {
  const long = "x".repeat(300_000);
  const strange = Array.from({ length: 20_000 }, () => 1);
  const bodies: Readonly<Record<string, readonly [path: string, body: unknown]>> = {
    "a long name around many problems": [
      "/v3/universal-ai/async",
      { model: "a", input: { [long]: strange }, tags: { [long]: strange } },
    ],
    "many wrong parts": [
      "/v3/chat/completions",
      { model: "mock/echo", messages: [{ role: "user", content: strange }] },
    ],
    "many unknown members": ["/v3/manage/keys", Object.fromEntries(strange.map((_, at) => [`member${at}`, 1]))],
    "many unknown routing members": [
      "/v3/chat/completions",
      { model: "mock/echo", messages: [{ role: "user", content: "x" }], routing: { [long]: 1, ...strange } },
    ],
    "a long name of a model": [
      "/v3/chat/completions",
      { model: `${long}/${long}`, messages: [{ role: "user", content: "x" }] },
    ],
    "a long name of a provider": ["/v3/universal-ai", { model: `text/moderation/${long}`, input: { text: "x" } }],
    "a long name of a task": ["/v3/universal-ai", { model: `text/${long}/local`, input: { text: "x" } }],
    "many half surrogate pairs": [
      "/v3/chat/completions",
      { model: "mock/echo", messages: [{ role: "user", content: "x" }], [long]: strange.map(() => "\ud800") },
    ],
    "many wrong items": [
      "/v3/responses",
      { model: "mock/echo", input: strange.map(() => ({ role: long.slice(0, 20) })) },
    ],
    "many wrong texts of a task": ["/v3/universal-ai", { model: "text/embeddings/sandbox", input: { texts: strange } }],
    "many dropped parameters": [
      "/v3/v1/messages",
      {
        model: "mock/echo",
        max_tokens: 5,
        messages: [{ role: "user", content: strange.map(() => ({ type: "strange" })) }],
      },
    ],
  };
  for (const [title, [path, body]] of Object.entries(bodies)) {
    test(`to ${title} is small`, async () => {
      const secret = path.includes("manage") ? gateway.adminKey : key;
      const response = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await response.text();
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(Buffer.byteLength(text)).toBeLessThan(maxAnswerBytes);
      expect(JSON.parse(text)).toHaveProperty("error");
    });
  }
});

function problemsOf(schema: z.ZodType, value: unknown): readonly Problem[] {
  return problemsFoundBy(() => parse(schema, value));
}
