// Answers in the format of Anthropic: completions, usage, streams and refusals.

import { describe, expect, test } from "bun:test";
import type { ChatChunk, ChatMessage } from "../../../src/contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { readAnthropicUsage } from "../../../src/providers/dialects/anthropic/index.ts";
import {
  createStreamReader,
  fromAnswer,
  plainReading,
  question,
  readRefusal,
  translate,
} from "../../support/anthropic-dialect.ts";

describe("answers", () => {
  test("text, thinking and calls have their places; blocks of the vendor's own tools are kept for it", () => {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "text", text: "I look." },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Rome" } },
      { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
      { type: "new_block", value: 1 },
      {
        type: "text",
        text: "It is 21 °C",
        citations: [
          {
            type: "web_search_result_location",
            url: "https://a.it",
            title: "A",
            cited_text: "21",
            encrypted_index: "x",
          },
          { type: "page_location", document_index: 0, cited_text: "p" },
        ],
      },
      { type: "text", text: " in Rome." },
      { type: "tool_use", id: "toolu_1", name: "get_weather", input: { place: "Rome" } },
    ];
    const answer = fromAnswer(
      {
        id: "msg_1",
        model: "claude-opus-5-5",
        content,
        stop_reason: "tool_use",
        usage: { input_tokens: 3, output_tokens: 5 },
      },
      plainReading,
    );
    const text = "I look.\n\nIt is 21 °C in Rome.";
    expect(answer.id).toBe("msg_1");
    expect(answer.choices).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: text,
          refusal: null,
          reasoning_content: "Hm.",
          reasoning_details: [
            { type: "reasoning.text", text: "Hm.", signature: "c2ln", index: 0, format: "anthropic-claude-v1" },
          ] as never,
          tool_calls: [
            { id: "toolu_1", type: "function", function: { name: "get_weather", arguments: '{"place":"Rome"}' } },
          ],
          annotations: [
            {
              type: "url_citation",
              url_citation: {
                url: "https://a.it",
                title: "A",
                start_index: text.indexOf("It is"),
                end_index: text.indexOf(" in Rome"),
                content: "21",
              },
            },
          ],
          web_searches: [{ id: "srvtoolu_1", query: "Rome" }],
          extra_content: { anthropic: { content } },
        },
        logprobs: null,
        finish_reason: "tool_calls",
      },
    ]);
  });

  for (const [reason, expected] of [
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["pause_turn", "length"],
    ["refusal", "content_filter"],
    ["something_new", "stop"],
    [null, "stop"],
  ] as const)
    test(`an answer that ended with ${reason} ends with ${expected}`, () => {
      const answer = fromAnswer({ content: [], stop_reason: reason }, plainReading);
      expect(answer.choices[0]).toMatchObject({ finish_reason: expected, message: { content: null } });
      expect(answer.id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
      expect(answer.model).toBe(plainReading.model);
    });

  test("a refusal keeps the vendor's words", () => {
    const answer = { content: [], stop_reason: "refusal", stop_details: { type: "refusal", explanation: "No." } };
    expect(fromAnswer(answer, plainReading).choices[0]?.message.refusal).toBe("No.");
  });

  test("a forced tool's arguments are the answer", () => {
    const content = [
      { type: "text", text: "Here you are:" },
      { type: "tool_use", id: "toolu_1", name: "structured_answer", input: { a: 1 } },
    ];
    const reading = { ...plainReading, answerTool: "structured_answer" };
    expect(fromAnswer({ content, stop_reason: "tool_use" }, reading).choices[0]).toMatchObject({
      message: { content: '{"a":1}' },
      finish_reason: "stop",
    });
  });

  test("an error where an answer should be is one, with its status", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(() => fromAnswer(error, plainReading)).toThrow(new ErrorInAnswer("Overloaded", 529));
    expect(() => fromAnswer({ hello: 1 }, plainReading)).toThrow(TypeError);
  });

  test("a call of a tool survives the way there and back, whatever its arguments hold", () => {
    for (const input of [{}, { a: null }, { 'ü "\\\n': [1, { b: false }] }, { deep: { deeper: ["😀", -0.5, 1e21] } }]) {
      const content = [{ type: "tool_use", id: "toolu_1", name: "f", input }];
      const message = fromAnswer({ content }, plainReading).choices[0]?.message as ChatMessage;
      const { body } = translate({
        messages: [question, message, { role: "tool", tool_call_id: "toolu_1", content: "ok" }],
      });
      expect(body.messages[1]?.content).toEqual(content);
    }
  });
});

describe("usage", () => {
  test("what is read from a cache and written to it is part of the prompt, and thinking of the completion", () => {
    const usage = readAnthropicUsage({
      input_tokens: 10,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      output_tokens: 50,
      output_tokens_details: { thinking_tokens: 40 },
      server_tool_use: { web_search_requests: 2 },
    });
    expect(usage).toEqual({
      prompt_tokens: 140,
      completion_tokens: 50,
      total_tokens: 190,
      prompt_tokens_details: { cached_tokens: 100, cache_write_tokens: 30, cache_write_1h_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 40 },
      server_tool_use: { web_search_requests: 2 },
    });
  });

  test("is never negative and never above its whole, whatever the vendor says", () => {
    const odd = [undefined, null, -5, 0, 3.7, 1_000, Number.NaN, "7", {}];
    let seed = 1;
    const pick = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return odd[seed % odd.length];
    };
    for (let round = 0; round < 2_000; round++) {
      const usage = readAnthropicUsage({
        input_tokens: pick(),
        cache_read_input_tokens: pick(),
        cache_creation_input_tokens: pick(),
        cache_creation: { ephemeral_5m_input_tokens: pick(), ephemeral_1h_input_tokens: pick() },
        output_tokens: pick(),
        output_tokens_details: { thinking_tokens: pick() },
      });
      const parts = usage.prompt_tokens_details ?? {};
      const { cached_tokens: read = -1, cache_write_tokens: written = -1, cache_write_1h_tokens: hour = -1 } = parts;
      const thinking = usage.completion_tokens_details?.reasoning_tokens ?? 0;
      for (const count of [usage.prompt_tokens, usage.completion_tokens, read, written, hour, thinking]) {
        expect(Number.isInteger(count)).toBe(true);
        expect(count).toBeGreaterThanOrEqual(0);
      }
      expect(read + written).toBeLessThanOrEqual(usage.prompt_tokens);
      expect(hour).toBeLessThanOrEqual(written);
      expect(thinking).toBeLessThanOrEqual(usage.completion_tokens);
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    }
  });

  test("is read from nothing, too", () => {
    for (const usage of [undefined, null, "x", []])
      expect(readAnthropicUsage(usage)).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });
});

describe("streams", () => {
  const begin = {
    type: "message_start",
    message: {
      id: "msg_1",
      model: "claude-opus-5-5",
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 1 },
    },
  };
  const start = (index: number, block: JsonObject) => ({ type: "content_block_start", index, content_block: block });
  const delta = (index: number, value: JsonObject) => ({ type: "content_block_delta", index, delta: value });
  const stop = (index: number) => ({ type: "content_block_stop", index });
  const text = (index: number, value: string) => delta(index, { type: "text_delta", text: value });
  const input = (index: number, json: string) => delta(index, { type: "input_json_delta", partial_json: json });
  const end = (reason: string, more: JsonObject = {}) => [
    {
      type: "message_delta",
      delta: { stop_reason: reason, stop_sequence: null, ...more },
      usage: { output_tokens: 20 },
    },
    { type: "message_stop" },
  ];

  function read(events: readonly JsonObject[], reading = plainReading) {
    const reader = createStreamReader(reading);
    const chunks = events.flatMap((value) => [...reader.read({ name: String(value["type"]), value })]);
    return { chunks, reader, deltas: chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta)) };
  }

  const joined = (chunks: readonly ChatChunk[]) =>
    chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta.content ?? "")).join("");
  const finishes = (chunks: readonly ChatChunk[]) =>
    chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.finish_reason ?? []));

  test("text comes as it is written, with one role, one id, one end and the usage last", () => {
    const { chunks, deltas, reader } = read([
      begin,
      start(0, { type: "text", text: "" }),
      { type: "ping" },
      text(0, "21 "),
      text(0, "°C"),
      { type: "something_new", value: 1 },
      delta(0, { type: "new_delta", value: 1 }),
      stop(0),
      ...end("end_turn"),
    ]);
    expect(deltas).toEqual([{ role: "assistant", content: "" }, { content: "21 " }, { content: "°C" }, {}]);
    expect(finishes(chunks)).toEqual(["stop"]);
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model}`)).size).toBe(1);
    expect(chunks.at(-1)).toMatchObject({
      id: "msg_1",
      choices: [],
      usage: { prompt_tokens: 15, completion_tokens: 20, total_tokens: 35 },
    });
    expect(chunks.filter((chunk) => chunk.usage)).toHaveLength(1);
    expect(reader.isComplete).toBe(true);
  });

  test("a stream is complete only with its last event", () => {
    const { reader } = read([begin, ...end("end_turn").slice(0, 1)]);
    expect(reader.isComplete).toBe(false);
  });

  test("calls are counted apart from the vendor's own, and an empty one has arguments that can be parsed", () => {
    const { chunks, deltas } = read([
      begin,
      start(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      input(0, '{"query":"x"}'),
      stop(0),
      start(1, { type: "tool_use", id: "toolu_1", name: "a", input: {} }),
      input(1, ""),
      input(1, '{"p":'),
      input(1, "1}"),
      stop(1),
      start(2, { type: "tool_use", id: "toolu_2", name: "b", input: {} }),
      input(2, ""),
      stop(2),
      start(3, { type: "tool_use", id: "toolu_3", name: "c", input: { whole: true } }),
      stop(3),
      ...end("tool_use"),
    ]);
    const calls = deltas.flatMap((value) => value.tool_calls ?? []);
    expect(calls[0]).toEqual({ index: 0, id: "toolu_1", type: "function", function: { name: "a", arguments: "" } });
    const sent = (index: number) =>
      calls.filter((call) => call.index === index).reduce((all, call) => all + (call.function?.arguments ?? ""), "");
    expect([0, 1, 2].map(sent)).toEqual(['{"p":1}', "{}", '{"whole":true}']);
    expect(finishes(chunks)).toEqual(["tool_calls"]);
  });

  test("thinking comes as it is thought, and whole when it is signed; also where its text is left out", () => {
    const { deltas } = read([
      begin,
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "thinking_delta", thinking: "H" }),
      delta(0, { type: "thinking_delta", thinking: "m." }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0),
      start(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
      stop(1),
      start(2, { type: "thinking", thinking: "" }),
      delta(2, { type: "signature_delta", signature: "bGVlcg==" }),
      stop(2),
      ...end("end_turn"),
    ]);
    const format = "anthropic-claude-v1";
    expect(deltas.slice(1, -1)).toEqual([
      { reasoning_content: "H" },
      { reasoning_content: "m." },
      { reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "c2ln", index: 0, format }] },
      { reasoning_details: [{ type: "reasoning.encrypted", data: "ZGF0YQ==", index: 1, format }] },
      { reasoning_details: [{ type: "reasoning.text", text: "", signature: "bGVlcg==", index: 2, format }] },
    ] as never);
  });

  test("citations name the words that they are for", () => {
    const citation = { type: "web_search_result_location", url: "https://a.it", title: "A", cited_text: "21" };
    const { chunks, deltas } = read([
      begin,
      start(0, { type: "text", text: "" }),
      text(0, "I look."),
      stop(0),
      start(1, { type: "web_search_tool_result", tool_use_id: "x", content: [] }),
      stop(1),
      start(2, { type: "text", text: "", citations: [] }),
      delta(2, { type: "citations_delta", citation }),
      text(2, "21 °C"),
      stop(2),
      start(3, { type: "text", text: "" }),
      text(3, " in Rome."),
      stop(3),
      ...end("end_turn"),
    ]);
    const content = joined(chunks);
    expect(content).toBe("I look.\n\n21 °C in Rome.");
    const [annotation] = deltas.flatMap((value) => value.annotations ?? []);
    const { start_index = 0, end_index = 0 } = annotation?.url_citation ?? {};
    expect(content.slice(start_index, end_index)).toBe("21 °C");
  });

  const reading = { ...plainReading, answerTool: "structured_answer" };

  test("a forced tool's arguments are the text, and nothing beside them", () => {
    const { chunks, deltas } = read(
      [
        begin,
        start(0, { type: "text", text: "" }),
        text(0, "Here you are:"),
        stop(0),
        start(1, { type: "tool_use", id: "toolu_1", name: "structured_answer", input: {} }),
        input(1, '{"a"'),
        input(1, ":1}"),
        stop(1),
        ...end("tool_use"),
      ],
      reading,
    );
    expect(joined(chunks)).toBe('{"a":1}');
    expect(finishes(chunks)).toEqual(["stop"]);
    expect(deltas.some((value) => value.tool_calls)).toBe(false);
  });

  test("an answer in words instead of the forced tool is not lost", () => {
    const { chunks } = read(
      [begin, start(0, { type: "text", text: "" }), text(0, "No."), stop(0), ...end("end_turn")],
      reading,
    );
    expect(joined(chunks)).toBe("No.");
  });

  test("a refusal ends with its reason", () => {
    const details = { stop_details: { type: "refusal", category: "bio", explanation: "No." } };
    const { chunks, deltas } = read([begin, ...end("refusal", details)]);
    expect(deltas).toContainEqual({ refusal: "No." });
    expect(finishes(chunks)).toEqual(["content_filter"]);
  });

  test("an error in the stream is one, with its status", () => {
    const event = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(() => read([begin, event])).toThrow(new ErrorInAnswer("Overloaded", 529));
    expect(() => read([{ type: "error", error: { type: "new_error" } }])).toThrow(new ErrorInAnswer("new_error", null));
  });

  test("an answer that begins anew in the middle of it is an error; before its first block it is not", () => {
    expect(() => read([begin, start(0, { type: "text", text: "" }), text(0, "a"), begin])).toThrow(ErrorInAnswer);
    const { deltas } = read([
      begin,
      begin,
      start(0, { type: "text", text: "" }),
      text(0, "a"),
      stop(0),
      ...end("end_turn"),
    ]);
    expect(deltas.filter((value) => value.role)).toHaveLength(1);
  });

  // Observed where the vendor's own tools have called the caller's; the contents are invented.
  test("text in the first event is forwarded, and so is the finish reason", () => {
    const content = [
      { type: "thinking", thinking: "Hm", signature: "s" },
      { type: "text", text: "Look:" },
      { type: "tool_use", id: "toolu_1", name: "look_up", input: { city: "Paris" } },
    ];
    const message = { ...begin.message, content, stop_reason: "tool_use" };
    const { chunks, deltas } = read([{ type: "message_start", message }, { type: "message_stop" }]);
    expect(joined(chunks)).toBe("Look:");
    expect(deltas.map((value) => value.reasoning_content ?? "").join("")).toBe("Hm");
    expect(deltas.flatMap((value) => value.reasoning_details ?? [])).toMatchObject([{ text: "Hm", signature: "s" }]);
    const written = deltas.flatMap((value) => value.tool_calls ?? []).map((call) => call.function?.arguments);
    expect(written.join("")).toBe('{"city":"Paris"}');
    expect(finishes(chunks)).toEqual(["tool_calls"]);
  });

  test("a stream without a beginning still has a role and an id", () => {
    const { chunks, deltas } = read([start(0, { type: "text", text: "Hi" }), stop(0), { type: "message_stop" }]);
    expect(deltas[0]).toEqual({ role: "assistant", content: "Hi" });
    expect(chunks[0]?.id).toMatch(/^chatcmpl-/);
  });
});

describe("refusals", () => {
  const saying = (type: string, message: string) => ({ type: "error", error: { type, message } });
  for (const [status, body, expected] of [
    [400, saying("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), 402],
    [400, saying("invalid_request_error", "You have reached your specified API usage limits."), 402],
    [400, saying("invalid_request_error", "max_tokens: Field required"), undefined],
    [400, saying("overloaded_error", "Overloaded"), 529],
    [500, saying("rate_limit_error", "Slow down"), 429],
    [404, saying("not_found_error", "model: x"), undefined],
    [529, saying("overloaded_error", "Overloaded"), undefined],
    [502, {}, undefined],
  ] as const)
    test(`status ${status} with ${JSON.stringify(body)} means ${expected ?? "what it says"}`, () => {
      expect(readRefusal(status, body).status).toBe(expected as number);
    });
});
