// The generateContent format, both ways. Answers are written after the vendor's reference unless marked as invented.

import { describe, expect, test } from "bun:test";
import type { ChatChunk, ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ValidationError } from "../../../src/errors.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { gemini, isReadByVendor, vertexai } from "../../../src/providers/dialects/gemini/index.ts";
import { toGeminiSchema } from "../../../src/providers/dialects/gemini/schema.ts";

const user: ChatMessage = { role: "user", content: "Hello" };
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Tells it",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};
const reading = { model: "gemini-3.8-flash", answerTool: null };
const chat = gemini.chat as NonNullable<typeof gemini.chat>;
const cloudChat = vertexai.chat as NonNullable<typeof vertexai.chat>;

interface Written {
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly dropped: readonly string[];
  readonly answerTool: string | null;
}

function write(
  request: Partial<ChatRequest> = {},
  model = "gemini-3.8-flash",
  dialect = chat,
  isStream = false,
): Written {
  const made = dialect.toRequest(
    { model: `gemini/${model}`, messages: [user], ...request },
    { model, facts: null, isStream },
  );
  const { path, body, dropped = [], reading: read } = made;
  return { path, body: JSON.parse(body), dropped, answerTool: read.answerTool };
}

const config = (request: Partial<ChatRequest>, model?: string) => write(request, model).body["generationConfig"];
const contents = (messages: readonly unknown[], model?: string, dialect = chat) =>
  write({ messages: messages as ChatMessage[] }, model, dialect).body["contents"];

function problemOf(request: Partial<ChatRequest>, model?: string) {
  try {
    write(request, model);
  } catch (error) {
    if (error instanceof ValidationError) return error.problems[0];
    throw error;
  }
  throw new Error("nothing was refused");
}

function answerOf(parts: readonly unknown[], other: object = {}): JsonObject {
  return {
    candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0, ...other }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
    modelVersion: "gemini-3.8-flash",
    responseId: "r-1",
  };
}

function choiceOf(answer: JsonObject, answerTool: string | null = null) {
  const choice = chat.fromAnswer(answer, { ...reading, answerTool }).choices[0];
  if (choice === undefined) throw new Error("there is no choice");
  return choice;
}

function readStream(events: readonly unknown[], answerTool: string | null = null) {
  const reader = chat.createStreamReader({ ...reading, answerTool });
  const chunks: ChatChunk[] = [];
  for (const value of events) chunks.push(...reader.read({ name: "", value: value as JsonObject }));
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return { reader, chunks, choices, deltas: choices.map((choice) => choice.delta) };
}

/** One event of a stream. */
function event(parts: readonly unknown[], other: object = {}): JsonObject {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...other }],
    responseId: "r-1",
    modelVersion: "m-1",
  };
}

describe("a request", () => {
  test("goes to the model's own path, which its name cannot leave", () => {
    expect(write().path).toBe("/models/gemini-3.8-flash:generateContent");
    expect(write({}, "gemini-3.8-flash", chat, true).path).toBe(
      "/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    );
    expect(write({}, "models/gemini-3.8-flash").path).toBe("/models/gemini-3.8-flash:generateContent");
    expect(write({}, "tunedModels/mine").path).toBe("/tunedModels/mine:generateContent");
    expect(write({}, "../x?y=1#z").path).toBe("/models/..%2Fx%3Fy%3D1%23z:generateContent");
  });

  test("holds the conversation in two roles, with instructions from anywhere in front", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "One" },
      {
        role: "user",
        content: [
          { type: "text", text: "Two" },
          { type: "text", text: "" },
        ],
      },
      { role: "assistant", content: "Three" },
      { role: "developer", content: [{ type: "text", text: "Be kind." }] },
      { role: "user", content: "Four" },
    ] as ChatMessage[];
    const { body } = write({ messages });

    expect(body["systemInstruction"]).toEqual({ parts: [{ text: "Be brief." }, { text: "Be kind." }] });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "One" }, { text: "Two" }] },
      { role: "model", parts: [{ text: "Three" }] },
      { role: "user", parts: [{ text: "Four" }] },
    ]);
  });

  test("of instructions alone, or for a model without a place for them, has them as the user's words", () => {
    const system = { role: "system", content: "Be brief." };

    expect(contents([system])).toEqual([{ role: "user", parts: [{ text: "Be brief." }] }]);
    expect(contents([system, user], "gemma-3-27b-it")).toEqual([
      { role: "user", parts: [{ text: "Be brief." }, { text: "Hello" }] },
    ]);
  });

  test("carries images, sound and files inline, and addresses that only the vendor reads as they are", () => {
    const part = (one: object) => (contents([{ role: "user", content: [one] }]) as { parts: unknown[] }[])[0]?.parts[0];
    const inline = (mimeType: string) => ({ inlineData: { mimeType, data: "AAAA" } });
    const image = (url: string) => part({ type: "image_url", image_url: { url } });
    const file = (members: object) => part({ type: "file", file: members });

    expect(image("data:image/webp;base64,AAAA")).toEqual(inline("image/webp"));
    expect(image("https://www.youtube.com/watch?v=x")).toEqual({
      fileData: { mimeType: "video/mp4", fileUri: "https://www.youtube.com/watch?v=x" },
    });
    expect(image("https://pictures.example/a.png?s=1")).toEqual({
      fileData: { mimeType: "image/png", fileUri: "https://pictures.example/a.png?s=1" },
    });
    expect(part({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } })).toEqual(inline("audio/wav"));
    expect(part({ type: "input_audio", input_audio: { data: "AAAA", format: "MP3" } })).toEqual(inline("audio/mp3"));
    expect(file({ file_data: "data:application/pdf;base64,AAAA" })).toEqual(inline("application/pdf"));
    expect(file({ file_data: "AAAA", filename: "notes.TXT" })).toEqual(inline("text/plain"));
    expect(file({ file_data: "AAAA" })).toEqual(inline("application/pdf"));
    expect(file({ file_id: "gs://bucket/a.pdf" })).toEqual({
      fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" },
    });
    expect(isReadByVendor("https://generativelanguage.googleapis.com/v1beta/files/a")).toBe(true);
    expect(isReadByVendor("https://youtube.com.evil.example/")).toBe(false);
  });

  test("with a file that nobody knows is refused where it stands", () => {
    const messages = [{ role: "user", content: [{ type: "file", file: { file_id: "f-1" } }] }] as ChatMessage[];

    expect(problemOf({ messages })?.loc).toEqual(["body", "messages", 0, "content", 0, "file", "file_id"]);
  });

  test("maps sampling, limits and probabilities, and passes by what is null", () => {
    const asked = {
      temperature: 0,
      top_p: 0.5,
      top_k: 40,
      max_tokens: 10,
      max_completion_tokens: 20,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: ["a", ""],
      seed: 7,
      logprobs: true,
      top_logprobs: 3,
    };

    expect(config(asked, "gemini-3.1-pro-preview")).toEqual({
      temperature: 0,
      topP: 0.5,
      topK: 40,
      maxOutputTokens: 20,
      presencePenalty: 1,
      frequencyPenalty: -1,
      stopSequences: ["a"],
      seed: 7,
      responseLogprobs: true,
      logprobs: 3,
    });
    expect(
      config({ temperature: null, stop: null, max_tokens: null, tools: null, response_format: null }),
    ).toBeUndefined();
    expect(config({ seed: 2 ** 40 + 5 }, "gemini-3.1-pro-preview")).toEqual({ seed: 5 });
    expect(config({ stop: "x" })).toEqual({ stopSequences: ["x"] });
  });

  test("names sampling as dropped for models that ignore or refuse it", () => {
    for (const model of ["gemini-3.6-flash", "gemini-3.8-flash", "gemini-4-argon", "gemini-3.5-flash-lite"]) {
      const { body, dropped } = write({ temperature: 0.5, presence_penalty: 1 }, model);

      expect(body["generationConfig"]).toBeUndefined();
      expect(dropped).toEqual(["temperature", "presence_penalty"]);
    }
  });

  test("to an alias such as gemini-flash-latest is not one to the newest model", () => {
    for (const model of ["gemini-flash-latest", "gemini-pro-latest", "gemini-flash-lite-latest"]) {
      const { body, dropped } = write({ temperature: 0.5, presence_penalty: 1 }, model);
      expect(body["generationConfig"]).toEqual({ temperature: 0.5 });
      // The newest would refuse it.
      expect(dropped).toEqual(["presence_penalty"]);
      const messages: ChatMessage[] = [user, { role: "assistant", content: "I" }];
      expect(contents(messages, model)).toHaveLength(2);
    }
  });

  test("that ends with the assistant is refused for models that cannot continue it", () => {
    const messages: ChatMessage[] = [user, { role: "assistant", content: "I" }];

    expect(problemOf({ messages })?.loc).toEqual(["body", "messages", 1]);
    expect(contents(messages, "gemini-3.5-flash")).toHaveLength(2);
  });

  test("carries the vendor's own members along", () => {
    const own = {
      safety_settings: [{ category: "c", threshold: "t" }],
      cached_content: "cachedContents/1",
      service_tier: "flex",
    };

    expect(write(own).body).toMatchObject({
      safetySettings: [{ category: "c", threshold: "t" }],
      cachedContent: "cachedContents/1",
      serviceTier: "flex",
    });
    expect(write({ ...own, labels: { team: "a" } }, "gemini-3.8-flash", cloudChat).body).toMatchObject({
      labels: { team: "a" },
    });
    expect(write({ extra_body: { google: { cached_content: "x" } } }).body["cachedContent"]).toBe("x");
  });

  test("for images gets images, and sound is refused", () => {
    expect(
      config({ modalities: ["text", "image"], image_config: { aspect_ratio: "16:9" } }, "gemini-3-pro-image"),
    ).toEqual({
      responseModalities: ["TEXT", "IMAGE"],
      imageConfig: { aspectRatio: "16:9" },
    });
    expect(config({ modalities: ["text"] })).toBeUndefined();
    expect(problemOf({ modalities: ["audio"] })?.type).toBe("unsupported_parameter");
    expect(chat.parameters["audio"]).toBe("refused");
  });
});

describe("thinking", () => {
  const thinking = (request: Partial<ChatRequest>, model: string) =>
    (config(request, model) as { thinkingConfig?: unknown } | undefined)?.thinkingConfig;

  test("is a level from generation 3 on, never below the least that the model has", () => {
    const cases: [string, string, object][] = [
      ["gemini-3.8-flash", "none", { thinkingLevel: "LOW" }],
      ["gemini-3.8-flash", "minimal", { thinkingLevel: "LOW", includeThoughts: true }],
      ["gemini-3.6-flash", "minimal", { thinkingLevel: "MINIMAL", includeThoughts: true }],
      ["gemini-3.5-flash-lite", "none", { thinkingLevel: "MINIMAL" }],
      ["gemini-3-flash-preview", "low", { thinkingLevel: "LOW", includeThoughts: true }],
      ["gemini-4-argon", "medium", { thinkingLevel: "MEDIUM", includeThoughts: true }],
      ["gemini-4-argon", "max", { thinkingLevel: "HIGH", includeThoughts: true }],
    ];
    for (const [model, effort, expected] of cases)
      expect(thinking({ reasoning_effort: effort }, model)).toEqual(expected);
  });

  test("is a budget before, within the model's range and the caller's cap", () => {
    const cases: [string, Partial<ChatRequest>, object][] = [
      ["gemini-2.5-flash", { reasoning_effort: "none" }, { thinkingBudget: 0 }],
      ["gemini-2.5-flash", { reasoning_effort: "medium" }, { thinkingBudget: 8_192, includeThoughts: true }],
      ["gemini-2.5-flash", { reasoning_effort: "max" }, { thinkingBudget: 24_576, includeThoughts: true }],
      [
        "gemini-2.5-flash",
        { reasoning_effort: "high", max_tokens: 1_000 },
        { thinkingBudget: 800, includeThoughts: true },
      ],
      ["gemini-2.5-flash-lite", { reasoning_effort: "high", max_tokens: 100 }, { thinkingBudget: 0 }],
      ["gemini-2.5-flash-lite", { reasoning: { max_tokens: 10 } }, { thinkingBudget: 512, includeThoughts: true }],
      ["gemini-2.5-pro", { reasoning_effort: "none" }, { thinkingBudget: 128 }],
      [
        "gemini-2.5-pro",
        { thinking: { type: "enabled", budget_tokens: 50_000 } },
        { thinkingBudget: 32_768, includeThoughts: true },
      ],
    ];
    for (const [model, request, expected] of cases) expect(thinking(request, model)).toEqual(expected);
  });

  test("can be asked for in other vendors' words, hidden, and left alone", () => {
    expect(thinking({ reasoning: { effort: "high", exclude: true } }, "gemini-3.8-flash")).toEqual({
      thinkingLevel: "HIGH",
    });
    expect(thinking({ reasoning: { enabled: true } }, "gemini-3.8-flash")).toEqual({ includeThoughts: true });
    expect(thinking({ thinking: { type: "disabled" } }, "gemini-2.5-flash")).toEqual({ thinkingBudget: 0 });
    expect(thinking({ thinking: { type: "enabled", budget_tokens: 10_000 } }, "gemini-3.8-flash")).toEqual({
      thinkingLevel: "MEDIUM",
      includeThoughts: true,
    });
    const own = { extra_body: { google: { thinking_config: { include_thoughts: true, thinking_level: "low" } } } };
    expect(thinking(own, "gemini-3.8-flash")).toEqual({ includeThoughts: true, thinkingLevel: "low" });
    expect(thinking({}, "gemini-3.8-flash")).toBeUndefined();
  });

  test("is named as dropped where the model has none, and refused where the word is unknown", () => {
    expect(write({ reasoning_effort: "low" }, "gemma-3-27b-it").dropped).toEqual(["reasoning_effort"]);
    expect(write({ reasoning_effort: "none" }, "gemma-3-27b-it").dropped).toEqual([]);
    expect(problemOf({ reasoning_effort: "lots" })).toMatchObject({
      loc: ["body", "reasoning_effort"],
      type: "literal_error",
    });
  });
});

describe("tools", () => {
  const choice = (tool_choice: ChatRequest["tool_choice"]) =>
    (write({ tools: [weather], tool_choice: tool_choice as never }).body["toolConfig"] as JsonObject | undefined)?.[
      "functionCallingConfig"
    ];

  test("are declared with their schema, and chosen as the caller says", () => {
    expect(write({ tools: [weather] }).body["tools"]).toEqual([
      {
        functionDeclarations: [
          { name: "weather", description: "Tells it", parametersJsonSchema: weather.function.parameters },
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
    const blocked = { filters: { blocked_domains: ["b.it"] } };
    expect(write({ web_search_options: blocked }).body["tools"]).toEqual([
      { googleSearch: { excludeDomains: ["b.it"] } },
    ]);
    expect([vertexai.chat?.searchDomains?.has("blocked_domains"), gemini.chat?.searchDomains]).toEqual([
      true,
      undefined,
    ]);
    expect(write({ tools: [{ type: "web_search" }], web_search_options: {} }).body["tools"]).toEqual([
      { googleSearch: {} },
    ]);
    expect(write({ tools: [{ type: "code_execution" }] }).body["tools"]).toEqual([{ codeExecution: {} }]);
    expect(problemOf({ tools: [weather, { type: "custom" }] })).toMatchObject({
      loc: ["body", "tools", 1, "type"],
      type: "unsupported_parameter",
    });
  });

  test("of both kinds together are asked to be shown, where that has to be asked", () => {
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

  test("carried through another format keep the signature that was told as reasoning", () => {
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

describe("a structured answer", () => {
  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] };
  const response_format = { type: "json_schema" as const, json_schema: { name: "person", schema } };

  test("is asked for natively", () => {
    expect(config({ response_format })).toEqual({ responseMimeType: "application/json", responseJsonSchema: schema });
    expect(config({ response_format: { type: "json_object" } })).toEqual({ responseMimeType: "application/json" });
    expect(config({ response_format: { type: "text" } })).toBeUndefined();
    expect(config({ response_format, tools: [weather] })).toMatchObject({ responseJsonSchema: schema });
  });

  test("beside tools is a tool of its own where the model cannot have both", () => {
    const { body, answerTool } = write({ response_format, tools: [weather] }, "gemini-2.5-flash");

    expect(answerTool).toBe("person");
    expect(body["generationConfig"]).toBeUndefined();
    expect(body["toolConfig"]).toEqual({ functionCallingConfig: { mode: "ANY" } });
    const declared = (body["tools"] as { functionDeclarations: { name: string }[] }[])[0]?.functionDeclarations;
    expect(declared?.map((one) => one.name)).toEqual(["weather", "person"]);
    const taken = { type: "function", function: { name: "person" } };
    expect(write({ response_format, tools: [taken] }, "gemini-2.5-flash").answerTool).toBe("final_person");
  });

  test("is left to the forced call, and gets its native form when no tool may be called", () => {
    const forced = write({ response_format, tools: [weather], tool_choice: "required" }, "gemini-2.5-flash");
    const none = write({ response_format, tools: [weather], tool_choice: "none" }, "gemini-2.5-flash");

    expect(forced).toMatchObject({ answerTool: null, dropped: [] });
    expect(none.body["tools"]).toBeUndefined();
    expect(none.body["generationConfig"]).toMatchObject({ responseJsonSchema: schema });
    const plain = write({ response_format: { type: "json_object" }, tools: [weather] }, "gemini-2.5-flash");
    expect(plain.dropped).toEqual(["response_format"]);
  });

  test("through a tool is the content of the answer", () => {
    const parts = [{ functionCall: { name: "person", args: { age: 3 } } }];

    expect(choiceOf(answerOf(parts), "person")).toMatchObject({
      message: { content: '{"age":3}' },
      finish_reason: "stop",
    });
    const { deltas, choices } = readStream([event(parts, { finishReason: "STOP" })], "person");
    expect(deltas[0]).toEqual({ role: "assistant", content: '{"age":3}' });
    expect(choices.at(-1)?.finish_reason).toBe("stop");
  });
});

describe("a schema", () => {
  test("keeps what the vendor documents and expresses the rest in it", () => {
    const cases: [JsonObject, JsonObject][] = [
      [
        { $schema: "s", type: "string", pattern: "x", examples: ["a"], format: "date" },
        { type: "string", format: "date" },
      ],
      [{ const: "a" }, { type: "string", enum: ["a"] }],
      [{ const: 1.5 }, { type: "number", enum: [1.5] }],
      [{ const: true }, { type: "boolean" }],
      [{ enum: ["a", null] }, { type: ["string", "null"], enum: ["a"] }],
      [{ type: ["string", "null"] }, { type: ["string", "null"] }],
      [
        { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 9 },
        { type: "integer", minimum: 1, maximum: 8 },
      ],
      [
        { type: "number", exclusiveMinimum: 0 },
        { type: "number", minimum: 0 },
      ],
      [
        { type: "object", additionalProperties: false },
        { type: "object", additionalProperties: false },
      ],
      [
        { items: [{ type: "string" }, { const: 1 }] },
        { prefixItems: [{ type: "string" }, { type: "integer", enum: [1] }] },
      ],
      [
        {
          allOf: [
            { properties: { a: {} }, required: ["a"] },
            { properties: { b: {} }, required: ["b"] },
          ],
          type: "object",
        },
        { type: "object", properties: { a: {}, b: {} }, required: ["b", "a"] },
      ],
      [{ anyOf: [{ const: 1 }, true] }, { anyOf: [{ type: "integer", enum: [1] }, {}] }],
    ];
    for (const [written, expected] of cases)
      expect(JSON.parse(JSON.stringify(toGeminiSchema(written)))).toEqual(expected);
  });

  test("keeps references, alone and in one place", () => {
    const written = {
      type: "object",
      properties: {
        a: { $ref: "#/definitions/A", description: "x" },
        b: { $ref: "#/definitions/A/items", type: "string" },
      },
      definitions: { A: { type: "string", minLength: 3 } },
    };

    expect(toGeminiSchema(written)).toEqual({
      type: "object",
      properties: { a: { $ref: "#/$defs/A" }, b: { type: "string" } },
      $defs: { A: { type: "string" } },
    });
  });

  test("that refers to itself ends, and does not demand its own repetition", () => {
    const node = {
      type: "object",
      properties: {
        value: { type: "string" },
        next: { $ref: "#/$defs/Node" },
        all: { type: "array", items: { $ref: "#/$defs/Node" } },
      },
      required: ["value", "next", "all"],
    };
    const written = {
      type: "object",
      properties: { head: { $ref: "#/$defs/Node" } },
      required: ["head"],
      $defs: { Node: node },
    };
    const made = toGeminiSchema(written) as { required: string[]; $defs: { Node: { required: string[] } } };

    expect(made.required).toEqual(["head"]);
    expect(made.$defs.Node.required).toEqual(["value"]);
    expect(toGeminiSchema({ properties: { me: { $ref: "#" } }, required: ["me"] })).toEqual({
      properties: { me: { $ref: "#" } },
    });
  });
});

describe("an answer", () => {
  test("is a completion with the vendor's id and model", () => {
    expect(chat.fromAnswer(answerOf([{ text: "Hi " }, { text: "you" }]), reading)).toMatchObject({
      id: "r-1",
      object: "chat.completion",
      model: "gemini-3.8-flash",
      choices: [{ index: 0, message: { role: "assistant", content: "Hi you" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    });
    const bare = chat.fromAnswer({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] }, reading);
    expect(bare).toMatchObject({ model: "gemini-3.8-flash", choices: [{ finish_reason: "stop" }] });
    expect(bare.id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
    expect(bare.usage).toBeUndefined();
  });

  test("shows thoughts as reasoning and keeps the signature of a text for the next turn", () => {
    const { message } = choiceOf(
      answerOf([
        { text: "Hm.", thought: true },
        { text: "Hi", thoughtSignature: "s" },
      ]),
    );

    expect(message).toMatchObject({
      content: "Hi",
      reasoning_content: "Hm.",
      extra_content: { google: { thought_signature: "s" } },
    });
    expect(contents([user, message, user])).toMatchObject([
      {},
      { role: "model", parts: [{ text: "Hi", thoughtSignature: "s" }] },
      {},
    ]);
  });

  test("with tool calls comes back as it was when the client returns it", () => {
    const parts = [
      {
        functionCall: { id: "f1", name: "weather", args: { city: "Bern", deep: { list: [1, null, "ü"] } } },
        thoughtSignature: "s",
      },
      { functionCall: { id: "f2", name: "time", args: {} } },
    ];
    const { message, finish_reason } = choiceOf(answerOf(parts));
    const results = ["f1", "f2"].map((id) => ({ role: "tool", tool_call_id: id, content: "x" }));

    expect(finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    expect((contents([user, message, ...results]) as unknown[])[1]).toEqual({ role: "model", parts });
  });

  test("gives a call without an id one of its own", () => {
    const { message } = choiceOf(
      answerOf([{ functionCall: { name: "a" } }, { functionCall: { name: "a", args: {} } }]),
    );
    const ids = message.tool_calls?.map((call) => call.id) ?? [];

    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  test("keeps images, code that ran and calls of the vendor's tools", () => {
    const server = { toolCall: { id: "t", toolType: "GOOGLE_SEARCH", args: {} }, thoughtSignature: "s" };
    const { message } = choiceOf(
      answerOf([
        server,
        { inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "i" },
        { executableCode: { language: "PYTHON", code: "print(1)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
        { somethingNew: { a: 1 } },
      ]),
    );

    expect(message["images"]).toEqual([
      {
        type: "image_url",
        image_url: { url: "data:image/png;base64,AAAA" },
        extra_content: { google: { thought_signature: "i" } },
      },
    ]);
    expect(message.content).toBe("\n```python\nprint(1)\n```\n\n```\n1\n```\n");
    expect(message.extra_content).toEqual({ google: { parts: [server] } });
    const returned = (contents([user, message, user]) as { parts: JsonObject[] }[])[1]?.parts;
    expect(returned?.[0]).toEqual(server);
    expect(returned?.at(-1)).toEqual({ inlineData: { mimeType: "image/png", data: "AAAA" }, thoughtSignature: "i" });
  });

  test("ends for the reason that the vendor gives, in our words", () => {
    const cases: [string, string][] = [
      ["STOP", "stop"],
      ["MAX_TOKENS", "length"],
      ["CONTINUATION", "length"],
      ["SAFETY", "content_filter"],
      ["RECITATION", "content_filter"],
      ["PROHIBITED_CONTENT", "content_filter"],
      ["IMAGE_SAFETY", "content_filter"],
      ["OTHER", "stop"],
      ["NEVER_HEARD_OF", "stop"],
      ["constructor", "stop"],
      ["MALFORMED_FUNCTION_CALL", "stop"],
    ];
    for (const [reason, expected] of cases)
      expect(choiceOf(answerOf([{ text: "x" }], { finishReason: reason })).finish_reason as string).toBe(expected);
    const cut = choiceOf(answerOf([{ functionCall: { name: "a" } }], { finishReason: "MAX_TOKENS" }));
    expect(cut.finish_reason).toBe("length");
  });

  test("that is broken and empty is a failure, so that another is asked for", () => {
    const broken = answerOf([], {
      finishReason: "MALFORMED_FUNCTION_CALL",
      finishMessage: "Malformed function call: x(",
    });

    expect(() => chat.fromAnswer(broken, reading)).toThrow(ErrorInAnswer);
    expect(() => readStream([broken])).toThrow("Malformed function call");
  });

  test("to a prompt that was blocked is filtered, with the vendor's words if there are any", () => {
    const blocked = {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT", blockReasonMessage: "No." },
      usageMetadata: { promptTokenCount: 4, totalTokenCount: 4 },
    };

    expect(choiceOf(blocked)).toMatchObject({
      message: { content: null, refusal: "No." },
      finish_reason: "content_filter",
    });
    const { reader, choices, chunks } = readStream([blocked]);
    expect(choices).toEqual([
      { index: 0, delta: { role: "assistant", content: "", refusal: "No." }, finish_reason: "content_filter" },
    ]);
    expect(chunks.at(-1)?.usage?.prompt_tokens).toBe(4);
    expect(reader.isComplete).toBe(true);
  });

  test("without candidates is no answer", () => {
    for (const value of [
      {},
      { candidates: [] },
      { usageMetadata: {} },
      { promptFeedback: { blockReason: "BLOCK_REASON_UNSPECIFIED" } },
    ])
      expect(() => chat.fromAnswer(value, reading)).toThrow(TypeError);
  });

  test("that says it failed throws, also from inside a list, with the status that it means", () => {
    const failure = (error: object) => {
      const statuses = [
        () => chat.fromAnswer({ error }, reading),
        () => chat.fromAnswer([{ error }] as unknown as JsonObject, reading),
        () => readStream([{ error }]),
        () => readStream([[{ error }]]),
      ].map((attempt) => {
        try {
          attempt();
        } catch (thrown) {
          if (thrown instanceof ErrorInAnswer) return thrown.status;
        }
        return "nothing";
      });
      return [...new Set(statuses)];
    };

    expect(failure({ code: 503, message: "Overloaded", status: "UNAVAILABLE" })).toEqual([503]);
    expect(failure({ message: "Quota", status: "RESOURCE_EXHAUSTED" })).toEqual([429]);
    expect(failure({ message: "?" })).toEqual([null]);
  });

  test("names its sources where they are used, counted in characters", () => {
    const content = "Größe: 3. Ende.";
    const bytes = (text: string) => Buffer.from(text).length;
    const groundingMetadata = {
      groundingChunks: [
        { web: { uri: "https://a.example", title: "A" } },
        { web: { uri: "https://b.example" } },
        { retrievedContext: { uri: "gs://c", title: "C", text: "words" } },
        { odd: 1 },
      ],
      groundingSupports: [
        { segment: { endIndex: bytes("Größe: 3."), text: "Größe: 3." }, groundingChunkIndices: [0, 2, 9] },
        { segment: { startIndex: bytes("Größe: 3. "), endIndex: bytes(content) }, groundingChunkIndices: [0] },
      ],
    };
    const expected = [
      { url: "https://a.example", title: "A", start_index: 0, end_index: 9 },
      { url: "gs://c", title: "C", content: "words", start_index: 0, end_index: 9 },
      { url: "https://a.example", title: "A", start_index: 10, end_index: 15 },
      { url: "https://b.example" },
    ].map((url_citation) => ({ type: "url_citation", url_citation }));

    expect(choiceOf(answerOf([{ text: content }], { groundingMetadata })).message.annotations as unknown).toEqual(
      expected,
    );
    const { deltas } = readStream([
      event([{ text: content.slice(0, 3) }], { groundingMetadata: {} }),
      event([{ text: content.slice(3) }], { groundingMetadata, finishReason: "STOP" }),
    ]);
    expect(deltas.flatMap((delta) => delta.annotations ?? []) as unknown[]).toEqual(expected);
  });

  test("has probabilities in the chat format", () => {
    const logprobsResult = {
      chosenCandidates: [{ token: "é", logProbability: -0.5 }],
      topCandidates: [
        {
          candidates: [
            { token: "é", logProbability: -0.5 },
            { token: "e", logProbability: -2 },
          ],
        },
      ],
    };
    const expected = {
      content: [
        {
          token: "é",
          logprob: -0.5,
          bytes: [195, 169],
          top_logprobs: [
            { token: "é", logprob: -0.5, bytes: [195, 169] },
            { token: "e", logprob: -2, bytes: [101] },
          ],
        },
      ],
      refusal: null,
    };

    expect(choiceOf(answerOf([{ text: "é" }], { logprobsResult })).logprobs).toEqual(expected);
    expect(readStream([event([{ text: "é" }], { logprobsResult })]).choices[0]?.logprobs).toEqual(expected);
  });

  test("that can be continued says how", () => {
    const choice = choiceOf(answerOf([{ text: "x" }], { finishReason: "CONTINUATION", continuationToken: "t" }));

    expect(choice["continuation_token"]).toBe("t");
    expect(write({ continuation_token: "t" }).body["continuationToken"]).toBe("t");
  });
});

describe("usage", () => {
  const usageOf = (usageMetadata: unknown) =>
    chat.fromAnswer({ ...answerOf([{ text: "x" }]), usageMetadata }, reading).usage;

  test("counts thoughts with the answer, results of the vendor's tools with the prompt, and names the parts", () => {
    const usage = usageOf({
      promptTokenCount: 100,
      toolUsePromptTokenCount: 20,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 30,
      totalTokenCount: 160,
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 60 },
        { modality: "AUDIO", tokenCount: 25 },
        { modality: "IMAGE", tokenCount: 15 },
      ],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 4 }],
    });

    expect(usage).toEqual({
      prompt_tokens: 120,
      completion_tokens: 40,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 25, image_tokens: 15 },
      completion_tokens_details: { reasoning_tokens: 30, image_tokens: 4 },
    });
  });

  test("is read from the total where the answer's own count is missing", () => {
    expect(usageOf({ promptTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 10 })).toMatchObject({
      completion_tokens: 5,
      total_tokens: 10,
    });
  });

  test("is never negative, and no part exceeds its whole", () => {
    const values = [undefined, null, -5, 0, 3, 1e9, "7", "x", Number.NaN, {}];
    const names = [
      "promptTokenCount",
      "toolUsePromptTokenCount",
      "cachedContentTokenCount",
      "candidatesTokenCount",
      "thoughtsTokenCount",
      "totalTokenCount",
    ];
    for (let round = 0; round < 2_000; round += 1) {
      const pick = (index: number) => values[(round * (index + 3) + index * 7) % values.length];
      const metadata: Record<string, unknown> = {};
      for (const [index, name] of names.entries()) metadata[name] = pick(index);
      metadata["promptTokensDetails"] = [
        { modality: "AUDIO", tokenCount: pick(6) },
        { modality: "AUDIO", tokenCount: pick(7) },
        null,
      ];
      metadata["candidatesTokensDetails"] = pick(8);
      const usage = usageOf(metadata);
      if (usage === undefined) continue;
      expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
      for (const count of Object.values({ ...usage.prompt_tokens_details }))
        expect(count).toBeWithin(0, usage.prompt_tokens + 1);
      for (const count of Object.values({ ...usage.completion_tokens_details }))
        expect(count).toBeWithin(0, usage.completion_tokens + 1);
    }
  });
});

describe("a stream", () => {
  const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 };

  test("is one chunk per event, role first, finish once, usage at the end", () => {
    const { chunks, choices, reader } = readStream([
      { ...event([{ text: "Hm", thought: true }]), usageMetadata: { trafficType: "ON_DEMAND" } },
      { ...event([{ text: "Hel" }]), usageMetadata },
      event([{ text: "lo" }]),
      { ...event([{ text: "", thoughtSignature: "s" }], { finishReason: "STOP" }), usageMetadata },
    ]);

    expect(choices).toEqual([
      { index: 0, delta: { role: "assistant", content: "", reasoning_content: "Hm" }, finish_reason: null },
      { index: 0, delta: { content: "Hel" }, finish_reason: null },
      { index: 0, delta: { content: "lo" }, finish_reason: null },
      { index: 0, delta: { extra_content: { google: { thought_signature: "s" } } }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop" },
    ]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } });
    expect(chunks.filter((chunk) => chunk.usage !== undefined)).toHaveLength(1);
    expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model}`)).size).toBe(1);
    expect(chunks[0]).toMatchObject({ id: "r-1", model: "m-1", object: "chat.completion.chunk" });
    expect(reader.isComplete).toBe(true);
  });

  test("that closes before its end is known to be cut", () => {
    expect(readStream([event([{ text: "Hel" }])]).reader.isComplete).toBe(false);
    expect(readStream([{ usageMetadata }]).reader.isComplete).toBe(false);
    expect(readStream([event([], { finishReason: "FINISH_REASON_UNSPECIFIED" })]).reader.isComplete).toBe(false);
  });

  test("may bring usage after its end", () => {
    const { chunks, reader } = readStream([
      event([{ text: "x" }], { finishReason: "STOP" }),
      { usageMetadata },
      { usageMetadata },
    ]);

    expect(chunks.filter((chunk) => chunk.usage !== undefined)).toHaveLength(1);
    expect(reader.isComplete).toBe(true);
  });

  test("that names its end twice ends once", () => {
    const end = event([{ text: "x" }], { finishReason: "STOP" });
    const { choices } = readStream([end, end]);

    expect(choices.map((choice) => choice.finish_reason)).toEqual([null, "stop", null]);
  });

  test("counts tool calls over all its events", () => {
    const { deltas, choices } = readStream([
      event([{ functionCall: { id: "a", name: "one", args: { x: 1 } }, thoughtSignature: "s" }]),
      event([{ functionCall: { id: "b", name: "two" } }, { functionCall: { id: "c", name: "three" } }], {
        finishReason: "STOP",
      }),
    ]);

    expect(deltas.flatMap((delta) => delta.tool_calls ?? [])).toEqual([
      {
        index: 0,
        id: "a",
        type: "function",
        function: { name: "one", arguments: '{"x":1}' },
        extra_content: { google: { thought_signature: "s" } },
      },
      { index: 1, id: "b", type: "function", function: { name: "two", arguments: "{}" } },
      { index: 2, id: "c", type: "function", function: { name: "three", arguments: "{}" } },
    ]);
    expect(choices.at(-1)?.finish_reason).toBe("tool_calls");
  });

  test("of several candidates ends when all have", () => {
    const both = (finishReason: string | null) => ({
      candidates: [0, 1].map((index) => ({
        index,
        content: { parts: [{ text: String(index) }] },
        ...(index === 1 && finishReason ? { finishReason } : {}),
      })),
    });
    const { reader, chunks } = readStream([both(null), both("STOP")]);
    expect(reader.isComplete).toBe(false);
    const rest = reader.read({
      name: "",
      value: { candidates: [{ index: 0, finishReason: "MAX_TOKENS" }], usageMetadata },
    });

    expect(reader.isComplete).toBe(true);
    expect(chunks.some((chunk) => chunk.usage !== undefined)).toBe(false);
    expect(rest.map((chunk) => chunk.choices[0]?.finish_reason)).toEqual(["length", undefined]);
  });

  test("that sends arguments piece by piece gives the call when it is whole", () => {
    const call = (functionCall: object) => event([{ functionCall }]);
    const piece = (jsonPath: string, value: object, willContinue = true) =>
      call({ partialArgs: [{ jsonPath, ...value }], willContinue });
    const { deltas } = readStream([
      event([{ functionCall: { name: "plan", willContinue: true }, thoughtSignature: "s" }]),
      piece("$.city", { stringValue: "Be", willContinue: true }),
      piece("$.city", { stringValue: "rn" }),
      piece("$.days[0].count", { numberValue: 2 }),
      piece("$.days[1]['a.b']", { boolValue: true }),
      piece("$.tags[]", {}),
      piece("$.none", { nullValue: "NULL_VALUE" }),
      call({}),
      event([{ functionCall: { name: "next", args: {} } }], { finishReason: "STOP" }),
    ]);
    const calls = deltas.flatMap((delta) => delta.tool_calls ?? []);

    expect(calls.map((one) => [one.index, one.function?.name])).toEqual([
      [0, "plan"],
      [1, "next"],
    ]);
    expect(JSON.parse(calls[0]?.function?.arguments ?? "")).toEqual({
      city: "Bern",
      days: [{ count: 2 }, { "a.b": true }],
      tags: [],
      none: null,
    });
    expect(calls[0]?.extra_content).toEqual({ google: { thought_signature: "s" } });
  });

  test("shows images and passes by what it does not know", () => {
    // Invented: a part and a member that do not exist.
    const { deltas } = readStream([
      event([{ inlineData: { mimeType: "image/png", data: "AAAA" } }, { hologram: {} }]),
      { novelty: true },
      event([{ hologram: {} }]),
      { candidates: null },
    ]);

    expect(deltas).toEqual([
      {
        role: "assistant",
        content: "",
        images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
      } as object,
    ]);
  });
});

describe("a refusal", () => {
  const refusal = (status: number, error: object) => chat.readRefusal?.(status, { error });
  const detail = (type: string, members: object) => ({ "@type": `type.googleapis.com/google.rpc.${type}`, ...members });

  test("of the gateway's key is one of credentials, whatever its status says", () => {
    const invalid = {
      code: 400,
      status: "INVALID_ARGUMENT",
      message: "x",
      details: [detail("ErrorInfo", { reason: "API_KEY_INVALID" })],
    };

    expect(refusal(400, invalid)).toEqual({ status: 401 });
    expect(refusal(400, { message: "API key expired. Please renew the API key." })).toEqual({ status: 401 });
    expect(
      refusal(400, { status: "FAILED_PRECONDITION", message: "User location is not supported for the API use." }),
    ).toEqual({ status: 403 });
    expect(refusal(400, { status: "INVALID_ARGUMENT", message: "Too many tokens" })).toEqual({});
  });

  test("for now says when to come again", () => {
    expect(
      refusal(429, { details: [detail("QuotaFailure", {}), detail("RetryInfo", { retryDelay: "34.4s" })] }),
    ).toEqual({ retryAfterSeconds: 35 });
    expect(refusal(503, { details: [detail("RetryInfo", { retryDelay: "soon" })] })).toEqual({});
    expect(refusal(499, {})).toEqual({ status: 503 });
  });

  test("in a list, or of no known form, is read as far as it goes", () => {
    expect(chat.readRefusal?.(400, [{ error: { message: "API key not valid." } }] as unknown as JsonObject)).toEqual({
      status: 401,
    });
    expect(chat.readRefusal?.(500, {})).toEqual({});
  });
});

describe("embeddings", () => {
  const embed = (dialect: typeof gemini, model: string, request: object = {}) => {
    const made = dialect.embeddings?.toRequest(
      { model, input: ["a"], ...request },
      { model, facts: null, isStream: false },
    );
    return { path: made?.path, body: JSON.parse(made?.body ?? "null"), dropped: made?.dropped };
  };

  test("of the developer API are asked for in one lot", () => {
    expect(
      embed(gemini, "gemini-embedding-001", { input: ["a", "b"], dimensions: 768, input_type: "search_query" }),
    ).toEqual({
      path: "/models/gemini-embedding-001:batchEmbedContents",
      body: {
        requests: ["a", "b"].map((text) => ({
          model: "models/gemini-embedding-001",
          content: { parts: [{ text }] },
          taskType: "RETRIEVAL_QUERY",
          outputDimensionality: 768,
        })),
      },
      dropped: undefined,
    });
    expect(
      gemini.embeddings?.fromAnswer({
        embeddings: [{ values: [1] }, { values: [2] }],
        usageMetadata: { promptTokenCount: 9 },
      }),
    ).toEqual({
      vectors: [[1], [2]],
      model: null,
      inputTokens: 9,
    });
    expect(gemini.embeddings?.fromAnswer({ embeddings: [{ values: [1] }] }).inputTokens).toBeNull();
    expect(embed(gemini, "m", { input_type: "SEMANTIC_SIMILARITY" }).body.requests[0].taskType).toBe(
      "SEMANTIC_SIMILARITY",
    );
    expect(embed(gemini, "m", { input_type: "odd" }).dropped).toEqual(["input_type"]);
  });

  test("of the cloud platform take the form of the model's generation", () => {
    expect(embed(vertexai, "text-embedding-005", { input_type: "document", dimensions: 256 })).toMatchObject({
      path: "/models/text-embedding-005:predict",
      body: {
        instances: [{ content: "a", task_type: "RETRIEVAL_DOCUMENT" }],
        parameters: { outputDimensionality: 256 },
      },
    });
    expect(embed(vertexai, "gemini-embedding-001").path).toBe("/models/gemini-embedding-001:predict");
    expect(embed(vertexai, "gemini-embedding-2", { dimensions: 256 })).toMatchObject({
      path: "/models/gemini-embedding-2:embedContent",
      body: { content: { parts: [{ text: "a" }] }, embedContentConfig: { outputDimensionality: 256 } },
    });
    const predicted = { predictions: [{ embeddings: { values: [1], statistics: { token_count: 3 } } }] };
    expect(vertexai.embeddings?.fromAnswer(predicted)).toEqual({ vectors: [[1]], model: null, inputTokens: 3 });
    expect(
      vertexai.embeddings?.fromAnswer({ embedding: { values: [1] }, usageMetadata: { promptTokenCount: 4 } })
        .inputTokens,
    ).toBe(4);
  });

  test("that are no embeddings are told apart from failures", () => {
    for (const dialect of [gemini, vertexai]) {
      expect(() => dialect.embeddings?.fromAnswer({})).toThrow(TypeError);
      expect(() => dialect.embeddings?.fromAnswer({ error: { code: 500, message: "x" } })).toThrow(ErrorInAnswer);
    }
    expect(() => gemini.embeddings?.fromAnswer({ embeddings: [{}] })).toThrow(TypeError);
  });
});

test("tokens are counted for the conversation and its tools, in each service's own form", () => {
  const request = {
    model: "m",
    messages: [{ role: "system", content: "Brief." }, user] as ChatMessage[],
    tools: [weather],
    temperature: 1,
  };
  const target = { model: "gemini-3.8-flash", facts: null, isStream: false };
  const wrapped = gemini.chat?.counting?.toRequest(request, target);
  const plain = vertexai.chat?.counting?.toRequest(request, target);
  const counted = JSON.parse(plain?.body ?? "");

  expect(wrapped?.path).toBe("/models/gemini-3.8-flash:countTokens");
  expect(Object.keys(counted)).toEqual(["systemInstruction", "contents", "tools"]);
  expect(JSON.parse(wrapped?.body ?? "")).toEqual({
    generateContentRequest: { model: "models/gemini-3.8-flash", ...counted },
  });
  expect(gemini.chat?.counting?.fromAnswer({ totalTokens: 61 })).toBe(61);
  expect(() => gemini.chat?.counting?.fromAnswer({})).toThrow(TypeError);
});
