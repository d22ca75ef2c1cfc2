// Responses of the sandbox are stored with default settings, so that a first start shows all of the responses API: create, stream,
// retrieve, continue, list, refer to items, delete. The AI SDK's tool loops, which refer to earlier items by id, work as well.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { answer, completion } from "../support/answers.ts";
import { readError } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { readFolder } from "../support/read-folder.ts";
import { type Client, createClient, textOf } from "../support/responses.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { createAnthropic as createAnthropic2 } from "../tools/agents/node_modules/ai-sdk-anthropic-2";
import { createAnthropic as createAnthropic3 } from "../tools/agents/node_modules/ai-sdk-anthropic-3";
import { createOpenAI as createOpenAI2 } from "../tools/agents/node_modules/ai-sdk-openai-2";
import { createOpenAI as createOpenAI3 } from "../tools/agents/node_modules/ai-sdk-openai-3";
import * as ai5 from "../tools/agents/node_modules/ai5";
import * as ai6 from "../tools/agents/node_modules/ai6";

const model = "sandbox/transcript";

let vendor: Vendor;
let gateway: GatewayProcess;
let client: Client;

beforeAll(async () => {
  vendor = await startVendor();
  // Two processes: what one of them stores, the other one finds.
  gateway = await startGatewayProcess({ vendor, workers: 2 });
  client = createClient(gateway, await gateway.createKey());
});
afterAll(async () => {
  await gateway?.stop();
  await vendor?.stop();
});

test("a response is created, retrieved, continued, listed and deleted", async () => {
  const first = await client.create({ model, input: "the word is heron", metadata: { a: "1" } });
  expect(first).toMatchObject({ store: true, status: "completed" });
  expect(await client.retrieve(first.id)).toEqual(first);
  const second = await client.create({ model, input: "which word?", previous_response_id: first.id });
  expect(textOf(second)).toContain("heron");
  const items = (await (await client.get(`${second.id}/input_items?order=asc`)).json()) as { data: unknown[] };
  expect(items.data).toHaveLength(3);
  expect(await (await client.remove(first.id)).json()).toMatchObject({ id: first.id, deleted: true });
  expect(await readError(await client.get(first.id))).toMatchObject({ status: 404, code: "response_not_found" });
});

test("a stream is stored as it ended", async () => {
  const { id, last } = await client.stream({ model, input: "hello" });
  expect(await client.retrieve(id)).toEqual(last.response as never);
});

test("with store: false nothing is stored", async () => {
  const { id, store } = await client.create({ model, input: "hello", store: false });
  expect(store).toBe(false);
  expect(await readError(await client.get(id))).toMatchObject({ status: 404, code: "response_not_stored" });
  const chained = await readError(await client.post({ model, input: "x", previous_response_id: id }));
  expect(chained).toMatchObject({ status: 400, code: "previous_response_not_found" });
});

test("only the sandbox continues its responses, and only their owner", async () => {
  const { id } = await client.create({ model, input: "hello" });
  const elsewhere = { input: "x", previous_response_id: id };
  expect(await readError(await client.post({ model: "mockchat/echo", ...elsewhere }))).toMatchObject({
    status: 400,
    code: "stateful_not_supported",
  });
  expect(await readError(await client.post({ model: "mock/echo", ...elsewhere }))).toMatchObject({
    status: 400,
    code: "previous_response_provider_mismatch",
  });
  const stranger = createClient(gateway, await gateway.createKey());
  expect(await readError(await stranger.get(id))).toMatchObject({ status: 404, code: "response_not_found" });
});

test("an item is sent by its id alone", async () => {
  const first = await client.create({ model, input: "the word is heron" });
  const reference = { type: "item_reference", id: first.output[0]?.["id"] };
  const second = await client.create({ model, input: [reference, { role: "user", content: "which word?" }] });
  expect(textOf(second)).toContain("heron");
});

test("no word of a conversation can be read in the data folder", async () => {
  const marker = `marker-${crypto.randomUUID()}`;
  await client.create({ model, input: marker });
  expect(await readFolder(gateway.dataFolder)).not.toContain(marker);
});

describe.each([
  ["5", ai5, createOpenAI2, createAnthropic2],
  ["6", ai6, createOpenAI3, createAnthropic3],
] as const)("AI SDK %s with default settings", (_version, sdk, createOpenAI, createAnthropic) => {
  // The two versions have the same functions, with types of their own.
  const { generateText, streamText, stepCountIs, tool } = sdk as unknown as typeof ai5;
  const provider = () => createOpenAI({ baseURL: `${gateway.url}/v3`, apiKey: client.key });
  const modelOf = (id: string) => provider()(id) as unknown as ReturnType<ReturnType<typeof createOpenAI2>>;
  const tools = {
    get_weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => `21 degrees in ${city}` }),
  };
  const prompt = "How is the weather in Paris?";

  test("the Messages format works as well, whole and streamed", async () => {
    const anthropic = createAnthropic({ baseURL: `${gateway.url}/v3`, apiKey: client.key });
    const messagesModel = anthropic("sandbox/echo") as unknown as ReturnType<typeof modelOf>;
    const options = { model: messagesModel, prompt: "hello there", maxRetries: 0 };
    expect((await generateText(options)).text).toContain("hello there");
    expect(await streamText(options).text).toContain("hello there");
  });

  test("a tool loop completes", async () => {
    const result = await generateText({
      model: modelOf("sandbox/echo"),
      tools,
      prompt,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    expect(result.steps.map(({ toolCalls }) => toolCalls.length)).toEqual([1, 0]);
    expect(result.text).not.toBe("");
  });

  test("with a provider that stores nothing, a tool loop completes with store: false, and the refusal without it says so", async () => {
    const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };
    const message = { role: "assistant", content: "I look.", tool_calls: [call] };
    const calling = completion("", { choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
    const run = (store: boolean) => {
      vendor.clear();
      vendor.next(answer(200, calling));
      vendor.next(answer(200, completion("21 degrees.")));
      const options = { stopWhen: stepCountIs(3), maxRetries: 0, providerOptions: { openai: { store } } };
      return generateText({ model: modelOf("mockchat/echo"), tools, prompt, ...options });
    };
    expect((await run(false)).text).toBe("21 degrees.");
    await expect(run(true)).rejects.toThrow(/store: false/);
  });

  test("a streamed tool loop completes, and the conversation goes on", async () => {
    const asked = { role: "user" as const, content: prompt };
    const result = streamText({
      model: modelOf("sandbox/echo"),
      tools,
      messages: [asked],
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    expect(await result.text).not.toBe("");
    expect((await result.steps).length).toBe(2);
    const { messages } = await result.response;
    const next = await generateText({
      model: modelOf("sandbox/transcript"),
      messages: [asked, ...messages, { role: "user", content: "And then?" }],
      maxRetries: 0,
    });
    expect(next.text).toContain("21 degrees");
  });
});
