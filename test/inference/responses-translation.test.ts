// The responses API in front of providers that do not have it: pure functions, no sockets. All requests and chunks here are
// invented after the public documentation of both formats.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChatChunk, ChatCompletion, ChatDelta, ChatMessage } from "../../src/contract/chat-format.ts";
import { parse } from "../../src/contract/problems.ts";
import {
  createResponseRequest,
  type ResponseRequest,
  responseObject,
  responseParams,
} from "../../src/contract/responses.ts";
import { type Problem, ValidationError } from "../../src/errors.ts";
import { readEncryptedContent, toEncryptedContent } from "../../src/inference/reasoning-state.ts";
import { fromResponsesRequest } from "../../src/inference/responses/from-responses-request.ts";
import {
  completeEvent,
  completeResponse,
  createDraft,
  type OutputItem,
} from "../../src/inference/responses/response-defaults.ts";
import { ResponsesStreamWriter } from "../../src/inference/responses/responses-stream.ts";
import { toResponse, toResponseUsage } from "../../src/inference/responses/to-response.ts";
import { toToolNames } from "../../src/inference/responses/tool-names.ts";
import { type Json, SchemaDocument } from "../../src/lib/json-schema/schema.ts";
import { fitsSchema } from "../../src/lib/json-schema/schema-check.ts";

const schema = createResponseRequest(new Set());
const least = { model: "somewhere/some-model", input: "Hello" };

function read(members: object): ResponseRequest {
  return parse(schema, { ...least, ...members });
}

function translate(members: object, earlier: readonly Record<string, unknown>[] = []) {
  return fromResponsesRequest(read(members), earlier);
}

function translateItems(...input: readonly object[]): readonly ChatMessage[] {
  return translate({ input }).request.messages;
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

function placesOf(run: () => unknown): string[] {
  return problemsOf(run).map(({ loc, type }) => `${loc.join(".")}: ${type}`);
}

const user = (content: unknown) => ({ role: "user", content });
const call = (id: string, written = "{}") => ({
  type: "function_call",
  call_id: id,
  name: "look_up",
  arguments: written,
});
const result = (id: string, output: unknown = "found") => ({ type: "function_call_output", call_id: id, output });
const tool = { type: "function", name: "look_up", parameters: { type: "object", properties: {} } };
const pixel = "data:image/png;base64,iVBORw0KGgo=";

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

  test("all problems are told at once", () => {
    expect(placesOf(() => read({ input: undefined, temperature: 9, store: 1 })).toSorted()).toEqual([
      "body.input: missing",
      "body.store: bool_type",
      "body.temperature: less_than_equal",
    ]);
  });

  test("an earlier response stands for the input", () => {
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
    const { request, dropped } = translate({
      max_output_tokens: 100,
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      service_tier: "flex",
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
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      user: "u",
      safety_identifier: "s",
      prompt_cache_key: "k",
      service_tier: "flex",
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

  test("wishes that nobody hears are named", () => {
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

const draftOptions = { id: "resp_1", createdAt: 1_700_000_000, model: "vendor-model" };

function createDraftOf(members: object = {}) {
  return createDraft(read(members), draftOptions);
}

function complete(message: object, members: object = {}, choice: object = {}): ChatCompletion {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_001,
    model: "vendor-model-2",
    choices: [
      { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: "stop", ...choice },
    ],
    ...members,
  } as ChatCompletion;
}

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  completion_tokens_details: { reasoning_tokens: 3 },
};

const signed = { type: "reasoning.text" as const, text: "Hm.", signature: "c2ln" };
const hidden = { type: "reasoning.encrypted" as const, data: "xyz" };
const chatCall = (id: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "look_up", arguments: '{"x":1}' },
  ...more,
});

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
      provider: null,
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
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 2,
    });
  });
});

interface Event {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
  readonly item_id?: string;
  readonly delta?: string;
  readonly item?: OutputItem;
  readonly response?: { readonly output: readonly OutputItem[] } & Record<string, unknown>;
  readonly [member: string]: unknown;
}

function chunk(delta: ChatDelta & Record<string, unknown>, more: object = {}): ChatChunk {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "vendor-model-2",
    choices: [{ index: 0, delta, finish_reason: null, ...more }],
  };
}

const finish = (finish_reason: "stop" | "length" | "tool_calls" | "content_filter") => chunk({}, { finish_reason });
const piece = (index: number, written: string, more: object = {}) => ({
  tool_calls: [{ index, function: { arguments: written }, ...more }],
});
const begun = (index: number, id: string, written = "", more: object = {}) => ({
  tool_calls: [{ index, id, type: "function", function: { name: "look_up", arguments: written }, ...more }],
});

function readFrames(frames: readonly string[]): Event[] {
  return frames.map((frame) => {
    const [, name, data] = /^event: (\S+)\ndata: (.+)\n\n$/.exec(frame) ?? [];
    const event = JSON.parse(data ?? "null") as Event;
    expect(event.type).toBe(name ?? "");
    return event;
  });
}

const ours = { provider: "somewhere", cost: 0.5, provider_time: 1.25 };

function stream(chunks: readonly ChatChunk[], members: object = {}): Event[] {
  const writer = new ResponsesStreamWriter(createDraftOf(members));
  const events = readFrames([...writer.begin(), ...chunks.flatMap((each) => writer.write(each)), ...writer.end(ours)]);
  checkGrammar(events);
  return events;
}

const typesOf = (events: readonly Event[]) => events.map(({ type }) => type.replace("response.", ""));
const outputOf = (events: readonly Event[]) => events.at(-1)?.response?.output ?? [];

/** What holds of every stream: numbers, openings and closings, and that the pieces add up to what is told at the end. */
function checkGrammar(events: readonly Event[]): void {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
  expect(typesOf(events).slice(0, 2)).toEqual(["created", "in_progress"]);
  const open = new Set<number>();
  const parts = new Set<string>();
  const texts = new Map<string, string>();
  let count = 0;
  for (const event of events.slice(2, -1)) {
    const index = event.output_index as number;
    const part = `${index}/${event["content_index"] ?? event["summary_index"] ?? ""}`;
    if (event.type === "response.output_item.added") {
      expect(index).toBe(count++);
      open.add(index);
    } else if (event.type !== "response.output_text.annotation.added") expect(open.has(index)).toBe(true);
    if (/part\.added$/.test(event.type)) parts.add(part);
    if (/part\.done$/.test(event.type)) expect(parts.delete(part)).toBe(true);
    if (/delta$/.test(event.type)) {
      if (!event.type.includes("arguments")) expect(parts.has(part)).toBe(true);
      texts.set(part, `${texts.get(part) ?? ""}${event.delta}`);
    }
    const whole = event["text"] ?? event["arguments"] ?? event["refusal"];
    if (/(?:text|refusal|arguments)\.done$/.test(event.type)) expect(texts.get(part) ?? "").toBe(whole as string);
    if (event.type === "response.output_item.done") open.delete(index);
  }
  expect(open.size).toBe(0);
  expect(parts.size).toBe(0);
  const done = events.filter(({ type }) => type === "response.output_item.done");
  const calls = done.filter(({ item }) => item?.type === "function_call").map((event) => event.output_index ?? 0);
  expect(calls).toEqual(calls.toSorted((left, right) => left - right));
  const last = outputOf(events);
  expect(last).toHaveLength(done.length);
  for (const { output_index: index, item } of done) {
    // A source may be told after its text was closed.
    const { content: _, ...told } = item as Record<string, unknown> & OutputItem;
    expect(last[index as number]).toMatchObject(told);
  }
}

describe("chunks become events", () => {
  test("text: every level is opened and closed", () => {
    const events = stream([
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      finish("stop"),
      { ...chunk({}), choices: [], usage },
    ]);
    expect(typesOf(events)).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    expect(events[0]?.response).toMatchObject({ status: "in_progress", output: [], usage: null, id: "resp_1" });
    expect(events[4]).toMatchObject({ delta: "Hel", logprobs: [], content_index: 0, output_index: 0 });
    expect(events.at(-1)?.response).toMatchObject({
      status: "completed",
      model: "vendor-model-2",
      usage: { input_tokens: 10, output_tokens: 5 },
      output: [{ status: "completed", content: [{ text: "Hello", annotations: [], logprobs: [] }] }],
      ...ours,
    });
  });

  test("reasoning, text and a call are items one after the other", () => {
    const events = stream([
      chunk({ role: "assistant", reasoning_content: "H" }),
      chunk({ reasoning_content: "m." }),
      chunk({ reasoning_details: [signed] }),
      chunk({ content: "I look." }),
      chunk(begun(0, "a")),
      chunk(piece(0, '{"x"')),
      chunk(piece(0, ":1}")),
      finish("tool_calls"),
    ]);
    expect(typesOf(events).slice(2, -1)).toEqual([
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
    ]);
    expect(outputOf(events)).toMatchObject([
      { type: "reasoning", summary: [{ text: "Hm." }] },
      { type: "message", content: [{ text: "I look." }] },
      { type: "function_call", call_id: "a", arguments: '{"x":1}', status: "completed" },
    ]);
    const done = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(done).toMatchObject({ name: "look_up", arguments: '{"x":1}', output_index: 2 });
  });

  test("calls that arrive mixed are open side by side and closed in order", () => {
    const events = stream([
      chunk(begun(0, "a")),
      chunk(begun(1, "b")),
      chunk(piece(1, '{"y"')),
      chunk(piece(0, '{"x"')),
      chunk(piece(1, ":2}")),
      chunk(piece(0, ":1}")),
      finish("tool_calls"),
    ]);
    expect(outputOf(events)).toMatchObject([
      { call_id: "a", arguments: '{"x":1}' },
      { call_id: "b", arguments: '{"y":2}' },
    ]);
    const closed = events.filter(({ type }) => type === "response.output_item.done").map((event) => event.output_index);
    expect(closed).toEqual([0, 1]);
  });

  test("a complete call is closed when the next begins, and a late empty piece changes nothing", () => {
    const events = stream([
      chunk(begun(0, "a", '{"x":1}')),
      chunk(begun(1, "b", "{")),
      chunk(piece(0, "")),
      chunk(piece(1, "}")),
      finish("tool_calls"),
    ]);
    const types = typesOf(events);
    expect(types.indexOf("output_item.done")).toBeLessThan(types.lastIndexOf("output_item.added"));
    expect(outputOf(events)).toMatchObject([
      { call_id: "a", arguments: '{"x":1}' },
      { call_id: "b", arguments: "{}" },
    ]);
  });

  test("calls that all have the same number are told apart by their ids", () => {
    const events = stream([chunk(begun(0, "a", "{}")), chunk(begun(0, "b", "{}")), finish("tool_calls")]);
    expect(outputOf(events)).toMatchObject([{ call_id: "a" }, { call_id: "b" }]);
  });

  test("arguments wait for the name of their call", () => {
    const events = stream([
      chunk(piece(0, '{"x"', { id: "a" })),
      chunk({ tool_calls: [{ index: 0, function: { name: "look_up", arguments: ":1}" } }] }),
      finish("tool_calls"),
    ]);
    expect(outputOf(events)).toMatchObject([{ call_id: "a", name: "look_up", arguments: '{"x":1}' }]);
  });

  test("a refusal has its own part and events", () => {
    const events = stream([
      chunk({ content: "Well" }),
      chunk({ refusal: "N" }),
      chunk({ refusal: "o." }),
      finish("stop"),
    ]);
    expect(typesOf(events)).toContain("refusal.delta");
    expect(outputOf(events)).toMatchObject([{ content: [{ text: "Well" }, { type: "refusal", refusal: "No." }] }]);
  });

  test("sources before, in and after the text belong to it", () => {
    const source = (url: string) => ({
      annotations: [{ type: "url_citation" as const, url_citation: { url, title: "T", start_index: 0, end_index: 2 } }],
    });
    const events = stream([
      chunk(source("https://a.example/")),
      chunk({ content: "Hi", ...source("https://b.example/") }),
      chunk(begun(0, "a", "{}")),
      chunk(source("https://c.example/")),
      finish("tool_calls"),
    ]);
    const added = events.filter(({ type }) => type === "response.output_text.annotation.added");
    expect(added.map((event) => event["annotation_index"])).toEqual([0, 1, 2]);
    expect(outputOf(events)).toMatchObject([
      {
        content: [
          {
            annotations: [{ url: "https://a.example/" }, { url: "https://b.example/" }, { url: "https://c.example/" }],
          },
        ],
      },
      { type: "function_call" },
    ]);
  });

  test("log probabilities are told with their piece of text, and all at its end", () => {
    const entry = (token: string) => ({ token, logprob: -1, bytes: [65], top_logprobs: [] });
    const events = stream([
      chunk({ content: "A" }, { logprobs: { content: [entry("A")] } }),
      chunk({ content: "B" }, { logprobs: { content: [entry("B")] } }),
      finish("stop"),
    ]);
    const told = events.filter(({ type }) => type.startsWith("response.output_text."));
    expect(told.map((event) => (event["logprobs"] as object[]).length)).toEqual([1, 1, 2]);
  });

  test.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ] as const)("%s ends with response.incomplete, and so does the item that was cut off", (reason, expected) => {
    const events = stream([chunk({ reasoning_content: "Hm." }), chunk({ content: "Hal" }), finish(reason)]);
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: { reason: expected },
        output: [{ status: "completed" }, { status: "incomplete" }],
      },
    });
  });

  test("thoughts between words are items between items", () => {
    const events = stream([
      chunk({ content: "A" }),
      chunk({ reasoning_content: "Hm." }),
      chunk({ content: "B" }),
      finish("stop"),
    ]);
    expect(outputOf(events).map(({ type }) => type)).toEqual(["message", "reasoning", "message"]);
  });

  test("signed blocks are parts of their own, and details without text beside them are told", () => {
    const events = stream([
      chunk({ reasoning_content: "Hm." }),
      chunk({ reasoning_details: [signed] }),
      chunk({ reasoning_details: [{ ...signed, text: "So." }] }),
      chunk({ content: "A" }),
      finish("stop"),
    ]);
    expect(outputOf(events)[0]).toMatchObject({ summary: [{ text: "Hm." }, { text: "So." }] });
  });

  test("an answer of nothing has an empty text", () => {
    const events = stream([chunk({ role: "assistant", content: "" }), finish("stop")]);
    expect(outputOf(events)).toMatchObject([{ type: "message", content: [{ type: "output_text", text: "" }] }]);
  });

  test("only the first of several choices is told", () => {
    const other = { ...chunk({ content: "B" }), choices: [{ index: 1, delta: { content: "B" }, finish_reason: null }] };
    expect(outputOf(stream([chunk({ content: "A" }), other, finish("stop")]))).toMatchObject([
      { content: [{ text: "A" }] },
    ]);
  });

  test("a stream that breaks off ends with an error and response.failed", () => {
    const writer = new ResponsesStreamWriter(createDraftOf());
    writer.begin();
    const before = readFrames(writer.write(chunk({ content: "Hal" })));
    const events = readFrames(writer.fail({ code: "provider_disconnected", message: "It closed." }));
    expect(events).toMatchObject([
      {
        type: "error",
        code: "provider_disconnected",
        message: "It closed.",
        param: null,
        error: { type: "upstream_error", code: "provider_disconnected", message: "It closed.", param: null },
        detail: "It closed.",
        sequence_number: (before.at(-1)?.sequence_number ?? 0) + 1,
      },
      {
        type: "response.failed",
        response: {
          status: "failed",
          error: { code: "server_error", message: "It closed." },
          output: [{ status: "incomplete", content: [{ text: "Hal" }] }],
        },
      },
    ]);
    expect(writer.end(ours)).toEqual([]);
    const limited = new ResponsesStreamWriter(createDraftOf()).fail({
      code: "provider_rate_limited",
      message: "Slow.",
    });
    expect(readFrames(limited).at(-1)?.response).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  });

  test("whatever the order of the pieces, the grammar holds", () => {
    // Always the same: what fails once fails again.
    let seed = 7;
    const draw = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fff_ffff;
      return (seed >> 8) % below;
    };
    const makers: (() => ChatDelta & Record<string, unknown>)[] = [
      () => ({ content: "word " }),
      () => ({ content: "" }),
      () => ({ reasoning_content: "hm " }),
      () => ({ reasoning_details: [draw(2) === 0 ? signed : hidden] }),
      () => ({ refusal: "no " }),
      () => begun(draw(3), `call-${draw(4)}`, ["", "{}", '{"a":'][draw(3)]),
      () => piece(draw(3), ["", "{}", "1}", " "][draw(4)] ?? ""),
      () => ({ annotations: [{ type: "url_citation", url_citation: { url: "https://example.com/" } }] }),
      () => ({ extra_content: { google: { thought_signature: "s" } } }),
      () => ({ images: [{ image_url: { url: pixel } }] }),
    ];
    for (let round = 0; round < 300; round++) {
      const chunks = Array.from({ length: draw(12) }, () =>
        chunk((makers[draw(makers.length)] as (typeof makers)[number])()),
      );
      const events = stream([...chunks, finish(draw(4) === 0 ? "length" : "stop")]);
      const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
      const told = outputOf(events).flatMap((item) => (item.type === "message" ? item.content : []));
      expect(told.map((part) => (part.type === "output_text" ? part.text : "")).join("")).toBe(text);
    }
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

// The published schemas belong to others and are not a part of this project: they stand beside the checkout, or where told.
const schemaFolder =
  process.env["SWITCHYARD_OPENAI_SCHEMAS"] ?? join(import.meta.dir, "../../../shared/data/openai-schemas");

describe.skipIf(!existsSync(schemaFolder))("everything that is written fits the published schemas", () => {
  function createCheck(name: string): (value: unknown) => void {
    const published = JSON.parse(readFileSync(join(schemaFolder, `${name}.json`), "utf8")) as unknown;
    return (value) => {
      const document = new SchemaDocument(published);
      if (!fitsSchema(JSON.parse(JSON.stringify(value)) as Json, document.root, document))
        throw new Error(`does not fit ${name}: ${JSON.stringify(value)}`);
    };
  }

  const full = {
    instructions: "Be brief.",
    tools: [tool],
    tool_choice: { type: "function", name: "look_up" },
    reasoning: { effort: "low", summary: "auto" },
    text: { verbosity: "low" },
    metadata: { a: "b" },
    user: "u",
    previous_response_id: "resp_0",
  };
  const annotations = [{ type: "url_citation" as const, url_citation: { url: "https://example.com/" } }];
  const logprobs = { content: [{ token: "A", logprob: -1, bytes: null, top_logprobs: [] }] };
  const streams: readonly (readonly ChatChunk[])[] = [
    [finish("stop")],
    [chunk({ content: "Hi", annotations }, { logprobs }), finish("stop"), { ...chunk({}), choices: [], usage }],
    [chunk({ reasoning_content: "Hm.", reasoning_details: [signed] }), chunk({ content: "A" }), finish("length")],
    [chunk(begun(0, "a", "{}")), chunk(begun(1, "b", "{}")), finish("tool_calls")],
    [chunk({ content: "A" }), chunk({ refusal: "No." }), finish("content_filter")],
  ];

  test.each(["openai.responses.event.calibrated", "openresponses.event"])("events: %s", (name) => {
    const check = createCheck(name);
    for (const members of [{}, full])
      for (const chunks of streams) for (const event of stream(chunks, members)) check(event);
    const writer = new ResponsesStreamWriter(createDraftOf(full));
    writer.write(chunk({ content: "Hal" }));
    for (const event of readFrames(writer.fail({ code: "provider_timeout", message: "Too slow." }))) check(event);
  });

  test.each(["openai.responses.response.calibrated", "openresponses.response"])("answers: %s", (name) => {
    const check = createCheck(name);
    const messages = [
      { content: "Hi", annotations },
      { content: "", reasoning_content: "Hm.", tool_calls: [chatCall("a")] },
      { refusal: "No." },
    ];
    for (const members of [{}, full])
      for (const message of messages) check(toResponse(createDraftOf(members), complete(message, { usage })));
    check(completeResponse({ id: "resp_1", status: "completed", model: "m", output: [] }));
  });

  test("answers with a schema: openai.responses.response.calibrated", () => {
    // The other description has no place for the schema in an answer.
    const text = { format: { type: "json_schema", name: "answer", schema: { type: "object" } } };
    createCheck("openai.responses.response.calibrated")(
      toResponse(createDraftOf({ text }), complete({ content: "{}" })),
    );
  });
});
