// Converse in both directions. The vendor's events and answers here have documented shapes and invented contents.

import { expect, test } from "bun:test";
import type { ChatChunk, ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ValidationError } from "../../../src/errors.ts";
import { amazon as row } from "../../../src/providers/amazon/index.ts";
import {
  type ChatDialect,
  type EmbeddingsDialect,
  ErrorInAnswer,
  type JsonObject,
} from "../../../src/providers/dialect.ts";
import { maxEmbeddingInputs } from "../../../src/providers/dialects/bedrock/embeddings.ts";
import { bedrock } from "../../../src/providers/dialects/bedrock/index.ts";
import { findTraits, splitModelId } from "../../../src/providers/dialects/bedrock/models.ts";
import { toStrictSchema } from "../../../src/providers/dialects/bedrock/schema.ts";
import { failureMember } from "../../../src/providers/framing/aws-event-stream.ts";
import { findModelFacts } from "../../../src/providers/provider.ts";

const chat = bedrock.chat as ChatDialect;
const embeddings = bedrock.embeddings as EmbeddingsDialect;
const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const oldClaude = "us.anthropic.claude-3-7-sonnet-20250219-v1:0";
const opus = "global.anthropic.claude-opus-4-7";
const nova = "us.amazon.nova-2-lite-v1:0";
const llama = "us.meta.llama4-maverick-17b-instruct-v1:0";
const mistral = "mistral.mistral-large-3-675b-instruct";
const user: ChatMessage = { role: "user", content: "Hi" };
const png = "data:image/png;base64,iVBORw0KGgo=";
const pdf = "data:application/pdf;base64,JVBERi0=";
const weatherTool = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

interface Body {
  readonly messages: { role: string; content: JsonObject[] }[];
  readonly system?: JsonObject[];
  readonly inferenceConfig?: JsonObject;
  readonly toolConfig?: { tools: JsonObject[]; toolChoice?: JsonObject };
  readonly outputConfig?: JsonObject;
  readonly additionalModelRequestFields?: JsonObject;
  readonly [member: string]: unknown;
}

function ask(model: string, members: Partial<ChatRequest> = {}, isStream = false) {
  const request = { model: `bedrock/${model}`, messages: [user], ...members };
  const facts = findModelFacts(row, model);
  const made = chat.toRequest(request, { model, facts, isStream });
  return { ...made, body: JSON.parse(made.body) as Body, dropped: made.dropped ?? [] };
}

/** A member of a member, or undefined. */
function memberOf(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((found, name) => (found as JsonObject | undefined)?.[name], value);
}

function problemOf(act: () => unknown): { loc: string; type: string } {
  try {
    act();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const [problem] = error.problems;
    return { loc: problem.loc.join("."), type: problem.type };
  }
  throw new Error("it was accepted");
}

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

test("system and developer messages go apart, wherever they stand, and turns alternate", () => {
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

  expect(body.system).toEqual([{ text: "Be brief." }, { text: "Now be long." }]);
  expect(body.messages).toEqual([
    { role: "user", content: [{ text: "Hi" }, { text: "there" }] },
    { role: "assistant", content: [{ text: "Hello" }, { text: "again" }] },
    { role: "user", content: [{ text: "Go" }] },
  ]);
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
    { audio: { format: "wav", source: { bytes: "UklGRg==" } } },
    { text: expect.any(String) },
  ]);
});

test.each([
  ["body.messages.0.content.0.image_url.url", { type: "image_url", image_url: { url: "data:image/tiff;base64,AA==" } }],
  ["body.messages.0.content.0.file.file_data", { type: "file", file: { file_id: "file-1" } }],
  ["body.messages.0.content.0.file.file_data", { type: "file", file: { file_data: "AA==", filename: "a.exe" } }],
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

// Tools

const called: ChatMessage[] = [
  user,
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } },
      { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{city" } },
    ],
  },
  { role: "tool", tool_call_id: "call_1", content: '{"celsius":30}' },
  { role: "tool", tool_call_id: "call_2", content: "" },
];

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

test("the old function_call and its result are told as a call and its result", () => {
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

// Parameters

test("a cap, stop words and sampling have their places; the format's temperature ends at 1", () => {
  const { body, dropped } = ask(nova, {
    max_tokens: 5,
    max_completion_tokens: 7,
    temperature: 1.5,
    top_p: 0.9,
    stop: ["END", " "],
    top_k: 20,
  });

  expect(body.inferenceConfig).toEqual({ maxTokens: 7, temperature: 1, topP: 0.9, stopSequences: ["END"] });
  expect(body.additionalModelRequestFields).toEqual({ inferenceConfig: { topK: 20 } });
  expect(dropped).toEqual(["stop"]);
});

test.each([
  [oldClaude, { temperature: 0.5, topP: 0.9 }, []],
  [sonnet, { temperature: 0.5 }, ["top_p"]],
  [opus, {}, ["temperature", "top_p", "top_k"]],
  ["global.openai.gpt-5.6-sol", {}, ["temperature", "top_p", "top_k"]],
  [llama, { temperature: 0.5, topP: 0.9 }, ["top_k"]],
])("%s gets the sampling that it takes, and the rest is named", (model, sampling, dropped) => {
  const made = ask(model, { temperature: 0.5, top_p: 0.9, top_k: 9, max_tokens: 100 });

  expect(made.body.inferenceConfig).toEqual({ maxTokens: 100, ...sampling });
  expect(made.dropped).toEqual(dropped);
});

test("nulls are absent, and a plain request has no empty members", () => {
  const made = ask(nova, {
    temperature: null,
    top_p: null,
    stop: null,
    tools: null,
    response_format: null,
    max_tokens: null,
  });

  expect(Object.keys(made.body)).toEqual(["messages"]);
  expect(made.dropped).toEqual([]);
});

test.each([
  [nova, {}, undefined],
  [sonnet, {}, 32_768],
  [oldClaude, {}, 8_192],
  [opus, {}, 32_768],
  [opus, { reasoning_effort: "max" }, 128_000],
  [opus, { max_tokens: 9 }, 9],
])("%s with %j may write as much as is good for it", (model, members, cap) => {
  expect(ask(model, members).body.inferenceConfig?.["maxTokens"]).toBe(cap as number);
});

test("Converse's own members and the service tier are passed on", () => {
  const { body } = ask(sonnet, {
    service_tier: "priority",
    guardrailConfig: { guardrailIdentifier: "g", guardrailVersion: "1" },
    requestMetadata: { team: "a" },
    additionalModelRequestFields: { anthropic_beta: ["x"] },
  });

  expect(body["serviceTier"]).toEqual({ type: "priority" });
  expect(body["guardrailConfig"]).toEqual({ guardrailIdentifier: "g", guardrailVersion: "1" });
  expect(body["requestMetadata"]).toEqual({ team: "a" });
  expect(body.additionalModelRequestFields).toEqual({ anthropic_beta: ["x"] });
  expect(ask(sonnet, { service_tier: "scale" }).dropped).toEqual(["service_tier"]);
});

// Thinking

test.each([
  [sonnet, { reasoning_effort: "medium" }, { thinking: { type: "enabled", budget_tokens: 8192 } }],
  [sonnet, { reasoning_effort: "none" }, undefined],
  [llama, { reasoning_effort: "none" }, undefined],
  [
    sonnet,
    { thinking: { type: "enabled", budget_tokens: 3000 } },
    { thinking: { type: "enabled", budget_tokens: 3000 } },
  ],
  [
    "global.anthropic.claude-opus-4-6-v1",
    { reasoning_effort: "xhigh" },
    { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
  ],
  [
    opus,
    { reasoning_effort: "minimal" },
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
  ],
  [opus, { thinking: { type: "adaptive" } }, { thinking: { type: "adaptive", display: "summarized" } }],
  ["global.anthropic.claude-sonnet-5", { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  ["global.anthropic.claude-sonnet-5-5", { reasoning_effort: "none" }, { thinking: { type: "between_tools" } }],
  [nova, { reasoning_effort: "high" }, { reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }],
  [
    nova,
    { reasoning_effort: "high", max_tokens: 10 },
    { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
  ],
  [nova, { reasoning: { enabled: false } }, { reasoningConfig: { type: "disabled" } }],
  ["openai.gpt-oss-120b-1:0", { reasoning_effort: "xhigh" }, { reasoning_effort: "high" }],
  ["global.openai.gpt-5.6-sol", { reasoning_effort: "none" }, { reasoning: { effort: "none" } }],
  ["qwen.qwen3-32b-v1:0", { reasoning: { effort: "low" } }, { reasoning_config: "low" }],
  [
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/a1",
    { thinking: { type: "enabled", budget_tokens: 2000 } },
    { thinking: { type: "enabled", budget_tokens: 2000 } },
  ],
])("%s with %j thinks in its own words", (model, members, fields) => {
  const made = ask(model, members);

  expect(made.body.additionalModelRequestFields).toEqual(fields);
  expect(made.dropped).toEqual([]);
});

test.each([
  [llama, { reasoning_effort: "high" }],
  ["minimax.minimax-m2.5", { reasoning_effort: "none" }],
  ["openai.gpt-oss-120b-1:0", { reasoning_effort: "none" }],
  ["global.anthropic.claude-opus-5-5", { reasoning_effort: "none" }],
  [sonnet, { reasoning_effort: "high", max_tokens: 1024 }],
  [sonnet, { reasoning_effort: "high", tools: [weatherTool], tool_choice: "required" }],
  [sonnet, { reasoning_effort: "high", tools: [weatherTool], messages: called }],
])("%s with %j names the effort as dropped", (model, members) => {
  expect(ask(model, members).dropped).toContain("reasoning_effort");
});

test("a budget stays below the cap and above the maker's least, and leaves room where no cap was given", () => {
  for (const cap of [1025, 1100, 2000, 5000, 100_000])
    for (const reasoning_effort of ["minimal", "low", "medium", "high", "xhigh", "max"]) {
      const { body } = ask(sonnet, { reasoning_effort, max_tokens: cap });
      const budget = memberOf(body.additionalModelRequestFields, "thinking", "budget_tokens");
      expect(budget).toBeGreaterThanOrEqual(1024);
      expect(budget).toBeLessThan(cap);
      expect(body.inferenceConfig?.["maxTokens"]).toBe(cap);
    }
  const exact = ask(sonnet, { thinking: { type: "enabled", budget_tokens: 9_000 }, max_tokens: 2_000 }).body;
  expect(memberOf(exact.additionalModelRequestFields, "thinking", "budget_tokens")).toBe(1_999);
  expect(Number(ask(oldClaude, { reasoning_effort: "high" }).body.inferenceConfig?.["maxTokens"])).toBeGreaterThan(
    16_384,
  );
});

test("while a model thinks it takes no temperature", () => {
  const made = ask(sonnet, { reasoning_effort: "low", temperature: 0.2, top_k: 5 });

  expect(made.body.inferenceConfig?.["temperature"]).toBeUndefined();
  expect(made.dropped.toSorted()).toEqual(["temperature", "top_k"]);
});

// Structured answers

const answerFormat = (schema: JsonObject) =>
  ({ type: "json_schema", json_schema: { name: "city", description: "A city", schema } }) as const;
const citySchema = {
  type: "object",
  properties: { name: { type: "string" }, size: { type: "integer", minimum: 1 } },
  required: ["name", "size"],
};

test("a model with structured output gets the schema, closed and without the bounds that are refused", () => {
  const made = ask(sonnet, { response_format: answerFormat(citySchema) });
  const structure = memberOf(made.body.outputConfig, "textFormat", "structure", "jsonSchema");

  expect(memberOf(structure, "name")).toBe("city");
  expect(JSON.parse(String(memberOf(structure, "schema")))).toEqual({
    ...citySchema,
    properties: { name: { type: "string" }, size: { type: "integer", description: "(minimum: 1)" } },
    additionalProperties: false,
  });
  expect(made.reading.answerTool).toBeNull();
  expect(made.body.toolConfig).toBeUndefined();
});

test.each([
  [nova, { tool: { name: "final_answer" } }, undefined],
  ["openai.gpt-oss-120b-1:0", { any: {} }, undefined],
  [llama, undefined, [{ text: expect.stringContaining("final_answer") }]],
])("%s answers through a tool", (model, toolChoice, system) => {
  const { body, reading } = ask(model, { response_format: answerFormat(citySchema) });

  expect(reading.answerTool).toBe("final_answer");
  expect(body.toolConfig).toEqual({
    tools: [{ toolSpec: { name: "final_answer", description: "A city", inputSchema: { json: citySchema } } }],
    ...(toolChoice === undefined ? {} : { toolChoice }),
  });
  expect(body.system as unknown).toEqual(system);
});

test("beside the caller's tools the answer is one more, and something has to be called", () => {
  const taken = { type: "function", function: { name: "final_answer" } };
  const { body, reading } = ask(nova, { response_format: answerFormat(citySchema), tools: [weatherTool, taken] });

  expect(reading.answerTool).toBe("final_answer_");
  expect(body.toolConfig?.tools).toHaveLength(3);
  expect(body.toolConfig?.toolChoice).toEqual({ any: {} });
});

test.each([
  ["an open object", { type: "object" }],
  ["a map", { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } }],
  ["recursion", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
  [
    "recursion by a definition",
    {
      type: "object",
      properties: { a: { $ref: "#/$defs/n" } },
      $defs: { n: { type: "array", items: { $ref: "#/$defs/n" } } },
    },
  ],
  ["a foreign reference", { type: "object", properties: { a: { $ref: "https://example.com/a" } } }],
  [
    "many optional members",
    { type: "object", properties: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`m${i}`, {}])) },
  ],
])("%s cannot be told as a strict schema, so the tool is used", (_what, schema) => {
  expect(toStrictSchema(schema)).toBeNull();
  expect(ask(sonnet, { response_format: answerFormat(schema) }).reading.answerTool).toBe("final_answer");
});

test("a definition that is used twice is no recursion, and the caller's schema is left as it was", () => {
  const schema = {
    type: "object",
    properties: { a: { $ref: "#/$defs/p" }, b: { $ref: "#/$defs/p" } },
    required: ["a", "b"],
    $defs: { p: { type: "object", properties: { x: { type: "number", maximum: 9 } }, required: ["x"] } },
  };
  const before = JSON.stringify(schema);

  expect(memberOf(toStrictSchema(schema), "$defs", "p", "additionalProperties")).toBe(false);
  expect(JSON.stringify(schema)).toBe(before);
});

test("json_object is asked for in words: there is no such mode", () => {
  expect(ask(sonnet, { response_format: { type: "json_object" } }).body.system).toHaveLength(1);
});

// Thoughts of earlier turns

test("thoughts go back to the model that signed them, before its words and calls; unsigned ones do not", () => {
  const messages: ChatMessage[] = [
    user,
    {
      role: "assistant",
      content: "Hello",
      reasoning_content: "Hm. Never signed.",
      reasoning_details: [
        { type: "reasoning.text", text: "Hm.", signature: "c2ln" },
        { type: "reasoning.encrypted", data: "c2VjcmV0" },
        { type: "reasoning.text", text: "Never signed." },
      ],
    },
    user,
  ];
  expect(ask(sonnet, { messages }).body.messages[1]?.content).toEqual([
    { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
    { reasoningContent: { redactedContent: "c2VjcmV0" } },
    { text: "Hello" },
  ]);
  expect(ask(nova, { messages }).body.messages[1]?.content).toEqual([{ text: "Hello" }]);
});

// Answers

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const answerWith = (content: JsonObject[], stopReason = "end_turn", more: JsonObject = {}) => ({
  output: { message: { role: "assistant", content } },
  stopReason,
  usage,
  metrics: { latencyMs: 1 },
  ...more,
});
const reading = { model: sonnet, answerTool: null };

test("an answer of thoughts, words and calls is a completion", () => {
  const answer = answerWith(
    [
      { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } },
      { reasoningContent: { redactedContent: "c2VjcmV0" } },
      { text: "Let me " },
      { text: "look." },
      { somethingNew: { a: 1 } },
      { toolUse: { toolUseId: "t1", name: "get_weather", input: { city: "Rome" } } },
      { toolUse: { toolUseId: "s1", name: "nova_grounding", input: {}, type: "server_tool_use" } },
    ],
    "tool_use",
    { serviceTier: { type: "priority" } },
  );
  const completion = chat.fromAnswer(answer, reading);

  expect(completion).toMatchObject({ object: "chat.completion", model: sonnet, service_tier: "priority" });
  expect(completion.id).toMatch(/^chatcmpl-.{24}$/);
  expect(completion.choices).toEqual([
    {
      index: 0,
      finish_reason: "tool_calls",
      logprobs: null,
      message: {
        role: "assistant",
        content: "Let me look.",
        refusal: null,
        tool_calls: [{ id: "t1", type: "function", function: { name: "get_weather", arguments: '{"city":"Rome"}' } }],
        reasoning_content: "Hm.",
        reasoning_details: [
          { type: "reasoning.text", text: "Hm.", signature: "c2ln" },
          { type: "reasoning.encrypted", data: "c2VjcmV0" },
        ],
      },
    },
  ]);
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"],
  ["something_new", "stop"],
] as const)("the stop reason %s is %s", (stopReason, finish) => {
  expect(chat.fromAnswer(answerWith([{ text: "x" }], stopReason), reading).choices[0]?.finish_reason).toBe(finish);
});

test("malformed output is a failure of the provider, so that another may be tried", () => {
  const read = () => chat.fromAnswer(answerWith([], "malformed_tool_use"), reading);
  expect(read).toThrow(ErrorInAnswer);
});

test("an answer without a message is none", () => {
  expect(() => chat.fromAnswer({ message: "Service error" }, reading)).toThrow(TypeError);
});

test("the input of the answer's tool is the content", () => {
  const content = [
    { text: "Here it is:" },
    { toolUse: { toolUseId: "t", name: "final_answer", input: { name: "Rome" } } },
  ];
  const completion = chat.fromAnswer(answerWith(content, "tool_use"), { model: nova, answerTool: "final_answer" });

  expect(completion.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: '{"name":"Rome"}' } });
});

test("a citation of a page is an annotation of the words that it stands for", () => {
  const citation = {
    title: "Rome",
    location: { web: { url: "https://example.com/rome", domain: "example.com" } },
    sourceContent: [{ text: "Rome is old." }],
  };
  const cited = {
    citationsContent: { content: [{ text: "It is old." }], citations: [citation, { title: "a document" }] },
  };
  const { message } = chat.fromAnswer(answerWith([{ text: "Rome? " }, cited]), reading).choices[0] ?? {};

  expect(message?.content).toBe("Rome? It is old.");
  expect(message?.annotations).toEqual([
    {
      type: "url_citation",
      url_citation: {
        url: "https://example.com/rome",
        title: "Rome",
        start_index: 6,
        end_index: 16,
        content: "Rome is old.",
      },
    },
  ]);
});

test("the prompt is all of it: what was read from the cache and what was written to it included", () => {
  const cached = {
    inputTokens: 53,
    outputTokens: 205,
    totalTokens: 1799,
    cacheReadInputTokens: 541,
    cacheWriteInputTokens: 1000,
    cacheDetails: [
      { ttl: "1h", inputTokens: 400 },
      { ttl: "5m", inputTokens: 600 },
    ],
  };
  expect(chat.fromAnswer(answerWith([], "end_turn", { usage: cached }), reading).usage).toEqual({
    prompt_tokens: 1594,
    completion_tokens: 205,
    total_tokens: 1799,
    prompt_tokens_details: { cached_tokens: 541, cache_write_tokens: 1000, cache_write_1h_tokens: 400 },
  });
});

test("usage is never negative, and its parts never more than the whole, whatever the vendor says", () => {
  const odd = [0, 7, -3, 2.5, Number.NaN, "9", null, undefined];
  for (const inputTokens of odd)
    for (const cacheReadInputTokens of odd)
      for (const outputTokens of odd) {
        const said = {
          inputTokens,
          cacheReadInputTokens,
          outputTokens,
          cacheDetails: [{ ttl: "1h", inputTokens: 99 }],
        };
        const read = chat.fromAnswer(answerWith([], "end_turn", { usage: said }), reading).usage;
        const { cached_tokens = 0, cache_write_1h_tokens = 0 } = read?.prompt_tokens_details ?? {};
        expect(
          Math.min(read?.prompt_tokens ?? -1, read?.completion_tokens ?? -1, cached_tokens),
        ).toBeGreaterThanOrEqual(0);
        expect(cached_tokens + cache_write_1h_tokens).toBeLessThanOrEqual(read?.prompt_tokens ?? -1);
        expect(read?.total_tokens).toBe((read?.prompt_tokens ?? 0) + (read?.completion_tokens ?? 0));
      }
  expect(chat.fromAnswer(answerWith([], "end_turn", { usage: null }), reading).usage).toBeUndefined();
});

// Streams

type Event = readonly [name: string, value: JsonObject];

const start: Event = ["messageStart", { role: "assistant" }];
const delta = (at: number, value: JsonObject): Event => [
  "contentBlockDelta",
  { contentBlockIndex: at, delta: value, p: "ab" },
];
const stop = (at: number): Event => ["contentBlockStop", { contentBlockIndex: at }];
const end = (stopReason: string): Event => ["messageStop", { stopReason }];
const metadata: Event = ["metadata", { usage, metrics: { latencyMs: 1 } }];
const callStart = (at: number, toolUseId: string, name: string): Event => [
  "contentBlockStart",
  { contentBlockIndex: at, start: { toolUse: { toolUseId, name } } },
];

function readStream(
  events: readonly Event[],
  { model, answerTool }: { model: string; answerTool: string | null } = reading,
) {
  const reader = chat.createStreamReader({ model, answerTool });
  const chunks: ChatChunk[] = [];
  for (const [name, value] of events) chunks.push(...reader.read({ name, value }));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    reader,
    chunks,
    deltas: choices.map((choice) => choice.delta),
    finishes: choices.map((c) => c.finish_reason),
  };
}

test("a stream of thoughts, words and calls: one role, one id, one finish, calls counted from 0, usage at the end", () => {
  const { chunks, deltas, finishes, reader } = readStream([
    start,
    delta(0, { reasoningContent: { text: "H" } }),
    delta(0, { reasoningContent: { text: "m." } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    stop(0),
    delta(1, { text: "" }),
    delta(1, { text: "Let me look." }),
    stop(1),
    callStart(2, "t1", "get_weather"),
    delta(2, { toolUse: { input: '{"city":' } }),
    delta(2, { toolUse: { input: '"Rome"}' } }),
    stop(2),
    callStart(3, "t2", "get_time"),
    stop(3),
    ["somethingNew", { a: 1 }],
    end("tool_use"),
    metadata,
  ]);

  expect(deltas).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "H" },
    { reasoning_content: "m." },
    { reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "c2ln" }] },
    { content: "Let me look." },
    { tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "get_weather", arguments: "" } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] },
    { tool_calls: [{ index: 1, id: "t2", type: "function", function: { name: "get_time", arguments: "" } }] },
    { tool_calls: [{ index: 1, function: { arguments: "{}" } }] },
    {},
  ]);
  expect(finishes.filter((finish) => finish !== null)).toEqual(["tool_calls"]);
  expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
  expect(reader.isComplete).toBe(true);
});

test("a stream is complete with its stop and not before, with or without metadata", () => {
  const events = [start, delta(0, { text: "Hi" }), stop(0)];

  expect(readStream(events).reader.isComplete).toBe(false);
  expect(readStream([...events, end("end_turn")]).reader.isComplete).toBe(true);
});

test("a stream without its start still has its role", () => {
  expect(readStream([delta(0, { text: "Hi" })]).deltas).toEqual([{ role: "assistant", content: "Hi" }]);
});

test("hidden thoughts that come in pieces are put together", () => {
  const pieces = ["one", "two!", "three"].map((text) => Buffer.from(text).toString("base64"));
  const { deltas } = readStream([
    start,
    ...pieces.map((piece) => delta(0, { reasoningContent: { redactedContent: piece } })),
    stop(0),
  ]);

  expect(deltas[1]).toEqual({
    reasoning_details: [{ type: "reasoning.encrypted", data: Buffer.from("onetwo!three").toString("base64") }],
  });
});

test("the input of the answer's tool is streamed as content, and words beside it are held back", () => {
  const answerTool = "final_answer";
  const { deltas, finishes } = readStream(
    [
      start,
      delta(0, { text: "Here:" }),
      stop(0),
      callStart(1, "t", answerTool),
      delta(1, { toolUse: { input: '{"name":' } }),
      delta(1, { toolUse: { input: '"Rome"}' } }),
      stop(1),
      end("tool_use"),
    ],
    { model: nova, answerTool },
  );
  expect(deltas.map((one) => one.content ?? "").join("")).toBe('{"name":"Rome"}');
  expect(finishes.at(-1)).toBe("stop");

  const plain = readStream([start, delta(0, { text: '{"name":' }), delta(0, { text: '"Rome"}' }), end("end_turn")], {
    model: nova,
    answerTool,
  });
  expect(plain.deltas.map((one) => one.content ?? "").join("")).toBe('{"name":"Rome"}');
});

test("tools that the service runs itself do not reach the caller", () => {
  const server: Event = [
    "contentBlockStart",
    { contentBlockIndex: 0, start: { toolUse: { toolUseId: "s", name: "nova_grounding", type: "server_tool_use" } } },
  ];
  const { deltas, finishes } = readStream([
    start,
    server,
    delta(0, { toolUse: { input: "{}" } }),
    stop(0),
    delta(1, { text: "x" }),
    end("end_turn"),
  ]);

  expect(deltas).toEqual([{ role: "assistant", content: "" }, { content: "x" }, {}]);
  expect(finishes.at(-1)).toBe("stop");
});

test("a citation in a stream refers to the words of its block", () => {
  const citation = { title: "Rome", location: { web: { url: "https://example.com" } } };
  const { deltas } = readStream([
    start,
    delta(0, { text: "Rome? " }),
    stop(0),
    delta(1, { text: "Old." }),
    delta(1, { citation }),
    stop(1),
  ]);

  expect(deltas.at(-1)?.annotations?.[0]?.url_citation).toEqual({
    url: "https://example.com",
    title: "Rome",
    start_index: 6,
    end_index: 10,
  });
});

test("a stream that counts the cached part among the input does not count it twice", () => {
  const counted = { usage: { inputTokens: 4995, outputTokens: 19, cacheWriteInputTokens: 4993, totalTokens: 10_007 } };
  const promptOf = (model: string) =>
    readStream([["metadata", counted]], { model, answerTool: null }).chunks[0]?.usage?.prompt_tokens;

  expect(promptOf("global.openai.gpt-5.6-sol")).toBe(4995);
  expect(promptOf(sonnet)).toBe(9988);
});

test.each([
  ["throttlingException", 429],
  ["serviceUnavailableException", 503],
  ["internalServerException", 500],
  ["modelStreamErrorException", 502],
  ["validationException", 400],
  ["somethingNewException", null],
])("the event %s ends the stream with status %p", (name, status) => {
  const value = { message: "Too much", [failureMember]: name };
  const read = () => readStream([start, delta(0, { text: "Hi" }), [name, value]]);

  expect(read).toThrow(expect.objectContaining({ name: "ErrorInAnswer", message: "Too much", status }));
});

test("what a model calls can be sent back as it came, whole or streamed", () => {
  const inputs = [{}, { city: "Rome" }, { deep: { list: [1, "ü", null, { a: '"\n' }] } }];
  const calls = inputs.map((input, index) => ({ toolUse: { toolUseId: `t${index}`, name: "get_weather", input } }));
  const thought = { reasoningContent: { reasoningText: { text: "Hm.", signature: "c2ln" } } };
  const whole = chat.fromAnswer(answerWith([thought, { text: "So:" }, ...calls], "tool_use"), reading).choices[0]
    ?.message;
  const sendBack = (message: object) =>
    ask(sonnet, { messages: [user, { ...message, role: "assistant" } as ChatMessage], tools: [weatherTool] }).body
      .messages[1]?.content;

  expect(sendBack(whole ?? {})).toEqual([thought, { text: "So:" }, ...calls]);

  const { deltas } = readStream([
    start,
    delta(0, { reasoningContent: { text: "Hm." } }),
    delta(0, { reasoningContent: { signature: "c2ln" } }),
    stop(0),
    delta(1, { text: "So:" }),
    stop(1),
    ...calls.flatMap(({ toolUse }, index): Event[] => [
      callStart(2 + index, toolUse.toolUseId, toolUse.name),
      ...[...JSON.stringify(toolUse.input)].map((letter) => delta(2 + index, { toolUse: { input: letter } })),
      stop(2 + index),
    ]),
    end("tool_use"),
  ]);
  expect(sendBack(join(deltas))).toEqual([thought, { text: "So:" }, ...calls]);
});

/** As a client puts a stream together. */
function join(deltas: readonly ChatChunk["choices"][number]["delta"][]) {
  const tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
  for (const part of deltas.flatMap((one) => one.tool_calls ?? [])) {
    tool_calls[part.index] ??= {
      id: part.id ?? "",
      type: "function",
      function: { name: part.function?.name ?? "", arguments: "" },
    };
    const call = tool_calls[part.index];
    if (call !== undefined) call.function.arguments += part.function?.arguments ?? "";
  }
  return {
    content: deltas.map((one) => one.content ?? "").join(""),
    reasoning_details: deltas.flatMap((one) => one.reasoning_details ?? []),
    tool_calls,
  };
}

// Refusals. The sentences are the service's own.

test.each([
  [400, "The provided model identifier is invalid.", 404],
  [400, "Input is too long for requested model.", undefined],
  [400, "Your request exceeds the service quota for your account.", 429],
  [403, "You don't have access to the model with the specified model ID.", undefined],
  [408, "The model took too long.", undefined],
  [424, "The model returned the following errors: boom", 502],
  [429, "Too many tokens, please wait before trying again.", undefined],
  [500, "Internal error", undefined],
])("a refusal %i '%s' means %p", (status, message, means) => {
  expect(chat.readRefusal?.(status, { message }).status).toBe(means as number);
});

// Embeddings

function embed(model: string, input: readonly string[], members: JsonObject = {}) {
  const made = embeddings.toRequest({ model, input, ...members }, { model, facts: null, isStream: false });
  return { ...made, body: JSON.parse(made.body) };
}

test.each([
  ["amazon.titan-embed-text-v2:0", { dimensions: 256 }, { inputText: "a", dimensions: 256 }, []],
  ["amazon.titan-embed-text-v1", { dimensions: 256 }, { inputText: "a" }, ["dimensions"]],
  [
    "amazon.titan-embed-image-v1",
    { dimensions: 256 },
    { inputText: "a", embeddingConfig: { outputEmbeddingLength: 256 } },
    [],
  ],
  [
    "cohere.embed-english-v3",
    { dimensions: 256, input_type: "search_query" },
    { texts: ["a"], input_type: "search_query", embedding_types: ["float"] },
    ["dimensions"],
  ],
  [
    "us.cohere.embed-v4:0",
    { dimensions: 256 },
    { texts: ["a"], input_type: "search_document", embedding_types: ["float"], output_dimension: 256 },
    [],
  ],
  [
    "amazon.nova-2-multimodal-embeddings-v1:0",
    { dimensions: 256, input_type: "search_query" },
    {
      taskType: "SINGLE_EMBEDDING",
      singleEmbeddingParams: {
        embeddingPurpose: "TEXT_RETRIEVAL",
        embeddingDimension: 256,
        text: { truncationMode: "END", value: "a" },
      },
    },
    [],
  ],
])("an embedding by %s is asked for in the model's own body", (model, members, body, dropped) => {
  const made = embed(model, ["a"], members);

  expect(made.path).toBe(`/model/${encodeURIComponent(model)}/invoke`);
  expect(made.body).toEqual(body);
  expect(made.dropped).toEqual(dropped);
});

test("models that take one text a call refuse more, the others take many", () => {
  expect(problemOf(() => embed("amazon.titan-embed-text-v2:0", ["a", "b"])).loc).toBe("body.input");
  expect(embed("cohere.embed-english-v3", ["a", "b"]).body.texts).toEqual(["a", "b"]);
  expect(maxEmbeddingInputs("amazon.titan-embed-text-v2:0")).toBe(1);
  expect(maxEmbeddingInputs("us.cohere.embed-v4:0")).toBe(96);
});

test.each([
  [{ embedding: [1, 2], inputTextTokenCount: 3 }, [[1, 2]], 3],
  [{ embeddings: [[1], [2]], id: "x", response_type: "embeddings_floats" }, [[1], [2]], null],
  [{ embeddings: { float: [[1], [2]] } }, [[1], [2]], null],
  [{ embeddings: [{ embeddingType: "TEXT", embedding: [1, 2] }] }, [[1, 2]], null],
])("vectors are found in %j", (answer, vectors, inputTokens) => {
  expect(embeddings.fromAnswer(answer)).toEqual({ vectors, model: null, inputTokens });
});

test("an answer without vectors is none", () => {
  expect(() => embeddings.fromAnswer({ message: "no" })).toThrow(TypeError);
});
