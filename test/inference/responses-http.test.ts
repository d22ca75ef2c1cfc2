// /v3/responses at providers that have the API themselves: what passes, what is exchanged, and what is told when it breaks.

import { beforeEach, describe, expect, test } from "bun:test";
import { answer, chatChunk, doneText, event, httpChunk, lastHttpChunk, rst, streamHead } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { createClient, readResponse, readResponseStream, responsesPath, textOf } from "../support/responses.ts";
import { halfAnswer, oddMember, startResponsesVendor, vendorIds } from "../support/responses-vendor.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const vendor = await startResponsesVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  config: {
    prices: { "mock/*": { input: 2, output: 10 } },
    aliases: { either: ["mock/echo", "mock2/echo"] },
    providers: {
      passing: { dialect: "openai", base_url: `${origin}/passing/v1`, api_key: "k", responses: "stateless" },
      pair: {
        dialect: "openai",
        responses: "native",
        deployments: [
          { name: "one", base_url: `${origin}/pair/v1`, api_key: "key-of-one" },
          { name: "two", base_url: `${origin}/pair/v1`, api_key: "key-of-two" },
        ],
      },
    },
  },
});
const client = createClient(gateway, await gateway.createKey());
beforeEach(() => vendor.clear());

/** Nothing that the vendor calls its own is in it. */
function expectOurIdsOnly(text: string): void {
  expect(text).not.toMatch(vendorIds);
  expect(text).not.toContain(providerSecret);
}

describe("creating", () => {
  test("the caller's bytes reach the provider, with only the model and our members changed", async () => {
    const sent =
      '{ "user":"u", "x_new":{"ratio":1.0,"big":12345678901234567890},\n "model":"mock/echo","tags":{"a":"b"}, "input":[{"role":"user","content":"h\\u00e9","x_n":2.50}] ,"temperature":0.10}';
    expect((await client.post(sent)).status).toBe(200);
    expect(vendor.last().path).toBe("/v1/responses");
    expect(vendor.last().body.toString()).toBe(
      '{ "user":"u", "x_new":{"ratio":1.0,"big":12345678901234567890},\n "model":"echo", "input":[{"role":"user","content":"h\\u00e9","x_n":2.50}] ,"temperature":0.10}',
    );
  });

  test("the provider's answer comes back as it is spelled, complete, with our ids", async () => {
    const response = await client.post({ model: "mock/echo", input: "hello", metadata: { a: "1" }, user: "u" });
    const text = await response.text();
    expectOurIdsOnly(text);
    expect(text).toContain(oddMember);
    const value = JSON.parse(text);
    expect(value).toMatchObject({
      object: "response",
      status: "completed",
      model: "echo-2025",
      store: true,
      previous_response_id: null,
      metadata: { a: "1" },
      user: "u",
      provider: "mock",
      cost: 0.007,
      tool_choice: "auto",
      truncation: "disabled",
      incomplete_details: null,
      usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    });
    expect(value.id).toMatch(/^resp_[0-9a-f]{48}$/);
    expect(value.x_trace).toEqual({ response: value.id });
    expect(value.provider_time).toBeGreaterThanOrEqual(0);
    expect(value.output[0].content[0]).toMatchObject({ text: "heard: hello", annotations: [], logprobs: [] });
    expect(value.output[0].id).toMatch(/^msg_vendor[0-9a-f]{32}_sy[0-9a-f]{20}$/);
  });

  test("sixteen pairs of metadata come back, also when it is asked for later", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`key ${index}`, `é${index}`]));
    const { id } = await client.create({ input: "hello", metadata });
    expect((await client.retrieve(id)).metadata).toEqual(metadata);
  });

  test("a function call keeps its call_id, and its result finds it", async () => {
    const first = await client.create({
      model: "mock/tool",
      input: "look",
      tools: [{ type: "function", name: "look" }],
    });
    const [call] = first.output;
    expect(call).toMatchObject({ type: "function_call", name: "look", status: "completed" });
    expect(first["tools"]).toEqual([
      { type: "function", name: "look", description: null, parameters: null, strict: null },
    ]);
    const result = { type: "function_call_output", call_id: call?.["call_id"], output: "a cat" };
    const second = await client.create({ model: "mock/tool", input: [result], previous_response_id: first.id });
    expect(textOf(second)).toBe("heard: look | a cat");
  });

  test("an answer that a limit cut is incomplete", async () => {
    const response = await client.create({ model: "mock/short", input: "hello" });
    expect(response.status).toBe("incomplete");
    expect(response["incomplete_details"]).toEqual({ reason: "max_output_tokens" });
  });

  test("another offer answers when the first fails, and the response belongs to the one that answered", async () => {
    vendor.next(answer(500, { error: { message: "down" } }));
    const first = await client.create({ input: "hello", fallbacks: ["mock2/echo"] });
    expect(first.provider).toBe("mock2");
    const again = await client.create({ model: "mock2/echo", input: "more", previous_response_id: first.id });
    expect(textOf(again)).toBe("heard: hello | more");
    const elsewhere = await readError(
      await client.post({ model: "mock/echo", input: "x", previous_response_id: first.id }),
    );
    expect(elsewhere).toMatchObject({ status: 400, code: "previous_response_provider_mismatch" });
  });

  test("an error as the first event of a stream is an error with a status, and another offer may answer", async () => {
    const error = await readError(await client.post({ model: "mock/error-first", input: "x", stream: true }));
    expect(error).toMatchObject({ status: 502, code: "provider_error" });
    const saved = await client.stream({ model: "mock/error-first", input: "x", fallbacks: ["mock2/echo"] });
    expect(saved.last.response?.provider).toBe("mock2");
  });

  test("a provider that is asked to keep a response and says that it does not is believed", async () => {
    const response = await client.create({ model: "mock/forgetful", input: "hello" });
    expect(response.store).toBe(false);
    expect(await readError(await client.get(response.id))).toMatchObject({ status: 404, code: "response_not_stored" });
  });

  test("with store: false nothing is kept, and the answer says so", async () => {
    for (const stream of [false, true]) {
      const body = { input: "hello", store: false };
      const response = stream ? (await client.stream(body)).last.response : await client.create(body);
      expect(response?.store).toBe(false);
      const id = response?.id ?? "";
      for (const asked of [
        client.get(id),
        client.remove(id),
        client.get(`${id}/input_items`),
        client.post({}, `/${id}/cancel`),
      ])
        expect(await readError(await asked)).toMatchObject({
          status: 404,
          code: "response_not_stored",
          param: "response_id",
        });
      const chained = await readError(await client.post({ model: "mock/echo", input: "x", previous_response_id: id }));
      expect(chained).toMatchObject({
        status: 400,
        code: "previous_response_not_found",
        param: "previous_response_id",
        message: expect.stringContaining("not stored"),
      });
      const elsewhere = await readError(
        await client.post({ model: "mockchat/echo", input: "x", previous_response_id: id }),
      );
      expect(elsewhere).toMatchObject({ status: 400, code: "stateful_not_supported", param: "previous_response_id" });
    }
  });

  test("conversations of the provider are refused by name", async () => {
    const error = await readError(await client.post({ model: "mock/echo", input: "x", conversation: "conv_1" }));
    expect(error).toMatchObject({ status: 422, param: "conversation" });
    expect(vendor.calls()).toHaveLength(0);
  });
});

describe("streaming", () => {
  test("events pass in their order, numbered, named, complete, with our ids, and end with [DONE]", async () => {
    const { text, types, done, id, last, said, events } = await client.stream({ input: "hello there" });
    expectOurIdsOnly(text);
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect({ done, said }).toEqual({ done: true, said: "heard: hello there" });
    expect(text).toContain('"x_number":1.50');
    expect(events.every(({ response }) => response === undefined || response.id === id)).toBe(true);
    expect(events.every(({ type, logprobs }) => type !== "response.output_text.delta" || Array.isArray(logprobs))).toBe(
      true,
    );
    expect(last.response).toMatchObject({ status: "completed", provider: "mock", cost: 0.007, store: true, tools: [] });
    const itemId = last.response?.output[0]?.["id"];
    expect(new Set<unknown>(events.flatMap(({ item_id }) => (item_id === undefined ? [] : [item_id])))).toEqual(
      new Set<unknown>([itemId]),
    );
  });

  test("each event is one write", async () => {
    const connection = await openConnection(gateway.url);
    connection.send(request({ model: "mock/slow", input: "a b c", stream: true }));
    const { chunks } = await connection.receive();
    connection.leave();
    for (const chunk of chunks) expect(chunk.toString()).toMatch(/^(event: [^\n]+\n)?data: [^\n]+\n\n$/);
  });

  test("events that come without numbers get them", async () => {
    const { done, said } = await client.stream({ model: "mock/unnumbered", input: "hello" });
    expect({ done, said }).toEqual({ done: true, said: "heard: hello" });
  });

  for (const model of ["cut", "close", "error-event"]) {
    test(`a stream that breaks (${model}) ends with error and response.failed, and without [DONE]`, async () => {
      const { types, done, last, events, text, id } = await client.stream({
        model: `mock/${model}`,
        input: "one two three",
      });
      expectOurIdsOnly(text);
      expect(types.slice(-2)).toEqual(["error", "response.failed"]);
      expect(done).toBe(false);
      expect(last.response).toMatchObject({ id, status: "failed", error: { code: "server_error" } });
      expect(last.response?.error?.message).not.toBe("");
      expect(events.at(-2)).toMatchObject({ code: expect.any(String), error: { code: expect.any(String) } });
    });
  }
});

describe("asking again", () => {
  test("a response is told again, byte for byte what the provider says, with the same ids", async () => {
    const created = await client.create({ input: "hello" });
    const text = await (await client.get(created.id)).text();
    expectOurIdsOnly(text);
    expect(text).toContain(oddMember);
    const { provider_time: _, ...same } = created;
    expect(JSON.parse(text)).toMatchObject(same);
    expect(vendor.last()).toMatchObject({ method: "GET" });
    expect(vendor.last().path).toMatch(/^\/v1\/responses\/resp_vendor[0-9a-f]{32}$/);
  });

  test("a stream is told again, also from the middle, and what is asked for is passed on", async () => {
    const { id, events } = await client.stream({ input: "one two three" });
    const again = readResponseStream(await (await client.get(`${id}?stream=true`)).text());
    expectOurIdsOnly(again.text);
    expect(again.types).toEqual(events.map(({ type }) => type));
    expect(again).toMatchObject({ id, done: true });
    const rest = readResponseStream(
      await (await client.get(`${id}?stream=true&starting_after=4&include[]=x&secret=1`)).text(),
      5,
    );
    expect(rest.types).toEqual(events.slice(5).map(({ type }) => type));
    expect(rest.last.response?.id).toBe(id);
    expect(vendor.last().path).toContain("include%5B%5D=x&starting_after=4&stream=true");
    expect(vendor.last().path).not.toContain("secret");
  });

  test("input items are paged by our ids", async () => {
    const input = ["a", "b", "c"].map((content) => ({ role: "user", content }));
    const { id } = await client.create({ input });
    const read = async (query: string) => {
      const text = await (await client.get(`${id}/input_items?${query}`)).text();
      expectOurIdsOnly(text);
      return JSON.parse(text);
    };
    const first = await read("order=asc&limit=2");
    expect(first).toMatchObject({
      object: "list",
      has_more: true,
      first_id: first.data[0].id,
      last_id: first.data[1].id,
    });
    const second = await read(`order=asc&limit=2&after=${first.last_id}`);
    expect(second).toMatchObject({ has_more: false, data: [{ content: "c" }] });
  });

  test("what is asked in a form that nobody knows is a 422", async () => {
    const { id } = await client.create({ input: "hello" });
    vendor.clear();
    for (const query of ["limit=0", "limit=101", "limit=x", "order=up", "after="])
      expect(await readError(await client.get(`${id}/input_items?${query}`))).toMatchObject({ status: 422 });
    for (const query of ["stream=maybe", "stream=true&starting_after=x"])
      expect(await readError(await client.get(`${id}?${query}`))).toMatchObject({ status: 422 });
    expect(vendor.calls()).toHaveLength(0);
  });

  test("what is deleted is gone here and at the provider", async () => {
    const { id } = await client.create({ input: "hello" });
    const kept = vendor.stored.size;
    expect(await (await client.remove(id)).json()).toEqual({ id, object: "response.deleted", deleted: true });
    expect(vendor.stored.size).toBe(kept - 1);
    expect(await readError(await client.get(id))).toMatchObject({ status: 404, code: "response_not_found" });
    expect(await readError(await client.remove(id))).toMatchObject({ status: 404, code: "response_not_found" });
  });

  test("what the provider has forgotten is not found, and can still be deleted", async () => {
    const { id } = await client.create({ input: "hello" });
    vendor.stored.clear();
    const error = await readError(await client.get(id));
    expect(error).toMatchObject({ status: 404, code: "response_not_found", param: "response_id" });
    const chained = await readError(await client.post({ model: "mock/echo", input: "x", previous_response_id: id }));
    expect(chained).toMatchObject({ status: 400, code: "previous_response_not_found", param: "previous_response_id" });
    expectOurIdsOnly(JSON.stringify([error, chained]));
    expect((await client.remove(id)).status).toBe(200);
  });

  test("work in the background is in progress while it is queued and runs, ends, and tells its cost when it has", async () => {
    const queued = await client.create({ input: "hello", background: true });
    expect(queued).toMatchObject({ status: "in_progress", cost: null, background: true });
    expect(await client.retrieve(queued.id)).toMatchObject({ status: "in_progress" });
    const ended = await client.retrieve(queued.id);
    expect(ended).toMatchObject({ status: "completed", cost: 0.007, provider: "mock" });
    expect(ended.provider_time).toBeNumber();
    expect(textOf(ended)).toBe("heard: hello");
  });

  test("work in the background can be cancelled, and nothing else can", async () => {
    const queued = await client.create({ input: "hello", background: true });
    const cancelled = await readResponse(await client.post({}, `/${queued.id}/cancel`));
    expect(cancelled).toMatchObject({
      id: queued.id,
      status: "incomplete",
      incomplete_details: { reason: "cancelled" },
      provider_time: expect.any(Number),
    });
    expect(await client.retrieve(queued.id)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "cancelled" },
    });
    const { id } = await client.create({ input: "hello" });
    const error = await readError(await client.post({}, `/${id}/cancel`));
    expect(error).toMatchObject({ status: 400, code: "provider_rejected_request" });
    // In the caller's ids, not in the provider's.
    expect(error.message).toContain(id);
    expectOurIdsOnly(error.message);
  });

  test("a queued stream tells its response as in progress", async () => {
    const answered = await client.post({ model: "mock/echo", input: "hello", background: true, stream: true });
    const events = readEvents(await answered.text()).events.slice(0, 2);
    expect(events.map(({ name }) => name)).toEqual(["response.created", "response.queued"]);
    for (const { data } of events) expect(JSON.parse(data).response.status).toBe("in_progress");
  });

  test("usage has every member of the published schema, and instructions that the provider leaves out are told again", async () => {
    const usage = {
      input_tokens: 1_000,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 500,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1_500,
    };
    const body = { model: "mock/terse", input: "hello", instructions: "Be brief." };
    const whole = await client.create(body);
    expect(whole).toMatchObject({ usage, instructions: "Be brief." });
    const { events, last } = await client.stream(body);
    expect(last.response).toMatchObject({ usage, instructions: "Be brief.", provider_time: expect.any(Number) });
    expect(events[0]?.response).toMatchObject({ instructions: "Be brief." });
    expect((await client.retrieve(whole.id)).provider_time).toBeNumber();
  });

  test("the tools of a coding agent's request reach a provider of the chat format, and its calls come back", async () => {
    const wait = { type: "function", name: "wait", strict: false, parameters: { type: "object", properties: {} } };
    const body = {
      model: "mockchat/echo",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "go" }] }],
      tools: [
        { type: "namespace", name: "agents", description: "Sub-agents.", tools: [wait] },
        { type: "web_search", external_web_access: false },
      ],
      tool_choice: "auto",
      store: false,
      include: ["reasoning.encrypted_content"],
    };
    const tool_calls = [
      { index: 0, id: "call_1", type: "function", function: { name: "agents__wait", arguments: "{}" } },
    ];
    vendor.next([
      streamHead(),
      event(chatChunk({ tool_calls })),
      event(chatChunk({}, "tool_calls")),
      httpChunk(doneText),
      lastHttpChunk,
    ]);
    const first = await client.post({ ...body, stream: true });
    expect(first.headers.get("x-switchyard-dropped-params")).toBe("tools.web_search");
    const { last } = readResponseStream(await first.text());
    const [called] = last.response?.output ?? [];
    expect(called).toMatchObject({ type: "function_call", namespace: "agents", name: "wait", call_id: "call_1" });
    expect(last.response?.["tools"]).toMatchObject(body.tools);
    const output = { type: "function_call_output", call_id: "call_1", output: "done" };
    await client.create({ ...body, input: [...body.input, called, output] });
    const sent = JSON.parse(vendor.last().body.toString());
    expect(sent.messages[1].tool_calls[0].function.name).toBe("agents__wait");
    expect(sent).not.toHaveProperty("web_search_options");
  });

  test("metadata takes any JSON value, and texts only where the provider keeps it", async () => {
    const metadata = { text: "a", number: 7, list: [1, { deep: true }], none: null };
    for (const model of ["mockchat/echo", "sandbox/echo"]) {
      const { id, ...made } = await client.create({ model, input: "one", metadata });
      expect(made.metadata as object).toEqual(metadata);
      if (made.store) expect((await client.retrieve(id)).metadata as object).toEqual(metadata);
    }
    vendor.clear();
    const refused = await readError(await client.post({ model: "mock/echo", input: "one", metadata }));
    expect(refused).toMatchObject({ status: 422, code: "string_type", param: "metadata.number" });
    expect(refused.message).toContain("only texts");
    expect(vendor.requests).toBeEmpty();
    const long = { model: "sandbox/echo", input: "one", metadata: { list: Array(3_000).fill(1) } };
    expect(await readError(await client.post(long))).toMatchObject({ status: 422, code: "too_long" });
  });

  test("a stream that breaks off tells how long the provider took", async () => {
    const { last } = await client.stream({ model: "mock/cut", input: "one two three" });
    expect(last).toMatchObject({ type: "response.failed", response: { provider_time: expect.any(Number) } });
    vendor.next([streamHead(), event(chatChunk({ content: "half" })), rst]);
    const translated = await client.stream({ model: "mockchat/echo", input: "one" });
    expect(translated.last).toMatchObject({
      type: "response.failed",
      response: { provider: "mockchat", provider_time: expect.any(Number) },
    });
  });

  test("the provider's failures at asking again are its failures", async () => {
    const { id } = await client.create({ input: "hello" });
    vendor.next(answer(500, { error: { message: "down" } }));
    expect(await readError(await client.get(id))).toMatchObject({ status: 502, code: "provider_error" });
    vendor.next(answer(200, "<html>"));
    expect(await readError(await client.get(id))).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect((await client.retrieve(id)).id).toBe(id);
  });
});

describe("going on", () => {
  test("a chain remembers, streamed or not, and its answers name the response before", async () => {
    const first = await client.create({ input: "one" });
    const second = await client.stream({ input: "two", previous_response_id: first.id });
    expect(second.said).toBe("heard: one | two");
    expect(
      second.events.every(({ response }) => response === undefined || response.previous_response_id === first.id),
    ).toBe(true);
    const third = await client.create({ previous_response_id: second.id, input: "three" });
    expect(textOf(third)).toBe("heard: one | two | three");
    expect(await client.retrieve(third.id)).toMatchObject({ previous_response_id: second.id });
  });

  test("input may be left out when there is something to go on from", async () => {
    const first = await client.create({ input: "one" });
    expect(textOf(await client.create({ previous_response_id: first.id }))).toBe("heard: one");
    expect(Object.keys(vendor.lastBody())).not.toContain("input");
  });

  test("items that come back carry the provider's ids to the provider, and nothing else of them changes", async () => {
    const first = await client.create({ model: "mock/think", input: "one", include: ["reasoning.encrypted_content"] });
    const sent = `{"model":"mock/echo","input":[{"role":"user","content":"one"},${first.output.map((item) => JSON.stringify({ ...item, x_n: "N" }).replace('"N"', "2.50")).join(",")}]}`;
    expect((await client.post(sent)).status).toBe(200);
    const [reasoning, message] = first.output;
    const open = (id: unknown) => String(id).replace(/_sy[0-9a-f]{20}$/, "");
    expect(vendor.last().body.toString()).toBe(
      sent
        .replace("mock/echo", "echo")
        .replace(String(reasoning?.["id"]), open(reasoning?.["id"]))
        .replace(String(message?.["id"]), open(message?.["id"])),
    );
  });

  test("an item is referred to by the id that was given for it", async () => {
    const first = await client.create({ input: "one" });
    const second = await client.create({
      input: [
        { type: "item_reference", id: first.output[0]?.["id"] },
        { role: "user", content: "two" },
      ],
    });
    expect(textOf(second)).toBe("heard: two");
    expect(JSON.stringify(vendor.lastBody())).toMatch(/"item_reference","id":"msg_vendor[0-9a-f]{32}"/);
  });

  test("an approval names the request by the id that was given for it", async () => {
    const first = await client.create({ model: "mock/approve", input: "one" });
    const approval = { type: "mcp_approval_response", approve: true, approval_request_id: first.output[0]?.["id"] };
    await client.create({ model: "mock/approve", input: [approval], previous_response_id: first.id });
    expect(JSON.stringify(vendor.lastBody())).toMatch(/"approval_request_id":"mcpr_vendor[0-9a-f]{32}"/);
    const wrong = { ...approval, approval_request_id: "mcpr_vendor00000000000000000000000000000000" };
    expect(await readError(await client.post({ model: "mock/approve", input: [wrong] }))).toMatchObject({
      status: 422,
    });
  });

  test("ids that are not ours never reach the provider, and what only they could name is left out", async () => {
    const input = [
      { role: "user", content: "one" },
      { type: "reasoning", id: "rs_vendor00000000000000000000000000000000", summary: [] },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
    ];
    const response = await client.post({ model: "mock/echo", input });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-switchyard-dropped-params")).toBe("input.reasoning");
    expect(vendor.lastBody()["input"]).toEqual([
      { role: "user", content: "one" },
      { type: "reasoning", summary: [], encrypted_content: "sealed" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "yes" }] },
    ]);
    const strict = await readError(await client.post({ model: "mock/echo", input, strict_parameters: true }));
    expect(strict.status).toBe(422);
  });

  test("reasoning of a translated provider is not told to one that could not read it", async () => {
    const translated = await client.create({ model: "mockchat/echo", input: "one" });
    const encrypted_content = `sy1.${Buffer.from("{}").toString("base64url")}`;
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content };
    await client.create({ input: [reasoning, ...translated.output, { role: "user", content: "two" }] });
    expect(JSON.stringify(vendor.lastBody())).not.toContain("reasoning");
  });

  test("a chain stays at the account that keeps it, and items go to the account that made them", async () => {
    const keyOf = () => vendor.last().headers["authorization"];
    const accounts = new Set<string | undefined>();
    for (let round = 0; round < 12; round += 1) {
      const first = await client.create({ model: "pair/echo", input: "one" });
      const account = keyOf();
      accounts.add(account);
      const second = await client.create({ model: "pair/echo", input: "two", previous_response_id: first.id });
      expect([keyOf(), textOf(second)]).toEqual([account, "heard: one | two"]);
      await client.retrieve(second.id);
      expect(keyOf()).toBe(account);
      await client.create({ model: "pair/echo", input: [...first.output, { role: "user", content: "three" }] });
      expect(keyOf()).toBe(account);
      await client.create({ model: "pair/echo", input: [{ type: "item_reference", id: first.output[0]?.["id"] }] });
      expect(keyOf()).toBe(account);
    }
    expect(accounts).toEqual(new Set(["Bearer key-of-one", "Bearer key-of-two"]));
  });

  test("an alias with several offers goes on where the response is kept", async () => {
    for (let round = 0; round < 4; round += 1) {
      const first = await client.create({ model: "mock2/echo", input: "one" });
      const second = await client.create({ model: "either", input: "two", previous_response_id: first.id });
      expect([second.provider, textOf(second)]).toEqual(["mock2", "heard: one | two"]);
    }
  });

  test("a provider without memory is told store: false, and its responses are not kept", async () => {
    const response = await client.create({ model: "passing/echo", input: "one" });
    expect(vendor.lastBody()).toEqual({ model: "echo", input: "one", store: false });
    expect(response).toMatchObject({ store: false, provider: "passing" });
    expect(await readError(await client.get(response.id))).toMatchObject({ code: "response_not_stored" });
    const kept = await client.create({ input: "one" });
    const chained = await readError(
      await client.post({ model: "passing/echo", input: "x", previous_response_id: kept.id }),
    );
    expect(chained).toMatchObject({ status: 400, code: "stateful_not_supported" });
    const background = await readError(await client.post({ model: "passing/echo", input: "x", background: true }));
    expect(background).toMatchObject({ status: 400, code: "stateful_not_supported", param: "background" });
  });
});

describe("leaving", () => {
  const aMoment = () => Bun.sleep(30);
  const windows: Readonly<
    Record<string, [model: string, stream: boolean, reached: (c: RawConnection) => Promise<unknown>]>
  > = {
    "before the provider's headers": ["stall-whole", true, () => Promise.resolve()],
    "before the first event": ["stall-head", true, aMoment],
    "after the first events": ["stall-first", true, (c) => waitFor("events", () => c.text().includes("in_progress"))],
    "in the middle of a stream": ["stall", true, (c) => waitFor("a delta", () => c.text().includes("text.delta"))],
    "during a call that is not streamed": ["half", false, aMoment],
  };
  for (const [name, [model, stream, reached]] of Object.entries(windows)) {
    test(`clients that leave ${name} end the provider's calls`, async () => {
      vendor.on("half", halfAnswer);
      const connections = await Promise.all(Array.from({ length: 20 }, () => openConnection(gateway.url)));
      for (const connection of connections)
        connection.send(request({ model: `mock/${model}`, input: "one two", stream }));
      await vendor.waitFor("all calls", (requests) => requests.length === connections.length);
      for (const connection of connections) {
        await reached(connection);
        connection.leave();
      }
      await vendor.waitFor("all calls to end", (requests) => requests.every((one) => one.leftAt !== null));
    });
  }

  test("a client that leaves while a response is asked for again ends that call too", async () => {
    const { id } = await client.create({ input: "one" });
    vendor.next(halfAnswer);
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${client.key}` };
    connection.send(requestBytes({ method: "GET", path: `${responsesPath}/${id}`, headers }));
    await vendor.waitFor("the call", (requests) => requests.some(({ method }) => method === "GET"));
    connection.leave();
    await vendor.waitFor("its end", (requests) => requests.at(-1)?.leftAt != null);
  });
});

function request(body: object): Buffer {
  const headers = { authorization: `Bearer ${client.key}`, "content-type": "application/json" };
  return requestBytes({ path: responsesPath, headers, body: JSON.stringify(body) });
}
