// Completions and chunks of the chat format become messages, events and errors of the Messages format.

import { describe, expect, test } from "bun:test";
import type { ChatChunk, ChatCompletion, ChatDelta } from "../../src/contract/chat-format.ts";
import { fromMessagesRequest } from "../../src/inference/messages/from-messages-request.ts";
import { toMessagesError, toMessagesErrorEvent } from "../../src/inference/messages/messages-error.ts";
import { MessagesStreamWriter } from "../../src/inference/messages/messages-stream.ts";
import { toMessagesAnswer, toMessagesUsage } from "../../src/inference/messages/to-messages-answer.ts";
import { type Event, read, readFrames, stream, text, translateTurns, user } from "../support/messages-translation.ts";

function completion(message: object, more: { finish_reason?: string; usage?: object; choice?: object } = {}) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "some-model-2",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: null, ...message },
        finish_reason: more.finish_reason ?? "stop",
        ...more.choice,
      },
    ],
    ...(more.usage && { usage: more.usage }),
  } as unknown as ChatCompletion;
}

function chunk(delta: object, finishReason: string | null = null, more: object = {}): ChatChunk {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "some-model-2",
    choices: [{ index: 0, delta: delta as ChatDelta, finish_reason: finishReason as null }],
    ...more,
  };
}

const piece = (index: number, written: string, begins?: { id?: string; name: string }) => ({
  tool_calls: [
    {
      index,
      ...(begins?.id && { id: begins.id }),
      function: { ...(begins && { name: begins.name }), arguments: written },
    },
  ],
});

/** What a client makes of the events; fails where a client would: one block at a time, numbered without gaps. */
function accumulate(events: readonly Event[]) {
  expect(events[0]?.type).toBe("message_start");
  expect(events.slice(-2).map((event) => event.type)).toEqual(["message_delta", "message_stop"]);
  const blocks: Record<string, unknown>[] = [];
  let open: number | null = null;
  for (const { type, index, content_block: block, delta } of events.slice(1, -2)) {
    if (type === "content_block_start") {
      expect([open, index]).toEqual([null, blocks.length]);
      open = blocks.length;
      blocks.push({ ...block, json: "" });
      continue;
    }
    expect(index).toBe(open as number);
    if (type === "content_block_stop") {
      open = null;
      continue;
    }
    const last = blocks.at(-1) ?? {};
    const append = (member: string, written: unknown) => {
      last[member] = `${last[member]}${written}`;
    };
    if (delta?.["type"] === "text_delta") append("text", delta["text"]);
    else if (delta?.["type"] === "thinking_delta") append("thinking", delta["thinking"]);
    else if (delta?.["type"] === "input_json_delta") append("json", delta["partial_json"]);
    else if (delta?.["type"] === "signature_delta") last["signature"] = delta["signature"];
    else if (delta?.["type"] === "citations_delta") last["citations"] = delta["citation"];
    else throw new Error(`no client knows ${JSON.stringify(delta)}`);
  }
  expect(open).toBeNull();
  return blocks;
}

/** A small generator of numbers from 0 to 1, the same ones for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("a completion becomes a message", () => {
  test("thoughts, text and calls, in this order", () => {
    const answer = toMessagesAnswer(
      completion(
        {
          content: "Hello",
          reasoning_content: "Hm",
          reasoning_details: [
            { type: "reasoning.text", text: "Hm", signature: "s" },
            { type: "reasoning.encrypted", data: "d" },
          ],
          tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
          annotations: [
            { type: "url_citation", url_citation: { url: "https://example.com", title: "E", content: "q" } },
          ],
        },
        { finish_reason: "tool_calls", usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
      ),
    );
    expect(answer.id).toMatch(/^msg_[0-9a-f]{24}$/);
    expect(answer).toMatchObject({
      type: "message",
      role: "assistant",
      model: "some-model-2",
      content: [
        { type: "thinking", thinking: "Hm", signature: "s" },
        { type: "redacted_thinking", data: "d" },
        {
          type: "text",
          text: "Hello",
          citations: [
            {
              type: "web_search_result_location",
              url: "https://example.com",
              title: "E",
              cited_text: "q",
              encrypted_index: "",
            },
          ],
        },
        { type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
    });
    expect(answer.usage).toMatchObject({ input_tokens: 7, output_tokens: 3 });
  });

  test("an id of the provider's own is kept", () => {
    expect(toMessagesAnswer({ ...completion({}), id: "msg_abc" }).id).toBe("msg_abc");
  });

  test.each<[string, object, string, string]>([
    ["stop", { content: "x" }, "stop", "end_turn"],
    ["length", { content: "x" }, "length", "max_tokens"],
    ["content_filter", { content: "" }, "content_filter", "refusal"],
    ["a refusal in words", { refusal: "I will not." }, "stop", "refusal"],
    [
      "calls, though the provider says stop",
      { tool_calls: [{ function: { name: "f", arguments: "" } }] },
      "stop",
      "tool_use",
    ],
    ["a reason that nobody knows", { content: "x" }, "eos", "end_turn"],
  ])("the end: %s", (_, message, finishReason, stopReason) => {
    expect(toMessagesAnswer(completion(message, { finish_reason: finishReason })).stop_reason).toBe(
      stopReason as never,
    );
  });

  test("a refusal's words are the text and the explanation", () => {
    const answer = toMessagesAnswer(completion({ refusal: "I will not." }));
    expect(answer.content).toEqual([{ type: "text", text: "I will not." }]);
    expect(answer.stop_details).toEqual({ type: "refusal", category: null, explanation: "I will not." });
  });

  test("the stop sequence is named when the provider names it, and is the caller's", () => {
    const ended = completion({ content: "x" }, { choice: { stop_reason: "END" } });
    expect(toMessagesAnswer(ended, { stopSequences: ["END"] })).toMatchObject({
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    });
    expect(toMessagesAnswer(ended, { stopSequences: ["STOP"] }).stop_reason).toBe("end_turn");
  });

  test.each([
    ["", {}],
    ["{broken", { unparsed_arguments: "{broken" }],
    ["[1]", { unparsed_arguments: "[1]" }],
    ['{"a":[1]}', { a: [1] }],
  ])("arguments %p are never lost and never fatal", (written, input) => {
    const answer = toMessagesAnswer(completion({ tool_calls: [{ function: { name: "f", arguments: written } }] }));
    expect(answer.content[0]).toMatchObject({ type: "tool_use", input });
  });

  test("reasoning under the other name, and parts instead of a string, are read", () => {
    const answer = toMessagesAnswer(completion({ reasoning: "Hm", content: [{ type: "text", text: "Yes" }] }));
    expect(answer.content).toEqual([
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "text", text: "Yes" },
    ]);
  });

  test("thoughts that are told in plain words are not lost beside encrypted ones", () => {
    const details = [
      { type: "reasoning.summary", summary: "Hm" },
      { type: "reasoning.encrypted", data: "d" },
    ];
    const answer = toMessagesAnswer(completion({ reasoning: "Hm", reasoning_details: details, content: "Yes" }));
    expect(answer.content).toEqual([
      { type: "thinking", thinking: "Hm", signature: "" },
      { type: "redacted_thinking", data: "d" },
      { type: "text", text: "Yes" },
    ]);
  });

  test("sent back, an answer gives the provider what it said", () => {
    const details = [
      { type: "reasoning.text", text: "Hm", signature: "s" },
      { type: "reasoning.encrypted", data: "d" },
    ];
    const calls = [
      {
        id: "c1",
        type: "function",
        function: { name: "f", arguments: '{"a":1}' },
        extra_content: { vendor: { signature: "t" } },
      },
    ];
    const { content } = toMessagesAnswer(
      completion({ content: "Yes", reasoning_content: "Hm", reasoning_details: details, tool_calls: calls }),
    );
    expect(translateTurns({ role: "assistant", content } as object)).toEqual([
      {
        role: "assistant",
        content: "Yes",
        reasoning_content: "Hm",
        reasoning_details: details,
        tool_calls: calls,
      } as never,
    ]);
  });

  test("the parts of the prompt are told apart and never below nothing", () => {
    const usage = toMessagesUsage({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30, cache_write_1h_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    });
    expect(usage).toMatchObject({
      input_tokens: 10,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    });
    const random = createRandom(7);
    for (let round = 0; round < 500; round++) {
      const any = () => Math.floor(random() * 200) - 50;
      const odd = toMessagesUsage({
        prompt_tokens: any(),
        completion_tokens: any(),
        total_tokens: any(),
        prompt_tokens_details: { cached_tokens: any(), cache_write_tokens: any(), cache_write_1h_tokens: any() },
        completion_tokens_details: { reasoning_tokens: any() },
      });
      const numbers = [odd, odd.cache_creation, odd.output_tokens_details].flatMap((part) =>
        Object.values(part ?? {}).filter((value) => typeof value === "number"),
      );
      expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    }
  });
});

describe("chunks become events", () => {
  test("of several choices the first is the message", () => {
    const second = (delta: object) => ({ choices: [{ index: 1, delta, finish_reason: "length" }] });
    const events = stream(
      chunk({ content: "Yes" }),
      chunk({}, null, second({ content: "No" })),
      chunk({ content: "!" }),
      chunk({}, "stop"),
      chunk({}, null, second({})),
    );
    expect(accumulate(events)).toMatchObject([{ type: "text", text: "Yes!" }]);
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "end_turn" } });
  });

  test("text, from the first event to the last", () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    const events = stream(
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Hel" }),
      chunk({ content: 'lo "you"\n' }),
      chunk({}, "stop"),
      chunk({}, null, { choices: [], usage }),
    );
    expect(events.map((event) => event.type)).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]?.message).toMatchObject({
      type: "message",
      role: "assistant",
      model: "some-model-2",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    expect(accumulate(events)).toMatchObject([{ type: "text", text: 'Hello "you"\n' }]);
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 9, output_tokens: 2 },
      cost: 0.25,
    } as object);
  });

  test("thoughts end with their signature, and encrypted ones are blocks of their own", () => {
    const blocks = accumulate(
      stream(
        chunk({ reasoning_content: "Let " }),
        chunk({ reasoning_content: "me" }),
        chunk({ reasoning_details: [{ type: "reasoning.text", text: "Let me", signature: "s" }] }),
        chunk({ reasoning_details: [{ type: "reasoning.encrypted", data: "d" }] }),
        chunk({ reasoning_details: [{ type: "reasoning.text", text: "Alone", signature: "t" }] }),
        chunk({ content: "Yes" }),
      ),
    );
    expect(blocks).toMatchObject([
      { type: "thinking", thinking: "Let me", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "thinking", thinking: "Alone", signature: "t" },
      { type: "text", text: "Yes" },
    ]);
  });

  test("thoughts that come as details alone, in pieces, are joined once", () => {
    const detail = (more: object) => chunk({ reasoning_details: [{ type: "reasoning.text", ...more }] });
    const blocks = accumulate(
      stream(detail({ text: "a" }), detail({ text: "b" }), detail({ text: "", signature: "s" })),
    );
    expect(blocks).toMatchObject([{ type: "thinking", thinking: "ab", signature: "s" }]);
  });

  test("a call is written as it comes", () => {
    const writer = new MessagesStreamWriter({ model: "m" });
    writer.write(chunk(piece(0, "", { id: "c1", name: "f" })));
    expect(readFrames(writer.write(chunk(piece(0, '{"a":'))))).toMatchObject([
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":' } },
    ]);
  });

  test("a second call need not wait for the end when the first is complete", () => {
    const writer = new MessagesStreamWriter({ model: "m" });
    writer.write(chunk(piece(0, '{"a":1}', { id: "c1", name: "f" })));
    const events = readFrames(writer.write(chunk(piece(1, "", { id: "c2", name: "g" }))));
    expect(events.map((event) => event.type)).toEqual(["content_block_stop", "content_block_start"]);
  });

  test("calls whose pieces are mixed come out one after the other", () => {
    const events = stream(
      chunk(piece(0, "", { id: "c1", name: "f" })),
      chunk(piece(1, '{"b":', { id: "c2", name: "g" })),
      chunk(piece(0, '{"a":1}')),
      chunk(piece(1, "2}")),
      chunk(piece(0, "")),
      chunk({}, "tool_calls"),
    );
    expect(accumulate(events)).toMatchObject([
      { type: "tool_use", id: "c1", name: "f", json: '{"a":1}' },
      { type: "tool_use", id: "c2", name: "g", json: '{"b":2}' },
    ]);
    expect(events.at(-2)?.delta).toMatchObject({ stop_reason: "tool_use" });
  });

  test("a call whose name arrives after its arguments is opened with its name", () => {
    const unnamed = { tool_calls: [{ index: 0, id: "c1", function: { arguments: '{"a":' } }] };
    const named = { tool_calls: [{ index: 0, function: { name: "f", arguments: "1}" } }] };
    expect(accumulate(stream(chunk(unnamed), chunk(named), chunk({}, "tool_calls")))).toMatchObject([
      { type: "tool_use", id: "c1", name: "f", json: '{"a":1}' },
    ]);
  });

  test("calls that all have the same number are told apart", () => {
    const withIds = accumulate(
      stream(chunk(piece(0, '{"a":1}', { id: "c1", name: "f" })), chunk(piece(0, '{"b":2}', { id: "c2", name: "f" }))),
    );
    expect(withIds).toMatchObject([{ json: '{"a":1}' }, { json: '{"b":2}' }]);
    const withoutIds = accumulate(
      stream(chunk(piece(0, '{"a":1}', { name: "f" })), chunk(piece(0, "", { name: "f" })), chunk(piece(0, '{"b":2}'))),
    );
    expect(withoutIds).toMatchObject([{ json: '{"a":1}' }, { json: '{"b":2}' }]);
    expect(withoutIds[0]?.["id"]).not.toBe(withoutIds[1]?.["id"]);
  });

  test("words in the middle of a call wait for its end", () => {
    const blocks = accumulate(
      stream(
        chunk(piece(0, '{"a":', { id: "c1", name: "f" })),
        chunk({ content: "wait" }),
        chunk(piece(0, "1}")),
        chunk({ content: "ed" }),
      ),
    );
    expect(blocks).toMatchObject([
      { type: "tool_use", json: '{"a":1}' },
      { type: "text", text: "waited" },
    ]);
  });

  test("citations and refusals are in the text", () => {
    const events = stream(
      chunk({ content: "So. " }),
      chunk({ annotations: [{ type: "url_citation", url_citation: { url: "https://example.com" } }] }),
      chunk({ refusal: "No more." }),
      chunk({}, "stop"),
    );
    expect(accumulate(events)).toMatchObject([
      { type: "text", text: "So. No more.", citations: { url: "https://example.com", title: null } },
    ]);
    expect(events.at(-2)?.delta).toMatchObject({
      stop_reason: "refusal",
      stop_details: { type: "refusal", explanation: "No more." },
    });
  });

  test("a stream without any chunk is still a message, and ends once", () => {
    const writer = new MessagesStreamWriter({ model: "asked-for" });
    const events = readFrames(writer.end({ cost: null, reason: "usage_unknown" }));
    expect(accumulate(events)).toEqual([]);
    expect(events[0]?.message?.["model"]).toBe("asked-for");
    expect(writer.end({ cost: null, reason: "usage_unknown" })).toEqual([]);
  });

  test("however the pieces are mixed, a client puts together what was sent", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = createRandom(seed);
      const pick = (most: number) => Math.floor(random() * most);
      const count = pick(4);
      const calls = Array.from({ length: count }, (_, index) => ({
        id: `c${index}`,
        json: JSON.stringify({ text: '}{ \\" é '.repeat(pick(3)), nested: { index } }),
        sent: 0,
      }));
      const chunks: ChatChunk[] = [];
      let words = "";
      let opened = 0;
      while (calls.some((each, index) => index >= opened || each.sent < each.json.length)) {
        const action = pick(3);
        if (action === 0) {
          const word = `w${pick(10)} `;
          words += word;
          chunks.push(chunk({ content: word }));
        } else if (action === 1 && opened < count) {
          chunks.push(chunk(piece(opened, "", { id: `c${opened}`, name: `f${opened}` })));
          opened++;
        } else if (opened > 0) {
          const index = pick(opened);
          const each = calls[index];
          if (each === undefined || each.sent >= each.json.length) continue;
          const size = 1 + pick(12);
          chunks.push(chunk(piece(index, each.json.slice(each.sent, each.sent + size))));
          each.sent += size;
        }
      }
      const blocks = accumulate(stream(...chunks, chunk({}, "tool_calls")));
      const written = blocks.filter((block) => block["type"] === "tool_use");
      expect(written.map((block) => [block["id"], block["json"]])).toEqual(calls.map(({ id, json }) => [id, json]));
      const said = blocks.filter((block) => block["type"] === "text").map((block) => block["text"]);
      expect(said.join("")).toBe(words);
    }
  });
});

describe("errors are in the words of the format", () => {
  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [402, "billing_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [405, "invalid_request_error"],
    [413, "request_too_large"],
    [422, "invalid_request_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [502, "api_error"],
    [503, "overloaded_error"],
    [504, "timeout_error"],
    [529, "overloaded_error"],
  ])("%p is %s", (status, type) => {
    expect(toMessagesError(status, "said", "req_1")).toEqual({
      type: "error",
      error: { type, message: "said" },
      request_id: "req_1",
    });
  });

  test("in a stream it is an event by name", () => {
    expect(toMessagesErrorEvent("api_error", "cut\noff")).toBe(
      'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"cut\\noff"}}\n\n',
    );
  });
});

describe("what a provider wants back with a message survives the format", () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    ({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    }) as ChatChunk;
  const parts = [{ toolCall: { toolType: "GOOGLE_SEARCH_WEB", id: "s1" } }, { toolResponse: { id: "s1" } }];
  const extra = { google: { parts } };
  const signature = { google: { thought_signature: "c2ln" } };

  function blocksOf(chunks: readonly ChatChunk[], origin: string | null): Record<string, unknown>[] {
    const writer = new MessagesStreamWriter({ model: "m", origin });
    const frames = [
      ...chunks.flatMap((one) => writer.write(one)),
      ...writer.end({ cost: null, reason: "usage_unknown" }),
    ];
    const events = frames.map((frame) => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)));
    const blocks: Record<string, unknown>[] = [];
    for (const event of events) {
      if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
      if (event.type !== "content_block_delta") continue;
      const block = blocks[event.index] as Record<string, unknown>;
      const { type: _, ...delta } = event.delta;
      for (const [name, value] of Object.entries(delta)) block[name] = `${block[name] ?? ""}${value}`;
    }
    return blocks.map(({ partial_json: _, ...block }) => block);
  }

  const assistantOf = (content: readonly object[], origin: string | null) =>
    fromMessagesRequest(read({ messages: [user(text("Q")), { role: "assistant", content }] }), { origin }).request
      .messages[1];

  test("parts of the provider's own tools, streamed before the text", () => {
    const blocks = blocksOf([chunk({ extra_content: extra }), chunk({ content: "Found." }), chunk({}, "stop")], null);
    expect(blocks.map(({ type }) => type)).toEqual(["redacted_thinking", "text"]);
    expect(assistantOf(blocks, null)).toMatchObject({ content: "Found.", extra_content: extra });
  });

  test("in whole answers, together with the signature of the text", () => {
    const { content } = toMessagesAnswer(completion({ content: "Found.", extra_content: signature }));
    expect(content.at(-1)).toMatchObject({ type: "text", text: "Found." });
    expect(assistantOf(content, null)).toMatchObject({ content: "Found.", extra_content: signature });
  });

  test("a stream that ends with text has the text as its last block", () => {
    const blocks = blocksOf(
      [chunk({ content: "Found." }), chunk({ extra_content: signature }), chunk({}, "stop")],
      null,
    );
    expect(blocks.map(({ type }) => type)).toEqual(["text"]);
  });

  const detail = { type: "reasoning.encrypted", data: "b3JpZ2lu", id: "rs_1", format: "some-v1", index: 0 };
  const called = { index: 0, id: "c1", type: "function", function: { name: "f", arguments: "{}" } };

  test.each([
    ["before the call", [chunk({ reasoning_details: [detail] }), chunk({ tool_calls: [called] })]],
    [
      "with text of the reasoning",
      [chunk({ reasoning: "Hm", reasoning_details: [detail] }), chunk({ tool_calls: [called] })],
    ],
    ["behind the call", [chunk({ tool_calls: [called] }), chunk({ reasoning_details: [detail] })]],
  ])("details of a provider of the chat format, told %s, return to it alone", (_title, chunks) => {
    const blocks = blocksOf([...chunks, chunk({}, "tool_calls")], "some-provider");
    expect(assistantOf(blocks, "some-provider")).toMatchObject({ reasoning_details: [detail] });
    for (const other of ["other-provider", null])
      expect(JSON.stringify(assistantOf(blocks, other))).not.toContain("b3JpZ2lu");
  });

  test("extra_content of a call of a provider of the chat format returns to it alone", () => {
    const chunks = [chunk({ tool_calls: [{ ...called, extra_content: signature }] }), chunk({}, "tool_calls")];
    const blocks = blocksOf(chunks, "some-provider");
    const calls = [{ id: "c1", extra_content: signature }];
    expect(assistantOf(blocks, "some-provider")).toMatchObject({ tool_calls: calls });
    expect(JSON.stringify(assistantOf(blocks, "other-provider"))).not.toContain("thought_signature");
  });

  test("a summary that comes in pieces is one detail again", () => {
    const piece = (summary: string) => chunk({ reasoning_details: [{ type: "reasoning.summary", summary, index: 0 }] });
    const blocks = blocksOf(
      [piece("It "), piece("fits."), chunk({ content: "Yes" }), chunk({}, "stop")],
      "some-provider",
    );
    expect(blocks[0]).toMatchObject({ type: "thinking", thinking: "It fits." });
    expect(assistantOf(blocks, "some-provider")).toMatchObject({
      reasoning_content: "It fits.",
      reasoning_details: [{ type: "reasoning.summary", summary: "It fits.", index: 0 }],
    });
  });
});
