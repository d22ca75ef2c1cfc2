// Errors that a provider reports inside an answer of status 200, whole or streamed: they mean the same as errors with a status of their own.

import { beforeEach, expect, test } from "bun:test";
import { answer, chatChunk, event, lastHttpChunk, streamHead, until } from "../support/answers.ts";
import { ask as askAt, hello, readError } from "../support/chat.ts";
import { readChatStream } from "../support/events.ts";
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
