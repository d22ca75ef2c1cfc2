// Answers in the format of Gemini: completions, usage, streams and refusals.

import { describe, expect, test } from "bun:test";
import { ErrorInAnswer, type JsonObject } from "../../../src/providers/dialect.ts";
import { answerOf, chat, choiceOf, contents, event, reading, readStream, user, write } from "../../support/gemini.ts";

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

  test("that is broken and empty is a failure, so that a fallback may answer", () => {
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
      { url: "https://b.example", title: "", start_index: content.length, end_index: content.length },
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
    const streamed = readStream([event([{ text: "x" }], { finishReason: "CONTINUATION", continuationToken: "t" })]);
    expect(streamed.choices.at(-1)).toMatchObject({ finish_reason: "length", continuation_token: "t" });
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
