// The usage of a streamed answer, from providers that report it more than once. The contents are invented.

import { expect, test } from "bun:test";
import {
  chatChunk,
  doneText,
  event,
  fin,
  httpChunk,
  lastHttpChunk,
  type Script,
  streamHead,
} from "../support/answers.ts";
import { ask as askAt, hello } from "../support/chat.ts";
import { readChatStream, readEvents } from "../support/events.ts";
import { linesOf } from "../support/ledger.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  config: { prices: { "mockchat/*": { input: 1, output: 1 } } },
});
const key = await gateway.createKey();

const usageOf = (completion_tokens: number) => {
  return { prompt_tokens: 5, completion_tokens, total_tokens: 5 + completion_tokens };
};
const early = { ...chatChunk({}), choices: [], usage: usageOf(0) };
const late = { ...early, usage: usageOf(9) };
const lateWithContent = { ...chatChunk({}, "stop"), usage: usageOf(9) };
const text = chatChunk({ content: "hi" });

const complete = (...chunks: readonly object[]): Script => {
  return [streamHead(), ...chunks.map(event), httpChunk(doneText), lastHttpChunk];
};

const model = "mockchat/echo";
const chat = { ...hello, model, stream: true };
const picoPerToken = 1_000_000n;

test.each([
  ["in a chunk with content", complete(early, text, lateWithContent)],
  ["in a chunk of its own", complete(early, text, chatChunk({}, "stop"), late)],
])("the last usage counts, %s, and is sent once", async (_, script) => {
  vendor.next(script);
  const response = await askAt(gateway.url, key, { ...chat, stream_options: { include_usage: true } });
  const { chunks, done } = readChatStream(await response.text());
  expect(done).toBe(true);
  expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1) as never]);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usageOf(9), cost: 0.000014 });
  const [line] = await linesOf({ gateway }, response.headers.get("x-request-id"), 1);
  expect(line).toMatchObject({ output_tokens: 9n, cost_pico: 14n * picoPerToken });
});

test("a translated stream has the cost of the last usage", async () => {
  vendor.next(complete(early, text, lateWithContent));
  const body = { model, max_tokens: 100, messages: hello.messages, stream: true };
  const response = await askAt(gateway.url, key, body, { path: "/v3/v1/messages" });
  const { events } = readEvents(await response.text());
  const ending = events.find(({ name }) => name === "message_delta");
  expect(JSON.parse(ending?.data ?? "null")).toMatchObject({ usage: { output_tokens: 9 }, cost: 0.000014 });
});

test("a stream that breaks off is charged for the last usage", async () => {
  vendor.next([streamHead(), ...[early, text, lateWithContent].map(event), fin]);
  const response = await askAt(gateway.url, key, chat);
  await response.text();
  const [line] = await linesOf({ gateway }, response.headers.get("x-request-id"), 1);
  expect(line).toMatchObject({ outcome: "provider_disconnected", output_tokens: 9n, cost_pico: 14n * picoPerToken });
});
