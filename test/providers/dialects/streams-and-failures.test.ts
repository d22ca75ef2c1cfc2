// What all dialects promise about streams with one call, the name of the model, and failures inside an answer. Shapes are documented in
// the references of the vendors; the contents are invented.

import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/contract/chat-format.ts";
import { type ChatDialect, ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { PartialCall } from "../../../src/providers/dialects/gemini/partial-call.ts";
import { dialects } from "../../../src/providers/dialects/index.ts";
import { thrownBy } from "../../support/thrown.ts";

const reading = { model: "asked-for", answerTool: null };

function chatOf(name: keyof typeof dialects): ChatDialect {
  const chat = dialects[name]?.chat;
  if (chat === undefined) throw new Error(`${name} has no chat`);
  return chat;
}

function readStream(name: keyof typeof dialects, events: readonly JsonObject[]) {
  const reader = chatOf(name).createStreamReader(reading);
  const chunks = events.flatMap((value) => {
    const { type, ...rest } = value;
    // Events of Bedrock are known by their name, those of the others by their content.
    return [...reader.read(name === "bedrock" ? { name: String(type), value: rest } : { name: "", value })];
  });
  return {
    chunks,
    model: chunks[0]?.model,
    finish: chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? [])),
  };
}

const call = { id: "c1", function: { name: "f", arguments: "{}" } };

describe("a stream with one call", () => {
  test.each([
    ["ollama", [{ message: { tool_calls: [call] } }, { done: true, done_reason: "stop", message: {} }]],
    ["mistral", [{ id: "1", choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: "new_reason" }] }]],
    [
      "bedrock",
      [
        { type: "messageStart", role: "assistant" },
        { type: "contentBlockStart", contentBlockIndex: 0, start: { toolUse: { toolUseId: "c1", name: "f" } } },
        { type: "contentBlockStop", contentBlockIndex: 0 },
        { type: "messageStop", stopReason: "new_reason" },
        { type: "metadata", usage: { inputTokens: 1, outputTokens: 1 } },
      ],
    ],
    [
      "cohere",
      [
        { type: "message-start", id: "1" },
        { type: "tool-call-start", index: 0, delta: { message: { tool_calls: call } } },
        { type: "tool-call-end", index: 0 },
        { type: "message-end", delta: { finish_reason: "COMPLETE" } },
      ],
    ],
    [
      "anthropic",
      [
        { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "c1", name: "f" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "new_reason" } },
        { type: "message_stop" },
      ],
    ],
  ] as const)("of %s ends with tool_calls", (name, events) => {
    expect(readStream(name, events).finish).toEqual(["tool_calls"]);
  });
});

test("an answer of Mistral with one call ends with tool_calls", () => {
  const message = { role: "assistant", content: "", tool_calls: [call] };
  const answer = { choices: [{ index: 0, message, finish_reason: "new_reason" }] };
  expect(chatOf("mistral").fromAnswer(answer, reading).choices[0]?.finish_reason).toBe("tool_calls");
});

test.each([
  ["ollama", { message: { content: "Hi" } }],
  ["mistral", { id: "1", choices: [{ index: 0, delta: { content: "Hi" } }] }],
  ["gemini", { candidates: [{ content: { parts: [{ text: "Hi" }] } }] }],
] as const)("a stream of %s has the vendor's name of the model, or the one that was asked for", (name, event) => {
  const named = name === "gemini" ? { modelVersion: "served" } : { model: "served" };
  expect(readStream(name, [{ ...event, ...named }]).model).toBe("served");
  expect(readStream(name, [event]).model).toBe("asked-for");
});

test("parts of a streamed answer of Mistral that have no text are passed on", () => {
  const event = (content: unknown) => ({ id: "1", choices: [{ index: 0, delta: { content } }] });
  const reference = { type: "tool_reference", url: "https://a.example", title: "A" };
  const { chunks } = readStream("mistral", [
    event("Hi"),
    event([reference]),
    event([]),
    event([{ type: "new_part", a: 1 }]),
  ]);
  const deltas = chunks.map(({ choices }) => choices[0]?.delta as JsonObject);
  expect(deltas.map((delta) => Object.keys(delta).filter((member) => member !== "role"))).toEqual([
    ["content"],
    ["annotations"],
    ["extra_content"],
  ]);
});

test("events of Cohere are known by their type, or by the name of the event", () => {
  const reader = chatOf("cohere").createStreamReader(reading);
  const value = { delta: { message: { content: { text: "Hi" } } } };
  const named = reader.read({ name: "content-delta", value });
  const typed = reader.read({ name: "message", value: { type: "content-delta", ...value } });
  expect([named, typed].map(([chunk]) => chunk?.choices[0]?.delta.content)).toEqual(["Hi", "Hi"]);
});

describe("a failure inside an answer", () => {
  test.each([
    ["ollama", { error: "no" }, "no", null],
    ["ollama", { error: { message: "no" } }, "no", null],
    ["ollama", { error: {} }, "the generation failed", null],
    ["mistral", { error: { message: "no" }, object: "error" }, "no", null],
    ["anthropic", { type: "error", error: { type: "overloaded_error" } }, "overloaded_error", 529],
  ] as const)("of %s has the vendor's words and status: %j", (name, answer, message, status) => {
    const failure = thrownBy(() => chatOf(name).fromAnswer(answer, reading), ErrorInAnswer);
    expect([failure.message, failure.status]).toEqual([message, status]);
  });

  test("that begins anew is one of a broken gateway between the two", () => {
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } };
    const begin = { type: "message_start", message: { id: "m" } };
    const failure = thrownBy(() => readStream("anthropic", [begin, block, begin]), ErrorInAnswer);
    expect(failure.status).toBe(502);
  });
});

test("a refusal of Anthropic without any block is marked, because it is not billed", () => {
  const usageOf = (stop_reason: string, blocks: readonly JsonObject[] = []) => {
    const end = { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } };
    return readStream("anthropic", [...blocks, end, { type: "message_stop" }]).chunks.at(-1)?.usage;
  };
  const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hi" } };
  expect(usageOf("refusal")).toMatchObject({ is_empty_refusal: true });
  expect([usageOf("refusal", [block]), usageOf("end_turn")]).toEqual([
    expect.not.objectContaining({ is_empty_refusal: true }),
    expect.not.objectContaining({ is_empty_refusal: true }),
  ]);
});

describe("a call of Gemini whose arguments arrive in pieces", () => {
  const argsOf = (...pieces: readonly JsonObject[]) => {
    const [first = {}, ...others] = pieces.map((piece) => ({ partialArgs: [piece] }));
    const partial = new PartialCall({ name: "f", args: { given: 1 }, ...first, willContinue: true }, null);
    for (const other of others) partial.add(other);
    return JSON.parse(JSON.stringify((partial.toPart()["functionCall"] as JsonObject)["args"]));
  };
  const piece = (jsonPath: string, value: JsonObject) => ({ jsonPath, ...value });

  test("has them all, those of the first event included", () => {
    expect(
      argsOf(
        piece("$.city", { stringValue: "Ro" }),
        piece("$.city", { stringValue: "me" }),
        piece("$.days[1].hot", { boolValue: false }),
        piece("$['a.b']", { numberValue: 0 }),
        piece("$.tags[]", {}),
        piece("$.none", { nullValue: "NULL_VALUE" }),
      ),
    ).toEqual({ given: 1, city: "Rome", days: [null, { hot: false }], "a.b": 0, tags: [], none: null });
  });

  test("has no list of more than 10,000 entries, and no names in a list", () => {
    expect(argsOf(piece("$.a[10000]", { numberValue: 1 }))["a"]).toHaveLength(10_001);
    expect(argsOf(piece("$.a[10001]", { numberValue: 1 }))["a"]).toEqual([]);
    expect(argsOf(piece("$.a[0]", { numberValue: 1 }), piece("$.a.length", { numberValue: 9 }))["a"]).toEqual([1]);
  });

  test("has the signature of its first event", () => {
    expect(new PartialCall({ name: "f" }, "sig").toPart()).toEqual({
      functionCall: { name: "f", args: {} },
      thoughtSignature: "sig",
    });
  });
});

describe("Cohere", () => {
  const write = (request: Partial<ChatRequest>) => {
    const target = { model: "command-a", facts: null, isStream: false };
    const made = chatOf("cohere").toRequest(
      { model: "command-a", messages: [{ role: "user", content: "Hi" }], ...request },
      target,
    );
    return { body: JSON.parse(made.body) as JsonObject, dropped: made.dropped ?? [] };
  };

  test.each([
    [{ reasoning_effort: "minimal" }, { type: "enabled", token_budget: 512 }, []],
    [{ reasoning_effort: "low" }, { type: "enabled", token_budget: 1_024 }, []],
    [{ reasoning_effort: "medium" }, { type: "enabled", token_budget: 8_192 }, []],
    [{ reasoning_effort: "high" }, { type: "enabled" }, []],
    [{ reasoning_effort: "high", max_tokens: 1_001 }, { type: "enabled", token_budget: 1 }, []],
    [{ reasoning_effort: "high", max_tokens: 1_000 }, { type: "disabled" }, ["reasoning_effort"]],
    [{ reasoning: { max_tokens: 500 }, max_tokens: 1_500 }, { type: "enabled", token_budget: 500 }, []],
    [
      { reasoning: { max_tokens: 501 }, max_tokens: 1_500 },
      { type: "enabled", token_budget: 500 },
      ["reasoning.max_tokens"],
    ],
    [{ reasoning_effort: "none" }, { type: "disabled" }, []],
  ])("thinks with %j as %j", (request, thinking, dropped) => {
    const made = write(request);
    expect([made.body["thinking"], made.dropped]).toEqual([thinking, dropped]);
  });

  test("takes penalties of 0 to 1, and a top_p of 0.01 to 0.99", () => {
    const penalties = (value: number) => write({ frequency_penalty: value, presence_penalty: value });
    expect(penalties(0.5).body).toMatchObject({ frequency_penalty: 0.5, presence_penalty: 0.5 });
    expect(penalties(1).dropped).toEqual([]);
    expect([penalties(1.1).dropped, penalties(-0.1).dropped]).toEqual([
      ["frequency_penalty", "presence_penalty"],
      ["frequency_penalty", "presence_penalty"],
    ]);
    const topP = (top_p: number) => write({ top_p }).body["p"];
    expect([topP(0), topP(0.5), topP(1)]).toEqual([0.01, 0.5, 0.99]);
  });

  test("names strict as dropped if any tool wanted it", () => {
    const tool = (name: string, strict: boolean) => {
      return { type: "function" as const, function: { name, strict, parameters: { type: "object", properties: {} } } };
    };
    const { dropped } = write({ tools: [tool("a", true), tool("b", false)] });
    expect(dropped).toEqual(["tools.function.strict"]);
  });
});
