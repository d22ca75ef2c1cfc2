// Traces of requests, read back from a collector that receives OTLP.

import { afterAll, describe, expect, test } from "bun:test";
import { createContentRules, writeTaskInput, writeTaskOutput } from "../../src/tracing/content.ts";
import { quiet } from "../contracts/engines.ts";
import { answer, fin } from "../support/answers.ts";
import { claudeAnswer, claudeBegun } from "../support/anthropic.ts";
import { ask, hello } from "../support/chat.ts";
import { startOtlpReceiver } from "../support/otlp-receiver.ts";
import { testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const collector = startOtlpReceiver();
const vendor = await startVendor();
const claude = await startVendor(claudeAnswer("Hello there", true));
const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "10" };
const json = { ...settings, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" };
const config = { providers: { speaker: { dialect: "anthropic", base_url: claude.url, api_key: "sk-speaker" } } };
const gateway = await testGateway({
  vendor,
  config,
  env: {
    ...json,
    OTEL_SERVICE_NAME: "gateway-under-test",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    SWITCHYARD_TRACE_PROVIDERS: "speaker",
  },
});
const key = await gateway.createKey();
afterAll(async () => {
  await gateway.stop();
  collector.stop();
  await Promise.all([vendor.stop(), claude.stop()]);
});

/** A context as a caller sends it. */
function makeParent(flags = "01") {
  const traceId = crypto.randomUUID().replaceAll("-", "");
  const spanId = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

describe("a streamed request that is translated and falls back", () => {
  test("has a span of its own and one for each attempt, with the attributes of the conventions", async () => {
    vendor.next(answer(500, { error: { message: "broken" } }));
    const parent = makeParent();
    const body = {
      ...{ ...hello, model: "mock/gpt-x", fallbacks: ["speaker/claude-x"], stream: true },
      ...{ temperature: 0.5, max_tokens: 64, top_p: 0.9, stop: ["END"] },
    };
    const headers = { traceparent: parent.traceparent, tracestate: "vendor=abc", "user-agent": "tester/1" };
    const response = await ask(gateway.url, key, body, { headers });
    expect(await response.text()).toContain("Hello there");

    const spans = await collector.waitForTrace(parent.traceId, 3);
    const [request] = spans.filter(({ kind }) => kind === "server");
    const attempts = spans
      .filter(({ kind }) => kind === "client")
      .sort((one, other) => Number(one.start - other.start));
    expect(spans).toHaveLength(3);
    expect(request).toMatchObject({
      name: "POST /v3/chat/completions",
      parentSpanId: parent.spanId,
      traceState: "vendor=abc",
      isError: false,
      resource: {
        "service.name": "gateway-under-test",
        "service.version": expect.any(String),
        "deployment.environment.name": "test",
      },
    });
    expect(request?.attributes).toEqual({
      "http.request.method": "POST",
      "http.route": "/v3/chat/completions",
      "http.response.status_code": 200,
      "url.path": "/v3/chat/completions",
      "url.scheme": "http",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(gateway.url).port),
      "user_agent.original": "tester/1",
      "switchyard.request.id": response.headers.get("x-request-id"),
      "switchyard.key.id": expect.any(String),
      "switchyard.attempts": 2,
    });

    expect(attempts.map(({ name, parentSpanId, isError }) => ({ name, parentSpanId, isError }))).toEqual([
      { name: "chat gpt-x", parentSpanId: request?.spanId ?? "", isError: true },
      { name: "chat claude-x", parentSpanId: request?.spanId ?? "", isError: false },
    ]);
    const common = {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.stream": true,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.max_tokens": 64,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.stop_sequences": ["END"],
      "server.address": "127.0.0.1",
      "switchyard.request.id": response.headers.get("x-request-id"),
      "switchyard.key.id": expect.any(String),
    };
    expect(attempts[0]?.attributes).toEqual({
      ...common,
      "gen_ai.provider.name": "mock",
      "gen_ai.request.model": "gpt-x",
      "server.port": vendor.port,
      "error.type": "provider_error",
      "switchyard.provider": "mock",
      "switchyard.deployment": "mock",
      "switchyard.attempt.number": 1,
      "switchyard.attempt.reason": "first",
    });
    expect(attempts[1]?.attributes).toEqual({
      ...common,
      "gen_ai.provider.name": "speaker",
      "gen_ai.request.model": "claude-x",
      "gen_ai.response.model": "claude-mock-1",
      "gen_ai.response.id": expect.any(String),
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
      "gen_ai.usage.input_tokens": 9,
      "gen_ai.usage.output_tokens": 3,
      "server.port": claude.port,
      "switchyard.provider": "speaker",
      "switchyard.deployment": "speaker",
      "switchyard.attempt.number": 2,
      "switchyard.attempt.reason": "fallback",
    });
    for (const { start, end } of attempts) {
      expect(start >= (request?.start ?? 0n) && end <= (request?.end ?? 0n)).toBe(true);
      expect(end > start).toBe(true);
    }
    // Only the provider that the setting names receives the context: that of its own attempt.
    expect(vendor.last().headers["traceparent"]).toBeUndefined();
    expect(claude.last().headers).toMatchObject({
      traceparent: `00-${parent.traceId}-${attempts[1]?.spanId}-01`,
      tracestate: "vendor=abc",
    });
  });

  test("a stream that breaks after its beginning is an error of the attempt and of the request", async () => {
    const parent = makeParent();
    claude.next([...claudeBegun(["Hel"]), fin]);
    const headers = { traceparent: parent.traceparent };
    await (await ask(gateway.url, key, { ...hello, model: "speaker/claude-x", stream: true }, { headers })).text();
    const spans = await collector.waitForTrace(parent.traceId, 2);
    const errors = spans.map(({ kind, isError, attributes }) => [kind, isError, attributes["error.type"]]);
    expect(errors.toSorted()).toEqual([
      ["client", true, "provider_disconnected"],
      ["server", true, "provider_disconnected"],
    ]);
    const attempt = spans.find(({ kind }) => kind === "client");
    expect(attempt?.attributes["gen_ai.response.finish_reasons"]).toEqual(["error"]);
  });
});

describe("a trace", () => {
  test("of a refused request has its error code, and no attempt", async () => {
    const parent = makeParent();
    const body = { ...hello, model: "nobody/x" };
    const response = await ask(gateway.url, key, body, { headers: { traceparent: parent.traceparent } });
    expect(response.status).toBe(404);
    const [request] = await collector.waitForTrace(parent.traceId, 1);
    expect(request).toMatchObject({ isError: false, attributes: { "switchyard.error.code": "provider_not_found" } });
  });

  test("that the caller does not sample is not exported", async () => {
    const [unsampled, sampled] = [makeParent("00"), makeParent()];
    for (const { traceparent } of [unsampled, sampled])
      await (await ask(gateway.url, key, hello, { headers: { traceparent } })).text();
    await collector.waitForTrace(sampled.traceId, 2);
    expect(collector.spans.filter(({ traceId }) => traceId === unsampled.traceId)).toEqual([]);
  });

  test("begins with the request when the header is malformed", async () => {
    const before = collector.spans.length;
    await (await ask(gateway.url, key, hello, { headers: { traceparent: "00-nonsense-01" } })).text();
    const spans = await waitFor("the spans", () =>
      collector.spans.length >= before + 2 ? collector.spans.slice(before) : null,
    );
    expect(spans.filter(({ parentSpanId }) => parentSpanId === null)).toHaveLength(1);
  });

  test("contains no prompt and no answer", async () => {
    const parent = makeParent();
    const body = { ...hello, messages: [{ role: "user", content: "the word is marmalade" }] };
    await (await ask(gateway.url, key, body, { headers: { traceparent: parent.traceparent } })).text();
    await collector.waitForTrace(parent.traceId, 2);
    expect(collector.requests.some(({ body: bytes }) => bytes.includes("marmalade"))).toBe(false);
  });

  test("of a message on a WebSocket begins with it, and an unknown message is an error", async () => {
    const before = collector.spans.length;
    const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/v3/responses`, {
      headers: { authorization: `Bearer ${key}` },
    } as unknown as string[]);
    await waitFor("the connection", () => socket.readyState === WebSocket.OPEN);
    const messageSpan = (index: number) =>
      waitFor(`span ${index} of a message`, () => {
        const found = collector.spans.slice(before).filter(({ name }) => name === "response.create /v3/responses");
        return found[index];
      });
    socket.send(JSON.stringify({ type: "response.create", model: "sandbox/echo", input: "hi" }));
    const answered = await messageSpan(0);
    socket.send(JSON.stringify({ type: "response.unknown" }));
    const refused = await messageSpan(1);
    socket.close();
    expect(answered).toMatchObject({ kind: "server", parentSpanId: null, isError: false });
    expect(refused).toMatchObject({ isError: true, attributes: { "error.type": "unknown_message" } });
    const attempts = collector.spans.filter(({ parentSpanId }) => parentSpanId === answered.spanId);
    expect(attempts.map(({ name }) => name)).toEqual(["chat echo"]);
  });

  test("of a task has a span for the task, and the attempt below it", async () => {
    const parent = makeParent();
    const body = { model: "text/sentiment_analysis/sandbox", input: { text: "A lovely day" } };
    const headers = { traceparent: parent.traceparent };
    expect((await ask(gateway.url, key, body, { path: "/v3/universal-ai", headers })).status).toBe(200);
    const spans = await collector.waitForTrace(parent.traceId, 3);
    const byName = new Map(spans.map((span) => [span.name, span]));
    const [request, task, attempt] = [
      byName.get("POST /v3/universal-ai"),
      byName.get("task text/sentiment_analysis"),
      spans.find(({ attributes }) => attributes["gen_ai.operation.name"] === "text/sentiment_analysis"),
    ];
    expect([task?.parentSpanId, attempt?.parentSpanId]).toEqual([request?.spanId ?? "", task?.spanId ?? ""]);
    expect(attempt?.attributes).toMatchObject({ "gen_ai.provider.name": "sandbox", "switchyard.attempt.number": 1 });
  });
});

describe("content", () => {
  test("is recorded on request, without keys, redacted, and cut", async () => {
    await using recording = await testGateway({
      vendor,
      config,
      env: {
        ...json,
        SWITCHYARD_TRACE_CONTENT: "true",
        SWITCHYARD_TRACE_CONTENT_CHARACTERS: "100",
        SWITCHYARD_TRACE_REDACT: "\\d{3}-\\d{2}-\\d{4}",
        DEEPL_API_KEY: "configured value 51c2a0",
      },
    });
    const caller = await recording.createKey();
    const parent = makeParent();
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(100)}` } };
    const messages = [
      { role: "system", content: "x".repeat(500) },
      {
        role: "user",
        content: [
          { type: "text", text: `My number is 123-45-6789 and my key ${caller} or configured value 51c2a0` },
          image,
        ],
      },
    ];
    const body = { model: "speaker/claude-x", messages, stream: true };
    await (await ask(recording.url, caller, body, { headers: { traceparent: parent.traceparent } })).text();
    const spans = await collector.waitForTrace(parent.traceId, 2);
    const { attributes = {} } = spans.find(({ kind }) => kind === "client") ?? {};
    const input = JSON.parse(String(attributes["gen_ai.input.messages"]));
    expect(input).toEqual([
      { role: "system", parts: [{ type: "text", content: expect.stringMatching(/^x{30,60}…$/) }] },
      {
        role: "user",
        parts: [
          { type: "text", content: "My number is [redacted] and my key [redacted] or [redacted]" },
          { type: "image_url" },
        ],
      },
    ]);
    expect(JSON.parse(String(attributes["gen_ai.output.messages"]))).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "Hello there" }], finish_reason: "stop" },
    ]);
  });
});

describe("content of tasks", () => {
  const open = (content: string) =>
    testGateway({
      vendor,
      config,
      env: { ...json, SWITCHYARD_TRACE_CONTENT: content, SWITCHYARD_TRACE_REDACT: "\\d{3}-\\d{2}-\\d{4}" },
    });

  async function readAttempt(recording: Awaited<ReturnType<typeof open>>) {
    const caller = await recording.createKey();
    const parent = makeParent();
    const body = {
      model: "text/sentiment_analysis/sandbox",
      input: { text: `A lovely day for 123-45-6789 and ${caller}` },
    };
    const headers = { traceparent: parent.traceparent };
    expect((await ask(recording.url, caller, body, { path: "/v3/universal-ai", headers })).status).toBe(200);
    const spans = await collector.waitForTrace(parent.traceId, 3);
    return spans.find((span) => span.attributes["gen_ai.operation.name"] === "text/sentiment_analysis")?.attributes;
  }

  test("is recorded on request, with the same redaction as that of chat calls", async () => {
    await using recording = await open("true");
    const attributes = await readAttempt(recording);
    expect(JSON.parse(String(attributes?.["gen_ai.input.messages"]))).toEqual([
      {
        role: "user",
        parts: [
          {
            type: "text",
            content: expect.stringMatching(/^\{"text":"A lovely day for \[redacted\] and \[redacted\]"/),
          },
        ],
      },
    ]);
    const [message] = JSON.parse(String(attributes?.["gen_ai.output.messages"]));
    expect(message).toMatchObject({ role: "assistant", finish_reason: "stop", parts: [{ type: "text" }] });
    expect(JSON.parse(message.parts[0].content)).toHaveProperty("general_sentiment");
  });

  test("is not recorded otherwise", async () => {
    await using silent = await open("false");
    const attributes = await readAttempt(silent);
    expect(attributes).toBeDefined();
    for (const name of ["gen_ai.input.messages", "gen_ai.output.messages"])
      expect(attributes).not.toHaveProperty([name]);
  });

  test("has no bytes in it, and is cut", () => {
    const rules = createContentRules(60, null, quiet);
    const base64 = "QUJD".repeat(400);
    const read = (written: string) => JSON.parse(written)[0].parts[0].content as string;
    expect(read(writeTaskInput({ file: `data:image/png;base64,${base64}`, n: 1 }, rules))).toBe(
      '{"file":"[binary]","n":1}',
    );
    expect(read(writeTaskOutput({ image_b64: base64 }, rules))).toBe('{"image_b64":"[binary]"}');
    expect(read(writeTaskOutput({ text: "a word ".repeat(9_000) }, rules))).toMatch(
      /^\{"text":"a word [a-z ]{30,60}…$/,
    );
  });
});

describe("the exporter", () => {
  test("sends protobuf by default, with the headers of the setting", async () => {
    await using plain = await testGateway({
      vendor,
      env: { ...settings, OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=team%20one" },
    });
    const caller = await plain.createKey();
    await (await ask(plain.url, caller, { ...hello, model: "mock/protobuf-model" })).text();
    const sent = await waitFor("the export", () =>
      collector.requests.find(({ body }) => body.includes("chat protobuf-model")),
    );
    expect(sent.headers.get("content-type")).toBe("application/x-protobuf");
    expect(sent.headers.get("x-tenant")).toBe("team one");
  });

  test("never delays or fails a request while the collector is away, and says so once", async () => {
    const away = startOtlpReceiver();
    away.answerWith(400);
    await using lonely = await testGateway({
      vendor,
      env: {
        ...json,
        OTEL_EXPORTER_OTLP_ENDPOINT: away.url,
        OTEL_BSP_MAX_QUEUE_SIZE: "8",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "4",
      },
    });
    const caller = await lonely.createKey();
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => (await ask(lonely.url, caller, hello)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    await waitFor("a failed export", () => lonely.log().includes("traces could not be exported"));
    away.stop();
    expect((await ask(lonely.url, caller, hello)).status).toBe(200);
    expect(lonely.log().match(/traces could not be exported/g)).toHaveLength(1);
  });

  test("is not loaded without a collector, and providers get no header", async () => {
    await using silent = await testGateway({ vendor, env: { SWITCHYARD_TRACE_PROVIDERS: "*" } });
    const caller = await silent.createKey();
    const before = collector.requests.length;
    const headers = { traceparent: makeParent().traceparent };
    expect((await ask(silent.url, caller, hello, { headers })).status).toBe(200);
    expect(vendor.last().headers["traceparent"]).toBeUndefined();
    expect(collector.requests.length).toBe(before);
  });
});
