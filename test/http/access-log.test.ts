// The log has one line for each request, including refused ones, with what the providers reported.

import { expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  doneText,
  event,
  httpChunk,
  lastHttpChunk,
  rst,
  streamHead,
  until,
  usualUsage,
} from "../support/answers.ts";
import { ask, hello } from "../support/chat.ts";
import { findFreePort } from "../support/free-port.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly request_id?: string;
  readonly [field: string]: unknown;
}

const vendor = await startVendor();
const refused = { base_url: `http://127.0.0.1:${await findFreePort()}/v1` };
const gateway = await sharedGateway({
  vendor,
  env: { SWITCHYARD_RETRIES: "0" },
  config: { providers: { nowhere: refused }, prices: { "mock/echo": { input: 20, output: 90 } } },
});
const key = await gateway.createKey();

/** The lines of one request, when the log has been written. */
async function linesOf(send: (id: string) => Promise<Response>): Promise<Line[]> {
  const id = `test-${crypto.randomUUID()}`;
  await (await send(id)).arrayBuffer();
  const read = () =>
    gateway
      .log()
      .split("\n")
      .filter((line) => line.includes(id))
      .map((line) => JSON.parse(line) as Line);
  // A later request's line comes after all lines of this one.
  const last = `test-${crypto.randomUUID()}`;
  await fetch(`${gateway.url}/v3/models`, { headers: { "x-request-id": last } });
  await waitFor("the log to be written", () => gateway.log().includes(last));
  return read();
}

const get = (path: string, headers: Record<string, string> = {}) =>
  linesOf((id) => fetch(`${gateway.url}${path}`, { headers: { "x-request-id": id, ...headers } }));
const chat = (body: object, secret = key) =>
  linesOf((id) => ask(gateway.url, secret, body, { headers: { "x-request-id": id } }));

test("a plain chat completion is one line, with its client, key, provider, tokens and cost", async () => {
  const lines = await chat(hello);
  expect(lines).toMatchObject([
    {
      level: "info",
      message: "request",
      client: "127.0.0.1",
      method: "POST",
      path: "/v3/chat/completions",
      status: 200,
      provider: "mock",
      model: "echo",
      stream: false,
      input_tokens: 9,
      output_tokens: 3,
      cost: 0.00045,
      outcome: "completed",
    },
  ]);
  expect(lines[0]?.["key"]).toBeString();
  expect(lines[0]?.["ms"]).toBeNumber();
});

test("a stream is one line, when it has ended", async () => {
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const begin = [streamHead(), event(chatChunk({ content: "a" })), until(mayEnd), event(chatChunk({}, "stop"))];
  const usage = event({ ...chatChunk({}), choices: [], usage: usualUsage });
  vendor.on("slow", [...begin, usage, httpChunk(doneText), lastHttpChunk]);
  const id = `test-${crypto.randomUUID()}`;
  const response = await ask(
    gateway.url,
    key,
    { ...hello, model: "mock/slow", stream: true },
    { headers: { "x-request-id": id } },
  );
  expect(gateway.log()).not.toContain(id);
  end();
  await response.text();
  await waitFor("the line of the stream", () => gateway.log().includes(id));
  const lines = gateway
    .log()
    .split("\n")
    .filter((line) => line.includes(id));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: "info",
      message: "request",
      status: 200,
      provider: "mock",
      stream: true,
      output_tokens: 3,
      outcome: "completed",
    },
  ]);
});

test("a stream that breaks is a warning with the code", async () => {
  vendor.on("cut", [streamHead(), event(chatChunk({ content: "a" })), rst]);
  const lines = await chat({ ...hello, model: "mock/cut", stream: true });
  expect(lines).toMatchObject([
    { level: "warn", message: "attempt", outcome: "provider_disconnected", reason: expect.any(String) },
    { level: "warn", message: "request", status: 200, outcome: "provider_disconnected" },
  ]);
});

test("a request that falls back is one line, and the failed call a warning with its cause", async () => {
  const lines = await chat({ ...hello, model: "nowhere/x", fallbacks: ["mock/echo"] });
  expect(lines).toMatchObject([
    {
      level: "warn",
      message: "attempt",
      provider: "nowhere",
      attempt: 1,
      reason: expect.stringContaining("ECONNREFUSED"),
    },
    { level: "info", message: "request", status: 200, provider: "mock", attempts: 2, outcome: "completed" },
  ]);
});

test("a task is one line, with the task as its model", async () => {
  const body = JSON.stringify({ model: "text/sentiment_analysis/sandbox", input: { text: "good" } });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const lines = await linesOf((id) =>
    fetch(`${gateway.url}/v3/universal-ai`, { method: "POST", headers: { ...headers, "x-request-id": id }, body }),
  );
  expect(lines).toMatchObject([{ message: "request", provider: "sandbox", model: "text/sentiment_analysis", cost: 0 }]);
});

test("a request that needs no provider is one line", async () => {
  const lines = await get("/v3/models?provider=mock&signature=secret-signature");
  expect(lines).toMatchObject([{ level: "info", message: "request", method: "GET", path: "/v3/models", status: 200 }]);
  expect(gateway.log()).not.toContain("secret-signature");
});

test("refused requests are warnings with status, code and reason", async () => {
  const wrongKey = { authorization: "Bearer sk-sy-wrong-wrong-wrong-wrong" };
  const refusals: [Promise<Line[]>, object][] = [
    [get("/nowhere?token=secret-token"), { path: "/nowhere", status: 404, code: "not_found" }],
    [get("/v3/responses/resp_1"), { path: "/v3/responses/resp_1", status: 401, code: "missing_api_key" }],
    [get("/v3/manage/keys", wrongKey), { path: "/v3/manage/keys", status: 401, code: "invalid_api_key" }],
    [chat({ model: "mock/echo" }), { status: 422, code: "missing", reason: "body.messages: Field required" }],
    [chat({ ...hello, model: "opnai/x" }), { status: 404, code: "provider_not_found" }],
  ];
  for (const [lines, expected] of refusals)
    expect(await lines).toMatchObject([{ level: "warn", message: "request", ...expected }]);
  const [, [known]] = await Promise.all([null, chat({ model: "mock/echo" })]);
  expect(known?.["key"]).toBeString();
  expect(gateway.log()).not.toContain("secret-token");
  expect(gateway.log()).not.toContain("sk-sy-wrong");
});

test("the line of a failed request has its cause", async () => {
  const [attempt, request] = await chat({ ...hello, model: "nowhere/x" });
  expect(attempt).toMatchObject({ message: "attempt", outcome: "provider_unreachable" });
  expect(request).toMatchObject({ level: "warn", message: "request", status: 502, code: "provider_unreachable" });
  expect(String(request?.["cause"])).toContain("ECONNREFUSED");
  vendor.on("broken", answer(500, { error: { message: "boom" } }));
  const lines = await chat({ ...hello, model: "mock/broken" });
  expect(lines.at(-1)).toMatchObject({ level: "warn", status: 502, code: "provider_error" });
});

test("probes of load balancers are not logged at the usual level", async () => {
  expect(await get("/healthz")).toEqual([]);
  expect(await get("/readyz")).toEqual([]);
});
