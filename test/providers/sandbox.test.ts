// The sandbox answers as a vendor of the chat-completions format would: its transport is called with request bytes and
// gives real Responses.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";
import { sandbox, sandboxModels } from "../../src/providers/sandbox/index.ts";
import { readEvents } from "../support/events.ts";
import { waitFor, within } from "../support/wait.ts";

type Body = Readonly<Record<string, unknown>>;

interface Spoken {
  readonly role?: string;
  readonly content?: string | null;
  readonly refusal?: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly Call[];
  readonly function_call?: Partial<Call["function"]>;
}

interface Call {
  readonly index?: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments: string };
}

interface Logprob {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly Omit<Logprob, "top_logprobs">[];
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: number };
  readonly completion_tokens_details: { readonly reasoning_tokens: number };
}

interface Written<Part> {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
  readonly service_tier?: string;
  readonly choices: readonly (Part & {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly logprobs: {
      readonly content: readonly Logprob[] | null;
      readonly refusal: readonly Logprob[] | null;
    } | null;
  })[];
  readonly usage?: Usage | null;
}

type Completion = Written<{ readonly message: Spoken }>;
type Chunk = Written<{ readonly delta: Spoken }>;

const url = "http://sandbox.invalid/v1/chat/completions";
const hello = [{ role: "user", content: "Hello there, dear sandbox" }];
const weather = {
  type: "function",
  function: {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
};
const clock = { type: "function", function: { name: "get_time" } };

function send(
  body: string | Body,
  options: { signal?: AbortSignal; method?: string; url?: string } = {},
): Promise<Response> {
  if (sandbox.transport === undefined) throw new Error("the row has no transport");
  return sandbox.transport(options.url ?? url, {
    method: options.method ?? "POST",
    body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
    signal: options.signal ?? new AbortController().signal,
  });
}

async function complete(body: Body): Promise<Completion> {
  const response = await send({ model: "echo", messages: hello, ...body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  expect(response.headers.get("content-type")).toBe("application/json");
  return JSON.parse(text);
}

async function completeOne(body: Body) {
  const completion = await complete(body);
  const choice = completion.choices[0];
  if (choice === undefined || completion.usage == null) throw new Error("no choice or no usage");
  return { ...choice, usage: completion.usage };
}

async function stream(body: Body): Promise<{ chunks: readonly Chunk[]; isDone: boolean }> {
  const response = await send({ model: "echo", messages: hello, stream: true, ...body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  expect(response.headers.get("content-type")).toStartWith("text/event-stream");
  const { events, rest } = readEvents(text);
  expect(rest).toBe("");
  const isDone = events.at(-1)?.data === "[DONE]";
  return { chunks: events.slice(0, isDone ? -1 : undefined).map(({ data }) => JSON.parse(data)), isDone };
}

/** What a client puts together from the deltas of one choice. */
function assemble(chunks: readonly Chunk[], index = 0) {
  const parts = chunks.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index));
  const calls: { id: string; name: string; arguments: string; pieces: number }[] = [];
  for (const { index: at = -1, id, function: part } of parts.flatMap((choice) => choice.delta.tool_calls ?? [])) {
    if (id !== undefined) calls[at] = { id, name: part.name ?? "", arguments: "", pieces: 0 };
    const call = calls[at];
    if (call === undefined) throw new Error(`arguments before call ${at} was opened`);
    call.arguments += part.arguments;
    if (part.arguments !== "") call.pieces++;
  }
  return {
    roles: parts.map((choice) => choice.delta.role).filter((role) => role !== undefined),
    content: parts.map((choice) => choice.delta.content ?? "").join(""),
    reasoning: parts.map((choice) => choice.delta.reasoning_content ?? "").join(""),
    refusal: parts.map((choice) => choice.delta.refusal ?? "").join(""),
    finishes: parts.map((choice) => choice.finish_reason).filter((reason) => reason !== null),
    calls,
    logprobs: parts.flatMap((choice) => choice.logprobs?.content ?? []),
    functionCall: parts.map((choice) => choice.delta.function_call).filter((part) => part !== undefined),
  };
}

async function readError(response: Response) {
  const { error } = (await response.json()) as { error: Record<string, unknown> };
  expect(Object.keys(error).toSorted()).toEqual(["code", "message", "param", "type"]);
  return { status: response.status, ...error } as {
    status: number;
    message: string;
    type: string;
    param: unknown;
    code: unknown;
  };
}

describe("answers", () => {
  test("echo repeats the last user message, whatever came before", async () => {
    const messages = [
      { role: "system", content: "Speak Latin" },
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      ...hello,
    ];
    const { message, finish_reason } = await completeOne({ messages });
    expect(message).toMatchObject({ role: "assistant", content: "You said: Hello there, dear sandbox", refusal: null });
    expect(finish_reason).toBe("stop");
  });

  test("the same bytes give the same bytes, other bytes another id", async () => {
    const body = { model: "chat", messages: hello, stream: true, n: 2 };
    const [first, second] = await Promise.all([(await send(body)).text(), (await send(body)).text()]);
    expect(second).toBe(first);
    expect((await complete({})).id).not.toBe((await complete({ user: "someone" })).id);
    expect((await complete({})).created).toBe((await complete({ user: "someone" })).created);
  });

  test("content parts are read, and what is not text is counted", async () => {
    const image = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
    const audio = { type: "input_audio", input_audio: { data: "", format: "wav" } };
    const content = [
      { type: "text", text: "Look" },
      image,
      image,
      audio,
      { type: "file", file: { file_id: "file-1" } },
    ];
    const { message, usage } = await completeOne({ messages: [{ role: "user", content }] });
    expect(message.content).toBe("You said: Look (I saw 2 images, 1 audio clip, and 1 file.)");
    expect(usage.prompt_tokens_details.audio_tokens).toBeGreaterThan(0);
    expect(usage.prompt_tokens).toBeGreaterThan(usage.prompt_tokens_details.audio_tokens);
  });

  test("chat answers in several sentences", async () => {
    const { message } = await completeOne({ model: "chat" });
    expect(message.content?.split(". ").length).toBeGreaterThan(2);
  });

  test("reasoning comes beside the answer and is counted within the completion", async () => {
    const { message, usage } = await completeOne({ model: "reasoning" });
    expect(message.content).toStartWith("You said:");
    expect(message.reasoning_content).toBeTruthy();
    const { reasoning_tokens } = usage.completion_tokens_details;
    expect(reasoning_tokens).toBeGreaterThan(0);
    expect(usage.completion_tokens).toBeGreaterThan(reasoning_tokens);
    expect(
      (await completeOne({ model: "reasoning", reasoning_effort: "none" })).message.reasoning_content,
    ).toBeUndefined();
    const { chunks } = await stream({ model: "reasoning" });
    expect(assemble(chunks).reasoning).toBe(message.reasoning_content ?? "");
  });

  test("a refusal is a refusal and not content", async () => {
    const { message } = await completeOne({ model: "refusal" });
    expect(message.content).toBeNull();
    expect(message.refusal).toBeTruthy();
    const streamed = assemble((await stream({ model: "refusal" })).chunks);
    expect([streamed.content, streamed.refusal]).toEqual(["", message.refusal ?? ""]);
  });

  test("usage adds up, over several choices too", async () => {
    const { choices, usage } = await complete({ n: 3 });
    if (usage == null) throw new Error("no usage");
    expect(usage.prompt_tokens).toBe(4);
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(new Set(choices.map(({ message }) => message.content)).size).toBe(3);
    const words = choices.flatMap(({ message }) => message.content?.split(" ") ?? []);
    expect(usage.completion_tokens).toBe(words.length);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  });

  test("a prompt cache key makes the earlier messages count as cached", async () => {
    const messages = [{ role: "system", content: "one two three" }, ...hello];
    const { usage } = await completeOne({ messages, prompt_cache_key: "k" });
    expect([usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens]).toEqual([7, 3]);
  });

  test("without a key, what an earlier turn has sent counts as cached", async () => {
    const messages = [...hello, { role: "assistant", content: "one two" }, { role: "user", content: "three" }];
    const { usage } = await completeOne({ messages });
    expect([usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens]).toEqual([7, 4]);
  });

  test("thoughts that come back are counted with the prompt", async () => {
    const tokensOf = async (more: object) => {
      const messages = [...hello, { role: "assistant", content: "one", ...more }, ...hello];
      return (await completeOne({ messages })).usage.prompt_tokens;
    };
    expect((await tokensOf({ reasoning_content: "two three" })) - (await tokensOf({}))).toBe(2);
  });

  test("a transcript shows everything that it was told", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "one" },
    ];
    const more = [
      { role: "assistant", content: "two" },
      { role: "user", content: [{ type: "text", text: "three" }] },
    ];
    const { message } = await completeOne({ model: "transcript", messages: [...messages, ...more] });
    expect(message.content).toBe("system: Be brief.\nuser: one\nassistant: two\nuser: three");
  });

  test("stop cuts before the earliest stop text", async () => {
    const { message, finish_reason } = await completeOne({ stop: ["sandbox", " there"] });
    expect([message.content, finish_reason]).toEqual(["You said: Hello", "stop"]);
    expect((await completeOne({ stop: "absent" })).message.content).toEndWith("sandbox");
  });

  test("a token limit cuts the text and says so, under either name", async () => {
    for (const name of ["max_tokens", "max_completion_tokens"]) {
      const { message, finish_reason, usage } = await completeOne({ [name]: 3 });
      expect([message.content, finish_reason, usage.completion_tokens]).toEqual(["You said: Hello", "length", 3]);
    }
    expect((await completeOne({ max_tokens: 6 })).finish_reason).toBe("stop");
  });

  test("log probabilities name every token, its bytes and the alternatives", async () => {
    const { message, logprobs } = await completeOne({ logprobs: true, top_logprobs: 3 });
    const tokens = logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join("")).toBe(message.content ?? "");
    for (const { token, logprob, bytes, top_logprobs } of tokens) {
      expect(new TextDecoder().decode(Uint8Array.from(bytes))).toBe(token);
      expect(top_logprobs[0]).toEqual({ token, logprob, bytes });
      expect(top_logprobs.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeLessThanOrEqual(1);
      expect(top_logprobs).toHaveLength(3);
    }
    expect((await completeOne({})).logprobs).toBeNull();
    const { chunks } = await stream({ logprobs: true, top_logprobs: 3 });
    expect(assemble(chunks).logprobs).toEqual([...tokens]);
  });

  test("a seed changes the fingerprint, and the service tier is named back", async () => {
    const plain = await complete({});
    const seeded = await complete({ seed: 7, service_tier: "flex" });
    expect(seeded.system_fingerprint).not.toBe(plain.system_fingerprint);
    expect([seeded.service_tier, plain.service_tier]).toEqual(["flex", undefined]);
  });

  test("members that it does not know, and nulls, do no harm", async () => {
    const nothing = Object.fromEntries(
      ["stop", "tools", "n", "max_tokens", "response_format", "seed", "tool_choice"].map((name) => [name, null]),
    );
    expect((await completeOne({ ...nothing, invented: { deep: [1] } })).message.content).toStartWith("You said:");
  });
});

describe("streams", () => {
  test("role first, several deltas, one finish, one id, usage when asked for, and the end mark", async () => {
    const { chunks, isDone } = await stream({ stream_options: { include_usage: true } });
    const { roles, content, finishes } = assemble(chunks);
    expect(isDone).toBe(true);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect([roles, finishes]).toEqual([["assistant"], ["stop"]]);
    expect(chunks.length).toBeGreaterThan(5);
    const whole = await complete({});
    expect(content).toBe(whole.choices[0]?.message.content ?? "");
    const heads = chunks.map(({ id, object, created, model }) => [id, object, created, model].join());
    expect(new Set(heads)).toEqual(new Set([[chunks[0]?.id, "chat.completion.chunk", whole.created, "echo"].join()]));
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage ?? {} });
  });

  test("no usage unless it is asked for", async () => {
    const { chunks } = await stream({});
    expect(chunks.some((chunk) => "usage" in chunk || chunk.choices.length === 0)).toBe(false);
  });

  test("several choices arrive in turns, each complete", async () => {
    const { chunks } = await stream({ n: 2 });
    expect(chunks.slice(0, 4).map((chunk) => chunk.choices[0]?.index)).toEqual([0, 1, 0, 1]);
    expect(assemble(chunks, 0).finishes).toEqual(["stop"]);
    expect(assemble(chunks, 1)).toMatchObject({
      roles: ["assistant"],
      finishes: ["stop"],
      content: "You said: Hello there, dear sandbox (choice 2)",
    });
  });

  test("no delta splits a character", async () => {
    // Odd offsets: pieces of an even number of UTF-16 units would end between characters by luck.
    const text = `a${"😀".repeat(50)} ab${"😀".repeat(9)} ${"字".repeat(40)}`;
    const { chunks } = await stream({ messages: [{ role: "user", content: text }] });
    expect(assemble(chunks).content).toBe(`You said: ${text}`);
    expect(chunks.every((chunk) => (chunk.choices[0]?.delta.content ?? "").isWellFormed())).toBe(true);
    expect(chunks.length).toBeGreaterThan(8);
  });

  test("every event is a write of its own", async () => {
    const response = await send({ model: "echo", messages: hello, stream: true });
    for await (const piece of response.body ?? []) {
      expect(new TextDecoder().decode(piece)).toMatch(/^data: [^\n]+\n\n$/);
    }
  });

  test("flood counts to its number, and is made only as it is read", async () => {
    const { chunks } = await stream({ model: "flood-500" });
    expect(assemble(chunks).content.split(" ").map(Number)).toEqual(Array.from({ length: 500 }, (_, at) => at + 1));

    const response = await send({ model: "flood-100000", messages: hello, stream: true });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.value?.length).toBeLessThan(500);
    await reader?.cancel();
    expect((await send({ model: "flood-100001", messages: hello })).status).toBe(404);
  });
});

describe("tools", () => {
  test("the first tool is called with arguments that fit its schema", async () => {
    const { message, finish_reason } = await completeOne({ tools: [weather, clock] });
    expect(finish_reason).toBe("tool_calls");
    expect(message.content).toBeNull();
    expect(message.tool_calls).toHaveLength(1);
    const call = message.tool_calls?.[0];
    expect([call?.type, call?.function.name]).toEqual(["function", "get_weather"]);
    const judge = z.fromJSONSchema(weather.function.parameters as Parameters<typeof z.fromJSONSchema>[0]);
    expect(judge.safeParse(JSON.parse(call?.function.arguments ?? "")).success).toBe(true);
  });

  const mentioned = [{ role: "user", content: "Use get_time, then get_weather." }];
  const cases: readonly (readonly [title: string, body: Body, names: readonly string[]])[] = [
    ["every tool that the user mentions is called", { messages: mentioned }, ["get_weather", "get_time"]],
    [
      "or speaks of by the last word of its name",
      { messages: [{ role: "user", content: "What's the weather AND the current time in Oslo?" }] },
      ["get_weather", "get_time"],
    ],
    ["only one without parallel calls", { messages: mentioned, parallel_tool_calls: false }, ["get_weather"]],
    ["the named one is called", { tool_choice: { type: "function", function: { name: "get_time" } } }, ["get_time"]],
    [
      "only allowed ones are called",
      { messages: mentioned, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [clock] } } },
      ["get_time"],
    ],
    [
      "a part of a longer word is no mention",
      { messages: [{ role: "user", content: "my_get_time" }] },
      ["get_weather"],
    ],
    ["required calls one", { tool_choice: "required" }, ["get_weather"]],
    ["none calls none", { tool_choice: "none" }, []],
  ];
  for (const [title, body, names] of cases) {
    test(title, async () => {
      const { message } = await completeOne({ tools: [weather, clock], ...body });
      expect((message.tool_calls ?? []).map((call) => call.function.name)).toEqual([...names]);
      const ids = (message.tool_calls ?? []).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    });
  }

  test("streamed calls carry their index, open once, and bring the arguments in pieces", async () => {
    const body = { tools: [weather, clock], messages: mentioned };
    const { chunks } = await stream(body);
    const { calls, finishes, roles } = assemble(chunks);
    const whole = (await completeOne(body)).message.tool_calls ?? [];
    expect(calls.map((call) => [call.name, call.arguments])).toEqual(
      whole.map((call) => [call.function.name ?? "", call.function.arguments]),
    );
    expect([roles, finishes]).toEqual([["assistant"], ["tool_calls"]]);
    expect(calls[0]?.pieces).toBeGreaterThan(1);
  });

  test("after a tool's result the answer quotes it", async () => {
    const calls = [{ id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } }];
    const messages = [
      ...hello,
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "call_1", content: "18 °C" },
    ];
    const { message, finish_reason } = await completeOne({ messages, tools: [weather] });
    expect([message.content, finish_reason]).toEqual(["get_weather answered: 18 °C", "stop"]);
  });

  test("the older functions work the older way", async () => {
    const functions = [weather.function, clock.function];
    const { message, finish_reason } = await completeOne({ functions, function_call: { name: "get_weather" } });
    expect([message.function_call?.name, finish_reason, message.tool_calls]).toEqual([
      "get_weather",
      "function_call",
      undefined,
    ]);
    const streamed = assemble((await stream({ functions })).chunks);
    expect(streamed.functionCall[0]?.name).toBe("get_weather");
    expect(JSON.parse(streamed.functionCall.map((part) => part.arguments).join(""))).toEqual({ city: "example" });
    expect(streamed.finishes).toEqual(["function_call"]);
    const after = [...hello, { role: "function", name: "get_time", content: "noon" }];
    expect((await completeOne({ functions, messages: after })).message.content).toBe("get_time answered: noon");
  });

  test("a token limit cuts the arguments", async () => {
    const { message, finish_reason } = await completeOne({ tools: [weather], max_tokens: 2 });
    expect(finish_reason).toBe("length");
    expect(() => JSON.parse(message.tool_calls?.[0]?.function.arguments ?? "")).toThrow();
  });
});

describe("structured answers", () => {
  test("json_object gives an object", async () => {
    const { message } = await completeOne({ response_format: { type: "json_object" } });
    expect(JSON.parse(message.content ?? "")).toEqual({ answer: "You said: Hello there, dear sandbox" });
  });

  test("json_schema gives a value that fits, whole and streamed", async () => {
    const schema = {
      type: "object",
      properties: {
        score: { type: "integer", minimum: 10 },
        tags: { type: "array", items: { type: "string" }, minItems: 2 },
      },
      required: ["score", "tags"],
    };
    const response_format = { type: "json_schema", json_schema: { name: "review", strict: true, schema } };
    const { message } = await completeOne({ response_format });
    expect(
      z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(JSON.parse(message.content ?? ""))
        .success,
    ).toBe(true);
    expect(assemble((await stream({ response_format })).chunks).content).toBe(message.content ?? "");
  });
});

describe("refused requests", () => {
  const cases: readonly (readonly [title: string, body: string | Body, status: number, param: string | null])[] = [
    ["broken JSON", '{"model":', 400, null],
    ["bytes that are no object", "[]", 400, null],
    ["no messages", { model: "echo" }, 400, "messages"],
    ["empty messages", { model: "echo", messages: [] }, 400, "messages"],
    ["an unknown role", { model: "echo", messages: [{ role: "robot", content: "" }] }, 400, "messages[0].role"],
    ["no model", { messages: hello }, 400, "model"],
    ["an unknown model", { model: "oracle", messages: hello }, 404, "model"],
    ["a status out of range", { model: "error-600", messages: hello }, 404, "model"],
    ["top_logprobs alone", { model: "echo", messages: hello, top_logprobs: 2 }, 400, "top_logprobs"],
    ["a tool choice without tools", { model: "echo", messages: hello, tool_choice: "auto" }, 400, "tool_choice"],
    [
      "a tool choice that is not offered",
      { model: "echo", messages: hello, tools: [clock], tool_choice: { type: "function", function: { name: "x" } } },
      400,
      "tool_choice",
    ],
    [
      "a schema that refers into nowhere",
      {
        model: "echo",
        messages: hello,
        response_format: { type: "json_schema", json_schema: { name: "x", schema: { $ref: "#/$defs/x" } } },
      },
      400,
      "response_format",
    ],
    ["a stream of an unknown model", { model: "oracle", messages: hello, stream: true }, 404, "model"],
  ];
  for (const [title, body, status, param] of cases) {
    test(title, async () => {
      const error = await readError(await send(body));
      expect(error).toMatchObject({ status, param, type: "invalid_request_error" });
      if (title === "an unknown role") expect(error.code).toBe("invalid_value");
    });
  }

  test("an unknown model is answered with the list of models", async () => {
    const { message } = await readError(await send({ model: "oracle", messages: hello }));
    for (const { name } of sandboxModels) expect(message).toContain(name);
  });

  test("another path or method", async () => {
    expect((await send("", { method: "GET" })).status).toBe(404);
    expect((await send("", { url: "http://sandbox.invalid/v1/images/generations" })).status).toBe(404);
  });
});

describe("faults", () => {
  /** Every fault in both ways of answering. */
  const ask = (model: string, isStream: boolean, signal?: AbortSignal) =>
    send({ model, messages: hello, stream: isStream }, signal === undefined ? {} : { signal });

  test("error-<status> answers with that status and an error body", async () => {
    for (const status of [400, 401, 404, 418, 429, 500, 503, 599]) {
      for (const isStream of [false, true]) {
        const response = await ask(`error-${status}`, isStream);
        expect(response.headers.get("retry-after")).toBe(status === 429 ? "1" : null);
        expect((await readError(response)).status).toBe(status);
      }
    }
  });

  for (const isStream of [false, true]) {
    const way = isStream ? "in a stream" : "as a whole";

    test(`cut breaks the connection ${way}`, async () => {
      const response = await ask("cut", isStream);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error("no body");
      for (let piece = 0; piece < 3; piece++) expect((await reader.read()).done).toBe(false);
      const broken = reader.read();
      await expect(broken).rejects.toBeInstanceOf(TypeError);
      await expect(broken).rejects.toMatchObject({ code: "ECONNRESET" });
      await expect((await ask("cut", isStream)).text()).rejects.toMatchObject({ code: "ECONNRESET" });
    });

    test(`stall sends a little and then nothing, until it is aborted, ${way}`, async () => {
      const controller = new AbortController();
      const response = await ask("stall", isStream, controller.signal);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new Error("no body");
      for (let piece = 0; piece < 3; piece++) expect((await reader.read()).done).toBe(false);
      let isSettled = false;
      const next = reader.read();
      next
        .catch(() => {})
        .finally(() => {
          isSettled = true;
        });
      await Bun.sleep(20);
      expect(isSettled).toBe(false);
      controller.abort();
      await expect(within(60_000, "the aborted read", next)).rejects.toMatchObject({ name: "AbortError" });
    });

    test(`hang never answers, until it is aborted, ${way}`, async () => {
      const controller = new AbortController();
      const answer = ask("hang", isStream, controller.signal);
      controller.abort(new Error("enough"));
      await expect(within(60_000, "the aborted call", answer)).rejects.toThrow("enough");
    });

    test(`garbage is a 200 that is neither JSON nor events, ${way}`, async () => {
      const response = await ask("garbage", isStream);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(() => JSON.parse(text)).toThrow();
      expect(readEvents(text).events).toEqual([]);
    });

    test(`slow takes its time between pieces ${way}`, async () => {
      const startedAt = performance.now();
      const response = await ask("slow-10", isStream);
      const text = await response.text();
      expect(performance.now() - startedAt).toBeGreaterThan(7 * 9);
      expect(text).toContain("sandbox");
    });

    test(`slow-start takes its time before the answer ${way}`, async () => {
      const startedAt = performance.now();
      const response = await ask("slow-start-40", isStream);
      expect(performance.now() - startedAt).toBeGreaterThan(38);
      expect(await response.text()).toContain("sandbox");
    });
  }

  test("no-done ends a complete stream without the end mark", async () => {
    const { chunks, isDone } = await stream({ model: "no-done" });
    expect([assemble(chunks).finishes, isDone]).toEqual([["stop"], false]);
    expect((await completeOne({ model: "no-done" })).finish_reason).toBe("stop");
  });

  test("error-in-stream is an error object after two chunks, and no end mark", async () => {
    const { events } = readEvents(await (await ask("error-in-stream", true)).text());
    expect(events).toHaveLength(3);
    expect(Object.keys(JSON.parse(events[2]?.data ?? ""))).toEqual(["error"]);
    const whole = await ask("error-in-stream", false);
    expect([whole.status, Object.keys((await whole.json()) as object)]).toEqual([200, ["error"]]);
  });

  test("garbage-in-stream is an event that is not JSON after two chunks", async () => {
    const { events } = readEvents(await (await ask("garbage-in-stream", true)).text());
    expect(events).toHaveLength(4);
    expect(() => JSON.parse(events[2]?.data ?? "")).toThrow();
    await expect((await ask("garbage-in-stream", false)).json()).rejects.toThrow();
  });

  test("a caller who has already left is not answered", async () => {
    await expect(send({ model: "echo", messages: hello }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  test("an abort reaches a stream in the middle, read or not", async () => {
    for (const model of ["echo", "slow-60000", "flood-1000"]) {
      const controller = new AbortController();
      const unread = await ask(model, true, controller.signal);
      const response = await ask(model, true, controller.signal);
      const reader = response.body?.getReader();
      await reader?.read();
      const next = model === "slow-60000" ? reader?.read() : undefined;
      controller.abort();
      const after = within(60_000, "the read after the abort", Promise.resolve(next ?? reader?.read()));
      await expect(after).rejects.toMatchObject({ name: "AbortError" });
      await expect(unread.text()).rejects.toMatchObject({ name: "AbortError" });
    }
  });

  test("an aborted or cancelled answer leaves no timer that keeps the process alive, and no unhandled rejection", async () => {
    const script = `
      import { sandbox } from ${JSON.stringify(join(import.meta.dir, "../../src/providers/sandbox/index.ts"))};
      const ask = (model, signal) => sandbox.transport(${JSON.stringify(url)}, { method: "POST", signal,
        body: new TextEncoder().encode(JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hi" }] })) });
      for (const model of ["slow-600000", "stall", "echo"]) {
        for (const leave of ["cancel", "abort"]) {
          const controller = new AbortController();
          const reader = (await ask(model, controller.signal)).body.getReader();
          await reader.read();
          const pending = reader.read().catch(() => {});
          if (leave === "cancel") await reader.cancel();
          else controller.abort();
          await pending;
        }
      }
      for (const model of ["hang", "slow-start-600000"]) {
        const controller = new AbortController();
        const answer = ask(model, controller.signal).catch(() => {});
        controller.abort();
        await answer;
      }
      const dropped = new AbortController();
      await ask("slow-600000", dropped.signal);
      dropped.abort();
      console.log("left");
    `;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
    try {
      await within(60_000, "the process to end", child.exited);
    } finally {
      child.kill();
    }
    expect([await child.stdout.text(), await child.stderr.text(), child.exitCode]).toEqual(["left\n", "", 0]);
  });

  test("a finished answer no longer listens to its signal", async () => {
    const controller = new AbortController();
    const counted = { added: 0, removed: 0 };
    const signal = new Proxy(controller.signal, {
      get(target, name) {
        if (name === "addEventListener") counted.added++;
        if (name === "removeEventListener") counted.removed++;
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    await (await ask("slow-1", true, signal)).text();
    await waitFor("the listener to go", () => counted.removed === counted.added && counted.added > 0);
  });
});

describe("what the row and the page say", () => {
  test("every model of the row is one that answers as its documentation says", async () => {
    for (const id of sandboxModels.map(({ facts }) => facts.id)) {
      if (id === "hang" || id === "stall") continue;
      const response = await send({ model: id, messages: hello });
      expect([id, response.status]).toEqual([id, id === "error-429" ? 429 : 200]);
      await response.body?.cancel();
    }
  });

  test("the row lists no model that breaks or delays its answer", () => {
    expect(sandbox.chat?.models.map(({ id }) => id)).toEqual([
      ...["echo", "transcript", "chat", "reasoning", "refusal", "flood-1000"],
    ]);
  });

  test("the page lists the models that there are, and no others", async () => {
    const page = await Bun.file(join(import.meta.dir, "../../docs/sandbox.md")).text();
    const listed = Array.from(
      page.matchAll(/^\| `sandbox\/([^`]+)` \| (.*) \|$/gm),
      ([, name, about]) => `${name}: ${about}`,
    );
    expect(listed.toSorted()).toEqual(sandboxModels.map(({ name, about }) => `${name}: ${about}`).toSorted());
  });
});
