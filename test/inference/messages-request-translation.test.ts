// Requests of the Messages format: how they are checked, become chat requests, and are counted.

import { describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../src/contract/chat-format.ts";
import { createCountTokensRequest, type MessagesRequest } from "../../src/contract/messages.ts";
import { parse } from "../../src/contract/problems.ts";
import { countTokens, estimateTextTokens } from "../../src/inference/messages/count-tokens.ts";
import { toPlainChatRequest } from "../../src/inference/messages/to-plain-chat-request.ts";
import {
  assistant,
  call,
  least,
  read,
  text,
  translate,
  translateTurns,
  user,
} from "../support/messages-translation.ts";
import { problemsOf } from "../support/thrown.ts";

const marked = (value: string) => ({ ...text(value), cache_control: { type: "ephemeral", ttl: "1h" } });

const result = (id: string, content: unknown, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});

const pixel = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

const search = { type: "web_search_20250305", name: "web_search" };

const tool = { name: "look_up", description: "Looks up", input_schema: { type: "object", properties: {} } };

describe("a request is checked before anything is called", () => {
  test.each<[string, object, readonly (string | number)[], string]>([
    ["max_tokens is required", { max_tokens: undefined }, ["max_tokens"], "missing"],
    ["max_tokens is not negative", { max_tokens: -1 }, ["max_tokens"], "greater_than_equal"],
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

  test.each<[string, object, object]>([
    ["none", { type: "none" }, { search: false, tool_choice: "none", tools: 1 }],
    ["auto", { type: "auto" }, { search: true, tool_choice: "auto", tools: 1 }],
    ["any", { type: "any" }, { search: true, tool_choice: "required", tools: 1 }],
    [
      "another tool",
      { type: "tool", name: "look_up" },
      { search: false, tool_choice: { type: "function", function: { name: "look_up" } }, tools: 1 },
    ],
    // A search cannot be forced. The other tools are left out, so that the model calls none of them instead.
    ["the search", { type: "tool", name: "web_search" }, { search: true, tools: 0, dropped: ["tool_choice"] }],
  ])("a web search beside a tool follows the choice: %s", (_, choice, expected) => {
    const { request, dropped } = translate({ tools: [search, tool], tool_choice: choice });
    const { tools, tool_choice } = request;
    const { web_search_options } = request as { web_search_options?: unknown };
    expect({ search: web_search_options !== undefined, tool_choice, tools: tools?.length ?? 0, dropped }).toEqual({
      ...{ tool_choice: undefined, dropped: [] },
      ...expected,
    } as never);
  });

  test.each<[string, object, object]>([
    ["none", { type: "none" }, { search: false, dropped: [] }],
    ["auto", { type: "auto" }, { search: true, dropped: [] }],
    ["any", { type: "any" }, { search: true, dropped: ["tool_choice"] }],
    ["the search", { type: "tool", name: "web_search" }, { search: true, dropped: ["tool_choice"] }],
  ])("a web search alone follows the choice: %s", (_, choice, expected) => {
    const { request, dropped } = translate({ tools: [search], tool_choice: choice });
    expect(request).not.toContainAnyKeys(["tools", "tool_choice"]);
    expect({ search: "web_search_options" in request, dropped: [...dropped] }).toEqual(expected as never);
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
    // One open alternative is enough.
    const either = { type: "json_schema", schema: { anyOf: [closed, open] } };
    expect(format({ output_format: either })).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: either.schema },
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
    const counted = count({ messages: [user({ type: "document", source })] });
    // The documentation of the format: about 7,000 tokens for three pages.
    expect(counted).toBeGreaterThan(4_000);
    expect(counted).toBeLessThan(5_500);
  });
});
