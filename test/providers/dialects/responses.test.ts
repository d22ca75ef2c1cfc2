// Chat requests through the Responses API. The wire format is documented (https://platform.openai.com/docs/api-reference/responses);
// what the model says is invented.

import { describe, expect, test } from "bun:test";
import type { ChatChunk, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { createResponsesChat } from "../../../src/providers/dialects/responses/index.ts";
import { thrownBy } from "../../support/thrown.ts";

const responsesChat = createResponsesChat({ reasons: true });
const reading = { model: "m", answerTool: null };

function translate(members: object, isStream = false): JsonObject {
  const request = {
    model: "x/m",
    messages: [{ role: "user", content: "Hello" }],
    ...members,
  } as unknown as ChatRequest;
  return JSON.parse(responsesChat.toRequest(request, { model: "m", facts: null, isStream }).body);
}

describe("a request", () => {
  test("stores nothing, asks for encrypted reasoning, and says whether it streams", () => {
    expect(translate({})).toEqual({
      model: "m",
      input: [{ type: "message", role: "user", content: "Hello" }],
      store: false,
      include: ["reasoning.encrypted_content"],
    });
    expect(translate({}, true)).toMatchObject({ stream: true });
    const request = { model: "x/m", messages: [{ role: "user", content: "Hello" }] } as const;
    const made = createResponsesChat({ reasons: false }).toRequest(request, {
      model: "m",
      facts: null,
      isStream: false,
    });
    expect(JSON.parse(made.body)).not.toHaveProperty("include");
  });

  test("has its instructions apart, and later ones in their place", () => {
    const messages = [
      { role: "system", content: "One." },
      { role: "developer", content: "Two." },
      { role: "user", content: "Hi" },
      { role: "system", content: "Three." },
    ];
    expect(translate({ messages })).toMatchObject({
      instructions: "One.\n\nTwo.",
      input: [{ role: "user" }, { type: "message", role: "developer", content: "Three." }],
    });
  });

  test("holds reasoning, text and calls of the assistant in this order, and results behind them", () => {
    const messages = [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Looking.",
        reasoning_details: [
          { type: "reasoning.encrypted", data: "ZW5j", summary: [{ type: "summary_text", text: "S" }] },
          { type: "reasoning.text", text: "not its own" },
        ],
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "done" },
    ];
    expect((translate({ messages })["input"] as unknown[]).slice(1)).toEqual([
      { type: "reasoning", summary: [{ type: "summary_text", text: "S" }], encrypted_content: "ZW5j" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Looking.", annotations: [] }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "done" },
    ]);
  });

  test("maps tools, the choice among them, limits and forms", () => {
    const tools = [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } }];
    const schema = { type: "object" };
    expect(
      translate({
        tools,
        tool_choice: { type: "function", function: { name: "f" } },
        parallel_tool_calls: false,
        max_completion_tokens: 5,
        reasoning_effort: "low",
        thinking: { type: "adaptive", display: "summarized" },
        verbosity: "low",
        response_format: { type: "json_schema", json_schema: { name: "n", schema, strict: true } },
        web_search_options: { user_location: { type: "approximate", approximate: { country: "DE" } } },
      }),
    ).toMatchObject({
      tools: [
        { type: "function", name: "f", description: "d", parameters: schema, strict: false },
        { type: "web_search", user_location: { type: "approximate", country: "DE" } },
      ],
      tool_choice: { type: "function", name: "f" },
      parallel_tool_calls: false,
      max_output_tokens: 16,
      reasoning: { effort: "low", summary: "auto" },
      text: { verbosity: "low", format: { type: "json_schema", name: "n", schema, strict: true } },
    });
  });

  test("carries images and files", () => {
    const content = [
      { type: "text", text: "See" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,AA==", filename: "a.pdf" } },
    ];
    expect(translate({ messages: [{ role: "user", content }] })["input"]).toMatchObject([
      {
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" },
          { type: "input_file", file_data: "data:application/pdf;base64,AA==", filename: "a.pdf" },
        ],
      },
    ]);
  });
});

const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4 },
  output_tokens: 6,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 16,
};
const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: '{"a":1}' };
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "Hm" }],
  encrypted_content: "ZW5j",
};
const message = {
  type: "message",
  content: [
    {
      type: "output_text",
      text: "Hi",
      annotations: [{ type: "url_citation", url: "https://a", title: "A", start_index: 0, end_index: 2 }],
    },
  ],
};

describe("a whole answer", () => {
  const read = (members: object) =>
    responsesChat.fromAnswer({ id: "resp_1", status: "completed", usage, ...members }, reading);

  test("tells text, reasoning, calls, sources and usage", () => {
    const search = { type: "web_search_call", action: { type: "search" } };
    const page = { type: "web_search_call", action: { type: "open_page" } };
    const completion = read({ output: [reasoning, search, page, message, call] });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "Hi",
        reasoning_content: "Hm",
        reasoning_details: [{ type: "reasoning.encrypted", data: "ZW5j", summary: reasoning.summary }],
        tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
        annotations: [{ type: "url_citation", url_citation: { url: "https://a" } }],
      },
    });
    expect(completion.usage).toMatchObject({
      prompt_tokens: 10,
      completion_tokens: 6,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
      server_tool_use: { web_search_requests: 1 },
    });
  });

  test.each([
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, "length"],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, "content_filter"],
    [{ status: "completed" }, "stop"],
  ])("%j ends as %s", (members, finish) => {
    expect(read({ ...members, output: [message] }).choices[0]?.finish_reason).toBe(finish as "stop");
  });

  test("a failed one is an error with the vendor's words", () => {
    const failed = { status: "failed", error: { code: "rate_limit_exceeded", message: "Slow down." }, output: [] };
    expect(() => read(failed)).toThrow(new ErrorInAnswer("Slow down.", 429));
    expect(() => read({})).toThrow(TypeError);
  });
});

describe("a stream", () => {
  function readAll(events: readonly object[]) {
    const reader = responsesChat.createStreamReader(reading);
    const chunks = events.flatMap((value): ChatChunk[] => [...reader.read({ name: "", value: value as JsonObject })]);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    return { chunks, deltas, isComplete: reader.isComplete };
  }
  const completed = { type: "response.completed", response: { status: "completed", usage, service_tier: "default" } };

  test("tells calls whose arguments come only with the end of their item", () => {
    const { deltas, chunks, isComplete } = readAll([
      { type: "response.created", response: { id: "resp_1", model: "m-1" } },
      { type: "response.output_item.done", output_index: 0, item: call },
      { type: "response.output_item.added", output_index: 1, item: { ...call, call_id: "c2", arguments: "" } },
      { type: "response.function_call_arguments.delta", output_index: 1, delta: '{"a"' },
      { type: "response.output_item.done", output_index: 1, item: { ...call, call_id: "c2" } },
      completed,
    ]);
    const pieces = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
    expect(pieces.filter(({ id }) => id).map(({ id, index }) => [id, index])).toEqual([
      ["c1", 0],
      ["c2", 1],
    ]);
    for (const index of [0, 1]) {
      const written = pieces.filter((piece) => piece.index === index).map((piece) => piece.function?.arguments);
      expect(written.join("")).toBe('{"a":1}');
    }
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 10 }, service_tier: "default" });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("tool_calls");
    expect(chunks.every(({ id, model }) => id === "resp_1" && model === "m-1")).toBeTrue();
    expect(isComplete).toBeTrue();
  });

  test("tells parts of a summary as paragraphs, and the encrypted item behind them", () => {
    const { deltas } = readAll([
      { type: "response.reasoning_summary_part.added" },
      { type: "response.reasoning_summary_text.delta", delta: "One." },
      { type: "response.reasoning_summary_part.added" },
      { type: "response.reasoning_summary_text.delta", delta: "Two." },
      { type: "response.output_item.done", output_index: 0, item: reasoning },
    ]);
    expect(deltas.map((delta) => delta.reasoning_content ?? "").join("")).toBe("One.\n\nTwo.");
    expect(deltas.at(-1)?.reasoning_details).toMatchObject([{ type: "reasoning.encrypted", data: "ZW5j" }]);
  });

  test("tells refusals and sources, passes unknown events by, and is not complete before its end", () => {
    const { deltas, isComplete } = readAll([
      { type: "response.refusal.delta", delta: "No." },
      { type: "response.output_text.annotation.added", annotation: message.content[0]?.annotations[0] },
      { type: "response.something_new", delta: "x" },
    ]);
    expect(deltas).toMatchObject([{ refusal: "No." }, { annotations: [{ url_citation: { url: "https://a" } }] }]);
    expect(isComplete).toBeFalse();
  });

  test.each([
    [{ type: "error", code: "server_error", message: "Broken." }],
    [{ type: "error", error: { code: "server_error", message: "Broken." } }],
    [{ type: "response.failed", response: { error: { code: "server_error", message: "Broken." } } }],
  ])("%j is an error", (event) => expect(() => readAll([event])).toThrow("Broken."));

  const tooLong = { type: "invalid_request_error", code: "context_length_exceeded", message: "Too long." };
  test.each([
    [{ ...tooLong, type: "error" }],
    [{ type: "error", error: tooLong }],
    [{ type: "response.failed", response: { error: tooLong } }],
  ])("%j is a refusal of the request", (event) =>
    expect(thrownBy(() => readAll([event]), ErrorInAnswer)).toMatchObject({ message: "Too long.", status: 400 }));
});
