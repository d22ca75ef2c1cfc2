// /v3/responses at providers that have the API themselves: creating, streaming and continuing responses.

import { describe, expect, test } from "bun:test";
import { answer, event, lastHttpChunk, streamHead } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { openConnection } from "../support/raw-http.ts";
import { textOf } from "../support/responses.ts";
import { expectOurIdsOnly, openResponsesGateway } from "../support/responses-gateway.ts";
import { oddMember } from "../support/responses-vendor.ts";

const { vendor, gateway, client, requestOf } = await openResponsesGateway();

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

  test("the total of the usage is the sum, and includes reasoning that the provider adds to the output", async () => {
    const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 99 };
    vendor.next(answer(200, { id: "resp_vendor_1", status: "completed", model: "echo", output: [], usage }));
    expect((await client.create({ input: "hello" }))["usage"]).toEqual({
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 96,
      output_tokens_details: { reasoning_tokens: 94 },
      total_tokens: 99,
    });
  });

  test("members of the request that the provider leaves out of its answer are in it, whole and streamed", async () => {
    const requested = {
      ...{
        instructions: "Be brief.",
        temperature: 0.2,
        top_p: 0.5,
        max_output_tokens: 77,
        max_tool_calls: 3,
        user: "u",
      },
      ...{
        tool_choice: "required",
        parallel_tool_calls: false,
        truncation: "auto",
        top_logprobs: 2,
        metadata: { a: "1" },
      },
      ...{ text: { format: { type: "json_object" }, verbosity: "low" }, reasoning: { effort: "low", summary: "auto" } },
      ...{ prompt_cache_key: "k", safety_identifier: "s", presence_penalty: 0.5, frequency_penalty: 0.1 },
    };
    const look = { type: "function", name: "look", parameters: {} };
    const expected = { ...requested, tools: [{ ...look, description: null, strict: null }] };
    const created = { id: "resp_vendor_short", status: "in_progress", model: "echo", output: [] };
    const completed = { ...created, status: "completed" };
    vendor.next(answer(200, completed));
    const whole = await client.create({ input: "hello", ...requested, tools: [look] });
    expect(whole).toMatchObject({ ...expected, background: false });
    expect(whole["completed_at"]).toBe(whole["created_at"]);
    vendor.next([
      streamHead(),
      event({ type: "response.created", response: created }),
      event({ type: "response.completed", response: completed }),
      lastHttpChunk,
    ]);
    const { events, last } = await client.stream({ input: "hello", ...requested, tools: [look] });
    expect(events[0]?.response).toMatchObject({ ...expected, completed_at: null });
    expect(last.response).toMatchObject({ ...expected, completed_at: expect.any(Number) });
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
  test("every state of a response names the provider, native and translated", async () => {
    for (const model of ["mock/echo", "mockchat/echo"]) {
      const { events } = await client.stream({ model, input: "hello" });
      const named = events.flatMap(({ response }) => (response ? [response.provider] : []));
      expect(named).toEqual(Array(3).fill(model.split("/")[0]));
    }
  });

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
    connection.send(requestOf({ model: "mock/slow", input: "a b c", stream: true }));
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

describe("continuing", () => {
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
    // The account is chosen at random, so the number of rounds that both need is not known.
    for (let round = 0; accounts.size < 2 && round < 200; round += 1) {
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
    expect(background.message).toBe("The provider 'passing' cannot run a response in the background.");
  });

  test("a response in the background that is translated or must not be stored is refused, and the message says why", async () => {
    for (const [body, message] of [
      [{ model: "sandbox/echo" }, "The provider 'sandbox' cannot run a response in the background."],
      [
        { model: "mock/echo", store: false },
        "A response in the background has to be stored: leave out `store: false`.",
      ],
    ] as const) {
      const error = await readError(await client.post({ ...body, input: "x", background: true }));
      expect(error).toMatchObject({ status: 400, code: "stateful_not_supported", param: "background", message });
    }
  });
});
