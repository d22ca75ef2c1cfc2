// The Messages format in front of providers that do not speak it: pure functions, no sockets. All requests and chunks here
// are invented after the public documentation of both formats.

import { describe, expect, test } from "bun:test";
import type { ChatChunk, ChatCompletion, ChatDelta, ChatMessage } from "../../src/contract/chat-format.ts";
import { createCountTokensRequest, createMessagesRequest, type MessagesRequest } from "../../src/contract/messages.ts";
import { parse } from "../../src/contract/problems.ts";
import { type Problem, ValidationError } from "../../src/errors.ts";
import { countTokens, estimateTextTokens } from "../../src/inference/messages/count-tokens.ts";
import { fromMessagesRequest } from "../../src/inference/messages/from-messages-request.ts";
import { toMessagesError, toMessagesErrorEvent } from "../../src/inference/messages/messages-error.ts";
import { MessagesStreamWriter } from "../../src/inference/messages/messages-stream.ts";
import { toMessagesAnswer, toMessagesUsage } from "../../src/inference/messages/to-messages-answer.ts";
import { toPlainChatRequest } from "../../src/inference/messages/to-plain-chat-request.ts";

const schema = createMessagesRequest(new Set());
const least = { model: "somewhere/some-model", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };

function read(members: object): MessagesRequest {
  return parse(schema, { ...least, ...members });
}

function translate(members: object) {
  return fromMessagesRequest(read(members));
}

function translateTurns(...messages: readonly object[]): readonly ChatMessage[] {
  return translate({ messages }).request.messages;
}

function problemsOf(run: () => unknown): readonly Problem[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ValidationError) return error.problems;
    throw error;
  }
  throw new Error("nothing was refused");
}

const user = (...content: readonly object[]) => ({ role: "user", content });
const assistant = (...content: readonly object[]) => ({ role: "assistant", content });
const text = (value: string) => ({ type: "text", text: value });
const marked = (value: string) => ({ ...text(value), cache_control: { type: "ephemeral", ttl: "1h" } });
const call = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "look_up", input });
const result = (id: string, content: unknown, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});
const pixel = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
const tool = { name: "look_up", description: "Looks up", input_schema: { type: "object", properties: {} } };

describe("a request is checked before anything is called", () => {
  test.each<[string, object, readonly (string | number)[], string]>([
    ["max_tokens is required", { max_tokens: undefined }, ["max_tokens"], "missing"],
    ["max_tokens is at least 1", { max_tokens: 0 }, ["max_tokens"], "greater_than_equal"],
    ["there is a message", { messages: [] }, ["messages"], "too_short"],
    ["roles are known", { messages: [{ role: "tool", content: "x" }] }, ["messages", 0, "role"], "literal_error"],
    [
      "a text block has its text",
      { messages: [user({ type: "text" })] },
      ["messages", 0, "content", 0, "text"],
      "missing",
    ],
    ["a block has a type", { messages: [user({ text: "x" })] }, ["messages", 0, "content", 0, "type"], "missing"],
    [
      "a picture's address is public",
      { messages: [user({ type: "image", source: { type: "url", url: "https://127.0.0.1/x.png" } })] },
      ["messages", 0, "content", 0, "source", "url"],
      "url_not_allowed",
    ],
    [
      "a picture's data is base64",
      { messages: [user({ type: "image", source: { type: "base64", media_type: "image/png", data: "<svg>" } })] },
      ["messages", 0, "content", 0, "source", "data"],
      "value_error",
    ],
    ["a tool has a schema", { tools: [{ name: "x" }] }, ["tools", 0, "input_schema"], "missing"],
    ["temperature ends at 1", { temperature: 1.5 }, ["temperature"], "less_than_equal"],
    ["a choice of tools is a known one", { tool_choice: { type: "some" } }, ["tool_choice", "type"], "literal_error"],
    [
      "a thinking budget has a floor",
      { thinking: { type: "enabled", budget_tokens: 10 } },
      ["thinking", "budget_tokens"],
      "greater_than_equal",
    ],
    ["our own members are checked", { fallbacks: ["no-slash"] }, ["fallbacks", 0], "string_pattern_mismatch"],
  ])("%s", (_, members, path, type) => {
    const problems = problemsOf(() => read(members));
    expect(problems.map((problem) => [problem.loc, problem.type])).toEqual([[["body", ...path], type]]);
  });

  test("what is not known passes, and is kept", () => {
    const members = {
      messages: [user({ type: "hologram", depth: 3 }), assistant(text("seen"))],
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 2 }],
      thinking: { type: "between_tools" },
      someday: true,
    };
    expect(read(members)).toEqual({ ...least, ...members } as unknown as MessagesRequest);
  });

  test("tokens are counted without a limit for the answer", () => {
    const { max_tokens: _, ...prompt } = least;
    expect(parse(createCountTokensRequest(new Set()), prompt)).toEqual(prompt as never);
  });
});

describe("a request becomes a chat request", () => {
  test("the plain members have their places", () => {
    const { request, dropped } = translate({
      system: "Be brief.",
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      stop_sequences: ["END"],
      metadata: { user_id: "someone" },
      service_tier: "standard_only",
      session_id: "not for the provider",
      stream: true,
    });
    expect(request).toEqual({
      model: "somewhere/some-model",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      max_tokens: 100,
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      stop: ["END"],
      user: "someone",
      service_tier: "default",
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(dropped).toEqual([]);
  });

  test("an identifier that is too long for the chat format stays one and the same", () => {
    const userId = "u".repeat(200);
    const [first, second] = [1, 2].map(() => translate({ metadata: { user_id: userId } }).request.user);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first as string);
  });

  test("cache marks stay on system, text, tools and results", () => {
    const { request } = translate({
      system: [marked("Rules"), text("More")],
      messages: [
        user(marked("Q")),
        assistant(marked("A"), call("c1")),
        user(result("c1", "found", { cache_control: { type: "ephemeral" } })),
      ],
      tools: [{ ...tool, cache_control: { type: "ephemeral" } }],
      cache_control: { type: "ephemeral" },
    });
    const mark = { type: "ephemeral", ttl: "1h" };
    expect(request.messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "Rules", cache_control: mark },
          { type: "text", text: "More" },
        ],
      },
      { role: "user", content: [{ type: "text", text: "Q", cache_control: mark }] },
      {
        role: "assistant",
        content: [{ type: "text", text: "A", cache_control: mark }],
        tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: "{}" } }],
      },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [{ type: "text", text: "found", cache_control: { type: "ephemeral" } }],
      },
    ]);
    expect(request.tools?.[0]?.cache_control).toEqual({ type: "ephemeral" });
    expect(request["cache_control"]).toEqual({ type: "ephemeral" });
  });

  test("pictures and documents of every source become parts", () => {
    const document = (source: object, more: object = {}) => ({ type: "document", source, ...more });
    const [message] = translateTurns(
      user(
        pixel,
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        document({ type: "base64", media_type: "application/pdf", data: "JVBERi0=" }, { title: "Report" }),
        document({ type: "url", url: "https://example.com/a.pdf" }, { context: "old" }),
        document({ type: "text", media_type: "text/plain", data: "Words" }, { title: "Note" }),
        document({ type: "content", content: [text("Before"), pixel] }),
        document({ type: "file", file_id: "f1" }),
        { type: "search_result", source: "https://example.com", title: "T", content: [text("one"), text("two")] },
      ),
    );
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } } as const;
    expect(message?.content).toEqual([
      image,
      { type: "image_url", image_url: { url: "https://example.com/a.png" } },
      { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "Report" } },
      { type: "text", text: "About the document that follows: old" },
      { type: "file", file: { file_data: "https://example.com/a.pdf", filename: "document.pdf" } },
      { type: "text", text: "<document>\n<title>Note</title>\nWords\n</document>" },
      { type: "text", text: "<document>" },
      { type: "text", text: "Before" },
      image,
      { type: "text", text: "</document>" },
      { type: "file", file: { file_id: "f1" } },
      {
        type: "text",
        text: "<search_result>\n<title>T</title>\n<source>https://example.com</source>\none\n\ntwo\n</search_result>",
      },
    ]);
  });

  test("results directly follow the calls, whatever order the caller wrote them in", () => {
    const messages = translateTurns(
      user(text("Go")),
      assistant(text("First this."), call("c1", { q: "a" }), call("c2")),
      user(text("By the way"), result("c1", [text("one"), pixel])),
      user(result("c2", "two")),
      assistant(text("Done")),
    );
    expect(messages.map((message) => message.role)).toEqual([
      ...["user", "assistant", "tool", "tool", "user", "user", "assistant"],
    ] as ChatMessage["role"][]);
    expect(messages.slice(2, 6)).toEqual([
      {
        role: "tool",
        tool_call_id: "c1",
        content: "one\n\n(The image of this result follows after the tool results.)",
      },
      { role: "tool", tool_call_id: "c2", content: "two" },
      {
        role: "user",
        content: [
          { type: "text", text: "The image of the result of tool call c1:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
        ],
      },
      { role: "user", content: "By the way" },
    ]);
  });

  test("a failed call says that it failed", () => {
    const messages = translateTurns(
      assistant(call("c1"), call("c2")),
      user(result("c1", "no such file", { is_error: true }), result("c2", null, { is_error: true })),
    );
    expect(messages.slice(1).map((message) => message.content)).toEqual([
      "The tool call failed:\nno such file",
      "The tool call failed without a message.",
    ]);
  });

  test("thoughts come back with their signatures", () => {
    const [message] = translateTurns(
      assistant(
        { type: "thinking", thinking: "Hm.", signature: "s1" },
        { type: "redacted_thinking", data: "d1" },
        { type: "thinking", thinking: "Unsigned.", signature: "" },
        text("Yes"),
      ),
    );
    expect(message).toEqual({
      role: "assistant",
      content: "Yes",
      reasoning_content: "Hm.\n\nUnsigned.",
      reasoning_details: [
        { type: "reasoning.text", text: "Hm.", signature: "s1" },
        { type: "reasoning.encrypted", data: "d1" },
        { type: "reasoning.text", text: "Unsigned." },
      ],
    });
  });

  test("an answer that was cut by its citations is one text; one with a call between is two paragraphs", () => {
    const [joined, , apart] = translateTurns(
      assistant(text("Paris "), text("is old.")),
      user(text("And?")),
      assistant(text("Let me look."), call("c1"), text("Here.")),
    );
    expect(joined?.content).toBe("Paris is old.");
    expect(apart?.content).toBe("Let me look.\n\nHere.");
  });

  test("what another provider ran on its own servers is passed by, and named", () => {
    const { request, dropped } = translate({
      messages: [
        user(text("Search")),
        assistant(
          { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
          { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
          text("Found."),
        ),
      ],
    });
    expect(request.messages[1]).toEqual({ role: "assistant", content: "Found." });
    expect(dropped).toEqual(["messages.server_tool_use", "messages.web_search_tool_result"]);
  });

  test("an instruction between the turns stays where it stands", () => {
    const messages = translateTurns(
      user(text("Hi")),
      { role: "system", content: "Now in French" },
      assistant(text("Oui")),
    );
    expect(messages[1]).toEqual({ role: "system", content: "Now in French" });
  });

  test.each<[string, object, object]>([
    ["auto", { type: "auto" }, { tool_choice: "auto" }],
    ["any", { type: "any" }, { tool_choice: "required" }],
    ["none", { type: "none" }, { tool_choice: "none" }],
    [
      "one tool",
      { type: "tool", name: "look_up" },
      { tool_choice: { type: "function", function: { name: "look_up" } } },
    ],
    [
      "one at a time",
      { type: "auto", disable_parallel_tool_use: true },
      { tool_choice: "auto", parallel_tool_calls: false },
    ],
  ])("the choice of tools: %s", (_, choice, members) => {
    const { request } = translate({ tools: [{ ...tool, strict: true }], tool_choice: choice });
    expect(request).toMatchObject({
      tools: [
        {
          type: "function",
          function: { name: "look_up", description: "Looks up", parameters: tool.input_schema, strict: true },
        },
      ],
      ...members,
    });
  });

  test("a web search is switched on by its options", () => {
    const { request, dropped } = translate({
      tools: [
        {
          type: "web_search_20250305",
          name: "web_search",
          max_uses: 3,
          user_location: { type: "approximate", city: "Bern", country: "CH" },
        },
      ],
    });
    expect(request["web_search_options"]).toEqual({
      user_location: { type: "approximate", approximate: { city: "Bern", country: "CH" } },
    });
    expect(request.tools).toBeUndefined();
    expect(dropped).toEqual(["tools.max_uses"]);
  });

  test.each<[string, object, string | undefined]>([
    ["a small budget", { thinking: { type: "enabled", budget_tokens: 1024 } }, "low"],
    ["a middle budget", { thinking: { type: "enabled", budget_tokens: 8192 } }, "medium"],
    ["a large budget", { thinking: { type: "enabled", budget_tokens: 32_000 } }, "high"],
    ["as much as needed", { thinking: { type: "adaptive" } }, "high"],
    [
      "as much as needed, with little effort",
      { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
      "low",
    ],
    ["none", { thinking: { type: "disabled" }, output_config: { effort: "max" } }, "none"],
    ["nothing said", {}, undefined],
    ["effort alone", { output_config: { effort: "xhigh" } }, "xhigh"],
  ])("thinking, %s", (_, members, effort) => {
    const { request } = translate(members);
    expect(request.reasoning_effort).toBe(effort);
    expect(request["thinking"]).toEqual((members as { thinking?: unknown }).thinking);
  });

  test("a schema for the answer is enforced where it can be", () => {
    const closed = {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    };
    const open = { ...closed, properties: { ...closed.properties, age: { type: "integer" } } };
    const format = (members: object) => translate(members).request.response_format;
    expect(format({ output_config: { format: { type: "json_schema", schema: closed } } })).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: closed, strict: true },
    });
    expect(format({ output_format: { type: "json_schema", schema: open } })).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: open },
    });
  });

  test("what would be missed is refused, all at once and by name", () => {
    const problems = problemsOf(() =>
      translate({
        messages: [user({ type: "container_upload", file_id: "f" }), assistant(result("c", "x"))],
        tools: [
          tool,
          { type: "code_execution_20250825", name: "code_execution" },
          { type: "web_search_20250305", name: "web_search", allowed_domains: ["example.com"] },
        ],
        tool_choice: { type: "tool", name: "other" },
        container: "c1",
        mcp_servers: [{ type: "url", url: "https://example.com" }],
        context_management: { edits: [{ type: "compact_20260112" }] },
        inference_geo: "us",
        output_config: { format: { type: "yaml" } },
      }),
    );
    const paths = problems.map((problem) => problem.loc.slice(1).join(".")).sort();
    expect(paths).toEqual(
      [
        "container",
        "context_management.edits.0.type",
        "inference_geo",
        "mcp_servers",
        "messages.0.content.0",
        "messages.1.content.0",
        "output_config.format",
        "tool_choice.name",
        "tools.1.type",
        "tools.2.allowed_domains",
      ].sort(),
    );
    expect(problems.find((problem) => problem.loc[1] === "tools")?.msg).toContain("code_execution_20250825");
  });

  test("what only saves tokens, or is not known, is left out and named", () => {
    const { dropped } = translate({
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      mcp_servers: [],
      container: null,
      speed: "fast",
      tools: [{ ...tool, input_examples: [{}] }],
    });
    expect([...dropped].sort()).toEqual(["context_management", "speed", "tools.input_examples"]);
  });

  test("providers that know the bare chat format get it bare", () => {
    const translated = translate({
      system: [marked("One"), text("Two")],
      messages: [
        user(pixel, marked("Q")),
        assistant({ type: "thinking", thinking: "Hm", signature: "s" }, marked("A"), text("B")),
      ],
      tools: [{ ...tool, cache_control: { type: "ephemeral" } }],
      thinking: { type: "enabled", budget_tokens: 9000 },
      top_k: 5,
    });
    const { request, dropped } = toPlainChatRequest(translated, {});
    expect(JSON.stringify(request)).not.toMatch(/cache_control|reasoning_content|reasoning_details|"thinking"|top_k/);
    expect(request.messages[0]?.content).toBe("One\n\nTwo");
    expect(request.messages[2]?.content).toBe("AB");
    expect(request.reasoning_effort).toBe("medium");
    expect(dropped).toEqual(["top_k"]);
    for (const reasoningReturn of ["reasoning_content", "reasoning_details"] as const) {
      const returned = toPlainChatRequest(translated, { reasoningReturn }).request.messages[2];
      expect(returned).toHaveProperty(reasoningReturn);
      expect(Object.keys(returned ?? {}).filter((name) => name.startsWith("reasoning"))).toEqual([reasoningReturn]);
    }
  });
});

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

interface Event {
  readonly type: string;
  readonly index?: number;
  readonly content_block?: Record<string, unknown>;
  readonly delta?: Record<string, unknown>;
  readonly message?: Record<string, unknown>;
  readonly usage?: Record<string, unknown>;
}

function readFrames(frames: readonly string[]): Event[] {
  return frames.map((frame) => {
    const match = /^event: (\w+)\ndata: (.*)\n\n$/.exec(frame);
    const event = JSON.parse(match?.[2] ?? "null") as Event;
    expect(event.type).toBe(match?.[1] as string);
    return event;
  });
}

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

function stream(...chunks: readonly ChatChunk[]): Event[] {
  const writer = new MessagesStreamWriter({ model: "asked-for" });
  const frames = chunks.flatMap((each) => writer.write(each));
  return readFrames([...frames, ...writer.end({ cost: 0.25 })]);
}

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
    const events = readFrames(writer.end({ cost: null }));
    expect(accumulate(events)).toEqual([]);
    expect(events[0]?.message?.["model"]).toBe("asked-for");
    expect(writer.end({ cost: null })).toEqual([]);
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

describe("tokens are estimated", () => {
  const count = (members: object) => countTokens(read(members)).input_tokens;

  test("never as none, and said to be an estimate", () => {
    expect(countTokens(read({ messages: [{ role: "user", content: "" }] }))).toEqual({
      input_tokens: expect.any(Number) as number,
      estimated: true,
    });
    expect(count({ messages: [{ role: "user", content: "" }] })).toBeGreaterThan(0);
  });

  // Counted with the public o200k tokenizer.
  test.each([
    [
      "English",
      "The gateway stands between many callers and many providers, and speaks the language of each of them.",
      19,
    ],
    ["German", "Zwischen vielen Anrufern und vielen Anbietern steht das Tor und spricht die Sprache eines jeden.", 20],
    ["Russian", "Между многими клиентами и многими поставщиками стоит шлюз и говорит на языке каждого из них.", 24],
    ["Chinese", "网关位于许多调用者和许多提供者之间，并使用他们各自的语言。", 22],
    ["Japanese", "ゲートウェイは多くの呼び出し元と多くの提供者の間に立ち、それぞれの言語を話します。", 34],
    ["JSON", '{"name":"look_up","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}', 21],
    ["code", "for (const part of parts) {\n  if (part.type === 'text') total += part.text.length;\n}\n", 24],
  ])("%s within a quarter", (_, written, real) => {
    expect(estimateTextTokens(written) / real).toBeGreaterThan(0.75);
    expect(estimateTextTokens(written) / real).toBeLessThan(1.25);
  });

  test("everything that the model reads counts", () => {
    const plain = count({});
    const long = "many words ".repeat(50);
    for (const members of [
      { system: long },
      { system: [text(long)] },
      { messages: [user(text(long))] },
      { messages: [user(result("c", [text(long)]))] },
      { messages: [assistant(call("c", { query: long }))] },
      { messages: [assistant({ type: "thinking", thinking: long, signature: "" })] },
      { messages: [user({ type: "document", source: { type: "text", media_type: "text/plain", data: long } })] },
      { tools: [{ ...tool, description: long }] },
      { output_config: { format: { type: "json_schema", schema: { description: long } } } },
    ])
      expect(count(members)).toBeGreaterThan(plain + 50);
  });

  test("pictures by their size, as far as a header can be read", () => {
    const png = (width: number, height: number) => {
      const bytes = Buffer.alloc(32);
      bytes.writeUInt32BE(0x89504e47, 0);
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      return bytes.toString("base64");
    };
    const picture = (data: string) =>
      count({ messages: [user({ type: "image", source: { type: "base64", media_type: "image/png", data } })] });
    const empty = count({ messages: [user()] });
    expect(picture(png(750, 100)) - empty).toBe(100);
    expect(picture(png(8000, 8000)) - empty).toBe(1600);
    expect(picture("AAAA") - empty).toBe(1600);
  });

  test("a PDF by its pages", () => {
    const pdf = Buffer.from("%PDF-1.4 /Type /Pages /Type /Page /Type/Page ").toString("base64");
    const source = { type: "base64", media_type: "application/pdf", data: pdf };
    expect(count({ messages: [user({ type: "document", source })] })).toBeGreaterThan(4000);
  });
});

/** A small generator of numbers from 0 to 1, the same ones for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

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
    const frames = [...chunks.flatMap((one) => writer.write(one)), ...writer.end({ cost: null })];
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
