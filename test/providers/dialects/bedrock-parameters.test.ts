// Parameters of a request in the format of Bedrock: limits, thinking, structured answers, embeddings.

import { expect, test } from "bun:test";
import type { EmbeddingsDialect, JsonObject } from "../../../src/providers/dialect.ts";
import { maxEmbeddingInputs } from "../../../src/providers/dialects/bedrock/embeddings.ts";
import { bedrock } from "../../../src/providers/dialects/bedrock/index.ts";
import { toStrictSchema } from "../../../src/providers/dialects/bedrock/schema.ts";
import {
  ask,
  called,
  chat,
  llama,
  memberOf,
  nova,
  opus,
  problemOf,
  sonnet,
  weatherTool,
} from "../../support/bedrock.ts";

const embeddings = bedrock.embeddings as EmbeddingsDialect;

const oldClaude = "us.anthropic.claude-3-7-sonnet-20250219-v1:0";

// Structured answers

const answerFormat = (schema: JsonObject) =>
  ({ type: "json_schema", json_schema: { name: "city", description: "A city", schema } }) as const;

const citySchema = {
  type: "object",
  properties: { name: { type: "string" }, size: { type: "integer", minimum: 1 } },
  required: ["name", "size"],
};

// Embeddings

function embed(model: string, input: readonly string[], members: JsonObject = {}) {
  const made = embeddings.toRequest({ model, input, ...members }, { model, facts: null, isStream: false });
  return { ...made, body: JSON.parse(made.body) };
}

// Parameters

test("a cap, stop words and sampling have their places; a temperature above 1 becomes 1, which is named", () => {
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
  expect(dropped).toEqual(["temperature", "stop"]);
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
  [
    opus,
    { thinking: { type: "adaptive", display: "omitted" }, reasoning_effort: "low" },
    { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "low" } },
  ],
  [
    "global.anthropic.claude-opus-4-6-v1",
    { reasoning: { effort: "low", exclude: true } },
    { thinking: { type: "adaptive", display: "omitted" }, output_config: { effort: "low" } },
  ],
  [opus, { thinking: { type: "disabled" }, reasoning_effort: "low" }, { output_config: { effort: "low" } }],
  [
    "global.anthropic.claude-sonnet-5",
    { thinking: { type: "disabled" }, reasoning_effort: "max" },
    { thinking: { type: "disabled" }, output_config: { effort: "high" } },
  ],
  ["global.anthropic.claude-sonnet-5", { reasoning_effort: "none" }, { thinking: { type: "disabled" } }],
  [
    "global.anthropic.claude-sonnet-5-5",
    { thinking: { type: "between_tools" } },
    { thinking: { type: "between_tools" } },
  ],
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
  ["openai.gpt-oss-120b-1:0", { thinking: { type: "adaptive" }, reasoning_effort: "low" }, { reasoning_effort: "low" }],
  ["qwen.qwen3-32b-v1:0", { reasoning: { effort: "low" } }, { reasoning_config: "low" }],
  [
    "arn:aws:bedrock:us-east-1:1:application-inference-profile/a1",
    { thinking: { type: "adaptive" }, reasoning_effort: "low" },
    { thinking: { type: "adaptive" }, output_config: { effort: "low" } },
  ],
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

test.each([
  [
    opus,
    { thinking: { type: "enabled", budget_tokens: 2000 }, reasoning_effort: "max" },
    { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } },
    ["thinking.budget_tokens"],
  ],
  [
    sonnet,
    { thinking: { type: "enabled", budget_tokens: 2000, display: "omitted" } },
    { thinking: { type: "enabled", budget_tokens: 2000 } },
    ["thinking.display"],
  ],
  [
    "global.anthropic.claude-sonnet-5",
    { thinking: { type: "between_tools" } },
    { thinking: { type: "disabled" } },
    ["thinking"],
  ],
  [opus, { thinking: { type: "between_tools" } }, undefined, ["thinking"]],
])("%s with %j: an effort wins over a budget, and changes are named", (model, members, fields, named) => {
  const made = ask(model, members);

  expect(made.body.additionalModelRequestFields).toEqual(fields);
  expect(made.dropped).toEqual(named);
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

const otherTool = { type: "function", function: { name: "other" } };
const named = { type: "function", function: { name: "other" } } as const;
const gptOss = "openai.gpt-oss-120b-1:0";

test.each([
  [nova, "required", { any: {} }, ["get_weather", "other"]],
  [nova, named, { tool: { name: "other" } }, ["get_weather", "other"]],
  // This model can be required to call a tool, but not a certain one.
  [gptOss, named, { any: {} }, ["other"]],
  [nova, { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } }, { any: {} }, ["other"]],
] as const)("for %s, a call that is required by %j is the answer", (model, tool_choice, toolChoice, names) => {
  const tools = [weatherTool, otherTool];
  const { body, reading, dropped } = ask(model, { response_format: answerFormat(citySchema), tools, tool_choice });

  expect(body.toolConfig?.tools.map((tool) => memberOf(tool, "toolSpec", "name"))).toEqual([...names]);
  expect(body.toolConfig?.toolChoice).toEqual(toolChoice);
  expect(reading.answerTool).toBeNull();
  expect(dropped).toEqual([]);
});

test("a model that cannot be required to call a tool keeps the format of its answer, and the choice is named", () => {
  const request = { response_format: answerFormat(citySchema), tools: [weatherTool] };
  const { body, reading, dropped } = ask(llama, { ...request, tool_choice: "required" });

  expect(reading.answerTool).toBe("final_answer");
  expect(body.toolConfig?.tools).toHaveLength(2);
  expect(body.system).toEqual([{ text: expect.stringContaining("final_answer") }]);
  expect(dropped).toEqual(["tool_choice"]);
  expect(ask(llama, request).dropped).toEqual([]);
  const chosen = ask(llama, { ...request, tools: [weatherTool, otherTool], tool_choice: named });
  const offered = chosen.body.toolConfig?.tools.map((tool) => memberOf(tool, "toolSpec", "name"));
  expect(offered).toEqual(["other", "final_answer"]);
  expect(chosen.dropped).toEqual(["tool_choice"]);
});

test("without tools, a required call leaves the answer its format", () => {
  const { body, reading } = ask(nova, { response_format: answerFormat(citySchema), tool_choice: "required" });

  expect(reading.answerTool).toBe("final_answer");
  expect(body.toolConfig?.toolChoice).toEqual({ tool: { name: "final_answer" } });
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

test.each([
  ["lookahead", "^(?=a)b"],
  ["lookbehind", "(?<!a)b"],
  ["a backreference by number", "(a)\\1"],
  ["a backreference by name", "(?<first>a)\\k<first>"],
])("a pattern with %s is described, because Bedrock refuses it", (_what, pattern) => {
  const schema = { type: "object", properties: { a: { type: "string", pattern } }, required: ["a"] };
  const description = `(pattern: ${JSON.stringify(pattern)})`;
  expect(memberOf(toStrictSchema(schema), "properties", "a")).toEqual({ type: "string", description });
});

test("a pattern with a named group and a length are kept", () => {
  const schema = { type: "string", pattern: "^(?<year>[0-9]{4})$", minLength: 4 };
  expect(toStrictSchema({ type: "object", properties: { a: schema } })).toMatchObject({ properties: { a: schema } });
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

test("json_object becomes an instruction, because there is no such mode", () => {
  expect(ask(sonnet, { response_format: { type: "json_object" } }).body.system).toHaveLength(1);
});

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

test.each([
  ["amazon.titan-embed-text-v2:0", { dimensions: 256 }, { inputText: "a", dimensions: 256 }, []],
  ["amazon.titan-embed-text-v2:0", { normalize: false }, { inputText: "a", normalize: false }, []],
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
])("the embeddings request for %s has the body of its model", (model, members, body, dropped) => {
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

test("an answer without vectors is refused", () => {
  expect(() => embeddings.fromAnswer({ message: "no" })).toThrow(TypeError);
});
