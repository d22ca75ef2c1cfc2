// /v3/responses at providers that have the API themselves: retrieving and deleting responses, and clients that leave.

import { describe, expect, test } from "bun:test";
import { answer, chatChunk, doneText, event, httpChunk, lastHttpChunk, rst, streamHead } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { readLines } from "../support/ledger.ts";
import { openConnection, type RawConnection, requestBytes } from "../support/raw-http.ts";
import { createClient, readResponse, readResponseStream, responsesPath, textOf } from "../support/responses.ts";
import { expectOurIdsOnly, openResponsesGateway } from "../support/responses-gateway.ts";
import { halfAnswer, oddMember } from "../support/responses-vendor.ts";
import { waitFor } from "../support/wait.ts";

const { vendor, gateway, client, requestOf } = await openResponsesGateway();

describe("retrieving and deleting", () => {
  test("a response is told again, byte for byte what the provider says, with the same ids", async () => {
    const created = await client.create({ input: "hello" });
    const text = await (await client.get(created.id)).text();
    expectOurIdsOnly(text);
    expect(text).toContain(oddMember);
    // This provider does not state when it completed a response, which the gateway knows only while it is created.
    const { provider_time: _, completed_at: __, ...same } = created;
    expect(JSON.parse(text)).toMatchObject(same);
    expect(vendor.last()).toMatchObject({ method: "GET" });
    expect(vendor.last().path).toMatch(/^\/v1\/responses\/resp_vendor[0-9a-f]{32}$/);
  });

  test("a stored stream is replayed, from its start or from an event, with the requested parameters", async () => {
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

  test("a query in an unknown form is a 422", async () => {
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

  test("work in the background has one line with its cost, however often its end is seen", async () => {
    const { key, id: keyId } = (await gateway.manage("POST", "/keys", { name: "background" })) as Record<
      string,
      string
    >;
    const starter = createClient(gateway, key ?? "");
    const cost = 7_000_000_000n;
    // The line of a last call is written after all others.
    const countPriced = async (atLeast: number) => {
      await starter.create({ model: "mock/echo", input: "last" });
      return await waitFor("the lines", async () => {
        const lines = (await readLines({ gateway })).filter((line) => line["key_id"] === keyId);
        const priced = lines.filter((line) => line["cost_pico"] === cost && line["output_tokens"] === 500n);
        return priced.length >= atLeast ? priced.length : null;
      });
    };
    const { id } = await starter.create({ model: "mock/echo", input: "hello", background: true });
    await starter.retrieve(id);
    expect(await countPriced(1)).toBe(1);
    await Promise.all([starter.retrieve(id), starter.retrieve(id), starter.retrieve(id)]);
    await starter.retrieve(id);
    expect(await countPriced(3)).toBe(3);

    const streamed = await starter.create({ model: "mock/echo", input: "hello", background: true });
    for (let i = 0; i < 2; i += 1) {
      const { last } = readResponseStream(await (await starter.get(`${streamed.id}?stream=true`)).text());
      expect(last.response).toMatchObject({ status: "completed", cost: 0.007 });
    }
    expect(await countPriced(5)).toBe(5);
  });

  /** A new key, and a function that reads its lines that have usage and cost. */
  async function createStarter() {
    const created = (await gateway.manage("POST", "/keys", { name: "background" })) as Record<string, string>;
    const starter = createClient(gateway, created["key"] ?? "");
    let calls = 0;
    const readPriced = async () => {
      // The line of a last call is written after all others.
      const last = `last-${calls++}`;
      await starter.create({ model: `mock/${last}`, input: "last" });
      const lines = await waitFor("the lines", async () => {
        const found = (await readLines({ gateway })).filter((line) => line["key_id"] === created["id"]);
        return found.some(({ model }) => model === last) ? found : null;
      });
      // Lookups have lines without tokens.
      return lines.filter(({ model, output_tokens: tokens }) => tokens !== null && !String(model).startsWith("last-"));
    };
    return { starter, readPriced };
  }

  test("a stream in the background that its client leaves has one line with its cost once its end is seen", async () => {
    const { starter, readPriced } = await createStarter();
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${starter.key}`, "content-type": "application/json" };
    const body = JSON.stringify({ model: "mock/stall", input: "hello", background: true, stream: true });
    connection.send(requestBytes({ path: responsesPath, headers, body }));
    const [id = ""] = await waitFor("the id", () => /resp_[0-9a-zA-Z_-]+/.exec(connection.text()));
    connection.leave();
    await vendor.waitFor("the end of the call", (requests) => requests.every(({ leftAt }) => leftAt !== null));
    expect(await readPriced()).toEqual([]);
    for (let look = 0; look < 3; look += 1) await starter.retrieve(id);
    expect(await starter.retrieve(id)).toMatchObject({ status: "completed", cost: 0.007 });
    expect(await readPriced()).toMatchObject([{ model: "stall", cost_pico: 7_000_000_000n, output_tokens: 500n }]);
  });

  test("a stream in the background that is read to its end has one line with its cost, also after lookups", async () => {
    const { starter, readPriced } = await createStarter();
    const { id, last } = await starter.stream({ model: "mock/prompt", input: "hello", background: true });
    expect(last.response).toMatchObject({ status: "completed", cost: 0.007 });
    for (let look = 0; look < 3; look += 1) await starter.retrieve(id);
    await (await starter.get(`${id}?stream=true`)).text();
    const cost = { cost_pico: 7_000_000_000n, output_tokens: 500n };
    expect(await readPriced()).toMatchObject([{ model: "prompt", is_stream: 1n, ...cost }]);
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

  // A provider of the format, and one of another format.
  for (const model of ["mock/echo", "mockchat/echo"]) {
    test(`the last event of a stream tells what was decided, and only who asks (${model})`, async () => {
      const body = { model, input: "one two three", stream: true };
      const headers = { "x-switchyard-metadata": "true" };
      const { events, last } = readResponseStream(await (await client.post(body, "", { headers })).text());
      const metadata = { request_id: expect.any(String), attempts: [{ reason: "first", outcome: "answered" }] };
      expect(last).toMatchObject({ type: "response.completed", response: { switchyard: metadata } });
      expect(events.filter((one) => JSON.stringify(one).includes("switchyard"))).toEqual([last]);
      expect(await (await client.post(body)).text()).not.toContain("switchyard");
    });

    test(`a stream that breaks tells what was decided, and only who asks (${model})`, async () => {
      const isNative = model === "mock/echo";
      const body = { model: isNative ? "mock/close" : model, input: "one two three", stream: true };
      for (const headers of [{ "x-switchyard-metadata": "true" }, undefined]) {
        if (!isNative) vendor.next([streamHead(), event(chatChunk({ content: "half" })), lastHttpChunk]);
        const answered = await client.post(body, "", headers === undefined ? {} : { headers });
        const { events } = readResponseStream(await answered.text());
        const metadata = { attempts: [{ outcome: "provider_disconnected" }] };
        if (headers === undefined) expect(JSON.stringify(events)).not.toContain("switchyard");
        else
          expect(events.slice(-2)).toMatchObject([
            { type: "error", switchyard: metadata },
            { type: "response.failed", response: { switchyard: metadata } },
          ]);
      }
    });
  }

  test("the provider's failures at asking again are its failures", async () => {
    const { id } = await client.create({ input: "hello" });
    vendor.next(answer(500, { error: { message: "down" } }));
    expect(await readError(await client.get(id))).toMatchObject({ status: 502, code: "provider_error" });
    vendor.next(answer(200, "<html>"));
    expect(await readError(await client.get(id))).toMatchObject({ status: 502, code: "provider_bad_response" });
    expect((await client.retrieve(id)).id).toBe(id);
  });
});

describe("clients that leave", () => {
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
        connection.send(requestOf({ model: `mock/${model}`, input: "one two", stream }));
      await vendor.waitFor("all calls", (requests) => requests.length === connections.length);
      for (const connection of connections) {
        await reached(connection);
        connection.leave();
      }
      await vendor.waitFor("all calls to end", (requests) => requests.every((one) => one.leftAt !== null));
    });
  }

  test("a client that disconnects while a response is retrieved cancels the call to the provider", async () => {
    const { id } = await client.create({ input: "one" });
    vendor.next(halfAnswer);
    const connection = await openConnection(gateway.url);
    const headers = { authorization: `Bearer ${client.key}` };
    connection.send(requestBytes({ method: "GET", path: `${responsesPath}/${id}`, headers }));
    await vendor.waitFor("the call", (requests) => requests.some(({ method }) => method === "GET"));
    connection.leave();
    await vendor.waitFor("its end", (requests) => requests.at(-1)?.leftAt != null);
  });

  test("a WebSocket that closes right after its message leaves a line in the ledger, and its budget is settled", async () => {
    const settings = { name: "leaving", budget: { amount: 1_000 } };
    const { key, id: keyId } = (await gateway.manage("POST", "/keys", settings)) as Record<string, string>;
    const options = { headers: { authorization: `Bearer ${key}` } } as unknown as string[];
    const url = `${gateway.url.replace("http", "ws")}${responsesPath}`;
    const sockets = Array.from({ length: 10 }, () => new WebSocket(url, options));
    await waitFor("the connections", () => sockets.every(({ readyState }) => readyState === WebSocket.OPEN));
    // Most calls are answered before the gateway looks for their callers, who have left by then.
    for (const socket of sockets) {
      socket.send(JSON.stringify({ type: "response.create", model: "mock/stall-first", input: "one two" }));
      socket.close();
    }
    const lines = await waitFor("the lines", async () => {
      const found = (await readLines({ gateway })).filter((line) => line["key_id"] === keyId);
      return found.length >= sockets.length ? found : null;
    });
    expect(lines.map(({ outcome }) => outcome)).toEqual(sockets.map(() => "caller_left"));
    // What was generated is unknown, so the budget counts what was reserved.
    for (const line of lines) expect(line["counted_pico"]).toBeGreaterThan(0n);
    await vendor.waitFor("the end of the calls", (requests) => requests.every(({ leftAt }) => leftAt !== null));
  });
});
