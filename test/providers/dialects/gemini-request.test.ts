// Requests in the format of Gemini: conversations, parameters, thinking, structured answers, embeddings, token counts.

import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatRequest } from "../../../src/contract/chat-format.ts";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { gemini, isReadByVendor, vertexai } from "../../../src/providers/dialects/gemini/index.ts";
import { toGeminiSchema } from "../../../src/providers/dialects/gemini/schema.ts";
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

const config = (request: Partial<ChatRequest>, model?: string) => write(request, model).body["generationConfig"];

describe("a request", () => {
  test("goes to the model's own path, which its name cannot leave", () => {
    expect(write().path).toBe("/models/gemini-3.8-flash:generateContent");
    expect(write({}, "gemini-3.8-flash", chat, true).path).toBe(
      "/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
    );
    expect(write({}, "tunedModels/mine").path).toBe("/tunedModels/mine:generateContent");
    expect(write({}, "../x?y=1#z").path).toBe("/models/..%2Fx%3Fy%3D1%23z:generateContent");
  });

  test("holds the conversation in two roles, with instructions in front and later ones in their place", () => {
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

    expect(body["systemInstruction"]).toEqual({ parts: [{ text: "Be brief." }] });
    expect(body["contents"]).toEqual([
      { role: "user", parts: [{ text: "One" }, { text: "Two" }] },
      { role: "model", parts: [{ text: "Three" }] },
      { role: "user", parts: [{ text: "<system_message>\nBe kind.\n</system_message>" }, { text: "Four" }] },
    ]);
  });

  test("has the results of calls together, and an instruction among them behind", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "clock", arguments: "{}" } });
    const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "noon" });
    const system = { role: "system", content: "Be kind." };
    const calls = { role: "assistant", content: null, tool_calls: [call("a"), call("b")] };

    expect((contents([user, calls, result("a"), system, result("b")]) as unknown[]).slice(2)).toEqual([
      { role: "user", parts: [{ functionResponse: expect.anything() }, { functionResponse: expect.anything() }] },
      { role: "user", parts: [{ text: "<system_message>\nBe kind.\n</system_message>" }] },
    ]);
  });

  test("of instructions alone, or for a model without a place for them, has them as the user's words", () => {
    const system = { role: "system", content: "Be brief." };

    expect(contents([system])).toEqual([{ role: "user", parts: [{ text: "Be brief." }] }]);
    expect(contents([system, user], "gemma-3-27b-it")).toEqual([
      { role: "user", parts: [{ text: "Be brief." }, { text: "Hello" }] },
    ]);
  });

  test("has the resolution that the detail of an image asks for, except inside a result", () => {
    const image = (detail: string) => ({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail } });
    const sent = (message: object, model?: string) => {
      const call = { id: "a", type: "function", function: { name: "clock", arguments: "{}" } };
      const { body, dropped } = write(
        { messages: [user, { role: "assistant", content: null, tool_calls: [call] }, message] as ChatMessage[] },
        model,
      );
      return [JSON.stringify(body).match(/MEDIA_RESOLUTION_\w+/)?.[0], dropped];
    };
    const named = ["messages.image_url.detail"];

    expect(sent({ role: "user", content: [image("low")] })).toEqual(["MEDIA_RESOLUTION_LOW", []]);
    expect(sent({ role: "user", content: [image("high")] })).toEqual(["MEDIA_RESOLUTION_HIGH", []]);
    expect(sent({ role: "user", content: [image("original")] })).toEqual(["MEDIA_RESOLUTION_ULTRA_HIGH", []]);
    expect(sent({ role: "user", content: [image("auto")] })).toEqual([undefined, []]);
    expect(sent({ role: "user", content: [image("vast")] })).toEqual([undefined, named]);
    expect(sent({ role: "user", content: [image("low")] }, "gemini-2.5-flash")).toEqual([undefined, named]);
    expect(sent({ role: "tool", tool_call_id: "a", content: [image("low")] })).toEqual([undefined, named]);
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
    expect(file({ file_data: "data:text/plain,%00%00%00" })).toEqual(inline("text/plain"));
    expect(image("data:image/gif,%00%00%00")).toEqual(inline("image/gif"));
    expect(file({ file_data: "AAAA", filename: "notes.TXT" })).toEqual(inline("text/plain"));
    expect(file({ file_data: "AAAA" })).toEqual(inline("application/pdf"));
    expect(file({ file_id: "gs://bucket/a.pdf" })).toEqual({
      fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" },
    });
    expect(isReadByVendor("https://generativelanguage.googleapis.com/v1beta/files/a")).toBe(true);
    expect(isReadByVendor("https://youtube.com.evil.example/")).toBe(false);
  });

  test("with an unknown file is refused, and the error names its position", () => {
    const messages = [{ role: "user", content: [{ type: "file", file: { file_id: "f-1" } }] }] as ChatMessage[];

    expect(problemOf({ messages })?.loc).toEqual(["body", "messages", 0, "content", 0, "file", "file_id"]);
  });

  test.each([
    [{ type: "file", file: { file_data: "data:text/plain,100%" } }, ["file", "file_data"]],
    [{ type: "image_url", image_url: { url: "data:image/gif,%zz" } }, ["image_url", "url"]],
  ])("with a malformed percent escape is refused: %j", (part, loc) => {
    const messages = [{ role: "user", content: [part] }] as ChatMessage[];

    expect(problemOf({ messages })?.loc).toEqual(["body", "messages", 0, "content", 0, ...loc]);
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

  test("that the caller's cap switches off, or whose budget is changed, is named as dropped", () => {
    const cases: [Partial<ChatRequest>, readonly string[]][] = [
      [{ reasoning_effort: "high", max_tokens: 600 }, ["reasoning_effort"]],
      [{ reasoning: { enabled: true }, max_tokens: 600 }, ["reasoning"]],
      [{ thinking: { type: "enabled" }, max_tokens: 600 }, ["thinking"]],
      [{ thinking: { type: "enabled", budget_tokens: 512 }, max_tokens: 600 }, ["thinking.budget_tokens"]],
      [{ reasoning: { max_tokens: 10 } }, ["reasoning.max_tokens"]],
      [{ reasoning_effort: "high", max_tokens: 700 }, []],
      [{ reasoning_effort: "none", max_tokens: 600 }, []],
      [{ thinking: { type: "disabled" }, max_tokens: 600 }, []],
      [{ thinking: { type: "between_tools" } }, ["thinking"]],
      [{ max_tokens: 600 }, []],
    ];
    for (const [request, expected] of cases)
      expect([request, write(request, "gemini-2.5-flash-lite").dropped]).toEqual([request, expected]);
  });

  test("can be asked for in other vendors' words, hidden, and left alone", () => {
    expect(thinking({ reasoning: { effort: "high", exclude: true } }, "gemini-3.8-flash")).toEqual({
      thinkingLevel: "HIGH",
    });
    expect(thinking({ reasoning: { enabled: true } }, "gemini-3.8-flash")).toEqual({ includeThoughts: true });
    expect(thinking({ thinking: { type: "disabled" } }, "gemini-2.5-flash")).toEqual({ thinkingBudget: 0 });
    expect(thinking({ thinking: { type: "between_tools" } }, "gemini-2.5-flash")).toEqual({ thinkingBudget: 0 });
    expect(
      thinking({ thinking: { type: "adaptive", display: "omitted" }, reasoning_effort: "high" }, "gemini-3.8-flash"),
    ).toEqual({ thinkingLevel: "HIGH" });
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

describe("a structured answer", () => {
  const schema = { type: "object", properties: { age: { type: "integer" } }, required: ["age"] };
  const response_format = { type: "json_schema" as const, json_schema: { name: "person", schema } };

  test("is requested with the vendor's own parameter", () => {
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

  test("beside tools leaves only those that the caller allows", () => {
    const time = { type: "function", function: { name: "time" } };
    const ask = (names: readonly string[]) => {
      const tools = names.map((name) => ({ type: "function", function: { name } }));
      const tool_choice = { type: "allowed_tools" as const, allowed_tools: { mode: "auto" as const, tools } };
      return write({ response_format, tools: [weather, time], tool_choice }, "gemini-2.5-flash");
    };
    const calling = (...names: readonly string[]) => ({
      functionCallingConfig: { mode: "ANY", allowedFunctionNames: names },
    });

    expect(ask(["time"]).body["toolConfig"]).toEqual(calling("time", "person"));
    expect(ask([]).body["toolConfig"]).toEqual(calling("person"));
    expect(ask(["time"]).answerTool).toBe("person");
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

describe("embeddings", () => {
  const embed = (dialect: typeof gemini, model: string, request: object = {}) => {
    const made = dialect.embeddings?.toRequest(
      { model, input: ["a"], ...request },
      { model, facts: null, isStream: false },
    );
    return { path: made?.path, body: JSON.parse(made?.body ?? "null"), dropped: made?.dropped };
  };

  test("of the developer API are requested in one batch", () => {
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

  test("that contain no embeddings are distinguished from failures", () => {
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
