// The quick look at plain chat requests says yes only where the schema would.

import { describe, expect, test } from "bun:test";
import { createChatCompletionRequest } from "../../src/contract/chat-completions.ts";
import { createModelNameTest } from "../../src/contract/model-names.ts";
import { createPlainCheck } from "../../src/contract/plain-chat-request.ts";

const aliases = new Set(["fast", "a+b"]);
const schema = createChatCompletionRequest(aliases);
const members = Object.keys(schema.shape);
const isPlain = createPlainCheck(new Set(members), createModelNameTest(aliases));

const user = { role: "user", content: "Hello" };
const plain = { model: "sandbox/echo", messages: [user] };

describe("a plain request is recognised", () => {
  test.each([
    [
      "texts of all who speak",
      { ...plain, messages: ["system", "developer", "user", "assistant"].map((role) => ({ role, content: "" })) },
    ],
    [
      "numbers at their limits",
      {
        ...plain,
        temperature: 2,
        top_p: 0,
        max_tokens: 1,
        max_completion_tokens: 1_000_000,
        presence_penalty: -2,
        frequency_penalty: 2,
      },
    ],
    [
      "numbers at their other limits",
      {
        ...plain,
        temperature: 0,
        top_p: 1,
        max_tokens: 1_000_000,
        max_completion_tokens: 1,
        presence_penalty: 2,
        frequency_penalty: -2,
      },
    ],
    ["as many messages as a request may have", { ...plain, messages: Array(2_048).fill(user) }],
    ["a stream with usage", { ...plain, stream: true, stream_options: { include_usage: true } }],
    ["an alias", { ...plain, model: "a+b" }],
    ["members that nobody knows", { ...plain, some_vendors_own: { deep: [null] } }],
  ])("%s", (_title, value) => {
    expect(isPlain(value)).toBe(true);
    expect(schema.safeParse(value).success).toBe(true);
  });
});

describe("what the schema refuses is never called plain", () => {
  const odd = [
    null,
    undefined,
    true,
    "",
    "x",
    "a/b",
    -1,
    0,
    0.5,
    2.5,
    3,
    1e7,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    [],
    [null],
    [user],
    {},
    user,
    { include_usage: "yes" },
    "x".repeat(600),
  ];

  test.each([...members, "unknown"])("whatever stands in %s", (name) => {
    for (const value of odd) {
      const request = { ...plain, [name]: value };
      if (isPlain(request)) expect([name, value, schema.safeParse(request).success]).toEqual([name, value, true]);
    }
  });

  test.each(["role", "content", "tool_calls", "name", "tool_call_id"])("whatever stands in a message's %s", (name) => {
    for (const role of ["system", "developer", "user", "assistant", "tool", "function", "robot"]) {
      for (const value of [
        ...odd,
        [{ type: "text", text: "a" }],
        [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }],
      ]) {
        const request = { ...plain, messages: [user, { role, content: "a", [name]: value }] };
        if (isPlain(request)) expect([role, value, schema.safeParse(request).success]).toEqual([role, value, true]);
      }
    }
  });

  test.each([
    ["no object", [null, 1, "text", [], [plain]]],
    [
      "no model, or none that could be one",
      [
        { messages: [user] },
        ...["", "echo", "sandbox/", "Sandbox/echo", "sandbox/../x", "fast/", `a/${"b".repeat(300)}`].map((model) => ({
          ...plain,
          model,
        })),
      ],
    ],
    [
      "no messages, none in them, or too many",
      [{ model: "sandbox/echo" }, { ...plain, messages: [] }, { ...plain, messages: Array(2_049).fill(user) }],
    ],
  ])("%s", (_title, values) => {
    for (const value of values) {
      expect(schema.safeParse(value).success).toBe(false);
      expect(isPlain(value)).toBe(false);
    }
  });
});

test("a request and its parts mean the same to both", () => {
  const value = { ...plain, temperature: 0.5, max_tokens: 7, stream: false, unknown: 1 };
  expect(isPlain(value)).toBe(true);
  const { unknown: _unknown, ...known } = value;
  expect<unknown>(schema.parse(value)).toEqual(known);
});
