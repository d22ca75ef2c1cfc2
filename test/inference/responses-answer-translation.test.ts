// Chat completions become responses, and a later turn returns to the provider what it needs.

import { describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../src/contract/chat-format.ts";
import { parse } from "../../src/contract/problems.ts";
import { responseObject } from "../../src/contract/responses.ts";
import { readEncryptedContent, toEncryptedContent } from "../../src/inference/reasoning-state.ts";
import { completeEvent, completeResponse } from "../../src/inference/responses/response-defaults.ts";
import { ResponsesStreamWriter } from "../../src/inference/responses/responses-stream.ts";
import { type OutputItem, toResponse, toResponseUsage } from "../../src/inference/responses/to-response.ts";
import {
  begun,
  chatCall,
  chunk,
  complete,
  createDraftOf,
  finish,
  hidden,
  outputOf,
  piece,
  pixel,
  result,
  signed,
  stream,
  tool,
  translate,
  usage,
  user,
} from "../support/responses-translation.ts";

describe("a completion becomes a response", () => {
  test("a call is never named as another one of the conversation, whatever the provider calls it", () => {
    const tool_calls = [{ id: "call_0", type: "function" as const, function: { name: "look_up", arguments: "{}" } }];
    const idsOf = (output: readonly OutputItem[]) => output.map((item) => ("call_id" in item ? item.call_id : null));
    expect(idsOf(toResponse(createDraftOf(), complete({ tool_calls })).output)).toEqual(["call_0"]);
    const [other] = idsOf(toResponse(createDraftOf(), complete({ tool_calls }), { takenCallIds: ["call_0"] }).output);
    expect(other).toMatch(/^call_[0-9a-f]{32}$/);
    const writer = new ResponsesStreamWriter(createDraftOf(), { takenCallIds: ["call_0"] });
    writer.write(chunk(begun(0, "call_0", "{}")));
    writer.end({});
    expect(idsOf(writer.response.output)[0]).toMatch(/^call_[0-9a-f]{32}$/);
  });

  test("with all members, what was asked for and the defaults for the rest", () => {
    const draft = createDraftOf({
      instructions: "Be brief.",
      metadata: { a: "b" },
      tools: [tool],
      temperature: 0,
      user: "u",
    });
    const response = toResponse(draft, complete({ content: "Hi" }, { usage }));
    expect(response).toEqual({
      id: "resp_1",
      object: "response",
      created_at: 1_700_000_000,
      completed_at: expect.any(Number),
      status: "completed",
      incomplete_details: null,
      model: "vendor-model-2",
      previous_response_id: null,
      instructions: "Be brief.",
      output: [
        {
          // It tells which response it stands in, and where.
          id: "msg_100",
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
      ],
      error: null,
      tools: [{ type: "function", name: "look_up", description: null, parameters: tool.parameters, strict: false }],
      tool_choice: "auto",
      truncation: "disabled",
      parallel_tool_calls: true,
      text: { format: { type: "text" } },
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      temperature: 0,
      reasoning: { effort: null, summary: null },
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 15,
      },
      max_output_tokens: null,
      max_tool_calls: null,
      store: false,
      background: false,
      service_tier: "default",
      metadata: { a: "b" },
      safety_identifier: null,
      prompt_cache_key: null,
      user: "u",
      provider: "mock",
      cost: null,
      provider_time: null,
    });
    expect(() => parse(responseObject, response)).not.toThrow();
  });

  test("thoughts, words and calls in this order", () => {
    const message = { content: "I look.", reasoning_content: "Hm.", tool_calls: [chatCall("a"), chatCall("b")] };
    const { output } = toResponse(createDraftOf(), complete(message, {}, { finish_reason: "tool_calls" }));
    expect(output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: expect.any(String) },
      { type: "message", content: [{ text: "I look." }] },
      { type: "function_call", call_id: "a", name: "look_up", arguments: '{"x":1}', status: "completed" },
      { type: "function_call", call_id: "b" },
    ]);
    expect(output.map(({ id }) => id.split("_")[0])).toEqual(["rs", "msg", "fc", "fc"]);
  });

  test("calls of the same id, or of none, can be told apart", () => {
    const calls = [chatCall("a"), chatCall("a"), chatCall(""), { function: { name: "x", arguments: "" } }];
    const { output } = toResponse(createDraftOf(), complete({ tool_calls: calls }));
    const ids = output.map((item) => (item as { call_id?: string }).call_id);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe("a");
  });

  test.each<[string, string, object]>([
    ["length", "max_output_tokens", { content: "Hal" }],
    ["content_filter", "content_filter", { content: "Hal" }],
    ["length", "max_output_tokens", { tool_calls: [chatCall("a")] }],
  ])("%s leaves it incomplete", (finish_reason, reason, message) => {
    const response = toResponse(createDraftOf(), complete(message, {}, { finish_reason }));
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason },
      completed_at: null,
      output: [{ status: "incomplete" }],
    });
  });

  test("a refusal is a part of its own", () => {
    const { output } = toResponse(createDraftOf(), complete({ refusal: "No." }));
    expect(output).toMatchObject([{ content: [{ type: "refusal", refusal: "No." }] }]);
  });

  test("sources and log probabilities are told with the text", () => {
    const annotations = [{ type: "url_citation", url_citation: { url: "https://example.com/", start_index: 1 } }];
    const logprobs = {
      content: [{ token: "é", logprob: -0.5, bytes: null, top_logprobs: [{ token: "e", logprob: -1, bytes: [101] }] }],
    };
    const { output } = toResponse(createDraftOf(), complete({ content: "é", annotations }, {}, { logprobs }));
    expect(output).toMatchObject([
      {
        content: [
          {
            annotations: [
              { type: "url_citation", url: "https://example.com/", title: "", start_index: 1, end_index: 0 },
            ],
            logprobs: [
              {
                token: "é",
                logprob: -0.5,
                bytes: [0xc3, 0xa9],
                top_logprobs: [{ token: "e", logprob: -1, bytes: [101] }],
              },
            ],
          },
        ],
      },
    ]);
  });

  test("an answer of nothing has an empty text, and unknown usage is not zero", () => {
    expect(toResponse(createDraftOf(), complete({ content: "" }))).toMatchObject({
      output: [{ type: "message", content: [{ text: "" }] }],
      usage: null,
    });
  });

  test("a picture that the model made is an item", () => {
    const images = [{ type: "image_url", image_url: { url: pixel } }];
    expect(toResponse(createDraftOf(), complete({ content: "Here", images })).output[1]).toMatchObject({
      type: "image_generation_call",
      result: "iVBORw0KGgo=",
    });
  });

  test("usage is never negative, and its parts never exceed it", () => {
    const odd = {
      prompt_tokens: -3,
      completion_tokens: 2,
      total_tokens: 99,
      prompt_tokens_details: { cached_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 9 },
    };
    expect(toResponseUsage(odd)).toEqual({
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 11,
      output_tokens_details: { reasoning_tokens: 9 },
      total_tokens: 11,
    });
  });
});

describe("what a provider wants back comes back", () => {
  const extra = { google: { thought_signature: "c2lnbmF0dXJl" } };
  const withSignatures = { reasoning_content: "Hm.", reasoning_details: [signed, hidden], content: "I look." };

  function nextTurn(output: readonly OutputItem[]): readonly ChatMessage[] {
    const results = output.flatMap((item) => (item.type === "function_call" ? [result(item.call_id)] : []));
    // As a client does it: through JSON, and unread.
    return translate({ input: JSON.parse(JSON.stringify([user("Q"), ...output, ...results])) }).request.messages;
  }

  test("after a whole answer", () => {
    const message = { ...withSignatures, tool_calls: [chatCall("a", { extra_content: extra })], extra_content: extra };
    const [, assistant] = nextTurn(toResponse(createDraftOf(), complete(message)).output);
    expect(assistant as object).toEqual({
      role: "assistant",
      content: "I look.",
      reasoning_content: "Hm.",
      reasoning_details: [signed, hidden],
      tool_calls: [chatCall("a", { extra_content: extra })],
      extra_content: extra,
    });
  });

  test("after a stream, also when it comes late", () => {
    const events = stream([
      chunk({ reasoning_content: "Hm." }),
      chunk({ reasoning_details: [signed] }),
      chunk({ reasoning_details: [hidden] }),
      chunk({ content: "I look." }),
      chunk(begun(0, "a", '{"x":1}')),
      chunk(piece(0, "", { extra_content: extra })),
      chunk({ extra_content: extra }),
      finish("tool_calls"),
    ]);
    const [, assistant] = nextTurn(outputOf(events));
    expect(assistant as object).toMatchObject({
      content: "I look.",
      reasoning_content: "Hm.",
      reasoning_details: [signed, hidden],
      tool_calls: [{ id: "a", extra_content: extra }],
      extra_content: extra,
    });
  });

  test("a call's signature stands before the call, with or without thoughts", () => {
    const events = stream([chunk(begun(0, "a", "{}", { extra_content: extra })), finish("tool_calls")]);
    expect(outputOf(events).map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
    expect(nextTurn(outputOf(events))[1]).toMatchObject({ tool_calls: [{ id: "a", extra_content: extra }] });
  });

  test("what signs just the words follows them, so that the words come first", () => {
    const whole = toResponse(createDraftOf(), complete({ content: "Hi", extra_content: extra })).output;
    const streamed = outputOf(stream([chunk({ content: "Hi", extra_content: extra }), finish("stop")]));
    for (const output of [whole, streamed]) {
      expect(output.map(({ type }) => type)).toEqual(["message", "reasoning"]);
      expect(nextTurn(output)[1] as object).toEqual({ role: "assistant", content: "Hi", extra_content: extra });
    }
  });

  test("blocks that come in numbered pieces are whole again", () => {
    const events = stream([
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "H", index: 0 }] }),
      chunk({ reasoning_details: [{ type: "reasoning.text", text: "m.", index: 0, signature: "c2ln" }] }),
      chunk({ content: "A" }),
      finish("stop"),
    ]);
    expect(nextTurn(outputOf(events))[1]).toMatchObject({ reasoning_details: [{ ...signed, index: 0 }] });
  });

  test("what another provider has encrypted is named and left out", () => {
    const reasoning = { type: "reasoning", summary: [], encrypted_content: "gAAAAABo" };
    const { dropped, request } = translate({ input: [reasoning, { role: "assistant", content: "A" }] });
    expect(dropped).toEqual(["input.encrypted_content"]);
    expect(request.messages).toEqual([{ role: "assistant", content: "A" }]);
  });

  test.each<[string, string]>([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["too deep", `{"message":${"[".repeat(5_000)}${"]".repeat(5_000)}}`],
  ])("what is %s is nothing", (_title, text) => {
    expect(readEncryptedContent(`sy1.${Buffer.from(text).toString("base64url")}`)).toBeNull();
  });

  test("what is not of the right form is left out", () => {
    const held = { details: [{ type: "reasoning.text", text: 5 }, "x", signed], calls: [["a", 1]], message: "x" };
    const packed = `sy1.${Buffer.from(JSON.stringify(held)).toString("base64url")}`;
    expect(readEncryptedContent(packed)).toEqual({
      origin: null,
      details: [signed],
      calls: new Map(),
      message: null,
    });
  });

  test("details keep members that only their vendor knows, and nulls", () => {
    const details = [
      { type: "reasoning.text", text: "Hm", signature: null, id: null, format: "unknown", index: 0 },
      { type: "reasoning.summary", summary: "S", id: "rs_1", format: "openai-responses-v1", index: 1 },
    ] as unknown as Parameters<typeof toEncryptedContent>[0]["details"];
    const kept = { origin: "openrouter", details, calls: new Map(), message: null };
    expect(readEncryptedContent(toEncryptedContent(kept))).toEqual(kept);
  });

  test("it is packed and unpacked unchanged", () => {
    const kept = {
      origin: "openai",
      details: [signed, hidden],
      calls: new Map([["__proto__", extra]]),
      message: extra,
    };
    expect(readEncryptedContent(toEncryptedContent(kept))).toEqual(kept);
  });
});

describe("a provider's own response is completed", () => {
  test("with what it lacks, in the order of the resource, and nothing is overwritten", () => {
    const native = {
      id: "resp_native",
      object: "response",
      created_at: 5,
      status: "completed",
      model: "m",
      temperature: null,
      something_new: 1,
      output: [
        { id: "msg_1", type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] },
        { id: "ws_1", type: "web_search_call", status: "completed" },
      ],
      tools: [{ type: "function", name: "x", strict: true }],
      usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, output_tokens_details: { reasoning_tokens: 1 } },
    };
    const whole = completeResponse(native);
    expect(whole).toMatchObject({
      id: "resp_native",
      temperature: null,
      top_p: 1,
      something_new: 1,
      error: null,
      metadata: {},
      text: { format: { type: "text" } },
      output: [
        {
          id: "msg_1",
          status: "completed",
          content: [{ type: "output_text", text: "Hi", annotations: [], logprobs: [] }],
        },
        { id: "ws_1", type: "web_search_call", status: "completed" },
      ],
      tools: [{ type: "function", name: "x", description: null, parameters: null, strict: true }],
      usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 1 } },
    });
    expect(Object.keys(whole)).toEqual([...Object.keys(createDraftOf()), "something_new"]);
  });

  test("events have their lists", () => {
    const part = { type: "output_text", text: "" };
    expect(completeEvent({ type: "response.content_part.added", part })).toMatchObject({ part: { annotations: [] } });
    expect(completeEvent({ type: "response.output_text.delta", delta: "x" })).toMatchObject({ logprobs: [] });
    const other = { type: "response.web_search_call.searching" };
    expect(completeEvent(other)).toBe(other);
  });
});
