// The sandbox provider: answers, streams, tools and structured answers that depend on the request alone.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";
import { sandbox, sandboxModels } from "../../src/providers/sandbox/index.ts";
import {
  assemble,
  type Body,
  clock,
  complete,
  completeOne,
  hello,
  send,
  stream,
  weatherParameters,
} from "../support/sandbox-chat.ts";

const weather = { type: "function", function: { name: "get_weather", parameters: weatherParameters } };

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

  test("a transcript contains everything that was sent to it", async () => {
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

  test("usage is included on request only", async () => {
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
