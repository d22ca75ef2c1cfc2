// Answers of chat-format providers whose members have other types than the format says, for callers of other formats: the gateway reads
// what it can, and treats the rest as an answer that cannot be used. The contents are invented.

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
  until,
  usualUsage,
} from "../support/answers.ts";
import { ask as askAt, readError } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { linesOf } from "../support/ledger.ts";
import { readOffer } from "../support/provider-states.ts";
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
      claude: { dialect: "anthropic", base_url: `http://127.0.0.1:${vendor.port}`, api_key: "k" },
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

const malformedMessages = {
  "a null call": { content: "x", tool_calls: [null] },
  "calls that are no list": { content: "x", tool_calls: { id: "a" } },
  "a null detail of the reasoning": { content: "x", reasoning_details: [null] },
  "annotations that are no list": { content: "x", annotations: { url: "a" } },
} as const;

const cases = formats.flatMap((format) => Object.keys(malformedMessages).map((name) => [format, name] as const));
const malformed = (name: string): Members => malformedMessages[name as keyof typeof malformedMessages];
const malformedChoices = [[null], { "0": {} }] as const;

describe("an answer that cannot be translated", () => {
  test.each(cases)("%s, %s: 502 from one provider, and the fallback answers", async (format, name) => {
    vendor.on("echo", wholeOf(malformed(name)));
    const response = await ask(format);
    expect({ status: response.status, text: await response.text() }).toMatchObject({
      status: 502,
      text: expect.stringContaining("The provider 'mockchat' sent an answer that cannot be read"),
    });
    const fallback = await ask(format, { fallbacks: ["other/well"] });
    expect([fallback.status, ((await fallback.json()) as Members)["provider"]]).toEqual([200, "other"]);
  });

  test.each(cases)("%s, %s in a stream: 502 from one provider, and the fallback answers", async (format, name) => {
    vendor.on("echo", streamOf(chatChunk(malformed(name)), chatChunk({}, "stop")));
    const response = await ask(format, { stream: true });
    expect({ status: response.status, text: await response.text() }).toMatchObject({
      status: 502,
      text: expect.stringContaining("The provider 'mockchat' sent an answer that cannot be read"),
    });
    expect((await readStream(await ask(format, { stream: true, fallbacks: ["other/well"] }))).length).toBeGreaterThan(
      0,
    );
  });

  test.each(formats)("%s: choices of another type in a stream are a 502", async (format) => {
    for (const choices of malformedChoices) {
      vendor.next(streamOf({ ...chatChunk({}), choices }, chatChunk({}, "stop")));
      expect((await ask(format, { stream: true })).status).toBe(502);
    }
  });

  test.each([
    [1, [null]],
    [2, { "0": {} }],
  ])("chat chunks from a provider of another format, with n = %i and choices %j, are a 502", async (n, choices) => {
    vendor.on("m", streamOf({ ...chatChunk({}), choices }, chatChunk({}, "stop")));
    const body = { model: "claude/m", n, stream: true, messages: [{ role: "user", content: "hi" }] };
    expect(await readError(await askAt(gateway.url, key, body))).toMatchObject({
      status: 502,
      code: "provider_bad_response",
    });
  });

  test("a stream that has begun ends with provider_bad_response", async () => {
    const seen = Promise.withResolvers<void>();
    const rest = [event(chatChunk(malformed("a null call"))), httpChunk(doneText), lastHttpChunk];
    vendor.next([streamHead(), event(chatChunk({ content: "Some words" })), until(seen.promise), ...rest]);
    const response = await ask("responses", { stream: true });
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (text.includes("Some words")) seen.resolve();
    }
    expect(text).toContain('"code":"provider_bad_response"');
    expect(text).not.toContain("internal_error");
  });

  test("the provider's failure is counted, and the answer that it bills is charged", async () => {
    vendor.next(wholeOf(malformed("a null call")));
    const response = await ask("messages", { model: "mockchat/counted" });
    const [line] = await linesOf({ gateway }, response.headers.get("x-request-id"), 1);
    expect(line).toMatchObject({
      outcome: "provider_bad_response",
      input_tokens: BigInt(usualUsage.prompt_tokens),
      cost_pico: 12_000_000n,
    });
    expect(await readOffer(gateway, "mockchat/counted")).toMatchObject({ calls: 1, failures: 1 });
  });
});
