// Answers in the format of Bedrock: completions, usage and streams.

import { expect, test } from "bun:test";
import type { ChatChunk, ChatMessage } from "../../../src/contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { failureMember } from "../../../src/providers/framing/aws-event-stream.ts";
import { ask, chat, type Event, end, nova, reading, sonnet, stop, user, weatherTool } from "../../support/bedrock.ts";

// Answers

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };

const answerWith = (content: JsonObject[], stopReason = "end_turn", more: JsonObject = {}) => ({
  output: { message: { role: "assistant", content } },
  stopReason,
  usage,
  metrics: { latencyMs: 1 },
  ...more,
});

const start: Event = ["messageStart", { role: "assistant" }];

const delta = (at: number, value: JsonObject): Event => [
  "contentBlockDelta",
  { contentBlockIndex: at, delta: value, p: "ab" },
];

const metadata: Event = ["metadata", { usage, metrics: { latencyMs: 1 } }];

const callStart = (at: number, toolUseId: string, name: string): Event => [
  "contentBlockStart",
  { contentBlockIndex: at, start: { toolUse: { toolUseId, name } } },
];

function readStream(
  events: readonly Event[],
  { model, answerTool }: { model: string; answerTool: string | null } = reading,
) {
  const reader = chat.createStreamReader({ model, answerTool });
  const chunks: ChatChunk[] = [];
  for (const [name, value] of events) chunks.push(...reader.read({ name, value }));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    reader,
    chunks,
    deltas: choices.map((choice) => choice.delta),
    finishes: choices.map((c) => c.finish_reason),
  };
}

/** As a client puts a stream together. */
function join(deltas: readonly ChatChunk["choices"][number]["delta"][]) {
  const tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const part of deltas.flatMap((one) => one.tool_calls ?? [])) {
    tool_calls[part.index] ??= {
      id: part.id ?? "",
      type: "function",
      function: { name: part.function?.name ?? "", arguments: "" },
    };
    const call = tool_calls[part.index];
    if (call !== undefined) call.function.arguments += part.function?.arguments ?? "";
  }
  return {
    content: deltas.map((one) => one.content ?? "").join(""),
    reasoning_details: deltas.flatMap((one) => one.reasoning_details ?? []),
    tool_calls,
  };
}

// Thoughts of earlier turns

test("thoughts go back to the model that signed them, before its words and calls; unsigned ones do not", () => {
  const messages: ChatMessage[] = [
    user,
    {
      role: "assistant",
      content: "Hello",
      reasoning_content: "Hm. Never signed.",
      reasoning_details: [
        { type: "reasoning.text", text: "Hm.", signature: "c2ln" },
        { type: "reasoning.encrypted", data: "c2VjcmV0" },
        { type: "reasoning.text", text: "Never signed." },
      ],
    },
    user,
  ];
  expect(ask(sonnet, { messages }).body.messages[1]?.content).toEqual([
    { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
    { reasoningContent: { redactedContent: "c2VjcmV0" } },
    { text: "Hello" },
  ]);
  expect(ask(nova, { messages }).body.messages[1]?.content).toEqual([{ text: "Hello" }]);
});

test("an answer of thoughts, words and calls is a completion", () => {
  const answer = answerWith(
    [
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { reasoningContent: { redactedContent: "c2VjcmV0" } },
      { text: "Let me " },
      { text: "look." },
      { somethingNew: { a: 1 } },
      { toolUse: { toolUseId: "t1", name: "get_weather", input: { city: "Rome" } } },
      { toolUse: { toolUseId: "s1", name: "nova_grounding", input: {}, type: "server_tool_use" } },
    ],
    "tool_use",
    { serviceTier: { type: "priority" } },
  );
  const completion = chat.fromAnswer(answer, reading);

  expect(completion).toMatchObject({ object: "chat.completion", model: sonnet, service_tier: "priority" });
  expect(completion.id).toMatch(/^chatcmpl-.{24}$/);
  expect(completion.choices).toEqual([
    {
      index: 0,
      finish_reason: "tool_calls",
      logprobs: null,
      message: {
        role: "assistant",
        content: "Let me look.",
        refusal: null,
        tool_calls: [{ id: "t1", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } }],
        reasoning_content: "Hm.",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm.", signature: "c2ln" },
          { type: "reasoning.encrypted", data: "c2VjcmV0" },
        ],
      },
    },
  ]);
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"],
  ["something_new", "stop"],
] as const)("the stop reason %s is %s", (stopReason, finish) => {
  expect(chat.fromAnswer(answerWith([{ text: "x" }], stopReason), reading).choices[0]?.finish_reason).toBe(finish);
});

test("malformed output is a failure of the provider, so that another may be tried", () => {
  const read = () => chat.fromAnswer(answerWith([], "malformed_tool_use"), reading);
  expect(read).toThrow(ErrorInAnswer);
});

test("an answer without a message is refused", () => {
  expect(() => chat.fromAnswer({ message: "Service error" }, reading)).toThrow(TypeError);
});

test("the input of the answer's tool is the content", () => {
  const content = [
    { text: "Here it is:" },
    { toolUse: { toolUseId: "t", name: "final_answer", input: { name: "Rome" } } },
  ];
  const completion = chat.fromAnswer(answerWith(content, "tool_use"), { model: nova, answerTool: "final_answer" });

  expect(completion.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: '{"name":"Rome"}' } });
});

test("a citation of a page becomes an annotation of the words that it supports", () => {
  const citation = {
    title: "Rome",
    location: { web: { url: "https://example.com/rome", domain: "example.com" } },
    sourceContent: [{ text: "Rome is old." }],
  };
  const cited = {
    citationsContent: { content: [{ text: "It is old." }], citations: [citation, { title: "a document" }] },
  };
  const { message } = chat.fromAnswer(answerWith([{ text: "Rome? " }, cited]), reading).choices[0] ?? {};

  expect(message?.content).toBe("Rome? It is old.");
  expect(message?.annotations).toEqual([
    {
      type: "url_citation",
      url_citation: {
        url: "https://example.com/rome",
        title: "Rome",
        start_index: 6,
        end_index: 16,
        content: "Rome is old.",
      },
    },
  ]);
});

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlockDelta.html */
test("an image of an answer is a data URL, whole or streamed in pieces", () => {
  const bytes = Buffer.from("an image");
  const base64 = (from: number, to?: number) => bytes.subarray(from, to).toString("base64");
  const image = { type: "image_url", image_url: { url: `data:image/webp;base64,${base64(0)}` } };
  const content = [{ text: "See:" }, { image: { format: "webp", source: { bytes: base64(0) } } }];
  const message = chat.fromAnswer(answerWith(content), reading).choices[0]?.message;
  const { deltas } = readStream([
    start,
    delta(0, { text: "See:" }),
    stop(0),
    ["contentBlockStart", { contentBlockIndex: 1, start: { image: { format: "webp" } } }],
    delta(1, { image: { source: { bytes: base64(0, 4) } } }),
    delta(1, { image: { source: { bytes: base64(4) } } }),
    stop(1),
    ["contentBlockStart", { contentBlockIndex: 2, start: { image: { format: "png" } } }],
    stop(2),
    end("end_turn"),
  ]);

  expect(message).toMatchObject({ content: "See:", images: [image] });
  expect(deltas.flatMap((one) => (one.images as unknown[] | undefined) ?? [])).toEqual([image]);
});

test("the prompt is all of it: what was read from the cache and what was written to it included", () => {
  const cached = {
    inputTokens: 53,
    outputTokens: 205,
    totalTokens: 1799,
    cacheReadInputTokens: 541,
    cacheWriteInputTokens: 1000,
    cacheDetails: [
      { ttl: "1h", inputTokens: 400 },
      { ttl: "5m", inputTokens: 600 },
    ],
  };
  expect(chat.fromAnswer(answerWith([], "end_turn", { usage: cached }), reading).usage).toEqual({
    prompt_tokens: 1594,
    completion_tokens: 205,
    total_tokens: 1799,
    prompt_tokens_details: { cached_tokens: 541, cache_write_tokens: 1000, cache_write_1h_tokens: 400 },
  });
});

test("usage is never negative, and its parts never more than the whole, whatever the vendor says", () => {
  const odd = [0, 7, -3, 2.5, Number.NaN, "9", null, undefined];
  for (const inputTokens of odd)
    for (const cacheReadInputTokens of odd)
      for (const outputTokens of odd) {
        const said = {
          inputTokens,
          cacheReadInputTokens,
          outputTokens,
          cacheDetails: [{ ttl: "1h", inputTokens: 99 }],
        };
        const read = chat.fromAnswer(answerWith([], "end_turn", { usage: said }), reading).usage;
        const { cached_tokens = 0, cache_write_1h_tokens = 0 } = read?.prompt_tokens_details ?? {};
        expect(
          Math.min(read?.prompt_tokens ?? -1, read?.completion_tokens ?? -1, cached_tokens),
        ).toBeGreaterThanOrEqual(0);
        expect(cached_tokens + cache_write_1h_tokens).toBeLessThanOrEqual(read?.prompt_tokens ?? -1);
        expect(read?.total_tokens).toBe((read?.prompt_tokens ?? 0) + (read?.completion_tokens ?? 0));
      }
  expect(chat.fromAnswer(answerWith([], "end_turn", { usage: null }), reading).usage).toBeUndefined();
});

test("a stream of thoughts, words and calls: one role, one id, one finish, calls counted from 0, usage at the end", () => {
  const { chunks, deltas, finishes, reader } = readStream([
    start,
    delta(0, { reasoningContent: { text: "H" } }),
    delta(0, { reasoningContent: { text: "m." } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    stop(0),
    delta(1, { text: "" }),
    delta(1, { text: "Let me look." }),
    stop(1),
    callStart(2, "t1", "get_weather"),
    delta(2, { toolUse: { input: '{"city":' } }),
    delta(2, { toolUse: { input: '"Rome"}' } }),
    stop(2),
    callStart(3, "t2", "get_time"),
    stop(3),
    ["somethingNew", { a: 1 }],
    end("tool_use"),
    metadata,
  ]);

  expect(deltas).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "H" },
    { reasoning_content: "m." },
    { reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "c2ln" }] },
    { content: "Let me look." },
    { tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "get_weather", arguments: "" } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] },
    { tool_calls: [{ index: 1, id: "t2", type: "function", function: { name: "get_time", arguments: "" } }] },
    { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
    {},
  ]);
  expect(finishes.filter((finish) => finish !== null)).toEqual(["tool_calls"]);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
  expect(reader.isComplete).toBe(true);
});

test("a stream is complete with its stop and not before, with or without metadata", () => {
  const events = [start, delta(0, { text: "Hi" }), stop(0)];

  expect(readStream(events).reader.isComplete).toBe(false);
  expect(readStream([...events, end("end_turn")]).reader.isComplete).toBe(true);
});

test("a stream without its start still has its role", () => {
  expect(readStream([delta(0, { text: "Hi" })]).deltas).toEqual([{ role: "assistant", content: "Hi" }]);
});

test("hidden thoughts that come in pieces are put together", () => {
  const pieces = ["one", "two!", "three"].map((text) => Buffer.from(text).toString("base64"));
  const { deltas } = readStream([
    start,
    ...pieces.map((piece) => delta(0, { reasoningContent: { redactedContent: piece } })),
    stop(0),
  ]);

  expect(deltas[1]).toEqual({
    reasoning_details: [{ type: "reasoning.encrypted", data: Buffer.from("onetwo!three").toString("base64") }],
  });
});

test("the input of the answer's tool is streamed as content, and words beside it are held back", () => {
  const answerTool = "final_answer";
  const { deltas, finishes } = readStream(
    [
      start,
      delta(0, { text: "Here:" }),
      stop(0),
      callStart(1, "t", answerTool),
      delta(1, { toolUse: { input: '{"name":' } }),
      delta(1, { toolUse: { input: '"Rome"}' } }),
      stop(1),
      end("tool_use"),
    ],
    { model: nova, answerTool },
  );
  expect(deltas.map((one) => one.content ?? "").join("")).toBe('{"name":"Rome"}');
  expect(finishes.at(-1)).toBe("stop");

  const plain = readStream([start, delta(0, { text: '{"name":' }), delta(0, { text: '"Rome"}' }), end("end_turn")], {
    model: nova,
    answerTool,
  });
  expect(plain.deltas.map((one) => one.content ?? "").join("")).toBe('{"name":"Rome"}');
});

test.each([
  ["text beside the answer", "Here:", ['{"name":"Rome"}'], '{"name":"Rome"}'],
  ["an answer without input", "", [""], "{}"],
  ["text beside an answer without input", "Here:", [""], "{}"],
  ["two answers", "", ['{"name":"Rome"}', '{"name":"Bonn"}'], '{"name":"Rome"}'],
  ["text without an answer", '{"name":"Rome"}', [], '{"name":"Rome"}'],
] as const)("%s is the same whole and streamed", (_name, text, answers, content) => {
  const answerTool = "final_answer";
  const toolUse = (input: string, at: number) => ({
    toolUse: { toolUseId: `t${at}`, name: answerTool, input: input === "" ? {} : JSON.parse(input) },
  });
  const whole = chat.fromAnswer(answerWith([{ text }, ...answers.map(toolUse)], "tool_use"), {
    model: nova,
    answerTool,
  });
  const { deltas, finishes } = readStream(
    [
      start,
      delta(0, { text }),
      stop(0),
      ...answers.flatMap((input, index) => [
        callStart(index + 1, `t${index}`, answerTool),
        ...(input === "" ? [] : [delta(index + 1, { toolUse: { input } })]),
        stop(index + 1),
      ]),
      end("tool_use"),
    ],
    { model: nova, answerTool },
  );

  expect(whole.choices[0]?.message.content).toBe(content);
  expect(deltas.map((one) => one.content ?? "").join("")).toBe(content);
  expect(finishes.at(-1)).toBe(whole.choices[0]?.finish_reason as never);
});

test("tools that the service runs itself do not reach the caller", () => {
  const server: Event = [
    "contentBlockStart",
    { contentBlockIndex: 0, start: { toolUse: { toolUseId: "s", name: "nova_grounding", type: "server_tool_use" } } },
  ];
  const { deltas, finishes } = readStream([
    start,
    server,
    delta(0, { toolUse: { input: "{}" } }),
    stop(0),
    delta(1, { text: "x" }),
    end("end_turn"),
  ]);

  expect(deltas).toEqual([{ role: "assistant", content: "" }, { content: "x" }, {}]);
  expect(finishes.at(-1)).toBe("stop");
});

test("a citation in a stream refers to the words of its block", () => {
  const citation = { title: "Rome", location: { web: { url: "https://example.com" } } };
  const { deltas } = readStream([
    start,
    delta(0, { text: "Rome? " }),
    stop(0),
    delta(1, { text: "Old." }),
    delta(1, { citation }),
    stop(1),
  ]);

  expect(deltas.at(-1)?.annotations?.[0]?.url_citation).toEqual({
    url: "https://example.com",
    title: "Rome",
    start_index: 6,
    end_index: 10,
  });
});

test("a stream that counts the cached part among the input does not count it twice", () => {
  const counted = { usage: { inputTokens: 4995, outputTokens: 19, cacheWriteInputTokens: 4993, totalTokens: 10_007 } };
  const promptOf = (model: string) =>
    readStream([["metadata", counted]], { model, answerTool: null }).chunks[0]?.usage?.prompt_tokens;

  expect(promptOf("global.openai.gpt-5.6-sol")).toBe(4995);
  expect(promptOf(sonnet)).toBe(9988);
});

test.each([
  ["throttlingException", 429],
  ["serviceUnavailableException", 503],
  ["internalServerException", 500],
  ["modelStreamErrorException", 502],
  ["validationException", 400],
  ["somethingNewException", null],
])("the event %s ends the stream with status %p", (name, status) => {
  const value = { message: "Too much", [failureMember]: name };
  const read = () => readStream([start, delta(0, { text: "Hi" }), [name, value]]);

  expect(read).toThrow(expect.objectContaining({ name: "ErrorInAnswer", message: "Too much", status }));
});

test("what a model calls can be sent back as it came, whole or streamed", () => {
  const inputs = [{}, { city: "Rome" }, { deep: { list: [1, "ü", null, { a: '"\n' }] } }];
  const calls = inputs.map((input, index) => ({ toolUse: { toolUseId: `t${index}`, name: "get_weather", input } }));
  const thought = { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } };
  const whole = chat.fromAnswer(answerWith([thought, { text: "So:" }, ...calls], "tool_use"), reading).choices[0]
    ?.message;
  const sendBack = (message: object) =>
    ask(sonnet, { messages: [user, { ...message, role: "assistant" } as ChatMessage], tools: [weatherTool] }).body
      .messages[1]?.content;

  expect(sendBack(whole ?? {})).toEqual([thought, { text: "So:" }, ...calls]);

  const { deltas } = readStream([
    start,
    delta(0, { reasoningContent: { text: "Hm." } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    stop(0),
    delta(1, { text: "So:" }),
    stop(1),
    ...calls.flatMap(({ toolUse }, index): Event[] => [
      callStart(2 + index, toolUse.toolUseId, toolUse.name),
      ...[...JSON.stringify(toolUse.input)].map((letter) => delta(2 + index, { toolUse: { input: letter } })),
      stop(2 + index),
    ]),
    end("tool_use"),
  ]);
  expect(sendBack(join(deltas))).toEqual([thought, { text: "So:" }, ...calls]);
});
