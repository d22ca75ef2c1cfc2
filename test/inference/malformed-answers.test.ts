// Answers of chat-format providers whose members have other types than the format says, for callers of other formats. The contents are invented.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  doneText,
  event,
  httpChunk,
  lastHttpChunk,
  type Script,
  streamHead,
} from "../support/answers.ts";
import { ask as askAt } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

type Members = Readonly<Record<string, unknown>>;

const vendor = await startVendor();
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: "0" },
  config: {
    prices: { "mockchat/*": { input: 1, output: 1 } },
    providers: {
      other: { dialect: "openai", base_url: `http://127.0.0.1:${vendor.port}/other/v1`, api_key: "k" },
      mistral: { base_url: `http://127.0.0.1:${vendor.port}/mistral`, api_key: "k" },
    },
  },
});
const key = await gateway.createKey();

beforeEach(() => vendor.clear());

const formats = ["messages", "responses"] as const;
type Format = (typeof formats)[number];

function ask(format: Format, more: Members = {}): Promise<Response> {
  const model = "mockchat/echo";
  const messages = { model, max_tokens: 100, messages: [{ role: "user", content: "hi" }] };
  return format === "messages"
    ? askAt(gateway.url, key, { ...messages, ...more }, { path: "/v3/v1/messages" })
    : askAt(gateway.url, key, { model, input: "hi", ...more }, { path: "/v3/responses" });
}

const wholeOf = (message: unknown, finish_reason = "stop"): Script =>
  answer(200, completion("", { choices: [{ index: 0, message, finish_reason }] }));

function streamOf(...chunks: readonly unknown[]): Script {
  return [streamHead(), ...chunks.map(event), httpChunk(doneText), lastHttpChunk];
}

/** The parsed events, without the end marker. */
async function readStream(response: Response): Promise<Members[]> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`expected a stream, got ${response.status}: ${text}`);
  const { events } = readEvents(text);
  return events.filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data));
}

// llama.cpp did so: https://github.com/ggml-org/llama.cpp/issues/20198
describe("the arguments of a call that arrive as an object", () => {
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: { a: 1 } } };

  test("are the input of a Messages answer", async () => {
    vendor.next(wholeOf({ role: "assistant", content: null, tool_calls: [call] }, "tool_calls"));
    const response = await ask("messages");
    expect({ status: response.status, ...((await response.json()) as Members) }).toMatchObject({
      status: 200,
      content: [{ type: "tool_use", id: "call_1", name: "f", input: { a: 1 } }],
    });
  });

  test("are JSON text in a response", async () => {
    vendor.next(wholeOf({ role: "assistant", content: null, tool_calls: [call] }, "tool_calls"));
    expect(await (await ask("responses")).json()).toMatchObject({
      output: [{ type: "function_call", call_id: "call_1", name: "f", arguments: '{"a":1}' }],
    });
  });

  test("are JSON text in the streams of both formats", async () => {
    const script = streamOf(chatChunk({ tool_calls: [{ index: 0, ...call }] }), chatChunk({}, "tool_calls"));
    vendor.next(script);
    const blocks = await readStream(await ask("messages", { stream: true }));
    expect(blocks.flatMap(({ delta }) => (delta as Members | undefined)?.["partial_json"] ?? [])).toEqual(['{"a":1}']);
    vendor.next(script);
    const events = await readStream(await ask("responses", { stream: true }));
    const ended = events.find(({ type }) => type === "response.function_call_arguments.done");
    expect(ended).toMatchObject({ arguments: '{"a":1}' });
  });
});
