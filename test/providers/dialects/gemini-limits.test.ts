// Thinking, usage and tools in requests and answers in the format of Gemini, at the limits of each model. The limits are documented
// (https://ai.google.dev/gemini-api/docs/thinking); the contents are invented.

import { describe, expect, test } from "bun:test";
import type { ChatRequest } from "../../../src/contract/chat-format.ts";
import { readTraits } from "../../../src/providers/dialects/gemini/model-traits.ts";
import { fromGeminiUsage } from "../../../src/providers/dialects/gemini/usage.ts";
import { cloudChat, problemOf, weather, write } from "../../support/gemini.ts";

const flash = "gemini-2.5-flash";
const lite = "gemini-2.5-flash-lite";
const pro = "gemini-2.5-pro";

const thinkingOf = (request: Partial<ChatRequest>, model: string) =>
  (write(request, model).body["generationConfig"] as Record<string, unknown> | undefined)?.["thinkingConfig"];

describe("the thinking budget", () => {
  const budget = (thinkingBudget: number) => ({ thinkingBudget, includeThoughts: true });

  test.each([
    [flash, { reasoning_effort: "minimal" }, budget(1_024)],
    [flash, { reasoning_effort: "low" }, budget(1_024)],
    [flash, { reasoning_effort: "medium" }, budget(8_192)],
    [flash, { reasoning_effort: "high" }, budget(24_576)],
    [flash, { reasoning_effort: "max" }, budget(24_576)],
    [pro, { reasoning_effort: "max" }, budget(32_768)],
    [flash, { reasoning_effort: "none" }, { thinkingBudget: 0 }],
    [pro, { reasoning_effort: "none" }, { thinkingBudget: 128 }],
    [lite, { thinking: { type: "enabled", budget_tokens: 100 } }, budget(512)],
    [lite, { thinking: { type: "enabled", budget_tokens: 100 }, max_tokens: 640 }, budget(512)],
    [lite, { thinking: { type: "enabled", budget_tokens: 100 }, max_tokens: 639 }, { thinkingBudget: 0 }],
    [lite, { reasoning: { enabled: true }, max_tokens: 640 }, { includeThoughts: true }],
    [lite, { reasoning: { enabled: true }, max_tokens: 639 }, { thinkingBudget: 0 }],
    [pro, { reasoning: { enabled: true }, max_tokens: 100 }, { includeThoughts: true }],
    [flash, { reasoning_effort: "high", max_tokens: 1_000 }, budget(800)],
    [flash, { thinking: { type: "disabled", budget_tokens: 5_000 } }, { thinkingBudget: 0 }],
    [flash, { reasoning: { max_tokens: 3_000, exclude: true } }, { thinkingBudget: 3_000 }],
    [flash, { reasoning: { enabled: false, max_tokens: 3_000 } }, { thinkingBudget: 0 }],
    [flash, { thinking: { type: "enabled" }, reasoning_effort: "low" }, budget(1_024)],
  ])("of %s with %j is %j", (model, request, config) => {
    expect(thinkingOf(request, model)).toEqual(config);
  });

  test.each([
    [{ thinking: { type: "enabled", budget_tokens: 100 } }, ["thinking.budget_tokens"]],
    [{ reasoning: { max_tokens: 100 } }, ["reasoning.max_tokens"]],
    [{ reasoning: { max_tokens: 1_000 } }, []],
    [{ reasoning_effort: "high", max_tokens: 100 }, ["reasoning_effort"]],
    [{ reasoning_effort: "none", max_tokens: 100 }, []],
  ])("that is not sent as it was requested is named: %j", (request, dropped) => {
    expect(write(request, lite).dropped).toEqual(dropped);
  });

  test("is dropped by a model that does not think", () => {
    expect(write({ reasoning_effort: "high" }, "gemini-2.0-flash").dropped).toEqual(["reasoning_effort"]);
    expect(write({ reasoning_effort: "none" }, "gemini-2.0-flash").dropped).toEqual([]);
    expect(write({ reasoning_effort: "high" }, "gemini-2.5-flash-image").dropped).toEqual(["reasoning_effort"]);
  });

  test("in the vendor's own words is passed on, from either place", () => {
    const google = { thinking_config: { include_thoughts: true, thinking_budget: 5, thinking_level: "low", new: 1 } };
    const config = { includeThoughts: true, thinkingBudget: 5, thinkingLevel: "low", new: 1 };
    expect(thinkingOf({ extra_body: { google } }, flash)).toEqual(config);
    expect(thinkingOf({ google, reasoning_effort: "high" }, flash)).toEqual(config);
    expect(thinkingOf({ google: {}, reasoning_effort: "none" }, flash)).toEqual({ thinkingBudget: 0 });
  });
});

describe("the thinking level", () => {
  const level = (thinkingLevel: string) => ({ thinkingLevel, includeThoughts: true });

  test.each([
    ["gemini-3-flash", { reasoning_effort: "minimal" }, level("MINIMAL")],
    ["gemini-3-flash", { reasoning_effort: "none" }, { thinkingLevel: "MINIMAL" }],
    ["gemini-3-pro", { reasoning_effort: "minimal" }, level("LOW")],
    ["gemini-3-pro", { reasoning_effort: "low" }, level("LOW")],
    ["gemini-3-pro", { reasoning_effort: "medium" }, level("MEDIUM")],
    ["gemini-3-pro", { reasoning_effort: "xhigh" }, level("HIGH")],
    ["gemini-3-pro", { reasoning: { enabled: true } }, { includeThoughts: true }],
    ["gemini-3-pro", { thinking: { type: "enabled", budget_tokens: 4_096 } }, level("LOW")],
    ["gemini-3-pro", { thinking: { type: "enabled", budget_tokens: 4_097 } }, level("MEDIUM")],
    ["gemini-3-pro", { thinking: { type: "enabled", budget_tokens: 16_384 } }, level("MEDIUM")],
    ["gemini-3-pro", { thinking: { type: "enabled", budget_tokens: 16_385 } }, level("HIGH")],
    ["gemini-flash-latest", { reasoning_effort: "none" }, { thinkingLevel: "LOW" }],
  ])("of %s with %j is %j", (model, request, config) => {
    expect(thinkingOf(request, model)).toEqual(config);
  });

  test("that does not exist is refused by its name", () => {
    expect(problemOf({ reasoning_effort: "huge" })).toMatchObject({ loc: ["body", "reasoning_effort"] });
    expect(problemOf({ reasoning: { effort: "huge" } })).toMatchObject({ loc: ["body", "reasoning", "effort"] });
    expect(problemOf({ reasoning: { effort: 5 } })).toMatchObject({ type: "literal_error" });
  });
});

test.each([
  ["gemini-2.5-flash", { isGeneration3: false, canSample: true, takesPenalties: true, hasSystemInstruction: true }],
  ["models/gemini-3-pro", { isGeneration3: true, canSample: true, takesPenalties: true }],
  ["gemini-3.5-flash", { isGeneration3: true, canSample: true, takesPenalties: true }],
  ["gemini-3.5-flash-lite", { isGeneration3: true, canSample: false, takesPenalties: false }],
  ["gemini-3.6-flash", { isGeneration3: true, canSample: false, takesPenalties: false }],
  ["gemini-flash-latest", { isGeneration3: true, canSample: true, takesPenalties: false }],
  ["gemma-3-27b-it", { isGeneration3: false, hasSystemInstruction: false, thinking: null }],
  ["gemma-4-31b", { isGeneration3: false, hasSystemInstruction: true, thinking: null }],
])("the model %s is known by its name", (model, traits) => {
  expect(readTraits(model)).toMatchObject(traits);
});

describe("usage", () => {
  const read = (usage: object, requestedTier: string | null = null, webSearches = 0) =>
    fromGeminiUsage(usage, { webSearches, requestedTier });

  test.each([
    [{ promptTokenCount: 5, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 10 }, [5, 5, 10]],
    [{ promptTokenCount: 5, toolUsePromptTokenCount: 4, candidatesTokenCount: 3 }, [9, 3, 12]],
    [{ candidatesTokenCount: 3, thoughtsTokenCount: 2, toolUsePromptTokenCount: 1, totalTokenCount: 10 }, [5, 5, 10]],
    [{ candidatesTokenCount: 30, totalTokenCount: 10 }, [0, 30, 30]],
    [{ promptTokenCount: 5, totalTokenCount: 10, thoughtsTokenCount: 2 }, [5, 5, 10]],
    [{ promptTokenCount: 50, totalTokenCount: 10 }, [50, 0, 50]],
    [{ promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 100 }, [5, 3, 8]],
    [{ totalTokenCount: 10 }, [0, 10, 10]],
  ])("%j is %j: prompt, completion and total", (usage, counts) => {
    const found = read(usage);
    expect([found?.prompt_tokens, found?.completion_tokens, found?.total_tokens] as unknown).toEqual(counts);
  });

  test("has no more cached or special tokens than the whole", () => {
    const details = (...counts: number[]) => counts.map((tokenCount) => ({ modality: "AUDIO", tokenCount }));
    expect(
      read({
        promptTokenCount: 10,
        candidatesTokenCount: 4,
        cachedContentTokenCount: 99,
        promptTokensDetails: [...details(3, 0), { modality: "TEXT", tokenCount: 4 }],
        toolUsePromptTokensDetails: details(4),
        cacheTokensDetails: details(99),
        candidatesTokensDetails: details(99),
      }),
    ).toMatchObject({
      prompt_tokens_details: { cached_tokens: 10, cached_tokens_details: { audio_tokens: 10 }, audio_tokens: 7 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 4 },
    });
  });

  test.each([
    [{ trafficType: "ON_DEMAND" }, "flex", undefined],
    [{ trafficType: "ON_DEMAND_PRIORITY" }, null, "priority"],
    [{ trafficType: "PROVISIONED_THROUGHPUT" }, null, "PROVISIONED_THROUGHPUT"],
    [{ serviceTier: "STANDARD" }, "flex", undefined],
    [{ serviceTier: "unspecified" }, "flex", undefined],
    [{ serviceTier: "FLEX" }, "flex", "flex"],
    [{}, "flex", "flex_unconfirmed"],
    [{}, null, undefined],
  ])("of %j at the requested tier %p is of the tier %p", (usage, requested, tier) => {
    expect(read({ promptTokenCount: 1, ...usage }, requested)?.["service_tier"]).toBe(tier as string);
  });

  test("counts searches, and is null without counts", () => {
    expect(read({ promptTokenCount: 1 }, null, 2)).toMatchObject({ server_tool_use: { web_search_requests: 2 } });
    expect(read({ promptTokenCount: 1 })).not.toHaveProperty("server_tool_use");
    expect([
      read({ trafficType: "ON_DEMAND" }),
      fromGeminiUsage(null, { webSearches: 0, requestedTier: null }),
    ]).toEqual([null, null]);
    expect(read({ promptTokenCount: 0 })).not.toBeNull();
  });
});

describe("a structured answer beside functions, before generation 3", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const format = (name: string, more: object = {}) =>
    ({ type: "json_schema", json_schema: { name, schema, ...more } }) as NonNullable<ChatRequest["response_format"]>;
  const declarationsOf = (request: Partial<ChatRequest>) => {
    const { body, answerTool } = write({ tools: [weather], ...request }, flash);
    const [tools] = body["tools"] as { functionDeclarations: { name: string; description: string }[] }[];
    return { answerTool, declared: tools?.functionDeclarations ?? [], config: body["toolConfig"] };
  };

  test.each([
    ["city", "city"],
    ["weather", "final_weather"],
    ["not a name", "answer"],
    ["9lives", "answer"],
    [`a${"b".repeat(50)}`, `a${"b".repeat(50)}`],
    [`a${"b".repeat(51)}`, "answer"],
  ])("called %s is a tool with the name %s", (name, tool) => {
    const { answerTool, declared } = declarationsOf({ response_format: format(name) });
    expect([answerTool, declared.map((one) => one.name)]).toEqual([tool, ["weather", tool]]);
    expect(declared[1]?.description).toBe("Gives the final answer in the requested format.");
  });

  test("has the caller's description, and is among the allowed tools", () => {
    const tool_choice = {
      type: "allowed_tools" as const,
      allowed_tools: { mode: "auto" as const, tools: [{ type: "function", function: { name: "weather" } }] },
    };
    const { declared, config } = declarationsOf({
      response_format: format("x", { description: "A city" }),
      tool_choice,
    });
    expect(declared[1]?.description).toBe("A city");
    expect(config).toEqual({ functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather", "x"] } });
  });

  test("without a schema cannot be given, which is named", () => {
    const request = { tools: [weather], response_format: { type: "json_object" as const } };
    expect(write(request, flash)).toMatchObject({ answerTool: null, dropped: ["response_format"] });
    const empty = { type: "json_schema", json_schema: { name: "x" } } as NonNullable<ChatRequest["response_format"]>;
    expect(write({ ...request, response_format: empty }, flash).dropped).toEqual(["response_format"]);
    expect(write({ ...request, tool_choice: "required" }, flash).dropped).toEqual([]);
  });
});

describe("the service", () => {
  test("has tiers or labels, depending on the platform", () => {
    const tierOf = (service_tier: string, dialect?: typeof cloudChat) =>
      write({ service_tier }, flash, dialect).body["serviceTier"];
    expect([tierOf("flex"), tierOf("priority"), tierOf("auto"), tierOf("flex", cloudChat)]).toEqual([
      "flex",
      "priority",
      undefined,
      undefined,
    ]);
  });

  test("asks for calls of its own tools beside functions only where the platform demands it", () => {
    const tools = [weather, { type: "web_search" }];
    const configOf = (dialect?: typeof cloudChat) => write({ tools }, "gemini-3-pro", dialect).body["toolConfig"];
    expect(configOf()).toEqual({ includeServerSideToolInvocations: true });
    expect(configOf(cloudChat)).toBeUndefined();
    expect(write({ tools: [{ type: "web_search" }] }, "gemini-3-pro").body["toolConfig"]).toBeUndefined();
  });
});
