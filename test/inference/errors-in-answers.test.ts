// Errors that a provider reports inside an answer of status 200, whole or streamed: they mean the same as errors with a status of their own.

import { beforeEach, describe, expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  event,
  eventText,
  httpChunk,
  lastHttpChunk,
  streamHead,
  until,
} from "../support/answers.ts";
import { claudeBegun } from "../support/anthropic.ts";
import { ask as askAt, hello, readError } from "../support/chat.ts";
import { readChatStream, readEvents } from "../support/events.ts";
import { providerSecret } from "../support/gateway-settings.ts";
import { readOffer } from "../support/provider-states.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const failuresToOpen = 3;
const vendor = await startVendor();
const origin = `http://127.0.0.1:${vendor.port}`;
const gateway = await sharedGateway({
  vendor,
  config: {
    providers: {
      openrouter: { base_url: vendor.url, api_key: "k" },
      claude: { dialect: "anthropic", base_url: origin, api_key: "k" },
    },
  },
  env: { SWITCHYARD_RETRIES: "0", SWITCHYARD_BREAKER_FAILURES: String(failuresToOpen) },
});
const key = await gateway.createKey();

let models = 0;
beforeEach(() => {
  vendor.clear();
  models += 1;
});

/** A model of its own for each test: circuits are per offer. */
const modelOf = (provider: string) => `${provider}/m${models}`;

const ask = (body: object) => askAt(gateway.url, key, body);

const limited = { status: 429, code: "provider_rate_limited" };
const rejected = { status: 400, code: "provider_rejected_request" };
const credentials = { status: 502, code: "provider_auth_failed" };
const failed = { status: 502, code: "provider_error" };

// https://openrouter.ai/docs/api/reference/errors-and-debugging: once the model has started, the status is 200 and `code` has the number.
const tooLong = { code: 400, message: "This endpoint's maximum context length is 32768 tokens." };
const flagged = { code: 403, message: "Your input was flagged", metadata: { reasons: ["x"] } };

const meanings = [
  ["openrouter", tooLong, rejected],
  ["openrouter", flagged, rejected],
  ["openrouter", { code: 402, message: "Insufficient credits" }, credentials],
  ["openrouter", { code: 429, message: "Rate limited" }, limited],
  ["openrouter", { code: 502, message: "The model is down" }, failed],
  ["mock", { code: "429", message: "Rate limited" }, limited],
  ["mock", { type: "invalid_request_error", code: "context_length_exceeded", message: "Too long." }, rejected],
  ["mock", { type: "invalid_request_error", code: "invalid_api_key", message: "Wrong key." }, credentials],
  ["mock", { type: "insufficient_quota", code: "insufficient_quota", message: "No quota." }, limited],
  ["mock", { type: "tokens", code: "rate_limit_exceeded", message: "Too many tokens." }, limited],
  ["mock", { type: "service_unavailable_error", code: "server_is_overloaded", message: "Busy." }, failed],
  // Invented: a number that is no status, and an error of which nothing is known.
  ["mock", { code: 1301, message: "Sensitive." }, failed],
  ["mock", "Broken.", failed],
] as const;

test.each(meanings)("%s: %j instead of a completion", async (provider, error, expected) => {
  vendor.next(answer(200, { error }));
  const asked = { ...hello, model: modelOf(provider) };
  expect(await readError(await ask(asked))).toMatchObject(expected);
});

test.each(meanings)("%s: %j as the first event of a stream", async (provider, error, expected) => {
  vendor.next([streamHead(), event({ error }), lastHttpChunk]);
  const asked = { ...hello, model: modelOf(provider), stream: true };
  expect(await readError(await ask(asked))).toMatchObject(expected);
});

test("a refusal inside an answer is not sent to another provider, and opens no circuit", async () => {
  const refused = { ...hello, model: "openrouter/refusing", fallbacks: ["mock/echo"] };
  vendor.on("refusing", answer(200, { error: tooLong }));
  for (let call = 0; call < 2 * failuresToOpen; call++)
    expect(await readError(await ask(refused))).toMatchObject(rejected);
  expect(vendor.requests).toHaveLength(2 * failuresToOpen);
  expect((await readOffer(gateway, "openrouter/refusing")).state).toBe("closed");
});

test("a refusal in the middle of a stream has the code of a refusal", async () => {
  const seen = Promise.withResolvers<void>();
  const words = event(chatChunk({ role: "assistant", content: "Some words" }));
  vendor.next([streamHead(), words, until(seen.promise), event({ error: tooLong }), lastHttpChunk]);
  const { errors } = readChatStream(await readAll(await ask({ ...hello, stream: true }), "words", seen));
  expect(errors.map(({ error }) => error.code)).toEqual(["provider_rejected_request"]);
});

test("embeddings that are refused inside an answer are refused", async () => {
  vendor.next(answer(200, { error: { code: 429, message: "Rate limited" } }));
  const asked = { model: modelOf("mock"), input: "x" };
  expect(await readError(await askAt(gateway.url, key, asked, { path: "/v3/embeddings" }))).toMatchObject(limited);
});

describe("a provider of the Messages format", () => {
  const path = "/v3/v1/messages";
  const ask = (more: object = {}, to = path) => {
    const body = { model: modelOf("claude"), max_tokens: 100, messages: hello.messages, ...more };
    return askAt(gateway.url, key, body, { path: to });
  };
  const toError = (type: string) => ({ type: "error", error: { type, message: "No." } });
  const toEvent = (type: string) => httpChunk(`event: error\n${eventText(toError(type))}`);
  const readType = async (response: Response) => {
    const { error } = (await response.json()) as { error: { type: string } };
    return { status: response.status, type: error.type };
  };

  const types = [
    ["invalid_request_error", { status: 400, type: "invalid_request_error" }],
    ["request_too_large", { status: 400, type: "request_too_large" }],
    ["rate_limit_error", { status: 429, type: "rate_limit_error" }],
    ["overloaded_error", { status: 502, type: "overloaded_error" }],
    ["timeout_error", { status: 502, type: "timeout_error" }],
    ["api_error", { status: 502, type: "api_error" }],
    // The caller's own key is valid.
    ["authentication_error", { status: 502, type: "api_error" }],
    ["invented_error", { status: 502, type: "api_error" }],
  ] as const;

  test.each(types)("%s instead of a message", async (type, expected) => {
    vendor.next(answer(200, toError(type)));
    expect(await readType(await ask())).toEqual(expected);
  });

  test.each(types)("%s as the first event of a stream", async (type, expected) => {
    vendor.next([streamHead(), toEvent(type), lastHttpChunk]);
    expect(await readType(await ask({ stream: true }))).toEqual(expected);
  });

  test.each(types)("%s after content is the type of the last event", async (type, expected) => {
    const seen = Promise.withResolvers<void>();
    vendor.next([...claudeBegun(["Some words"]), until(seen.promise), toEvent(type), lastHttpChunk]);
    const { events } = readEvents(await readAll(await ask({ stream: true }), "words", seen));
    expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({ type: "error", error: { type: expected.type } });
  });

  test("an error instead of a count of tokens has its own meaning", async () => {
    vendor.next(answer(200, toError("rate_limit_error")));
    expect(await readType(await ask({ max_tokens: undefined }, `${path}/count_tokens`))).toEqual({
      status: 429,
      type: "rate_limit_error",
    });
  });
});

describe("a provider of the Responses API", () => {
  const path = "/v3/responses";
  const ask = (more: object = {}) =>
    askAt(gateway.url, key, { model: modelOf("mock"), input: "x", stream: true, ...more }, { path });
  const response = { id: "resp_0265b28bea036ff60068df845920", object: "response", model: "a", output: [] };
  const named = (payload: { readonly type: string; readonly [member: string]: unknown }) =>
    `event: ${payload.type}\n${eventText(payload)}`;
  const created = named({
    type: "response.created",
    sequence_number: 0,
    response: { ...response, status: "in_progress", error: null },
  });
  const pausing = (seen: PromiseWithResolvers<void>, rest: string) => [
    ...[streamHead(), httpChunk(created), until(seen.promise), httpChunk(rest), lastHttpChunk],
  ];
  const readResponses = async (seen: PromiseWithResolvers<void>) => {
    const text = await readAll(await ask(), "response.created", seen);
    const { events } = readEvents(text);
    const parsed = events.filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data));
    expect(text).not.toContain(response.id);
    expect(text).not.toContain(providerSecret);
    return parsed;
  };

  // The members and their order are those of OpenAI's streams.
  const message = `Your input exceeds the context window of ${response.id} (key ${providerSecret}).`;
  const error = { type: "invalid_request_error", code: "context_length_exceeded", message, param: "input" };
  const errorEvent = named({ type: "error", sequence_number: 1, error });
  const failedEvent = named({
    type: "response.failed",
    sequence_number: 2,
    response: { ...response, status: "failed", error: { code: error.code, message } },
  });

  test("its error event and response.failed reach the caller with their codes", async () => {
    const seen = Promise.withResolvers<void>();
    vendor.next(pausing(seen, errorEvent + failedEvent));
    const events = await readResponses(seen);
    expect(events.map(({ type }) => type)).toEqual(["response.created", "error", "response.failed"]);
    const [first, told, last] = events;
    expect(told).toMatchObject({ sequence_number: 1, code: error.code, param: "input" });
    expect(told.error).toMatchObject({ type: error.type, code: error.code, param: "input" });
    expect(told.error.message).toStartWith("Your input exceeds the context window of");
    expect(last).toMatchObject({ sequence_number: 2, response: { id: first.response.id, status: "failed" } });
    expect(last.response.error).toMatchObject({ code: error.code, message: told.message });
  });

  test("an error event without response.failed gets one, with the provider's code", async () => {
    const seen = Promise.withResolvers<void>();
    vendor.next(pausing(seen, errorEvent));
    const [first, told, last, ...others] = await readResponses(seen);
    expect(others).toEqual([]);
    expect(told).toMatchObject({ type: "error", sequence_number: 1, error: { code: error.code } });
    expect(last).toMatchObject({ type: "response.failed", sequence_number: 2 });
    expect(last.response).toMatchObject({ id: first.response.id, status: "failed", error: { code: error.code } });
  });

  test("an error that comes with the first events is an error with a status", async () => {
    vendor.next([streamHead(), httpChunk(created + errorEvent + failedEvent), lastHttpChunk]);
    expect(await readError(await ask())).toMatchObject(rejected);
    expect(vendor.requests).toHaveLength(1);
  });

  test("an error of the gateway's own credentials is not the caller's", async () => {
    const seen = Promise.withResolvers<void>();
    const wrongKey = { type: "invalid_request_error", code: "invalid_api_key", message: `Wrong: ${providerSecret}` };
    const refused = named({ type: "error", sequence_number: 1, error: wrongKey });
    vendor.next(pausing(seen, refused));
    const [, told, last] = await readResponses(seen);
    expect(told).toMatchObject({ type: "error", code: "provider_auth_failed" });
    expect(last).toMatchObject({ type: "response.failed", response: { error: { code: "server_error" } } });
  });

  test("the message of a failed response has no secret", async () => {
    const whole = { ...response, status: "failed", error: { code: error.code, message } };
    vendor.next(answer(200, whole));
    const text = await (await ask({ stream: false })).text();
    expect(JSON.parse(text)).toMatchObject({ status: "failed", error: { code: error.code } });
    expect(text).not.toContain(providerSecret);
  });
});

/** The text of a stream. When the gateway has sent `mark`, the vendor may go on. */
async function readAll(response: Response, mark: string, seen: PromiseWithResolvers<void>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes(mark)) seen.resolve();
  }
  return text;
}
