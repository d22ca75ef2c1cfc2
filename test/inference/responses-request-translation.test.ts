// Requests of the Responses format: how they are checked, and how they become chat requests.

import { describe, expect, test } from "bun:test";
import type { ChatMessage } from "../../src/contract/chat-format.ts";
import { parse } from "../../src/contract/problems.ts";
import { responseParams } from "../../src/contract/responses.ts";
import { fromResponsesRequest } from "../../src/inference/responses/from-responses-request.ts";
import { ResponsesStreamWriter } from "../../src/inference/responses/responses-stream.ts";
import { toResponse } from "../../src/inference/responses/to-response.ts";
import { toToolNames } from "../../src/inference/responses/tool-names.ts";
import {
  call,
  chunk,
  complete,
  createDraftOf,
  pixel,
  read,
  result,
  tool,
  translate,
  user,
} from "../support/responses-translation.ts";
import { problemsOf } from "../support/thrown.ts";

function translateItems(...input: readonly object[]): readonly ChatMessage[] {
  return translate({ input }).request.messages;
}

function placesOf(run: () => unknown): string[] {
  return problemsOf(run).map(({ loc, type }) => `${loc.join(".")}: ${type}`);
}

describe("a request is checked before anything is called", () => {
  test.each<[string, object, string]>([
    ["input is required", { input: undefined }, "body.input: missing"],
    ["input is no null", { input: null }, "body.input: string_type"],
    ["input is no object", { input: {} }, "body.input.str: string_type"],
    ["input is no number", { input: 5 }, "body.input.str: string_type"],
    ["a list of items is not empty", { input: [] }, "body.input: too_short"],
    ["an item has a type or a role", { input: [{}] }, "body.input.0: value_error"],
    ["an item is an object", { input: ["x"] }, "body.input.0: model_attributes_type"],
    ["roles are known", { input: [{ role: "tool", content: "x" }] }, "body.input.0.role: literal_error"],
    ["a message has content", { input: [{ role: "user" }] }, "body.input.0.content: missing"],
    ["a text part has text", { input: [user([{ type: "input_text" }])] }, "body.input.0.content.0.text: missing"],
    [
      "pictures are public",
      { input: [user([{ type: "input_image", image_url: "https://127.0.0.1/x.png" }])] },
      "body.input.0.content.0.image_url: url_not_allowed",
    ],
    [
      "files are public",
      { input: [user([{ type: "input_file", file_url: "https://10.0.0.1/x.pdf" }])] },
      "body.input.0.content.0.file_url: url_not_allowed",
    ],
    ["a call has its arguments", { input: [{ ...call("c"), arguments: 1 }] }, "body.input.0.arguments: string_type"],
    ["temperature is at most 2", { temperature: 2.01 }, "body.temperature: less_than_equal"],
    ["temperature is a number", { temperature: true }, "body.temperature: float_type"],
    ["a limit is an integer", { max_output_tokens: "100" }, "body.max_output_tokens: int_type"],
    ["a limit is no fraction", { max_output_tokens: 1.5 }, "body.max_output_tokens: int_from_float"],
    ["a limit has a limit", { max_output_tokens: 1e30 }, "body.max_output_tokens: less_than_equal"],
    ["truncation is known", { truncation: "yes" }, "body.truncation: literal_error"],
    ["tools are a list", { tools: {} }, "body.tools: list_type"],
    ["a function has a name", { tools: [{ type: "function" }] }, "body.tools.0.name: missing"],
    ["a choice of tools is a word or an object", { tool_choice: 3 }, "body.tool_choice: string_type"],
    ["a choice of tools is a known word", { tool_choice: "maybe" }, "body.tool_choice: literal_error"],
    ["metadata are pairs", { metadata: [] }, "body.metadata: dict_type"],
    ["user is a text", { user: {} }, "body.user: string_type"],
    ["an earlier id is a text", { previous_response_id: 5 }, "body.previous_response_id: string_type"],
    ["an earlier id is not empty", { previous_response_id: "" }, "body.previous_response_id: string_too_short"],
    [
      "an earlier id is no path",
      { previous_response_id: "../files" },
      "body.previous_response_id: string_pattern_mismatch",
    ],
    ["a schema has a name", { text: { format: { type: "json_schema" } } }, "body.text.format.name: missing"],
    ["fallbacks are model names", { fallbacks: ["x"] }, "body.fallbacks.0: string_pattern_mismatch"],
  ])("%s", (_title, members, expected) => {
    expect(placesOf(() => read(members))[0]).toBe(expected);
  });

  test("at most 16 pairs of metadata", () => {
    const pairs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
    expect(read({ metadata: pairs(16) }).metadata).toEqual(pairs(16));
    expect(placesOf(() => read({ metadata: pairs(17) }))).toEqual(["body.metadata: too_long"]);
  });

  test("all problems are reported at once", () => {
    expect(placesOf(() => read({ input: undefined, temperature: 9, store: 1 })).toSorted()).toEqual([
      "body.input: missing",
      "body.store: bool_type",
      "body.temperature: less_than_equal",
    ]);
  });

  test("an earlier response may replace the input", () => {
    expect(read({ input: undefined, previous_response_id: "resp_1" }).input).toBeUndefined();
  });

  test.each<[string, object]>([
    ["items", { input: [{ type: "something_new", anything: 1 }] }],
    ["parts", { input: [user([{ type: "something_new" }])] }],
    ["tools", { tools: [{ type: "something_new" }] }],
    ["members", { something_new: 1 }],
    ["nulls", { stream: null, tools: null, reasoning: null, text: null, metadata: null, tool_choice: null }],
  ])("%s that are not known are let pass", (_title, members) => {
    expect(read(members)).toMatchObject(members);
  });

  test.each<[string, string]>([
    [`resp_${"a".repeat(5_000)}`, "string_too_long"],
    ["chatcmpl-123", "string_pattern_mismatch"],
    ["resp_😀", "string_pattern_mismatch"],
    ["resp_", "string_pattern_mismatch"],
    ["..%2f..%2fadmin", "string_pattern_mismatch"],
    ["../../v1/files", "string_pattern_mismatch"],
    ["0f4a4f5e-3c43-4a39-9a5f-0a3a3b5a7d11", "string_pattern_mismatch"],
  ])("%.30s is no id of a response", (id, type) => {
    expect(placesOf(() => parse(responseParams, { response_id: id }, "path"))).toEqual([`path.response_id: ${type}`]);
  });
});

describe("items become messages", () => {
  test("a text is a user's message, behind the instructions", () => {
    expect(translate({ instructions: "Be brief." }).request.messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ]);
  });

  test("instructions and leading system and developer messages are one system message", () => {
    const input = [
      { role: "developer", content: "B" },
      { type: "message", role: "system", content: [{ type: "input_text", text: "C" }] },
      user("D"),
      { role: "developer", content: "E" },
    ];
    expect(translate({ instructions: "A", input }).request.messages).toEqual([
      { role: "system", content: "A\n\nB\n\nC" },
      { role: "user", content: "D" },
      { role: "system", content: "E" },
    ]);
  });

  test("texts, pictures, files and sound keep their order", () => {
    const content = [
      { type: "input_text", text: "Look:" },
      { type: "input_image", image_url: pixel, detail: "low" },
      { type: "input_file", file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" },
      { type: "input_file", file_url: "https://example.com/papers/b.pdf" },
      { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
    ];
    expect(translateItems(user(content))).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look:" },
          { type: "image_url", image_url: { url: pixel, detail: "low" } },
          { type: "file", file: { file_data: "data:application/pdf;base64,JVBERi0=", filename: "a.pdf" } },
          { type: "file", file: { file_data: "https://example.com/papers/b.pdf", filename: "b.pdf" } },
          { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
        ],
      },
    ]);
  });

  test("several texts are one string; a cache mark keeps them apart", () => {
    const first = { type: "input_text", text: "A" };
    const second = { type: "input_text", text: "B" };
    expect(translateItems(user([first, second]))[0]?.content).toBe("A\n\nB");
    const marked = { ...first, cache_control: { type: "ephemeral" } };
    expect(translateItems(user([marked, second]))[0]?.content).toEqual([
      { type: "text", text: "A", cache_control: { type: "ephemeral" } },
      { type: "text", text: "B" },
    ]);
  });

  test("reasoning, text and calls of one go are one message, and the results follow it", () => {
    const messages = translateItems(
      user("Q"),
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      call("a", '{"x":1}'),
      call("b"),
      result("a"),
      result("b", [{ type: "input_text", text: "two" }]),
      { role: "assistant", content: "Done." },
    );
    expect(messages).toEqual([
      { role: "user", content: "Q" },
      {
        role: "assistant",
        content: "I look.",
        reasoning_content: "Hm.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "look_up", arguments: '{"x":1}' } },
          { id: "b", type: "function", function: { name: "look_up", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "found" },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "assistant", content: "Done." },
    ]);
  });

  test("a result stands behind its call, wherever it was in the list", () => {
    const roles = translateItems(call("a"), call("b"), result("a"), user("By the way"), result("b")).map(
      (message) => `${message.role}:${"tool_call_id" in message ? message.tool_call_id : ""}`,
    );
    expect(roles).toEqual(["assistant:", "tool:a", "tool:b", "user:"]);
  });

  test("a picture in a result follows after all results", () => {
    const picture = [
      { type: "input_text", text: "a map" },
      { type: "input_image", image_url: pixel },
    ];
    const messages = translateItems(call("a"), call("b"), result("a", picture), result("b"), user("And?"));
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "tool", "user", "user"]);
    expect(messages[3]?.content).toContainEqual({ type: "image_url", image_url: { url: pixel } });
  });

  test("a result without its call is refused at its place", () => {
    expect(placesOf(() => translateItems(user("Q"), result("lost")))).toEqual(["body.input.1.call_id: value_error"]);
  });

  test("a call of a custom tool is a call with one text", () => {
    const custom = { type: "custom_tool_call", call_id: "c", name: "run", input: "ls" };
    const [message, answer] = translateItems(custom, { type: "custom_tool_call_output", call_id: "c", output: "a b" });
    expect(message).toMatchObject({ tool_calls: [{ function: { name: "run", arguments: '{"input":"ls"}' } }] });
    expect(answer).toEqual({ role: "tool", tool_call_id: "c", content: "a b" });
  });

  test("what the assistant refused with is what it said", () => {
    const refusal = { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] };
    expect(translateItems(user("Q"), refusal)[1]).toEqual({ role: "assistant", content: "No." });
  });

  test("reasoning that nothing came of is left out", () => {
    expect(translateItems(user("Q"), { type: "reasoning", summary: [] }, user("R")).map(({ role }) => role)).toEqual([
      "user",
      "user",
    ]);
  });

  test("a stored turn with tens of thousands of calls gets its results in their order", () => {
    const ids = Array.from({ length: 100_000 }, (_, index) => `call_${index}`);
    const calls = ids.map((call_id) => ({ type: "function_call", call_id, name: "look", arguments: "{}" }));
    const results = ids.map((call_id) => ({ type: "function_call_output", call_id, output: "x" }));
    const [asked, ...answers] = translate({ input: "More" }, [...calls, ...results]).request.messages;
    expect(asked).toMatchObject({ role: "assistant" });
    const order = answers.slice(0, -1).map((message) => (message as { tool_call_id?: string }).tool_call_id);
    expect(order).toEqual(ids);
    expect(answers.at(-1)).toEqual({ role: "user", content: "More" });
  });

  test("a conversation that was kept comes before the input", () => {
    const earlier = [user("Q"), { type: "message", role: "assistant", content: [{ type: "output_text", text: "A" }] }];
    expect(translate({ input: "More" }, earlier).request.messages).toEqual([
      { role: "user", content: "Q" },
      { role: "assistant", content: "A" },
      { role: "user", content: "More" },
    ]);
  });

  test.each<[string, object, string]>([
    ["a reference", { type: "item_reference", id: "msg_1" }, "body.input.0: unsupported_parameter"],
    ["an unknown item", { type: "computer_call" }, "body.input.0.type: unsupported_parameter"],
    ["an unknown part", user([{ type: "input_video" }]), "body.input.0.content.0.type: unsupported_parameter"],
    ["a picture of nothing", user([{ type: "input_image" }]), "body.input.0.content.0: value_error"],
  ])("%s is refused at its place", (_title, item, expected) => {
    expect(placesOf(() => translateItems(item))).toEqual([expected]);
  });

  test.each([
    "input_file",
    "input_image",
  ])("an %s that names a file keeps its id, which the provider may know", (type) => {
    const [message] = translateItems(user([{ type, file_id: "file-1" }]));
    expect(message?.content).toEqual([{ type: "file", file: { file_id: "file-1" } }]);
  });

  test("calls that another provider ran itself are passed by and named", () => {
    const { request, dropped } = translate({ input: [user("Q"), { type: "web_search_call", id: "ws_1" }, user("R")] });
    expect(request.messages).toHaveLength(2);
    expect(dropped).toEqual(["input.web_search_call"]);
  });
});

describe("parameters find their place", () => {
  test("those that both formats have", () => {
    const both = {
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      service_tier: "flex",
    };
    const { request, dropped } = translate({
      ...both,
      max_output_tokens: 100,
      text: { verbosity: "low" },
      reasoning: { effort: "high", summary: "auto" },
      metadata: { a: "b" },
      store: true,
      tags: { team: "x" },
    });
    expect(request).toEqual({
      model: "somewhere/some-model",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 100,
      ...both,
      verbosity: "low",
      reasoning_effort: "high",
    });
    expect(dropped).toEqual([]);
  });

  test("a stream brings usage", () => {
    expect(translate({ stream: true }).request).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(translate({ stream: false }).request).not.toHaveProperty("stream");
  });

  test("log probabilities are asked for in either way", () => {
    expect(translate({ include: ["message.output_text.logprobs"] }).request).toMatchObject({ logprobs: true });
    expect(translate({ top_logprobs: 3 }).request).toMatchObject({ logprobs: true, top_logprobs: 3 });
    expect(translate({ top_logprobs: 0 }).request).not.toHaveProperty("logprobs");
  });

  test("parameters that no provider supports are named as dropped", () => {
    const { dropped } = translate({
      truncation: "auto",
      max_tool_calls: 3,
      include: ["reasoning.encrypted_content", "web_search_call.action.sources"],
      prompt_cache_retention: "24h",
      reasoning: { effort: "low", mode: "pro" },
    });
    expect(dropped.toSorted()).toEqual([
      "include.web_search_call.action.sources",
      "max_tool_calls",
      "prompt_cache_retention",
      "reasoning.mode",
      "truncation",
    ]);
  });

  test.each([
    ["prompt", { id: "pmpt_1" }],
    ["conversation", "conv_1"],
  ])("%s needs a provider that keeps things", (member, value) => {
    expect(placesOf(() => translate({ [member]: value }))).toEqual([`body.${member}: unsupported_parameter`]);
  });

  test("functions keep what was said of them", () => {
    const tools = [
      { ...tool, description: "Looks up", strict: true },
      { type: "function", name: "bare" },
    ];
    expect(translate({ tools, parallel_tool_calls: false }).request).toMatchObject({
      tools: [
        {
          type: "function",
          function: { name: "look_up", description: "Looks up", parameters: tool.parameters, strict: true },
        },
        { type: "function", function: { name: "bare" } },
      ],
      parallel_tool_calls: false,
    });
  });

  test("without functions nothing is said of calls", () => {
    const { request } = translate({ tool_choice: "auto", parallel_tool_calls: true });
    expect(Object.keys(request)).toEqual(["model", "messages"]);
  });

  test.each<[string, unknown, unknown]>([
    ["none", "none", "none"],
    ["required", "required", "required"],
    ["a function", { type: "function", name: "look_up" }, { type: "function", function: { name: "look_up" } }],
    [
      "some functions",
      { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "look_up" }] },
      {
        type: "allowed_tools",
        allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "look_up" } }] },
      },
    ],
    ["nothing", { type: "allowed_tools", mode: "auto", tools: [] }, "none"],
  ])("the choice of %s", (_title, choice, expected) => {
    expect(translate({ tools: [tool], tool_choice: choice }).request.tool_choice).toEqual(expected as never);
  });

  test.each<[string, object, string]>([
    ["a tool of the vendor's own", { tools: [{ type: "computer_use" }] }, "body.tools.0.type: unsupported_parameter"],
    ["a tool with a grammar", { tools: [{ type: "custom", name: "x" }] }, "body.tools.0.type: unsupported_parameter"],
    [
      "an unknown function",
      { tools: [tool], tool_choice: { type: "function", name: "other" } },
      "body.tool_choice.name: value_error",
    ],
    ["a choice among nothing", { tool_choice: "required" }, "body.tool_choice: value_error"],
    [
      "a search that must happen",
      { tools: [{ type: "web_search" }], tool_choice: "required" },
      "body.tool_choice: unsupported_parameter",
    ],
    [
      "a tool that must be used",
      { tools: [tool], tool_choice: { type: "mcp" } },
      "body.tool_choice.type: unsupported_parameter",
    ],
    [
      "a search in some domains",
      { tools: [{ type: "web_search", filters: { allowed_domains: ["example.com"] } }] },
      "body.tools.0.filters.allowed_domains: unsupported_parameter",
    ],
    ["an unknown format", { text: { format: { type: "grammar" } } }, "body.text.format.type: unsupported_parameter"],
  ])("%s is refused", (_title, members, expected) => {
    expect(placesOf(() => translate(members))).toEqual([expected]);
  });

  test("a search is switched on by its options, and off by the choice", () => {
    const search = {
      type: "web_search_preview_2025_03_11",
      search_context_size: "low",
      user_location: { type: "approximate", country: "DE", city: "Berlin" },
    };
    expect(translate({ tools: [search] }).request["web_search_options"]).toEqual({
      search_context_size: "low",
      user_location: { type: "approximate", approximate: { country: "DE", city: "Berlin" } },
    });
    expect(translate({ tools: [search, tool], tool_choice: "none" }).request).not.toHaveProperty("web_search_options");
    // Alone: with `none`, a provider would switch the search off as well.
    const searchOnly = { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] };
    const { request } = translate({ tools: [search, tool], tool_choice: searchOnly });
    expect(request).toHaveProperty("web_search_options");
    expect(request).not.toContainAnyKeys(["tools", "tool_choice"]);
  });

  test("a search without network access is left out and named, because no translated provider has one", () => {
    const search = { type: "web_search", external_web_access: false };
    const { request, dropped } = translate({ tools: [tool, search] });
    expect(request).not.toHaveProperty("web_search_options");
    expect(request.tools).toHaveLength(1);
    expect(dropped).toEqual(["tools.web_search"]);
    expect(translate({ tools: [{ ...search, external_web_access: true }] }).request).toHaveProperty(
      "web_search_options",
    );
  });

  test("domains of a search pass to a provider whose search takes them", () => {
    const filters = { allowed_domains: ["example.com"], blocked_domains: [] };
    const request = read({ tools: [{ type: "web_search", filters }] });
    const taken = new Set(["allowed_domains"] as const);
    expect(fromResponsesRequest(request, [], { searchDomains: taken }).request["web_search_options"]).toEqual({
      filters: { allowed_domains: ["example.com"] },
    });
    const blocked = read({ tools: [{ type: "web_search", filters: { blocked_domains: ["example.com"] } }] });
    expect(placesOf(() => fromResponsesRequest(blocked, [], { searchDomains: taken }))).toEqual([
      "body.tools.0.filters.blocked_domains: unsupported_parameter",
    ]);
  });

  describe("functions of a namespace", () => {
    const spawn = { type: "function", name: "spawn", description: "Starts one.", parameters: { type: "object" } };
    const agents = { type: "namespace", name: "agents", description: "Helpers.", tools: [spawn] };
    const long = { ...agents, name: `mcp__${"long".repeat(20)}`, tools: [spawn, { ...spawn, name: "stop" }] };

    test("are declared one by one, under the name of both", () => {
      const { tools } = translate({ tools: [tool, agents] }).request;
      expect(tools?.map((one) => one.function?.name)).toEqual(["look_up", "agents__spawn"]);
      expect(tools?.[1]?.function).toMatchObject({ description: "Starts one.", parameters: { type: "object" } });
    });

    test("have names that every provider takes, and that differ", () => {
      const names = translate({ tools: [long] }).request.tools?.map((one) => one.function?.name ?? "") ?? [];
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(new Set(names).size).toBe(2);
    });

    test("are called, chosen and found again by namespace and name", () => {
      const chosen = { type: "function", name: "spawn", namespace: "agents" };
      const { request } = translate({
        tools: [agents],
        tool_choice: chosen,
        input: [user("Q"), { ...call("c1"), name: "spawn", namespace: "agents" }, result("c1")],
      });
      expect(request.tool_choice).toEqual({ type: "function", function: { name: "agents__spawn" } });
      expect(request.messages[1]).toMatchObject({ tool_calls: [{ function: { name: "agents__spawn" } }] });

      for (const declared of [agents, long]) {
        const tools = read({ tools: [declared] }).tools ?? [];
        const flat = translate({ tools: [declared] }).request.tools?.[0]?.function?.name ?? "";
        const context = { toolNames: toToolNames(tools) };
        const tool_calls = [{ id: "c1", type: "function" as const, function: { name: flat, arguments: "{}" } }];
        const expected = { type: "function_call", name: "spawn", namespace: declared.name, call_id: "c1" };
        expect(toResponse(createDraftOf(), complete({ tool_calls }), context).output[0]).toMatchObject(expected);
        const writer = new ResponsesStreamWriter(createDraftOf(), context);
        const delta = { tool_calls: tool_calls.map((one) => ({ ...one, index: 0 })) };
        const written = [...writer.write(chunk(delta)), ...writer.end({})].join("");
        for (const type of ["response.output_item.added", "response.output_item.done"]) {
          const [, data = ""] = new RegExp(`event: ${type}\\ndata: (.*)`).exec(written) ?? [];
          expect(JSON.parse(data).item).toMatchObject(expected);
        }
      }
    });

    test("of other types, and of a name that there is already, are refused", () => {
      const custom = { ...agents, tools: [{ type: "custom", name: "x" }] };
      expect(placesOf(() => translate({ tools: [custom] }))).toEqual([
        "body.tools.0.tools.0.type: unsupported_parameter",
      ]);
      const same = { ...tool, name: "agents__spawn" };
      expect(placesOf(() => translate({ tools: [same, agents] }))).toEqual(["body.tools: value_error"]);
      expect(placesOf(() => read({ tools: [{ ...agents, tools: [{ type: "function" }] }] }))).toEqual([
        "body.tools.0.tools.0.name: missing",
      ]);
    });
  });

  test("formats of the answer", () => {
    const format = { type: "json_schema", name: "answer", schema: { type: "object" }, strict: true };
    expect(translate({ text: { format } }).request.response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", schema: { type: "object" }, strict: true },
    });
    expect(translate({ text: { format: { type: "json_object" } } }).request.response_format).toEqual({
      type: "json_object",
    });
    expect(translate({ text: { format: { type: "text" } } }).request).not.toHaveProperty("response_format");
  });
});
