// Limits of the service in requests in the format of Bedrock: budgets, names of documents, strict tools, content beside tool results.
// The limits are documented (https://docs.aws.amazon.com/bedrock/latest/userguide); the contents are invented.

import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatPart, ChatTool } from "../../../src/contract/chat-format.ts";
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

describe("the thinking budget", () => {
  const budgetOf = (members: Parameters<typeof ask>[1], model = sonnet) =>
    memberOf(ask(model, members).body.additionalModelRequestFields, "thinking", "budget_tokens");

  test.each([
    [{ reasoning_effort: "minimal" }, 1_024],
    [{ reasoning_effort: "low" }, 2_048],
    [{ reasoning_effort: "medium" }, 8_192],
    [{ reasoning_effort: "high" }, 16_384],
    [{ reasoning_effort: "xhigh" }, 32_768],
    [{ reasoning_effort: "max" }, 32_768],
    [{ reasoning_effort: "unheard-of" }, 8_192],
    [{ reasoning: { enabled: true } }, 8_192],
    [{ reasoning: { max_tokens: 5_000 } }, 5_000],
    [{ reasoning_effort: "high", max_tokens: 4_000 }, 3_000],
    [{ reasoning_effort: "high", max_tokens: 1_025 }, 1_024],
    [{ thinking: { type: "enabled", budget_tokens: 500 } }, 1_024],
    [{ thinking: { type: "enabled", budget_tokens: 4_000 }, max_tokens: 4_000 }, 3_999],
  ])("of %j is %d", (members, budget) => {
    expect(budgetOf(members)).toBe(budget);
  });

  test("leaves 4,096 tokens for the answer, up to the limit of the model", () => {
    const capOf = (budget_tokens: number) =>
      ask(sonnet, { thinking: { type: "enabled", budget_tokens } }).body.inferenceConfig?.["maxTokens"];
    expect([capOf(2_000), capOf(40_000), capOf(63_000)]).toEqual([32_768, 44_096, 64_000]);
  });

  test.each([
    [4_096, "low"],
    [4_097, "medium"],
    [12_288, "medium"],
    [12_289, "high"],
  ])("of %d tokens is the effort %s for a model that has efforts", (budget_tokens, effort) => {
    const { body } = ask(opus, { thinking: { type: "enabled", budget_tokens } });
    expect(memberOf(body.additionalModelRequestFields, "output_config", "effort")).toBe(effort);
    const config = ask(nova, { reasoning: { max_tokens: budget_tokens } }).body.additionalModelRequestFields;
    expect(memberOf(config, "reasoningConfig", "maxReasoningEffort")).toBe(effort);
  });

  test("that is not sent as it was requested is named", () => {
    const requested = { thinking: { type: "enabled", budget_tokens: 500 } };
    expect([ask(sonnet, requested).dropped, ask(opus, requested).dropped]).toEqual([
      ["thinking.budget_tokens"],
      ["thinking.budget_tokens"],
    ]);
    expect(ask(sonnet, { thinking: { type: "enabled", budget_tokens: 2_000 } }).dropped).toEqual([]);
  });
});

describe("an id of a model", () => {
  test.each([
    ["amazon.nova-lite-v1:0", "amazon", "nova-lite-v1:0"],
    ["us.anthropic.claude-sonnet-4-6", "anthropic", "claude-sonnet-4-6"],
    ["arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-x", "anthropic", "claude-x"],
    ["arn:aws:bedrock:us-east-1::foundation-model/meta.llama3", "meta", "llama3"],
    ["arn:aws:bedrock:us-east-1:1:application-inference-profile/a1", null, "a1"],
    ["a.b.anthropic.claude-x", null, "a.b.anthropic.claude-x"],
    ["unknown.model", null, "unknown.model"],
  ])("%s names its maker and the model", (id, maker, name) => {
    expect(splitModelId(id)).toEqual({ maker, name });
    expect(findTraits(id).isKnown).toBe(maker !== null);
  });

  test.each([
    ["xai.grok-4", { temperature: 0.5 }, {}, ["temperature"]],
    ["zai.glm-4.7", { temperature: 0.5 }, { temperature: 0.5 }, []],
    ["anthropic.claude-fable-5", { temperature: 0.5 }, {}, ["temperature"]],
  ])("%s decides about sampling: %j", (model, members, sampling, dropped) => {
    const made = ask(model, { max_tokens: 5, ...members });
    expect([made.body.inferenceConfig, made.dropped]).toEqual([{ maxTokens: 5, ...sampling }, dropped]);
  });

  test.each([
    ["anthropic.claude-sonnet-4-5", "outputConfig"],
    ["anthropic.claude-fable-5", "toolConfig"],
    ["anthropic.claude-3-7-sonnet", "toolConfig"],
    ["qwen.qwen3-32b-v1:0", "outputConfig"],
    ["qwen.qwen2-7b", "toolConfig"],
    ["mistral.mistral-large-3-675b", "outputConfig"],
    ["mistral.mistral-7b-instruct", "toolConfig"],
    ["google.gemma-3-27b-it", "outputConfig"],
    ["google.gemma-3-4b-it", "toolConfig"],
    ["minimax.minimax-m2", "outputConfig"],
    ["nvidia.nemotron-nano-9b", "outputConfig"],
    ["zai.glm-4.7", "outputConfig"],
    ["moonshot.kimi-k2", "outputConfig"],
    ["moonshotai.kimi-k2.5", "outputConfig"],
  ])("%s has structured answers in %s", (model, member) => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    const { body } = ask(model, { response_format: { type: "json_schema", json_schema: { name: "x", schema } } });
    expect(Object.keys(body)).toContain(member);
    expect(Object.keys(body)).not.toContain(member === "outputConfig" ? "toolConfig" : "outputConfig");
  });

  test.each([
    ["anthropic.claude-sonnet-4-5", { tool: { name: "get_weather" } }],
    ["amazon.nova-pro-v1:0", { tool: { name: "get_weather" } }],
    ["xai.grok-4", { tool: { name: "get_weather" } }],
    ["zai.glm-4.7", { tool: { name: "get_weather" } }],
    ["moonshotai.kimi-k2.5", { tool: { name: "get_weather" } }],
    ["mistral.mistral-large-3-675b", { any: {} }],
    ["openai.gpt-oss-120b-1:0", { any: {} }],
    ["amazon.titan-text-premier-v1:0", undefined],
    ["meta.llama3-3-70b-instruct-v1:0", undefined],
    ["writer.palmyra-x5-v1:0", undefined],
    ["cohere.command-r-plus-v1:0", undefined],
    ["ai21.jamba-1-5-large-v1:0", undefined],
  ])("%s is required to call a tool with %j", (model, toolChoice) => {
    const made = ask(model, {
      tools: [weatherTool],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
    expect(made.body.toolConfig?.toolChoice).toEqual(toolChoice as never);
    expect(made.dropped).toEqual(toolChoice === undefined ? ["tool_choice"] : []);
  });
});

describe("a document", () => {
  const namesOf = (...filenames: (string | undefined)[]) => {
    const content = filenames.map((filename): ChatPart => {
      const file = {
        file_data: `data:application/pdf;base64,${btoa("%PDF")}`,
        ...(filename !== undefined && { filename }),
      };
      return { type: "file", file };
    });
    const blocks = ask(sonnet, { messages: [{ role: "user", content }] }).body.messages[0]?.content ?? [];
    return blocks.flatMap((block) => memberOf(block, "document", "name") ?? []);
  };

  test("has a name of its own in the characters that the service takes", () => {
    expect(namesOf("a_b.pdf", "Q1  report (v2) [x]-é.final.pdf", "a_b.pdf", "a_b.pdf", ".pdf", undefined)).toEqual([
      "a-b",
      "Q1 report (v2) [x]--final",
      "a-b (2)",
      "a-b (3)",
      "document",
      "document (2)",
    ]);
  });

  test("has a name of at most 180 characters", () => {
    expect(namesOf(`${"x".repeat(180)}.pdf`, `${"y".repeat(181)}.pdf`)).toEqual(["x".repeat(180), "y".repeat(180)]);
  });

  test.each([
    ["data:text/x-python;base64,eA==", "a.py", { format: "txt" }],
    ["data:application/octet-stream;base64,eA==", "A.DOCX", { format: "docx" }],
    ["eA==", "notes.htm", { format: "html" }],
  ])("of %s called %s has its format", (file_data, filename, expected) => {
    const content: ChatPart[] = [{ type: "file", file: { file_data, filename } }];
    const [block] = ask(sonnet, { messages: [{ role: "user", content }] }).body.messages[0]?.content ?? [];
    expect(memberOf(block, "document")).toMatchObject(expected);
  });
});

describe("strict tools", () => {
  const tools = (count: number, strict: boolean): ChatTool[] =>
    Array.from({ length: count }, (_, index) => {
      const parameters = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
      return { type: "function", function: { name: `${strict ? "strict" : "loose"}_${index}`, strict, parameters } };
    });
  const strictIn = (all: ChatTool[]) => {
    const made = ask(sonnet, { tools: all });
    const written = made.body.toolConfig?.tools ?? [];
    return [written.filter((tool) => memberOf(tool, "toolSpec", "strict") === true).length, made.dropped];
  };

  test("are twenty at most, whatever other tools there are", () => {
    expect(strictIn([...tools(20, true), ...tools(5, false)])).toEqual([20, []]);
    expect(strictIn(tools(21, true))).toEqual([0, ["tools.strict"]]);
  });

  test("are not strict for a model without structured answers", () => {
    const made = ask(nova, { tools: tools(1, true) });
    expect(memberOf(made.body.toolConfig?.tools[0], "toolSpec", "strict")).toBeUndefined();
    expect(made.dropped).toEqual(["tools.strict"]);
  });
});

describe("the names of tools", () => {
  const named = (name: string): ChatTool => ({ type: "function", function: { name } });

  test("have at most 64 letters, digits, underscores and hyphens", () => {
    expect(ask(sonnet, { tools: [named(`a-_9${"x".repeat(60)}`)] }).body.toolConfig?.tools).toHaveLength(1);
    for (const name of ["x".repeat(65), "a.b", ""])
      expect(problemOf(() => ask(sonnet, { tools: [named(name)] }))).toMatchObject({
        loc: "body.tools.0.function.name",
      });
  });

  test("that a choice has are among the tools", () => {
    const tool_choice = { type: "function" as const, function: { name: "b" } };
    expect(ask(sonnet, { tools: [named("a"), named("b")], tool_choice }).body.toolConfig?.toolChoice).toEqual({
      tool: { name: "b" },
    });
    expect(problemOf(() => ask(sonnet, { tools: [named("a")], tool_choice }))).toMatchObject({
      loc: "body.tool_choice",
    });
  });
});

describe("content after tool results", () => {
  const part = (mediaType: string, filename: string): ChatPart => {
    return { type: "file", file: { file_data: `data:${mediaType};base64,${btoa("x")}`, filename } };
  };
  const after = (model: string, content: ChatMessage["content"]) => {
    const messages = [...called, { role: "user", content } as ChatMessage];
    return ask(model, { messages, tools: [weatherTool] }).body.messages.at(-1)?.content ?? [];
  };
  const kindsOf = (blocks: readonly object[]) => blocks.map((block) => Object.keys(block)[0]);

  test("stands beside them where the model takes it", () => {
    expect(kindsOf(after(sonnet, "And now?"))).toEqual(["toolResult", "toolResult", "text"]);
    expect(kindsOf(after(nova, [part("application/pdf", "a.pdf")]))).toEqual([
      "toolResult",
      "toolResult",
      "document",
      "text",
    ]);
  });

  test.each([
    ["application/pdf", "a.pdf", "document"],
    ["video/mp4", "a.mp4", "video"],
  ])("of type %s becomes part of the last result where the model refuses it beside results", (type, name, kind) => {
    const blocks = after(sonnet, [part(type, name)]);
    expect(kindsOf(blocks)).toEqual(["toolResult", "toolResult"]);
    const inside = memberOf(blocks[1], "toolResult", "content") as object[];
    expect(kindsOf(inside)).toEqual(["text", kind]);
  });

  test("becomes part of the last result as a marked message where the model takes results alone", () => {
    const inside = memberOf(after(llama, "And now?").at(-1), "toolResult", "content") as object[];
    expect(inside.at(-1)).toEqual({ text: "<user_message>\nAnd now?\n</user_message>" });
    const mistral = memberOf(after("mistral.mistral-large-3-675b", "And now?").at(-1), "toolResult", "content");
    expect((mistral as object[]).at(-1)).toEqual({ json: { user_message: "And now?" } });
  });
});

test("a conversation of instructions alone is a question of the user", () => {
  const { body } = ask(sonnet, { messages: [{ role: "system", content: "Say hello." }] });
  expect([body.messages, body.system]).toEqual([[{ role: "user", content: [{ text: "Say hello." }] }], undefined]);
});

test.each([
  ["zai.glm-4.7", ["assistant", "user"]],
  ["qwen.qwen3-32b-v1:0", ["assistant", "user"]],
  ["moonshotai.kimi-k2.5", ["assistant", "user"]],
  ["amazon.nova-pro-v1:0", ["user", "assistant", "user"]],
])("a conversation of %s that begins with the assistant has the turns %j", (model, roles) => {
  const { messages } = ask(model, { messages: [{ role: "assistant", content: "Hello." }, user] }).body;
  expect(messages.map(({ role }) => role)).toEqual(roles);
});

test("a failed tool says so, and one that wrote nothing has words all the same", () => {
  const [question, calls] = called as [ChatMessage, ChatMessage];
  const failed = { role: "tool", tool_call_id: "call_1", content: " ", is_error: true } as ChatMessage;
  const { messages } = ask(sonnet, { messages: [question, calls, failed], tools: [weatherTool] }).body;
  expect(messages.at(-1)?.content).toEqual([
    { toolResult: { toolUseId: "call_1", content: [{ text: "(no output)" }], status: "error" } },
  ]);
});

test("a mark of the cache keeps its hour where the model has that", () => {
  const marked = (ttl: string) => {
    const content = [{ type: "text", text: "Hi", cache_control: { type: "ephemeral", ttl } }];
    return [{ role: "user", content }] as unknown as ChatMessage[];
  };
  const markOf = (model: string, ttl: string) => ask(model, { messages: marked(ttl) }).body.messages[0]?.content[1];
  expect([markOf(sonnet, "1h"), markOf(sonnet, "5m"), markOf(nova, "1h"), markOf(llama, "1h")]).toEqual([
    { cachePoint: { type: "default", ttl: "1h" } },
    { cachePoint: { type: "default" } },
    { cachePoint: { type: "default" } },
    undefined,
  ]);
});

test("a structured answer by a tool is an object", () => {
  const answerIn = (schema: JsonObject) =>
    ask(llama, { response_format: { type: "json_schema", json_schema: { name: "x", schema } } }).body.toolConfig?.tools;
  expect([answerIn({ type: "object" })?.length, answerIn({ properties: {} })?.length]).toEqual([1, 1]);
  expect(problemOf(() => answerIn({ type: "array" }))).toMatchObject({ type: "value_error" });
});

test("only a text at the very end of the conversation loses its white space", () => {
  const call = { id: "c1", type: "function" as const, function: { name: "get_weather", arguments: "{}" } };
  const lastOf = (message: object) => {
    const messages = [user, { role: "assistant", ...message } as ChatMessage];
    return ask(sonnet, { messages, tools: [weatherTool] }).body.messages.at(-1)?.content;
  };
  expect(lastOf({ content: "It is " })).toEqual([{ text: "It is" }]);
  expect(lastOf({ content: "It is ", tool_calls: [call] })?.[0]).toEqual({ text: "It is " });
  expect(lastOf({ content: null, tool_calls: [call] })).toHaveLength(1);
});
