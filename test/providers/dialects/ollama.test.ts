// Ollama's own chat. Answers and lines have the documented form (https://docs.ollama.com/api/chat, the older
// https://docs.ollama.com/api/generate); their words are invented.

import { expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ValidationError } from "../../../src/errors.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { ollama } from "../../../src/providers/dialects/ollama/index.ts";
import { assemble, chatOf } from "./assemble.ts";

const chat = chatOf(ollama);
const hello: ChatMessage = { role: "user", content: "Hello" };
const clock = { type: "function", function: { name: "clock", strict: true } };
const weather = { type: "function", function: { name: "weather", parameters: { type: "object" } } };
const reading = { model: "llama3", answerTool: null };

function send(members: Partial<ChatRequest>, model = "llama3") {
  const request: ChatRequest = { model: `ollama/${model}`, messages: [hello], ...members };
  const { body, ...rest } = chat.toRequest(request, { model, facts: null, isStream: false });
  return { ...rest, body: JSON.parse(body) as Record<string, unknown> };
}

function stream(lines: readonly JsonObject[]) {
  const reader = chat.createStreamReader(reading);
  const chunks = lines.flatMap((value) => reader.read({ name: "", value }));
  return { ...assemble(chunks), chunks, isComplete: reader.isComplete };
}

test("parameters become options, and the caller's own options win", () => {
  const { path, body, dropped } = send({
    temperature: 0,
    top_p: 0.9,
    seed: 1,
    stop: ["a", "b"],
    max_tokens: 5,
    max_completion_tokens: 50,
    presence_penalty: -1,
    frequency_penalty: 0.5,
    keep_alive: "10m",
    logprobs: true,
    top_logprobs: 2,
    options: { num_ctx: 32_768, temperature: 0.7 },
  });

  expect(path).toBe("/api/chat");
  expect(body).toEqual({
    model: "llama3",
    stream: false,
    messages: [{ role: "user", content: "Hello" }],
    options: {
      temperature: 0.7,
      top_p: 0.9,
      seed: 1,
      num_predict: 50,
      stop: ["a", "b"],
      presence_penalty: -1,
      frequency_penalty: 0.5,
      num_ctx: 32_768,
    },
    keep_alive: "10m",
    logprobs: true,
    top_logprobs: 2,
  });
  expect(dropped).toEqual([]);
});

test("a plain request has no options", () => {
  expect(send({}).body).toEqual({ model: "llama3", stream: false, messages: [{ role: "user", content: "Hello" }] });
});

test("a structured answer is a format", () => {
  const schema = { type: "object", properties: { age: { type: "integer" } } };

  expect(send({ response_format: { type: "json_schema", json_schema: { schema } } }).body["format"]).toEqual(schema);
  expect(send({ response_format: { type: "json_object" } }).body["format"]).toBe("json");
  expect(send({ response_format: { type: "text" } }).body["format"]).toBeUndefined();
});

test.each([
  ["qwen3", { reasoning_effort: "none" }, false],
  ["qwen3", { reasoning_effort: "minimal" }, false],
  ["qwen3", { reasoning_effort: "low" }, true],
  ["qwen3", { reasoning_effort: "max" }, true],
  ["qwen3", { thinking: { type: "disabled" } }, false],
  ["qwen3", { thinking: { type: "between_tools" } }, false],
  ["gpt-oss:20b", { thinking: { type: "adaptive" }, reasoning_effort: "low" }, "low"],
  ["qwen3", { think: "high" }, "high"],
  ["qwen3", {}, undefined],
  ["gpt-oss:20b", { reasoning_effort: "minimal" }, "low"],
  ["gpt-oss:20b", { reasoning_effort: "medium" }, "medium"],
  ["gpt-oss:20b", { reasoning_effort: "xhigh" }, "high"],
  ["gpt-oss:120b-cloud", { reasoning: { enabled: true } }, "medium"],
] as const)("%s thinks when %j is asked: %p", (model, members, think) => {
  expect(send(members as Partial<ChatRequest>, model).body["think"]).toBe(think as never);
});

test.each([
  [{ thinking: { type: "enabled", budget_tokens: 2_000 } }, ["thinking.budget_tokens"]],
  [{ reasoning: { max_tokens: 2_000 } }, ["reasoning.max_tokens"]],
  [{ thinking: { type: "enabled" } }, []],
  [{ thinking: { type: "between_tools" } }, ["thinking"]],
  [{ thinking: { type: "disabled", budget_tokens: 2_000 } }, []],
] as const)("%j has a budget that the vendor cannot keep, which is named: %j", (members, named) => {
  expect(send(members as Partial<ChatRequest>, "qwen3").dropped).toEqual([...named]);
});

test("a call cannot be demanded, which is named; that none is wanted is kept", () => {
  const tools = [clock, weather];

  expect(send({ tools, tool_choice: "required" }).dropped).toEqual(["tool_choice"]);
  expect(send({ tools, tool_choice: "none" }).body["tools"]).toBeUndefined();
  expect(send({ tools, tool_choice: { type: "function", function: { name: "clock" } } }).body["tools"]).toEqual([
    { type: "function", function: { name: "clock", parameters: { type: "object", properties: {} } } },
  ]);
});

test("images are bare base64, and the text of a message is one string", () => {
  const { body } = send({
    messages: [
      { role: "developer", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "What" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0=" } },
          { type: "image_url", image_url: { url: "data:image/svg+xml,%3Csvg%2F%3E" } },
          { type: "text", text: "is this?" },
        ],
      },
    ],
  });

  expect(body["messages"]).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "What\nis this?", images: ["iVBORw0=", Buffer.from("<svg/>").toString("base64")] },
  ]);
});

test.each([
  [[{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]],
  [[{ type: "image_url", image_url: { url: "data:image/svg+xml,%3Csvg%" } }]],
  [[{ type: "file", file: { file_data: "x" } }]],
] as const)("%j cannot be sent and is refused", (content) => {
  expect(() => send({ messages: [{ role: "user", content }] })).toThrow(ValidationError);
});

test("calls go back as objects and results with the name of their tool", () => {
  const call = (id: string, text: string) => ({ id, type: "function", function: { name: "clock", arguments: text } });
  const { body } = send({
    messages: [
      hello,
      {
        role: "assistant",
        content: null,
        reasoning_content: "Let me see",
        tool_calls: [call("c1", '{"zone":"UTC"}'), call("c2", "not json"), call("c3", "")],
      },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "noon" }] },
    ],
  });

  expect((body["messages"] as unknown[]).slice(1)).toEqual([
    {
      role: "assistant",
      content: "",
      thinking: "Let me see",
      tool_calls: [
        { id: "c1", function: { name: "clock", arguments: { zone: "UTC" } } },
        { id: "c2", function: { name: "clock", arguments: { input: "not json" } } },
        { id: "c3", function: { name: "clock", arguments: {} } },
      ],
    },
    { role: "tool", content: "noon", tool_name: "clock", tool_call_id: "c1" },
  ]);
});

test("a call that was answered comes back with the arguments that it had", () => {
  const args = { city: "Zürich", days: [1, 2], deep: { a: null } };
  const completion = chat.fromAnswer(
    { message: { role: "assistant", content: "", tool_calls: [{ function: { name: "weather", arguments: args } }] } },
    reading,
  );
  const [choice] = completion.choices;
  const { body } = send({ messages: [hello, { ...choice?.message, role: "assistant" } as ChatMessage] });

  expect(choice?.finish_reason).toBe("tool_calls");
  expect(choice?.message.tool_calls?.[0]?.id).toMatch(/^call_.{24}$/);
  expect((body["messages"] as JsonObject[])[1]).toMatchObject({
    tool_calls: [{ function: { name: "weather", arguments: args } }],
  });
});

test("an answer becomes a completion, with the model's own counts and times", () => {
  const completion = chat.fromAnswer(
    {
      model: "qwen3:4b",
      message: { role: "assistant", content: "Hi", thinking: "Greet." },
      done: true,
      done_reason: "stop",
      total_duration: 9,
      prompt_eval_count: 19,
      eval_count: 4,
      logprobs: [{ token: "Hi", logprob: -0.1, top_logprobs: [{ token: "Ho", logprob: -2 }] }],
    },
    reading,
  );

  expect(completion).toMatchObject({
    object: "chat.completion",
    model: "qwen3:4b",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Hi",
          reasoning_content: "Greet.",
          reasoning_details: [{ type: "reasoning.text", text: "Greet." }],
        },
        finish_reason: "stop",
        logprobs: { content: [{ token: "Hi", logprob: -0.1, top_logprobs: [{ token: "Ho", logprob: -2 }] }] },
      },
    ],
    usage: { prompt_tokens: 19, completion_tokens: 4, total_tokens: 23, total_duration: 9 },
  });
  expect(completion.id).toMatch(/^chatcmpl-.{24}$/);
});

test.each([
  ["stop", "stop"],
  ["length", "length"],
  ["load", "stop"],
  [undefined, "stop"],
])("the end %p is told as %p", (reason, told) => {
  const answer = { message: { content: "x" }, done: true, done_reason: reason };

  expect(chat.fromAnswer(answer, reading).choices[0]?.finish_reason).toBe(told as never);
});

test("an answer of the older endpoint is read as well", () => {
  const completion = chat.fromAnswer({ model: "llama3", response: "Hi", thinking: "Greet.", done: true }, reading);

  expect(completion.choices[0]?.message).toMatchObject({ content: "Hi", reasoning_content: "Greet." });
  expect(completion.usage).toBeUndefined();
});

test("an error in the place of an answer is thrown", () => {
  expect(() => chat.fromAnswer({ error: "model 'x' not found" }, reading)).toThrow(ErrorInAnswer);
  expect(() => chat.fromAnswer({ done: true }, reading)).toThrow(TypeError);
});

test("lines become chunks: thoughts, text, calls, one end, usage alone at the last", () => {
  const line = (message: JsonObject, more: JsonObject = {}) => ({ model: "qwen3", message, done: false, ...more });
  const { chunks, ...told } = stream([
    line({ role: "assistant", content: "", thinking: "Hm" }),
    line({ role: "assistant", content: "", thinking: "m" }),
    line({ role: "assistant", content: "He" }),
    line({ role: "assistant", content: "llo" }),
    line({ content: "", tool_calls: [{ function: { name: "clock", arguments: {} } }] }),
    line({ content: "", tool_calls: [{ id: "call_2", function: { index: 1, name: "weather", arguments: { a: 1 } } }] }),
    line({ content: "" }, { done: true, done_reason: "stop", prompt_eval_count: 5, eval_count: 7 }),
  ]);

  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", reasoning_content: "Hm" });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } });
  expect(told).toMatchObject({
    roles: 1,
    content: "Hello",
    reasoning: "Hmm",
    details: [{ type: "reasoning.text", text: "Hmm" }],
    calls: [
      { name: "clock", arguments: "{}" },
      { id: "call_2", name: "weather", arguments: '{"a":1}' },
    ],
    finishes: ["tool_calls"],
    isComplete: true,
  });
  expect(told.ids).toHaveLength(1);
});

test("the lines of the older endpoint become chunks as well", () => {
  const told = stream([
    { model: "llama3", response: "He", done: false },
    { model: "llama3", response: "llo", done: false },
    { model: "llama3", response: "", done: true, done_reason: "length", eval_count: 2 },
  ]);

  expect(told).toMatchObject({ content: "Hello", finishes: ["length"], isComplete: true });
});

test("an error in the middle of a stream is thrown, and a stream without its end is not complete", () => {
  expect(() => stream([{ message: { content: "He" }, done: false }, { error: "an error was encountered" }])).toThrow(
    ErrorInAnswer,
  );
  expect(stream([{ message: { content: "He" }, done: false }]).isComplete).toBe(false);
});
