// Requests in the format of Bedrock: paths, conversations, media, tools and cache marks.

import { expect, test } from "bun:test";
import type { ChatMessage, ReasoningDetail } from "../../../src/contract/chat-format.ts";
import { amazon as row } from "../../../src/providers/amazon/index.ts";
import type { JsonObject } from "../../../src/providers/dialect.ts";
import { findTraits, splitModelId } from "../../../src/providers/dialects/bedrock/models.ts";
import {
  ask,
  called,
  llama,
  memberOf,
  nova,
  opus,
  problemOf,
  sonnet,
  user,
  weatherTool,
} from "../../support/bedrock.ts";

const mistral = "mistral.mistral-large-3-675b-instruct";

const png = "data:image/png;base64,iVBORw0KGgo=";

const pdf = "data:application/pdf;base64,JVBERi0=";

// The address

test.each([
  [sonnet, false, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"],
  ["zai.glm-5", true, "/model/zai.glm-5/converse-stream"],
  [
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2",
    false,
    "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2/converse",
  ],
])("the model %s is one step of the path", (model, isStream, path) => {
  expect(ask(model, {}, isStream).path).toBe(path);
});

test.each([
  ["us.anthropic.claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6"],
  ["amazon.nova-lite-v1:0", "amazon", "nova-lite-v1:0"],
  ["global.openai.gpt-5.6-sol", "openai", "gpt-5.6-sol"],
  ["arn:aws:bedrock:us-east-1:1:inference-profile/us.deepseek.r1-v1:0", "deepseek", "r1-v1:0"],
  ["arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2", null, "a1b2"],
])("the maker of %s is found in its id", (model, maker, name) => {
  expect(splitModelId(model)).toEqual({ maker, name });
});

test("every model of the row has a maker whose peculiarities are known", () => {
  const models = row.chat?.models ?? [];
  expect(models.filter(({ id }) => !findTraits(id).isKnown)).toEqual([]);
  expect(models.filter(({ id, jsonSchema }) => findTraits(id).hasJsonSchema !== (jsonSchema === true))).toEqual([]);
});

// Messages

test("instructions before the conversation go apart, later ones stay where they are, and turns alternate", () => {
  const { body } = ask(sonnet, {
    messages: [
      { role: "system", content: "Be brief." },
      user,
      { role: "user", content: [{ type: "text", text: "there" }] },
      { role: "assistant", content: "Hello" },
      { role: "developer", content: "Now be long." },
      { role: "assistant", content: "again" },
      { role: "user", content: "Go" },
    ],
  });

  expect(body.system).toEqual([{ text: "Be brief." }]);
  expect(body.messages).toEqual([
    { role: "user", content: [{ text: "Hi" }, { text: "there" }] },
    { role: "assistant", content: [{ text: "Hello" }] },
    { role: "user", content: [{ text: "<system_message>\nNow be long.\n</system_message>" }] },
    { role: "assistant", content: [{ text: "again" }] },
    { role: "user", content: [{ text: "Go" }] },
  ]);
});

test("an instruction between calls and their results follows the results", () => {
  const [asked, calls, ...results] = called as [ChatMessage, ChatMessage, ...ChatMessage[]];
  const parts = [
    { type: "text", text: "Be quick.", cache_control: { type: "ephemeral" } },
    { type: "text", text: " " },
  ] as const;
  const messages = [asked, calls, { role: "system", content: parts }, ...results] as ChatMessage[];
  const { body } = ask(sonnet, { messages, tools: [weatherTool] });

  expect(body.system).toBeUndefined();
  expect(body.messages.at(-1)?.content.slice(-2)).toEqual([
    { text: "<system_message>\nBe quick.\n</system_message>" },
    { cachePoint: { type: "default" } },
  ]);
  expect(body.messages.at(-1)?.content.slice(0, -2)).toEqual(
    results.map(() => ({ toolResult: expect.anything() })) as never,
  );
  const image = { role: "system", content: [{ type: "image_url", image_url: { url: png } }] } as const;
  for (const refused of [
    [image, user],
    [user, image],
  ] as ChatMessage[][])
    expect(problemOf(() => ask(sonnet, { messages: refused }))).toEqual({
      loc: `body.messages.${refused.indexOf(image as ChatMessage)}.content.0.type`,
      type: "value_error",
    });
});

/** https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html */
test("thinking that is bound to the conversation is dropped instead of refused when the conversation has changed", () => {
  const fable = "global.anthropic.claude-fable-5-1";
  const thought: ReasoningDetail = { type: "reasoning.text", text: "Hm.", signature: "c2ln" };
  const messages: ChatMessage[] = [user, { role: "assistant", content: "Hi", reasoning_details: [thought] }, user];
  const fields = (members: object, model = fable) => ask(model, members).body.additionalModelRequestFields;
  const block_binding = { prefix_mismatch_behavior: "drop_block" };
  const anthropic_beta = ["thinking-binding-controls-2026-08-01"];

  expect(fields({ messages })).toEqual({ thinking: { type: "adaptive", block_binding }, anthropic_beta });
  expect(fields({ messages, reasoning_effort: "low" })).toEqual({
    thinking: { type: "adaptive", display: "summarized", block_binding },
    output_config: { effort: "low" },
    anthropic_beta,
  });
  expect(fields({ messages, additionalModelRequestFields: { anthropic_beta: ["x"] } })).toMatchObject({
    thinking: { type: "adaptive", block_binding },
    anthropic_beta: [...anthropic_beta, "x"],
  });
  // Nothing is sent back, the model does not check, or thinking is off, which the controls do not go with.
  expect(fields({ messages: [user] })).toBeUndefined();
  expect(fields({ messages }, opus)).toBeUndefined();
  expect(fields({ messages, reasoning_effort: "none" }, "global.anthropic.claude-sonnet-5-5")).toEqual({
    thinking: { type: "between_tools" },
  });
});

test("empty text, which the vendor refuses, is left out; a request of nothing else is refused here", () => {
  const blank = { type: "text", text: " \n" } as const;
  const { body } = ask(sonnet, {
    messages: [
      { role: "system", content: "" },
      { role: "user", content: [blank, { type: "text", text: "x" }] },
    ],
  });

  expect(body.system).toBeUndefined();
  expect(body.messages).toEqual([{ role: "user", content: [{ text: "x" }] }]);
  expect(problemOf(() => ask(sonnet, { messages: [{ role: "user", content: [blank] }] })).loc).toBe("body.messages");
});

test("pictures, documents and sounds become blocks with their bytes; documents get names of their own and words beside them", () => {
  const file = (filename: string, data = pdf) => ({ type: "file", file: { file_data: data, filename } }) as const;
  const { body } = ask(sonnet, {
    messages: [
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: png } },
          file("Q3 report_final!.pdf"),
          file("Q3 report_final!.pdf"),
          file("notes.md", "IyBUaXRsZQ=="),
          file("plain.txt", "data:text/plain,Hello%20world"),
          { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
        ],
      },
    ],
  });

  expect(body.messages[0]?.content).toEqual([
    { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
    { document: { format: "pdf", name: "Q3 report-final-", source: { bytes: "JVBERi0=" } } },
    { document: { format: "pdf", name: "Q3 report-final- (2)", source: { bytes: "JVBERi0=" } } },
    { document: { format: "md", name: "notes", source: { bytes: "IyBUaXRsZQ==" } } },
    { document: { format: "txt", name: "plain", source: { bytes: "SGVsbG8gd29ybGQ=" } } },
    { audio: { format: "wav", source: { bytes: "UklGRg==" } } },
    { text: expect.any(String) },
  ]);
});

test.each([
  ["body.messages.0.content.0.image_url.url", { type: "image_url", image_url: { url: "data:image/tiff;base64,AA==" } }],
  ["body.messages.0.content.0.file.file_data", { type: "file", file: { file_id: "file-1" } }],
  ["body.messages.0.content.0.file.file_data", { type: "file", file: { file_data: "AA==", filename: "a.exe" } }],
  ["body.messages.0.content.0.file.file_data", { type: "file", file: { file_data: "data:text/plain,100%" } }],
  [
    "body.messages.0.content.0.input_audio.format",
    { type: "input_audio", input_audio: { data: "AA==", format: "xyz" } },
  ],
] as const)("what cannot be told is refused at %s", (loc, part) => {
  expect(problemOf(() => ask(sonnet, { messages: [{ role: "user", content: [part] }] })).loc).toBe(loc);
});

test("a system message that holds a picture is refused", () => {
  const content = [{ type: "image_url", image_url: { url: png } }] as const;
  expect(problemOf(() => ask(sonnet, { messages: [{ role: "system", content }, user] })).loc).toBe(
    "body.messages.0.content.0.type",
  );
});

test("a conversation that begins with the assistant gets a first turn, where the model demands one", () => {
  const messages: ChatMessage[] = [{ role: "assistant", content: "Hello" }, user];

  expect(ask(nova, { messages }).body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  expect(ask(sonnet, { messages }).body.messages.map(({ role }) => role)).toEqual(["assistant", "user"]);
});

test("the beginning of an answer loses the white space at its end, which the vendor refuses", () => {
  const { body } = ask(sonnet, { messages: [user, { role: "assistant", content: "The answer is " }] });

  expect(body.messages.at(-1)).toEqual({ role: "assistant", content: [{ text: "The answer is" }] });
});

test("calls and their results keep their ids; results stand in one turn; arguments that are no JSON do not crash", () => {
  const { body } = ask(sonnet, { messages: [...called, { role: "user", content: "And now?" }], tools: [weatherTool] });

  expect(body.messages.slice(1)).toEqual([
    {
      role: "assistant",
      content: [
        { toolUse: { toolUseId: "call_1", name: "get_weather", input: { city: "Rome" } } },
        { toolUse: { toolUseId: "call_2", name: "get_weather", input: { arguments: "{city" } } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "call_1", content: [{ text: '{"celsius":30}' }] } },
        { toolResult: { toolUseId: "call_2", content: [{ text: "(no output)" }] } },
        { text: "And now?" },
      ],
    },
  ]);
});

test("a model that wants results alone gets them alone, as JSON where it wants that, and ids in its own form", () => {
  const { body } = ask(mistral, { messages: [...called, { role: "user", content: "And now?" }], tools: [weatherTool] });
  const [calls, results] = [body.messages[1]?.content ?? [], body.messages[2]?.content ?? []];
  const idsOf = (blocks: JsonObject[], kind: string) => blocks.map((block) => (block[kind] as JsonObject)["toolUseId"]);

  // What the user says next goes into the last result: the assistant is not made to say what it never said.
  expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  const contents = results.map((block) => memberOf(block, "toolResult", "content") as JsonObject[]);
  expect(contents.at(-1)?.at(-1)).toEqual({ json: { user_message: "And now?" } });
  expect(idsOf(calls, "toolUse")).toEqual(idsOf(results, "toolResult"));
  expect(idsOf(calls, "toolUse").every((id) => /^[a-zA-Z0-9]{9}$/.test(String(id)))).toBe(true);
  expect(memberOf(results[0], "toolResult", "content")).toEqual([{ json: { celsius: 30 } }]);
});

test("images and documents in the result of a tool reach a model that wants results as JSON", () => {
  const png = "data:image/png;base64,iVBORw0KGgo=";
  const pdf = "data:application/pdf;base64,JVBERi0=";
  const { body } = ask(mistral, {
    messages: [
      user,
      { role: "assistant", tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }] },
      {
        role: "tool",
        tool_call_id: "a",
        content: [
          { type: "text", text: "Seen." },
          { type: "image_url", image_url: { url: png } },
          { type: "file", file: { file_data: pdf, filename: "page.pdf" } },
        ],
      },
    ],
  });
  expect(memberOf(body.messages[2]?.content[0], "toolResult", "content")).toEqual([
    { json: { result: "Seen." } },
    { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
    { document: { format: "pdf", name: "page", source: { bytes: "JVBERi0=" } } },
  ]);
});

test("a profile of the operator's own keeps thinking and signed thoughts, and names the marks that it cannot place", () => {
  const profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123";
  const mark = { type: "ephemeral" as const };
  const thinking = { type: "enabled", budget_tokens: 2_048 };
  const { body, dropped } = ask(profile, {
    thinking,
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: mark }] },
      {
        role: "assistant",
        content: "Hello",
        reasoning_details: [{ type: "reasoning.text", text: "Greet.", signature: "c2lnbmVk" }],
      },
      user,
    ],
  });
  expect(body.additionalModelRequestFields).toEqual({ thinking });
  expect(body.messages[1]?.content[0]).toEqual({
    reasoningContent: { reasoningText: { text: "Greet.", signature: "c2lnbmVk" } },
  });
  expect(dropped).toEqual(["cache_control"]);
});

test("a model that must have thought before a call continues to think only with that thought", () => {
  const thinking = { type: "enabled", budget_tokens: 2_048 };
  const reasoning_details = [{ type: "reasoning.text", text: "Look.", signature: "c2lnbmVk" } as const];
  const messages = called.map((message) =>
    message.role === "assistant" ? { ...message, reasoning_details } : message,
  );
  const withThought = ask(sonnet, { thinking, tools: [weatherTool], messages });
  expect(withThought.body.additionalModelRequestFields).toEqual({ thinking });
  expect(withThought.dropped).toEqual([]);
  const without = ask(sonnet, { thinking, tools: [weatherTool], messages: called });
  expect(without.body.additionalModelRequestFields).toBeUndefined();
  expect(without.dropped).toEqual(["thinking"]);
});

test("reasoning is sent back in front, as it came; what another vendor signed is not", () => {
  const thinking = { type: "enabled", budget_tokens: 2_048 };
  const format = "another-vendor-v1";
  const foreign: readonly ReasoningDetail[] = [
    { type: "reasoning.encrypted", data: "Zm9yZWlnbg==", format },
    { type: "reasoning.text", text: "Elsewhere.", signature: "Zm9yZWlnbg==", format },
  ];
  const own: readonly ReasoningDetail[] = [
    { type: "reasoning.text", text: "Look.", signature: "c2lnbmVk" },
    { type: "reasoning.encrypted", data: "c2VjcmV0" },
    { type: "reasoning.encrypted", data: "Y2xhdWRl", format: "anthropic-claude-v1" },
  ];
  const askWith = (reasoning_details: readonly ReasoningDetail[]) => {
    const messages = called.map((message) =>
      message.role === "assistant" ? { ...message, reasoning_details } : message,
    );
    const { body, dropped } = ask(sonnet, { thinking, tools: [weatherTool], messages });
    const answer = body.messages.find(({ role }) => role === "assistant");
    return { dropped, thoughts: answer?.content.flatMap((block) => block["reasoningContent"] ?? []) };
  };

  expect(askWith([...foreign, ...own])).toEqual({
    dropped: [],
    thoughts: [
      { reasoningText: { text: "Look.", signature: "c2lnbmVk" } },
      { redactedContent: "c2VjcmV0" },
      { redactedContent: "Y2xhdWRl" },
    ],
  });
  // Without a thought of its own, the model cannot continue to think.
  expect(askWith(foreign)).toEqual({ dropped: ["thinking"], thoughts: [] });
});

test("the old function_call and its result become a call and its result", () => {
  const { body } = ask(sonnet, {
    messages: [
      user,
      { role: "assistant", content: null, function_call: { name: "get_weather", arguments: "{}" } },
      { role: "function", name: "get_weather", content: "sunny" },
    ],
  });
  const [call, result] = [body.messages[1]?.content[0]?.["toolUse"], body.messages[2]?.content[0]?.["toolResult"]];

  expect((call as JsonObject)["toolUseId"]).toBe((result as JsonObject)["toolUseId"]);
});

test.each([
  ["auto", sonnet, undefined, undefined, []],
  ["required", sonnet, { any: {} }, undefined, []],
  [{ type: "function", function: { name: "get_weather" } }, sonnet, { tool: { name: "get_weather" } }, undefined, []],
  [{ type: "function", function: { name: "get_weather" } }, "qwen.qwen3-32b-v1:0", { any: {} }, undefined, []],
  ["required", llama, undefined, undefined, ["tool_choice"]],
  ["required", "global.anthropic.claude-opus-5-5", undefined, undefined, ["tool_choice"]],
] as const)("tool_choice %j for %s", (tool_choice, model, toolChoice, fields, dropped) => {
  const made = ask(model, { tools: [weatherTool], tool_choice });

  expect(made.body.toolConfig?.toolChoice).toEqual(toolChoice);
  expect(made.body.additionalModelRequestFields).toEqual(fields);
  expect(made.dropped).toEqual([...dropped]);
});

test("with tool_choice none the tools are not offered, unless the conversation has already called one", () => {
  const none = { tools: [weatherTool], tool_choice: "none" };
  expect(ask(sonnet, none).body.toolConfig).toBeUndefined();

  const claude = ask(sonnet, { ...none, messages: called });
  expect(claude.body.toolConfig?.tools).toHaveLength(1);
  expect(claude.body.additionalModelRequestFields).toEqual({ tool_choice: { type: "none" } });
  expect(claude.dropped).toEqual([]);

  expect(ask(nova, { ...none, messages: called }).dropped).toEqual(["tool_choice"]);
});

test("a conversation with calls needs tools: those that the request no longer names are declared", () => {
  const { body, dropped } = ask(nova, { messages: called });

  expect(body.toolConfig?.tools.map((tool) => memberOf(tool, "toolSpec", "name"))).toEqual(["get_weather"]);
  expect(dropped).toEqual([]);
});

test("one call at a time is said in the model's own words, or named as dropped", () => {
  const single = { tools: [weatherTool], parallel_tool_calls: false };
  const claude = ask(sonnet, { ...single, tool_choice: "required" });
  expect(claude.body.additionalModelRequestFields).toEqual({
    tool_choice: { type: "any", disable_parallel_tool_use: true },
  });
  // The vendor refuses both at once.
  expect(claude.body.toolConfig?.toolChoice).toBeUndefined();

  expect(ask(nova, single).dropped).toEqual(["parallel_tool_calls"]);
});

test.each([
  ["body.tools.0.type", [{ type: "web_search" }], undefined],
  ["body.tools.0.function.name", [{ type: "function", function: { name: "a.b" } }], undefined],
  ["body.tool_choice", [weatherTool], { type: "function", function: { name: "other" } }],
] as const)("tools that cannot be told are refused at %s", (loc, tools, tool_choice) => {
  expect(problemOf(() => ask(sonnet, { tools, ...(tool_choice ? { tool_choice } : {}) })).loc).toBe(loc);
});

test("a strict tool is strict where the model has it and the schema can be told, else that is named", () => {
  const strict = { ...weatherTool, function: { ...weatherTool.function, strict: true } };
  const open = {
    type: "function",
    function: { name: "f", strict: true, parameters: { type: "object", additionalProperties: true } },
  };
  const specOf = (model: string) =>
    ask(model, { tools: [strict] }).body.toolConfig?.tools[0]?.["toolSpec"] as JsonObject;

  expect(specOf(sonnet)["strict"]).toBe(true);
  expect(specOf(nova)["strict"]).toBeUndefined();
  expect(ask(nova, { tools: [strict] }).dropped).toEqual(["tools.strict"]);
  expect(ask(sonnet, { tools: [open] }).dropped).toEqual(["tools.strict"]);
});

// Prompt caching

test("cache marks on parts, messages, tools and system texts are kept for models that have a cache", () => {
  const hour = { type: "ephemeral", ttl: "1h" };
  const members = {
    messages: [
      { role: "system", content: [{ type: "text", text: "Long.", cache_control: hour }] },
      { role: "user", content: "Hi", cache_control: { type: "ephemeral" } },
    ] as unknown as ChatMessage[],
    tools: [{ ...weatherTool, cache_control: hour }],
  };
  const claude = ask(sonnet, members).body;
  expect(claude.system).toEqual([{ text: "Long." }, { cachePoint: { type: "default", ttl: "1h" } }]);
  expect(claude.messages[0]?.content).toEqual([{ text: "Hi" }, { cachePoint: { type: "default" } }]);
  expect(claude.toolConfig?.tools[1]).toEqual({ cachePoint: { type: "default", ttl: "1h" } });

  // No hour, and no mark on tools.
  const amazon = ask(nova, members).body;
  expect(amazon.system).toEqual([{ text: "Long." }, { cachePoint: { type: "default" } }]);
  expect(amazon.toolConfig?.tools).toHaveLength(1);

  expect(JSON.stringify(ask(llama, members).body)).not.toContain("cachePoint");
});
