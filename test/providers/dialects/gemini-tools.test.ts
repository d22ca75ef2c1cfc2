// Tools in the format of Gemini: declarations, calls, signatures and results.

import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest, ChatTool } from "../../../src/contract/chat-format.ts";
import { ValidationError } from "../../../src/errors.ts";
import type { JsonObject } from "../../../src/providers/dialect.ts";
import {
  answerOf,
  chat,
  choiceOf,
  cloudChat,
  contents,
  event,
  problemOf,
  readStream,
  user,
  weather,
  write,
} from "../../support/gemini.ts";
import { thrownBy } from "../../support/thrown.ts";

describe("tools", () => {
  const choice = (tool_choice: ChatRequest["tool_choice"]) =>
    (write({ tools: [weather], tool_choice: tool_choice as never }).body["toolConfig"] as JsonObject | undefined)?.[
      "functionCallingConfig"
    ];

  test("are declared with their schema, and chosen as the caller says", () => {
    expect(write({ tools: [weather] }).body["tools"]).toEqual([
      {
        functionDeclarations: [
          {
            name: "weather",
            description: "The weather of a city",
            parametersJsonSchema: weather.function.parameters,
          },
        ],
      },
    ]);
    expect(choice("auto")).toBeUndefined();
    expect(choice("none")).toEqual({ mode: "NONE" });
    expect(choice("required")).toEqual({ mode: "ANY" });
    expect(choice({ type: "function", function: { name: "weather" } })).toEqual({
      mode: "ANY",
      allowedFunctionNames: ["weather"],
    });
    const allowed = (mode: "auto" | "required") => ({
      type: "allowed_tools" as const,
      allowed_tools: { mode, tools: [{ type: "function", function: { name: "weather" } }] },
    });
    expect(choice(allowed("required"))).toEqual({ mode: "ANY", allowedFunctionNames: ["weather"] });
    expect(choice(allowed("auto"))).toEqual({ mode: "VALIDATED", allowedFunctionNames: ["weather"] });
    expect(problemOf({ tools: [weather], tool_choice: { type: "odd" } as never })?.loc).toEqual([
      "body",
      "tool_choice",
    ]);
  });

  test("of the vendor's own are known by the names that callers use; others are refused", () => {
    expect(write({ web_search_options: {} }).body["tools"]).toEqual([{ googleSearch: {} }]);
    expect(write({ tools: [{ type: "web_search" }], web_search_options: {} }).body["tools"]).toEqual([
      { googleSearch: {} },
    ]);
    expect(write({ tools: [{ type: "code_execution" }] }).body["tools"]).toEqual([{ codeExecution: {} }]);
    expect(problemOf({ tools: [weather, { type: "custom" }] })).toMatchObject({
      loc: ["body", "tools", 1, "type"],
      type: "unsupported_parameter",
    });
  });

  test("that the vendor runs are left out where the choice forbids them", () => {
    const toolsOf = (tool_choice: unknown, tools: readonly ChatTool[] = [weather]) =>
      (write({ web_search_options: {}, tools, tool_choice: tool_choice as never }).body["tools"] ?? []) as JsonObject[];
    const namesOf = (tools: readonly JsonObject[]) => tools.flatMap((tool) => Object.keys(tool));
    const named = { type: "function", function: { name: "weather" } };

    expect(namesOf(toolsOf("none"))).toEqual(["functionDeclarations"]);
    expect(namesOf(toolsOf(named))).toEqual(["functionDeclarations"]);
    expect(namesOf(toolsOf("auto"))).toEqual(["functionDeclarations", "googleSearch"]);
    expect(namesOf(toolsOf("required"))).toEqual(["functionDeclarations", "googleSearch"]);
    expect(namesOf(toolsOf("none", []))).toEqual([]);
    expect(namesOf(toolsOf("none", [{ type: "code_execution" }]))).toEqual([]);
  });

  test("name the options of a search that the vendor does not have, beside a declared search as well", () => {
    const location = { type: "approximate", approximate: { city: "Rome" } };
    const droppedOf = (options: object, tools: readonly ChatTool[] = []) =>
      write({ web_search_options: options, tools }).dropped;
    const size = "web_search_options.search_context_size";

    expect(droppedOf({ search_context_size: "low" })).toEqual([size]);
    expect(droppedOf({ user_location: location })).toEqual(["web_search_options.user_location"]);
    expect(droppedOf({ search_context_size: "low" }, [{ type: "web_search" }])).toEqual([size]);
    expect(droppedOf({ search_context_size: null, user_location: null, filters: null })).toEqual([]);
  });

  test("exclude domains from a search where the platform does that; other lists are refused", () => {
    const blocked = { blocked_domains: ["b.it"], allowed_domains: [] };
    const allowed = { allowed_domains: ["a.it"] };
    const search = (filters: object, dialect: typeof chat, tools: readonly ChatTool[] = []) =>
      write({ web_search_options: { filters }, tools }, "gemini-3.8-flash", dialect).body["tools"];
    const excluding = [{ googleSearch: { excludeDomains: ["b.it"] } }];

    expect(search(blocked, cloudChat)).toEqual(excluding);
    expect(search(blocked, cloudChat, [{ type: "web_search" }])).toEqual(excluding);
    for (const [filters, dialect, name] of [
      [allowed, cloudChat, "allowed_domains"],
      [allowed, chat, "allowed_domains"],
      [blocked, chat, "blocked_domains"],
    ] as const)
      expect(thrownBy(() => search(filters, dialect), ValidationError).problems).toMatchObject([
        { loc: ["body", "web_search_options", "filters", name], type: "unsupported_parameter" },
      ]);
  });

  test("of both kinds together are included in the answer, where the vendor needs a parameter for that", () => {
    const tools = [weather, { type: "web_search" }];

    expect(write({ tools }).body["toolConfig"]).toEqual({ includeServerSideToolInvocations: true });
    expect(write({ tools }, "gemini-3.8-flash", cloudChat).body["toolConfig"]).toBeUndefined();
  });

  test("in the old way of writing them work as well", () => {
    const { body } = write({ functions: [weather.function], function_call: { name: "weather" } });

    expect(body["tools"]).toMatchObject([{ functionDeclarations: [{ name: "weather" }] }]);
    expect(body["toolConfig"]).toEqual({ functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["weather"] } });
    const messages = [
      user,
      { role: "assistant", content: null, function_call: { name: "weather", arguments: "{}" } },
      { role: "function", name: "weather", content: "Sun" },
    ];
    expect(contents(messages, "gemini-3.1-pro-preview")).toMatchObject([
      {},
      { role: "model", parts: [{ functionCall: { name: "weather", args: {} } }] },
      { role: "user", parts: [{ functionResponse: { name: "weather", response: { output: "Sun" } } }] },
    ]);
  });

  test("that must not be called in parallel: the wish is named as dropped", () => {
    expect(write({ tools: [weather], parallel_tool_calls: false }).dropped).toEqual(["parallel_tool_calls"]);
    expect(write({ tools: [weather], parallel_tool_calls: true }).dropped).toEqual([]);
  });

  test("called earlier keep their names, ids and signatures; the results of one step are one content", () => {
    const messages = [
      user,
      {
        role: "assistant",
        content: "Wait.",
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Bern"}' },
            extra_content: { google: { thought_signature: "sig" } },
          },
          { id: "c2", type: "function", function: { name: "time", arguments: "" } },
        ],
      },
      { role: "tool", tool_call_id: "c2", content: "noon" },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "Sun" }] },
      { role: "user", content: "So?" },
    ];

    expect(contents(messages)).toEqual([
      { role: "user", parts: [{ text: "Hello" }] },
      {
        role: "model",
        parts: [
          { text: "Wait." },
          { functionCall: { id: "c1", name: "weather", args: { city: "Bern" } }, thoughtSignature: "sig" },
          { functionCall: { id: "c2", name: "time", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "c2", name: "time", response: { output: "noon" } } },
          { functionResponse: { id: "c1", name: "weather", response: { output: "Sun" } } },
        ],
      },
      { role: "user", parts: [{ text: "So?" }] },
    ]);
    const old = JSON.stringify(contents(messages, "gemini-2.5-flash", cloudChat));
    expect(old).not.toContain('"id"');
  });

  test("called without a signature get the documented stand-in, in the current turn and where one is demanded", () => {
    const call = (id: string) => ({
      role: "assistant",
      tool_calls: [{ id, type: "function", function: { name: "weather", arguments: "{}" } }],
    });
    const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "Sun" });
    const messages = [user, call("c1"), result("c1"), user, call("c2"), result("c2"), call("c3"), result("c3")];
    const signatures = (model: string) =>
      (contents(messages, model) as { role: string; parts: JsonObject[] }[])
        .filter((content) => content.role === "model")
        .map((content) => content.parts[0]?.["thoughtSignature"]);

    const standIn = "skip_thought_signature_validator";
    expect(signatures("gemini-3.8-flash")).toEqual([undefined, standIn, standIn]);
    expect(signatures("gemini-2.5-flash")).toEqual([undefined, undefined, undefined]);
  });

  test("carried through another format keep the signature that was sent as reasoning", () => {
    const { message } = choiceOf(answerOf([{ functionCall: { id: "c", name: "f", args: {} }, thoughtSignature: "s" }]));
    const calls = message.tool_calls?.map(({ extra_content: _lost, ...call }) => call);
    const returned = (details: unknown) => {
      const assistant = { role: "assistant", tool_calls: calls, reasoning_details: details };
      const made = contents([user, assistant, { role: "tool", tool_call_id: "c", content: "x" }], "gemini-3.8-flash");
      return (made as { parts: JsonObject[] }[])[1]?.parts[0]?.["thoughtSignature"];
    };

    expect(message.reasoning_details).toEqual([{ type: "reasoning.encrypted", data: "gemini-call:s" }]);
    expect(returned(message.reasoning_details)).toBe("s");
    expect(returned([{ type: "reasoning.encrypted", data: "another vendor's" }])).toBe(
      "skip_thought_signature_validator",
    );
    const { deltas } = readStream([event([{ functionCall: { name: "f" }, thoughtSignature: "s" }])]);
    expect(deltas[0]?.reasoning_details).toEqual(message.reasoning_details);
  });

  test("answered with images hold them where the model takes that, and have them beside otherwise", () => {
    const messages = [
      user,
      { role: "assistant", tool_calls: [{ id: "c1", function: { name: "look", arguments: "{}" } }] },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
    ];
    const image = { inlineData: { mimeType: "image/png", data: "AAAA" } };
    const last = (model: string) => (contents(messages, model) as { parts: unknown[] }[]).at(-1)?.parts;

    expect(last("gemini-3.8-flash")).toEqual([
      { functionResponse: { id: "c1", name: "look", response: { output: "see" }, parts: [image] } },
    ]);
    expect(last("gemini-2.5-flash")).toEqual([
      { functionResponse: { id: "c1", name: "look", response: { output: "see" } } },
      image,
    ]);
  });

  test("without ids are ordered with work that grows with their number, not with its square", () => {
    const count = 1_000;
    let reads = 0;
    const tool_calls = Array.from({ length: count }, (_, index) => ({
      get id() {
        reads++;
        return `c${index}`;
      },
      type: "function",
      function: { name: "weather", arguments: "{}" },
    }));
    const results = Array.from({ length: count }, (_, index) => ({
      role: "tool",
      tool_call_id: `c${count - 1 - index}`,
      content: String(count - 1 - index),
    }));
    const messages = [user, { role: "assistant", tool_calls }, ...results];
    const made = contents(messages, "gemini-2.5-flash", cloudChat) as {
      parts: { functionResponse: { response: { output: string } } }[];
    }[];
    expect(made.at(-1)?.parts.map(({ functionResponse }) => functionResponse.response.output)).toEqual(
      results.map(({ content }) => content).toReversed(),
    );
    expect(reads).toBeLessThan(10 * count);
  });

  test("answered with images of both kinds hold some and have the others beside them", () => {
    const image = (type: string) => ({ type: "image_url", image_url: { url: `data:image/${type};base64,AAAA` } });
    const content = Array.from({ length: 50_000 }, () => [image("png"), image("heic")]).flat();
    const call = { id: "c1", function: { name: "look", arguments: "{}" } };
    const messages = [user, { role: "assistant", tool_calls: [call] }, { role: "tool", tool_call_id: "c1", content }];
    const made = contents(messages) as { parts: { functionResponse?: { parts: unknown[] } }[] }[];
    const parts = made.at(-1)?.parts ?? [];
    expect(parts).toHaveLength(50_001);
    expect(parts[0]?.functionResponse?.parts).toHaveLength(50_000);
  });

  test("with arguments that are no JSON object do not break the conversation", () => {
    const args = (written: string) => {
      const messages = [
        user,
        { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: written } }] },
        { role: "tool", tool_call_id: "c", content: "" },
      ];
      return (contents(messages) as { parts: { functionCall: { args: unknown } }[] }[])[1]?.parts[0]?.functionCall.args;
    };

    expect(args("{oops")).toEqual({ value: "{oops" });
    expect(args("[1]")).toEqual({ value: [1] });
    expect(args("")).toEqual({});
  });

  test("whose result belongs to no call are refused by name", () => {
    const messages = [user, { role: "tool", tool_call_id: "c9", content: "Sun" }] as ChatMessage[];

    expect(problemOf({ messages })?.loc).toEqual(["body", "messages", 1, "tool_call_id"]);
  });
});
