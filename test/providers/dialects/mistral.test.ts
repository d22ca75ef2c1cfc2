// Mistral's chat, where it differs from the chat format. Thinking parts as in https://docs.mistral.ai/capabilities/reasoning/;
// the words are invented.

import { expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { mistral } from "../../../src/providers/dialects/mistral/index.ts";
import type { ModelFacts } from "../../../src/providers/provider.ts";
import { assemble, chatOf } from "./assemble.ts";

const chat = chatOf(mistral);
const hello: ChatMessage = { role: "user", content: "Hello" };
const reading = { model: "mistral-small-latest", answerTool: null };

function send(members: Partial<ChatRequest>, model = "mistral-large-4", facts: Partial<ModelFacts> | null = null) {
  const request: ChatRequest = { model: `mistral/${model}`, messages: [hello], ...members };
  const target = { model, facts: facts === null ? null : { id: model, ...facts }, isStream: false };
  const { body, ...rest } = chat.toRequest(request, target);
  return { ...rest, body: JSON.parse(body) as Record<string, unknown> };
}

function sentMessages(messages: readonly ChatMessage[], facts: Partial<ModelFacts> | null = null): JsonObject[] {
  return send({ messages }, "mistral-large-4", facts).body["messages"] as JsonObject[];
}

function stream(deltas: readonly JsonObject[], last: JsonObject = {}) {
  const reader = chat.createStreamReader(reading);
  const frame = { id: "m-1", object: "chat.completion.chunk", created: 7, model: "mistral-small-latest" };
  const events = deltas.map((delta) => ({ ...frame, choices: [{ index: 0, delta, finish_reason: null }], p: "abc" }));
  const chunks = [...events, { ...frame, ...last }].flatMap((value) => reader.read({ name: "", value }));
  return { ...assemble(chunks), chunks, isComplete: reader.isComplete };
}

const thinking = (text: string, more: JsonObject = {}) => ({
  type: "thinking",
  thinking: [{ type: "text", text }],
  ...more,
});

test("a request keeps what the vendor knows, and loses what its schema would refuse", () => {
  const { path, body } = send({
    max_completion_tokens: 50,
    max_tokens: 5,
    seed: 3,
    stream_options: { include_usage: true },
    user: "u",
    store: false,
    logprobs: true,
    temperature: 0.3,
    n: 2,
    safe_prompt: true,
    prompt_mode: "reasoning",
    some_new_member: { a: 1 },
    tags: { team: "x" },
    session_id: "s",
    parallel_tool_calls: null,
  });

  expect(path).toBe("/chat/completions");
  expect(body).toEqual({
    model: "mistral-large-4",
    messages: [{ role: "user", content: "Hello" }],
    max_tokens: 50,
    random_seed: 3,
    temperature: 0.3,
    n: 2,
    safe_prompt: true,
    prompt_mode: "reasoning",
    some_new_member: { a: 1 },
  });
});

test.each([
  ["mistral-large-4", { reasoning_effort: "low" }, "low"],
  ["mistral-large-4", { reasoning_effort: "max" }, "xhigh"],
  ["mistral-small-latest", { reasoning_effort: "low" }, "high"],
  ["mistral-small-latest", { reasoning_effort: "minimal" }, "none"],
  ["mistral-medium-3-5", { reasoning: { enabled: false } }, "none"],
  ["mistral-medium-3-5", { thinking: { type: "enabled" } }, "high"],
  ["mistral-large-4", { thinking: { type: "adaptive" }, reasoning_effort: "low" }, "low"],
  ["mistral-large-4", { thinking: { type: "enabled" }, reasoning_effort: "none" }, "high"],
  ["mistral-large-4", { thinking: { type: "disabled" }, reasoning_effort: "low" }, "none"],
  ["mistral-large-4", { thinking: { type: "between_tools" } }, "none"],
  ["mistral-large-4", {}, undefined],
] as const)("%s asked with %j gets the effort %p", (model, members, effort) => {
  const { body } = send(members as Partial<ChatRequest>, model);

  expect(body["reasoning_effort"]).toBe(effort as never);
  expect(body["thinking"]).toBeUndefined();
  expect(body["reasoning"]).toBeUndefined();
});

test("unsupported parameters are named: thinking of a model without it, and a budget", () => {
  expect(send({ reasoning_effort: "high" }, "codestral-2508", { reasoning: false })).toMatchObject({
    dropped: ["reasoning_effort"],
  });
  expect(
    send({ reasoning_effort: "high" }, "codestral-2508", { reasoning: false }).body["reasoning_effort"],
  ).toBeUndefined();
  expect(send({ thinking: { type: "enabled", budget_tokens: 900 } }).dropped).toEqual(["thinking.budget_tokens"]);
  expect(send({ thinking: { type: "between_tools" } }).dropped).toEqual(["thinking"]);
});

test("ids of calls are nine letters or digits, the same for a call and its result", () => {
  const call = (id: string) => ({ id, type: "function", function: { name: "clock", arguments: "" } });
  const messages: ChatMessage[] = [
    hello,
    { role: "assistant", content: null, tool_calls: [call("call_PTLP8xhu3uwZk4l3nlnrrJha"), call("g6fVbXS8K")] },
    { role: "tool", tool_call_id: "call_PTLP8xhu3uwZk4l3nlnrrJha", content: "noon" },
    { role: "tool", tool_call_id: "g6fVbXS8K", content: "one" },
  ];
  const [, assistant, first, second] = sentMessages(messages);
  const [one, two] = (assistant?.["tool_calls"] ?? []) as { id: string; function: JsonObject }[];

  expect(one?.id).toMatch(/^[A-Za-z0-9]{9}$/);
  expect(one?.id).toBe(first?.["tool_call_id"] as string);
  expect(one?.function).toEqual({ name: "clock", arguments: "{}" });
  expect(two?.id).toBe("g6fVbXS8K");
  expect(second?.["tool_call_id"]).toBe("g6fVbXS8K");
});

test("messages stand in an order that the vendor takes", () => {
  const calls = [{ id: "g6fVbXS8K", type: "function", function: { name: "clock", arguments: "{}" } }];
  const tool: ChatMessage = { role: "tool", tool_call_id: "g6fVbXS8K", content: "noon" };
  const roles = (messages: readonly ChatMessage[]) => sentMessages(messages).map((message) => message["role"]);

  expect(roles([{ role: "developer", content: "Brief." }, hello])).toEqual(["system", "user"]);
  // What follows a result goes into it: the assistant is not made to say what it never said.
  const followed = [hello, { role: "assistant" as const, tool_calls: calls }, tool, hello];
  expect(roles(followed)).toEqual(["user", "assistant", "tool"]);
  const parts = (sentMessages(followed)[2]?.["content"] ?? []) as { text: string }[];
  const told = parts.map(({ text }) => text).join("");
  expect(told).toBe(`noon\n<user_message>\n${hello.content}\n</user_message>`);
  expect(roles([hello, { role: "assistant", content: "Hi" }, { role: "system", content: "Now in French." }])).toEqual([
    "user",
    "assistant",
    "user",
  ]);
});

test("a conversation that ends with the assistant asks for its words to be continued", () => {
  expect(sentMessages([hello, { role: "assistant", content: "He" }])[1]).toEqual({
    role: "assistant",
    content: "He",
    prefix: true,
  });
});

test("thoughts go back as parts, with the vendor's own signature and no other's", () => {
  const message: ChatMessage = {
    role: "assistant",
    content: "8",
    reasoning_content: "Add.Sum.",
    reasoning_details: [
      { type: "reasoning.text", text: "Add.", signature: "mistral:abc" },
      { type: "reasoning.text", text: "Sum.", signature: "of another vendor" },
      { type: "reasoning.encrypted", data: "xx" },
    ],
  };

  expect(sentMessages([hello, message, hello])[1]).toEqual({
    role: "assistant",
    content: [
      thinking("Add.", { signature: "abc", closed: true }),
      thinking("Sum.", { closed: true }),
      { type: "text", text: "8" },
    ],
  });
  expect(sentMessages([hello, message, hello], { reasoning: false })[1]).toEqual({ role: "assistant", content: "8" });
});

test("images, sound and documents are the vendor's parts", () => {
  const [user] = sentMessages([
    {
      role: "user",
      content: [
        { type: "text", text: "See", cache_control: { type: "ephemeral" } },
        { type: "image_url", image_url: { url: "https://example.com/a.png", detail: null } },
        { type: "input_audio", input_audio: { data: "UklG", format: "wav" } },
        { type: "file", file: { file_data: "JVBE", filename: "a.pdf" } },
      ],
    },
  ]);

  expect(user?.["content"]).toEqual([
    { type: "text", text: "See" },
    { type: "image_url", image_url: { url: "https://example.com/a.png" } },
    { type: "input_audio", input_audio: "UklG" },
    { type: "document_url", document_url: "data:application/pdf;base64,JVBE", document_name: "a.pdf" },
  ]);
});

test("tools and the format of the answer lose their nulls, and a choice among tools becomes fewer tools", () => {
  const tool = (name: string) => ({ type: "function", function: { name, description: null, strict: true } });
  const { body } = send({
    tools: [tool("clock"), tool("weather")],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "clock" } }] },
    },
    response_format: { type: "json_schema", json_schema: { schema: { type: "object" }, strict: null } },
  });

  expect(body).toMatchObject({ tool_choice: "required" });
  expect(body["tools"]).toEqual([
    { type: "function", function: { name: "clock", strict: true, parameters: { type: "object", properties: {} } } },
  ]);
  expect(body["response_format"]).toEqual({
    type: "json_schema",
    json_schema: { name: "answer", schema: { type: "object" } },
  });
});

test("an answer's thoughts and text are separated, and the rest stays unchanged", () => {
  const completion = chat.fromAnswer(
    {
      id: "m-1",
      object: "chat.completion",
      created: 7,
      model: "mistral-small-latest",
      choices: [
        {
          index: 0,
          finish_reason: "model_length",
          message: {
            role: "assistant",
            tool_calls: null,
            content: [
              thinking("Add.", { signature: "abc", closed: true }),
              { type: "text", text: "It is " },
              { type: "text", text: "8" },
              { type: "tool_reference", tool: "web_search", title: "Sums", url: "https://example.com/sums" },
              { type: "reference", reference_ids: [1] },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 23, completion_tokens: 32, total_tokens: 55, num_cached_tokens: 16, service_tier: "x" },
    },
    reading,
  );

  expect(completion).toMatchObject({ id: "m-1", created: 7, model: "mistral-small-latest" });
  expect(completion.choices).toEqual([
    {
      index: 0,
      finish_reason: "length",
      message: {
        role: "assistant",
        content: "It is 8",
        reasoning_content: "Add.",
        reasoning_details: [{ type: "reasoning.text", text: "Add.", signature: "mistral:abc" }],
        annotations: [
          {
            type: "url_citation",
            url_citation: { url: "https://example.com/sums", title: "Sums", start_index: 7, end_index: 7 },
          },
        ],
        extra_content: { mistral: { parts: [{ type: "reference", reference_ids: [1] }] } },
      },
    },
  ]);
  expect(completion.usage).toEqual({
    prompt_tokens: 23,
    completion_tokens: 32,
    total_tokens: 55,
    num_cached_tokens: 16,
    service_tier: "x",
    prompt_tokens_details: { cached_tokens: 16 },
  });
});

test("a call has a type, an id and arguments in text, whatever was left out", () => {
  const call = { id: "null", function: { name: "clock", arguments: { zone: "UTC" } } };
  const completion = chat.fromAnswer(
    { choices: [{ finish_reason: "tool_calls", message: { content: "", tool_calls: [call] } }] },
    reading,
  );
  const [told] = completion.choices[0]?.message.tool_calls ?? [];

  expect(told).toMatchObject({ type: "function", function: { name: "clock", arguments: '{"zone":"UTC"}' } });
  expect(told?.id).toMatch(/^call_/);
  expect(completion.choices[0]?.message.content).toBeNull();
});

test("an answer that failed is no answer", () => {
  expect(() => chat.fromAnswer({ object: "error", message: "Rate limit", raw_status_code: 429 }, reading)).toThrow(
    "Rate limit",
  );
  expect(() => chat.fromAnswer({ choices: [{ finish_reason: "error", message: {} }] }, reading)).toThrow(ErrorInAnswer);
  expect(() => chat.fromAnswer({}, reading)).toThrow(TypeError);
});

test("a stream tells thoughts, then text, one end, and usage alone", () => {
  const { chunks, ...told } = stream(
    [
      { role: "assistant", content: "" },
      { content: "" },
      { content: [thinking("Ad")] },
      { content: [thinking("d.", { closed: true, signature: "abc" })] },
      { content: [thinking(" Yes.", { closed: true }), { type: "text", text: "1" }] },
      { content: "44" },
    ],
    {
      choices: [{ index: 0, delta: { content: "!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 31, completion_tokens: 66, total_tokens: 97 },
    },
  );

  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 31 } });
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === undefined)).toBe(true);
  expect(told).toMatchObject({
    ids: ["m-1"],
    roles: 1,
    content: "144!",
    reasoning: "Add. Yes.",
    details: [{ type: "reasoning.text", text: "Add. Yes.", signature: "mistral:abc" }],
    finishes: ["stop"],
    isComplete: true,
  });
});

test("calls of a stream are numbered by their ids, and each name is sent once", () => {
  const { calls, finishes } = stream(
    [
      {
        tool_calls: [
          { id: "aaaaaaaaa", function: { name: "clock", arguments: "{}" }, index: 0 },
          { id: "bbbbbbbbb", function: { name: "weather", arguments: '{"a"' }, index: 0 },
        ],
        content: "",
      },
      { tool_calls: [{ type: "function", function: { name: "", arguments: ":1}" }, index: 0 }], content: "" },
    ],
    { choices: [{ index: 0, delta: { content: "" }, finish_reason: "tool_calls" }] },
  );

  expect(calls).toEqual([
    { id: "aaaaaaaaa", name: "clock", arguments: "{}" },
    { id: "bbbbbbbbb", name: "weather", arguments: '{"a":1}' },
  ]);
  expect(finishes).toEqual(["tool_calls"]);
});

test("parallel choices are kept apart, and the stream is complete with the last of them", () => {
  const reader = chat.createStreamReader(reading);
  const event = (index: number, content: unknown, finish_reason: string | null) =>
    reader.read({ name: "", value: { id: "m-1", choices: [{ index, delta: { content }, finish_reason }] } });
  const chunks = [...event(0, "A", null), ...event(1, [thinking("Hm")], null), ...event(0, "a", "stop")];
  expect(reader.isComplete).toBe(false);
  chunks.push(...event(1, "B", "length"));

  expect(assemble(chunks, 0)).toMatchObject({ roles: 1, content: "Aa", finishes: ["stop"] });
  expect(assemble(chunks, 1)).toMatchObject({ roles: 1, content: "B", reasoning: "Hm", finishes: ["length"] });
  expect(reader.isComplete).toBe(true);
});

test("an error in the middle of a stream is thrown", () => {
  expect(() => stream([{ content: "He" }], { error: { message: "overloaded" } })).toThrow("overloaded");
  expect(() => stream([{ content: "He" }], { choices: [{ index: 0, delta: {}, finish_reason: "error" }] })).toThrow(
    ErrorInAnswer,
  );
});
