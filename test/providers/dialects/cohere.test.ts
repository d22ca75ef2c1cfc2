// Cohere's chat, version 2. Answers and events have the documented form (https://docs.cohere.com/reference/chat and
// /chat-stream); their words are invented.

import { expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ValidationError } from "../../../src/errors.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { cohere } from "../../../src/providers/dialects/cohere/index.ts";
import type { ModelFacts } from "../../../src/providers/provider.ts";
import { makeWeatherTool } from "../../support/weather-tool.ts";
import { assemble, chatOf } from "./assemble.ts";

const chat = chatOf(cohere);
const hello: ChatMessage = { role: "user", content: "Hello" };
const weather = makeWeatherTool("weather");
const clock = { type: "function", function: { name: "clock" } };
const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] };
const jsonSchema = { type: "json_schema", json_schema: { name: "person", schema } } as const;

function send(members: Partial<ChatRequest>, facts: Partial<ModelFacts> | null = null, isStream = false) {
  const request: ChatRequest = { model: "cohere/command-a", messages: [hello], ...members };
  const target = { model: "command-a", facts: facts === null ? null : { id: "command-a", ...facts }, isStream };
  const { body, ...rest } = chat.toRequest(request, target);
  return { ...rest, body: JSON.parse(body) as Record<string, unknown> };
}

function problemsOf(run: () => unknown): readonly { loc: readonly unknown[]; type: string }[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
  return [];
}

function read(answer: JsonObject, answerTool: string | null = null) {
  return chat.fromAnswer(answer, { model: "command-a", answerTool });
}

function stream(events: readonly JsonObject[], answerTool: string | null = null) {
  const reader = chat.createStreamReader({ model: "command-a", answerTool });
  const chunks = events.flatMap((value) => reader.read({ name: String(value["type"]), value }));
  return { ...assemble(chunks), chunks, isComplete: reader.isComplete };
}

test("a plain request has the vendor's names, and no members that the caller did not send", () => {
  const { path, body, dropped, reading } = send({
    max_tokens: 10,
    max_completion_tokens: 20,
    top_p: 0.5,
    top_k: 40,
    stop: "END",
    seed: 7,
    temperature: 0,
    logprobs: true,
    user: null,
  });

  expect(path).toBe("/v2/chat");
  expect(body).toEqual({
    model: "command-a",
    stream: false,
    messages: [{ role: "user", content: "Hello" }],
    max_tokens: 20,
    p: 0.5,
    k: 40,
    stop_sequences: ["END"],
    seed: 7,
    temperature: 0,
    logprobs: true,
  });
  expect(dropped).toEqual([]);
  expect(reading).toEqual({ model: "command-a", answerTool: null });
});

test("no limit on the probability mass becomes the highest that the vendor takes", () => {
  expect(send({ top_p: 1 }).body["p"]).toBe(0.99);
  expect(send({ top_p: 0 }).body["p"]).toBe(0.01);
});

test.each([
  [0, 0, []],
  [1, 1, []],
  [-0.5, undefined, ["frequency_penalty"]],
  [1.5, undefined, ["frequency_penalty"]],
] as const)("a frequency penalty of %p is sent as %p, and is named when it cannot be", (given, sent, named) => {
  const { body, dropped } = send({ frequency_penalty: given });

  expect(body["frequency_penalty"]).toBe(sent as never);
  expect(dropped).toEqual([...named]);
});

test("documents, citation options and the safety mode go through", () => {
  const members = { documents: [{ data: { text: "x" } }], citation_options: { mode: "FAST" }, safety_mode: "STRICT" };

  expect(send(members).body).toMatchObject(members);
});

test("messages of every role are translated into the vendor's format", () => {
  const { body } = send({
    messages: [
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "In French." }] },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "https://example.com/a.png", detail: null } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_9", type: "function", function: { name: "clock", arguments: "" } }],
      },
      { role: "tool", tool_call_id: "call_9", content: "noon" },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    ],
  });

  expect(body["messages"]).toEqual([
    { role: "system", content: "Be brief." },
    { role: "system", content: [{ type: "text", text: "In French." }] },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      ],
    },
    {
      role: "assistant",
      tool_calls: [{ id: "call_9", type: "function", function: { name: "clock", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "call_9", content: "noon" },
    { role: "assistant", content: [{ type: "text", text: "No." }] },
  ]);
});

test("an old function call and its result become a tool call and its result", () => {
  const { body } = send({
    messages: [
      hello,
      { role: "assistant", function_call: { name: "clock", arguments: "{}" } },
      { role: "function", name: "clock", content: "noon" },
    ],
  });

  expect(body["messages"]).toMatchObject([
    {},
    { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "clock" } }] },
    { role: "tool", tool_call_id: "call_1", content: "noon" },
  ]);
});

test("what cannot be said is refused where it stands", () => {
  const audio = { type: "input_audio", input_audio: { data: "", format: "wav" } } as const;

  expect(problemsOf(() => send({ messages: [{ role: "user", content: [audio] }] }))).toMatchObject([
    { loc: ["body", "messages", 0, "content", 0], type: "unsupported_parameter" },
  ]);
  expect(problemsOf(() => send({ tools: [{ type: "web_search" }] }))).toMatchObject([
    { loc: ["body", "tools", 0, "type"] },
  ]);
  expect(
    problemsOf(() => send({ tools: [clock], tool_choice: { type: "function", function: { name: "other" } } })),
  ).toMatchObject([{ loc: ["body", "tool_choice"], type: "value_error" }]);
  expect(problemsOf(() => send({ documents: [], response_format: jsonSchema }))).toMatchObject([
    { loc: ["body", "response_format"] },
  ]);
});

test.each([
  [undefined, undefined, ["weather", "clock"]],
  ["auto", undefined, ["weather", "clock"]],
  ["none", "NONE", ["weather", "clock"]],
  ["required", "REQUIRED", ["weather", "clock"]],
  [{ type: "function", function: { name: "clock" } }, "REQUIRED", ["clock"]],
  [
    {
      type: "allowed_tools",
      allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "clock" } }] },
    },
    undefined,
    ["clock"],
  ],
] as const)("the choice %j is %p among %j", (choice, sent, names) => {
  const { body } = send({ tools: [weather, clock], ...(choice === undefined ? {} : { tool_choice: choice }) });

  expect(body["tool_choice"]).toBe(sent as never);
  expect((body["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([...names]);
});

test("tools are strict when all of them are and can be, and are named when they cannot", () => {
  const strict = { ...weather, function: { ...weather.function, strict: true } };
  const strictClock = { ...clock, function: { ...clock.function, strict: true } };

  expect(send({ tools: [strict] })).toMatchObject({ body: { strict_tools: true }, dropped: [] });
  const both = send({ tools: [strict, strictClock] });
  expect(both.body["strict_tools"]).toBeUndefined();
  expect(both.dropped).toEqual(["tools.function.strict"]);
});

test("a schema of the answer is the vendor's own, and beside tools it is a tool whose arguments are the answer", () => {
  expect(send({ response_format: jsonSchema }).body["response_format"]).toEqual({
    type: "json_object",
    json_schema: schema,
  });
  expect(send({ response_format: { type: "json_object" } }).body["response_format"]).toEqual({ type: "json_object" });
  expect(send({ response_format: { type: "text" } }).body["response_format"]).toBeUndefined();

  const both = send({ response_format: jsonSchema, tools: [weather] });
  expect(both.reading.answerTool).toBe("final_answer");
  expect(both.body).toMatchObject({
    tool_choice: "REQUIRED",
    tools: [{}, { function: { name: "final_answer", parameters: schema } }],
  });
  expect(both.body["response_format"]).toBeUndefined();
  const taken = { type: "function", function: { name: "final_answer" } };
  expect(send({ response_format: jsonSchema, tools: [taken] }).reading.answerTool).toBe("final_answer_");
});

test.each([
  ["required", jsonSchema, ["weather", "clock"]],
  ["required", { type: "json_object" }, ["weather", "clock"]],
  [{ type: "function", function: { name: "clock" } }, jsonSchema, ["clock"]],
] as const)("a call that is required by %j is the answer, whatever the format", (tool_choice, response_format, names) => {
  const made = send({ response_format, tools: [weather, clock], tool_choice });
  const offered = made.body["tools"] as { function: { name: string } }[];

  expect(offered.map((tool) => tool.function.name)).toEqual([...names]);
  expect(made).toMatchObject({ body: { tool_choice: "REQUIRED" }, reading: { answerTool: null }, dropped: [] });
});

test("only an answer of any JSON beside tools has no place, and is named", () => {
  expect(send({ response_format: { type: "json_object" }, tools: [weather] }).dropped).toEqual(["response_format"]);
});

test.each([
  [{ reasoning_effort: "none" }, { type: "disabled" }, []],
  [{ reasoning_effort: "none", max_tokens: 900 }, { type: "disabled" }, []],
  [{ reasoning_effort: "low" }, { type: "enabled", token_budget: 1_024 }, []],
  [{ reasoning_effort: "high" }, { type: "enabled" }, []],
  [{ reasoning_effort: "high", max_tokens: 4_000 }, { type: "enabled", token_budget: 3_000 }, []],
  [{ reasoning_effort: "low", max_tokens: 900 }, { type: "disabled" }, ["reasoning_effort"]],
  [{ reasoning_effort: "high", max_tokens: 1_000 }, { type: "disabled" }, ["reasoning_effort"]],
  [{ reasoning: { enabled: true }, max_tokens: 900 }, { type: "disabled" }, ["reasoning"]],
  [
    { reasoning: { max_tokens: 500 }, max_tokens: 1_400 },
    { type: "enabled", token_budget: 400 },
    ["reasoning.max_tokens"],
  ],
  [{ thinking: { type: "enabled", budget_tokens: 500 } }, { type: "enabled", token_budget: 500 }, []],
  [{ thinking: { type: "adaptive" }, reasoning_effort: "low" }, { type: "enabled", token_budget: 1_024 }, []],
  [{ thinking: { type: "between_tools" } }, { type: "disabled" }, ["thinking"]],
  [{ thinking: { type: "enabled", budget_tokens: 500 }, max_tokens: 900 }, { type: "disabled" }, ["thinking"]],
  [
    { thinking: { type: "enabled", budget_tokens: 9_000 }, max_tokens: 2_000 },
    { type: "enabled", token_budget: 1_000 },
    ["thinking.budget_tokens"],
  ],
  [
    { thinking: { type: "enabled", token_budget: 9_000 }, max_tokens: 2_000 },
    { type: "enabled", token_budget: 1_000 },
    ["thinking.token_budget"],
  ],
  [{ reasoning: { enabled: false } }, { type: "disabled" }, []],
  [{}, undefined, []],
] as const)("%j is thought of as %j, and what changed is named: %j", (members, thinking, named) => {
  const { body, dropped } = send(members as Partial<ChatRequest>, { reasoning: true });

  expect(body["thinking"]).toEqual(thinking as never);
  expect(dropped).toEqual([...named]);
});

test("a model that does not reason gets no reasoning parameter, which is named as dropped", () => {
  const { body, dropped } = send({ reasoning_effort: "high" }, { reasoning: false });

  expect(body["thinking"]).toBeUndefined();
  expect(dropped).toEqual(["reasoning_effort"]);
});

test("thoughts go back as what they were: thinking blocks, or the plan of the calls", () => {
  const message: ChatMessage = {
    role: "assistant",
    content: "It is",
    reasoning_content: "Let me look",
    tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
  };

  expect(send({ messages: [hello, message] }, { reasoning: true }).body["messages"]).toMatchObject([
    {},
    {
      content: [
        { type: "thinking", thinking: "Let me look" },
        { type: "text", text: "It is" },
      ],
    },
  ]);
  const planned = (send({ messages: [hello, message] }).body["messages"] as JsonObject[])[1];
  expect(planned).toMatchObject({ content: [{ type: "text", text: "It is" }], tool_plan: "Let me look" });
});

test("an answer becomes a completion: text, thoughts, calls, usage", () => {
  const completion = read({
    id: "a-1",
    finish_reason: "TOOL_CALL",
    message: {
      role: "assistant",
      tool_plan: "I will look.",
      content: [
        { type: "thinking", thinking: "Hmm" },
        { type: "text", text: "One " },
        { type: "video", uri: "unknown" },
        { type: "text", text: "moment" },
      ],
      tool_calls: [
        { id: "weather_1", type: "function", function: { name: "weather", arguments: '{"city":"Bonn"}' } },
        { id: "clock_1", type: "function", function: { name: "clock", arguments: "null" } },
      ],
    },
    usage: {
      billed_units: { input_tokens: 8, output_tokens: 8 },
      tokens: { input_tokens: 34, output_tokens: 56, reasoning_tokens: 20, image_tokens: 259 },
      cached_tokens: 16,
    },
  });

  expect(completion).toMatchObject({ id: "a-1", object: "chat.completion", model: "command-a" });
  expect(completion.choices).toEqual([
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: "One moment",
        refusal: null,
        reasoning_content: "I will look.\nHmm",
        reasoning_details: [
          { type: "reasoning.text", text: "I will look." },
          { type: "reasoning.text", text: "Hmm" },
        ],
        tool_calls: [
          { id: "weather_1", type: "function", function: { name: "weather", arguments: '{"city":"Bonn"}' } },
          { id: "clock_1", type: "function", function: { name: "clock", arguments: "{}" } },
        ],
      },
    },
  ]);
  expect(completion.usage).toEqual({
    prompt_tokens: 293,
    completion_tokens: 56,
    total_tokens: 349,
    prompt_tokens_details: { cached_tokens: 16, image_tokens: 259 },
    completion_tokens_details: { reasoning_tokens: 20 },
    billed_units: { input_tokens: 8, output_tokens: 8 },
  });
});

test.each([
  ["COMPLETE", "stop"],
  ["STOP_SEQUENCE", "stop"],
  ["MAX_TOKENS", "length"],
  ["ERROR_TOXIC", "content_filter"],
  ["SOMETHING_NEW", "stop"],
  [undefined, "stop"],
])("the end %p is told as %p", (reason, told) => {
  const message = { content: [{ type: "text", text: "x" }] };

  expect(read({ message, finish_reason: reason }).choices[0]?.finish_reason).toBe(told as never);
});

test("an answer that says that it failed is no answer", () => {
  expect(() => read({ message: { content: [] }, finish_reason: "ERROR" })).toThrow(ErrorInAnswer);
  expect(() => read({ message: { content: [] }, finish_reason: "TIMEOUT" })).toThrow(ErrorInAnswer);
  expect(() => read({ message: "model 'x' was removed" })).toThrow("model 'x' was removed");
  expect(() => read({ id: "x" })).toThrow(TypeError);
});

test("a citation with an address is an annotation at its place in the text, and every citation is kept", () => {
  const page = { type: "tool", id: "t:0", tool_output: { url: "https://example.com/a", title: "A", text: "Words" } };
  const note = { type: "document", id: "doc:0", document: { text: "No address" } };
  const citations = [
    { start: 0, end: 4, text: "Ruby", sources: [page, note], type: "TEXT_CONTENT", content_index: 2 },
    { start: 0, end: 4, text: "Hmm!", sources: [page], type: "THINKING_CONTENT", content_index: 0 },
  ];
  const content = [
    { type: "thinking", thinking: "Hmm!" },
    { type: "text", text: "So: " },
    { type: "text", text: "Ruby" },
  ];
  const message = read({ message: { content, citations }, finish_reason: "COMPLETE" }).choices[0]?.message;

  expect(message?.annotations).toEqual([
    {
      type: "url_citation",
      url_citation: { url: "https://example.com/a", title: "A", start_index: 4, end_index: 8, content: "Words" },
    },
  ]);
  expect(message?.["citations"]).toEqual(citations);
});

test("probabilities of a piece of text are those of its tokens together", () => {
  const logprobs = [{ text: "Hé", token_ids: [1, 2], logprobs: [-0.5, -0.25] }];
  const choice = read({ message: { content: "Hé" }, finish_reason: "COMPLETE", logprobs }).choices[0];

  expect(choice?.logprobs).toEqual({
    content: [{ token: "Hé", logprob: -0.75, bytes: [72, 195, 169], top_logprobs: [] }],
    refusal: null,
  });
});

test("usage is never negative, and no part is larger than its whole", () => {
  const usages = [
    {},
    { tokens: { input_tokens: -5, output_tokens: Number.NaN }, cached_tokens: 9 },
    { tokens: { input_tokens: 3, output_tokens: 2, reasoning_tokens: 50 }, cached_tokens: 50 },
    { billed_units: { input_tokens: 4, output_tokens: 1 } },
    { tokens: "many" },
  ];
  for (const usage of usages) {
    const told = read({ message: { content: "x" }, finish_reason: "COMPLETE", usage }).usage;
    expect(told?.prompt_tokens).toBeGreaterThanOrEqual(0);
    expect(told?.total_tokens).toBe((told?.prompt_tokens ?? 0) + (told?.completion_tokens ?? 0));
    expect(told?.prompt_tokens_details?.cached_tokens).toBeLessThanOrEqual(told?.prompt_tokens ?? -1);
    expect(told?.completion_tokens_details?.reasoning_tokens).toBeLessThanOrEqual(told?.completion_tokens ?? -1);
  }
});

const start = { type: "message-start", id: "s-1", delta: { message: { role: "assistant", content: [] } } };
const end = (reason: string, more: JsonObject = {}) => ({
  type: "message-end",
  delta: { finish_reason: reason, usage: { tokens: { input_tokens: 5, output_tokens: 2 } }, ...more },
});
const delta = (type: string, index: number, message: JsonObject) => ({ type, index, delta: { message } });

test("a stream becomes chunks with one id: role first, thoughts, text, one finish, and usage alone at the end", () => {
  const { chunks, ...told } = stream([
    start,
    delta("content-start", 0, { content: { type: "thinking", thinking: "" } }),
    delta("content-delta", 0, { content: { thinking: "Hm" } }),
    delta("content-delta", 0, { content: { thinking: "m." } }),
    { type: "content-end", index: 0 },
    { type: "something-new", delta: {} },
    delta("content-start", 1, { content: { type: "text", text: "He" } }),
    delta("content-delta", 1, { content: { text: "llo" } }),
    { type: "content-end", index: 1 },
    end("COMPLETE"),
  ]);

  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } });
  expect(told).toMatchObject({
    ids: ["s-1"],
    roles: 1,
    content: "Hello",
    reasoning: "Hmm.",
    details: [{ type: "reasoning.text", text: "Hmm." }],
    finishes: ["stop"],
    isComplete: true,
  });
});

test("calls are numbered as they come, and a call without arguments has an empty object", () => {
  const call = (name: string) => ({
    tool_calls: { id: `${name}_1`, type: "function", function: { name, arguments: "" } },
  });
  const { calls, chunks, details, finishes } = stream([
    start,
    delta("tool-plan-delta", 0, { tool_plan: "I will " }),
    delta("tool-plan-delta", 0, { tool_plan: "look." }),
    delta("tool-call-start", 3, call("weather")),
    delta("tool-call-delta", 3, { tool_calls: { function: { arguments: '{"city":' } } }),
    delta("tool-call-delta", 3, { tool_calls: { function: { arguments: '"Bonn"}' } } }),
    { type: "tool-call-end", index: 3 },
    delta("tool-call-start", 4, call("clock")),
    { type: "tool-call-end", index: 4 },
    delta("tool-call-start", 5, call("date")),
    delta("tool-call-delta", 5, { tool_calls: { function: { arguments: "null" } } }),
    { type: "tool-call-end", index: 5 },
    end("TOOL_CALL"),
  ]);

  expect(calls).toEqual([
    { id: "weather_1", name: "weather", arguments: '{"city":"Bonn"}' },
    { id: "clock_1", name: "clock", arguments: "{}" },
    { id: "date_1", name: "date", arguments: "{}" },
  ]);
  expect(details).toEqual([{ type: "reasoning.text", text: "I will look." }]);
  const told = chunks.map((chunk) => Object.keys(chunk.choices[0]?.delta ?? {}).at(-1));
  expect(told.indexOf("reasoning_details")).toBeLessThan(told.indexOf("tool_calls"));
  expect(finishes).toEqual(["tool_calls"]);
});

test("the answer's tool is the answer, whole and streamed", () => {
  const called = { name: "final_answer", arguments: '{"age":3}' };
  const whole = read(
    { message: { tool_calls: [{ id: "x", function: called }] }, finish_reason: "TOOL_CALL" },
    "final_answer",
  );
  const told = stream(
    [
      start,
      delta("tool-call-start", 0, { tool_calls: { id: "x", function: { name: "final_answer", arguments: "" } } }),
      delta("tool-call-delta", 0, { tool_calls: { function: { arguments: '{"age"' } } }),
      delta("tool-call-delta", 0, { tool_calls: { function: { arguments: ":3}" } } }),
      { type: "tool-call-end", index: 0 },
      end("TOOL_CALL"),
    ],
    "final_answer",
  );

  expect(whole.choices[0]).toMatchObject({ message: { content: '{"age":3}' }, finish_reason: "stop" });
  expect(whole.choices[0]?.message.tool_calls).toBeUndefined();
  expect(told).toMatchObject({ content: '{"age":3}', calls: [], finishes: ["stop"] });
});

test.each([
  ["text beside the answer", "Here: ", [["final_answer", '{"age":3}']], '{"age":3}', 0],
  ["text without an answer", '{"age":3}', [], '{"age":3}', 0],
  ["text and a call", "Let me look.", [["weather", "{}"]], "Let me look.", 1],
  [
    "two answers",
    "",
    [
      ["final_answer", '{"age":3}'],
      ["final_answer", '{"age":4}'],
    ],
    '{"age":3}',
    0,
  ],
  ["an answer without arguments", "Here: ", [["final_answer", ""]], "{}", 0],
  ["an answer of null", "", [["final_answer", "null"]], "{}", 0],
] as const)("%s, with an answer's tool, is the same whole and streamed", (_name, text, calls, content, callCount) => {
  const item = { text, token_ids: [1], logprobs: [-0.5] };
  const whole = read(
    {
      message: {
        content: [{ type: "text", text }],
        tool_calls: calls.map(([name, args], index) => ({ id: `c${index}`, function: { name, arguments: args } })),
      },
      finish_reason: "COMPLETE",
      logprobs: [item],
    },
    "final_answer",
  ).choices[0];
  const streamed = stream(
    [
      start,
      { ...delta("content-start", 0, { content: { type: "text", text } }), ...(text === "" ? {} : { logprobs: item }) },
      { type: "content-end", index: 0 },
      ...calls.flatMap(([name, args], index) => [
        delta("tool-call-start", index, { tool_calls: { id: `c${index}`, function: { name, arguments: "" } } }),
        delta("tool-call-delta", index, { tool_calls: { function: { arguments: args.slice(0, 4) } } }),
        delta("tool-call-delta", index, { tool_calls: { function: { arguments: args.slice(4) } } }),
        { type: "tool-call-end", index },
      ]),
      end("COMPLETE"),
    ],
    "final_answer",
  );

  expect(whole?.message.content).toBe(content);
  expect(whole?.message.tool_calls ?? []).toHaveLength(callCount);
  expect(streamed.content).toBe(content);
  expect(streamed.calls).toHaveLength(callCount);
  expect(streamed.finishes).toEqual([whole?.finish_reason as string]);
  const logprobs = streamed.chunks.flatMap(({ choices }) => choices[0]?.logprobs ?? []);
  if (text !== "") expect(logprobs).toEqual([whole?.logprobs] as never);
});

test("citations of a stream are annotations beside the text", () => {
  const source = { type: "document", id: "https://example.com/b", document: { title: "B" } };
  const citation = { start: 0, end: 2, text: "Hi", sources: [source], type: "TEXT_CONTENT", content_index: 0 };
  const { chunks } = stream([
    start,
    delta("content-start", 0, { content: { type: "text", text: "Hi" } }),
    delta("citation-start", 0, { citations: citation }),
    end("COMPLETE"),
  ]);

  expect(chunks[2]?.choices[0]?.delta).toEqual({
    annotations: [
      {
        type: "url_citation",
        url_citation: { url: "https://example.com/b", title: "B", start_index: 0, end_index: 2 },
      },
    ],
    citations: [citation],
  } as never);
});

test("a stream that fails says so, and one that is cut is not complete", () => {
  expect(() => stream([start, end("ERROR", { error: "out of memory" })])).toThrow("out of memory");
  expect(stream([start, delta("content-start", 0, { content: { text: "Hi" } })]).isComplete).toBe(false);
});
