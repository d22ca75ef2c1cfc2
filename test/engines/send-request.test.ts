// Vendors' tasks over real HTTP: what goes over the wire, and what becomes of answers, refusals, silence and cuts.

import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import type { Engine, TaskResult } from "../../src/engines/engine.ts";
import { createVendorEngines } from "../../src/engines/vendors/vendor-engine.ts";
import { GatewayError, ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import { CallerLeft } from "../../src/providers/call.ts";
import { configureProviders, type Declared } from "../../src/providers/configure.ts";
import { google } from "../../src/providers/google/index.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import { type ProviderTask, TaskFailure, type TaskRequest } from "../../src/providers/task.ts";
import { answer, hang, headOf, rst, type Script, wait, write } from "../support/answers.ts";
import { rejectionOf } from "../support/thrown.ts";
import { type CallOptions, callOf, fileOf, openVendorClient } from "./vendor-calls.ts";

const { vendor, ticker, http, log, root } = await openVendorClient();
// Far longer than any answer takes on a busy machine. Tests about timeouts have their own.
const usualClocks = {
  connectTimeoutMs: 60_000,
  firstByteTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 60_000,
};
// Of no form that would be known for a key by itself.
const secret = "tryout0123456789abcdef";

interface Setup {
  readonly settings?: Readonly<Record<string, string>>;
  readonly declared?: Readonly<Record<string, Declared>>;
  readonly clocks?: Partial<typeof usualClocks>;
  readonly shutdownSignal?: AbortSignal;
}

function enginesOf(row: ProviderRow, setup: Setup = {}): readonly Engine[] {
  const { settings = { TRYOUT_API_KEY: secret, TRYOUT_BASE_URL: root }, declared = {}, clocks, shutdownSignal } = setup;
  return createVendorEngines({
    providers: configureProviders([row], declared, (name) => settings[name] ?? null).values(),
    http,
    ticker,
    clocks: { ...usualClocks, ...clocks },
    shutdownSignal: shutdownSignal ?? new AbortController().signal,
    log,
  });
}

function rowOf(task: Partial<ProviderTask>, more: Partial<ProviderRow> = {}): ProviderRow {
  return {
    name: "tryout",
    title: "Tryout",
    docs: "",
    auth: { kind: "bearer" },
    baseUrl: "https://tryout.invalid",
    tasks: [
      {
        task: "text/summarize",
        docs: "",
        toRequest: () => ({ path: "/do", body: { kind: "json", value: { text: "x" } } }),
        fromResponse: () => ({ output: { result: "done" }, units: { request: 1 } }),
        ...task,
      },
    ],
    ...more,
  };
}

function run(row: ProviderRow, options: CallOptions = {}, setup: Setup = {}): Promise<TaskResult> {
  const [engine] = enginesOf(row, setup);
  if (engine === undefined) throw new Error("there is no engine");
  return engine.run(callOf(options));
}

const asking = (request: TaskRequest, more: Partial<ProviderRow> = {}) => rowOf({ toRequest: () => request }, more);
const good = answer(200, { fine: true });

function failureOf(row: ProviderRow, options: CallOptions = {}, setup: Setup = {}): Promise<Error> {
  return rejectionOf(run(row, options, setup), Error);
}

async function codeOf(script: Script, options: CallOptions = {}, setup: Setup = {}): Promise<string> {
  vendor.next(script);
  const failure = await failureOf(rowOf({}), options, setup);
  return failure instanceof GatewayError ? failure.code : String(failure);
}

describe("what is sent", () => {
  test("JSON goes to the address of the setting, with the key, and the answer is kept as it was", async () => {
    vendor.next(good);
    const { output, original, units } = await run(
      asking({ path: "/do", query: { a: "x y", b: null }, body: { kind: "json", value: { text: "é" } } }),
    );
    const { method, path, headers, body } = vendor.last();
    expect([method, path]).toEqual(["POST", "/do?a=x%20y"]);
    expect(headers).toMatchObject({
      authorization: `Bearer ${secret}`,
      "content-type": "application/json",
      "accept-encoding": "identity",
    });
    expect(JSON.parse(body.toString())).toEqual({ text: "é" });
    expect({ output, original, units }).toEqual({
      output: { result: "done" },
      original: { fine: true },
      units: { request: 1 },
    });
  });

  test("a form carries fields and files to the byte", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_none, index) => index);
    vendor.next(good);
    await run(
      asking({
        path: "/form",
        body: {
          kind: "form",
          parts: [
            { name: "language", value: "français" },
            { name: "file", fileName: 'a"b\r\n.bin', mediaType: "application/octet-stream", bytes },
          ],
        },
      }),
      { providerParams: { mode: 2, file: "no" } },
    );
    const { headers, body } = vendor.last();
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": headers["content-type"] ?? "" },
    }).formData();
    expect([form.get("language"), form.get("mode")]).toEqual(["français", "2"]);
    const file = form.get("file") as unknown as Blob;
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(bytes);
    expect(form.getAll("file")).toHaveLength(1);
  });

  test("megabytes of bytes arrive whole, both ways", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    const many = Buffer.concat(Array.from({ length: 64 }, () => bytes));
    vendor.next((request) => answer(200, request.body, { "content-type": "audio/mpeg" }));
    const row = rowOf({
      toRequest: () => ({ path: "/raw", body: { kind: "bytes", bytes: many, mediaType: "image/png" } }),
      fromResponse: (said) => ({
        output: { same: Buffer.compare(said.bytes, many), mediaType: said.mediaType },
        units: {},
      }),
    });
    const { output, original } = await run(row);
    expect(output).toEqual({ same: 0, mediaType: "audio/mpeg" });
    expect(original).toBeNull();
    expect(vendor.last().headers["content-length"]).toBe(String(many.length));
  });

  test("a key goes where the vendor wants it, and nothing takes its place", async () => {
    const asked = async (
      auth: NonNullable<ProviderRow["auth"]>,
      more: Partial<ProviderRow> = {},
      body: TaskRequest["body"] = { kind: "json", value: {} },
    ) => {
      vendor.next(good);
      const settings = { TRYOUT_API_KEY: secret, TRYOUT_BASE_URL: root, TRYOUT_USER: "ann" };
      await run(asking({ path: "/do", body }, { auth, ...more }), { providerParams: { key: "mine" } }, { settings });
      return vendor.last();
    };
    const user = { placeholders: { user: "TRYOUT_USER" } };
    expect((await asked({ kind: "header", name: "X-Key" })).headers["x-key"]).toBe(secret);
    expect(
      (await asked({ kind: "header", name: "authorization", prefix: "ApiKey {user}:" }, user)).headers["authorization"],
    ).toBe(`ApiKey ann:${secret}`);
    expect((await asked({ kind: "query", name: "key" })).path).toBe(`/do?key=${secret}`);
    expect((await asked({ kind: "member", name: "key" })).body.toString()).toBe(JSON.stringify({ key: secret }));
    expect((await asked({ kind: "member", name: "key" }, {}, { kind: "fields", fields: {} })).body.toString()).toBe(
      `key=${secret}`,
    );
    const basic =
      (await asked({ kind: "basic", user: "{user}" }, user)).headers["authorization"]?.replace("Basic ", "") ?? "";
    expect(Buffer.from(basic, "base64").toString()).toBe(`ann:${secret}`);
  });

  test("provider_params are merged into the body, where the task says", async () => {
    vendor.next(good);
    const value = { requests: [{ image: "x", options: { a: 1, b: 2 } }] };
    const params = JSON.parse('{"options":{"b":3},"__proto__":{"polluted":true},"c":[1]}');
    await run(asking({ path: "/do", paramsPath: ["requests", 0], body: { kind: "json", value } }), {
      providerParams: params,
    });
    expect(vendor.last().body.toString()).toBe(
      '{"requests":[{"image":"x","options":{"a":1,"b":3},"__proto__":{"polluted":true},"c":[1]}]}',
    );
  });

  test("provider_params that would reach the operator's own files are refused, at any depth", async () => {
    const row = asking({ path: "/do", body: { kind: "json", value: {} } }, { sealedParams: ["S3Object"] });
    // Some vendors ignore the case, or take the same name in another style.
    for (const name of ["S3Object", "s3object", "s3_object", "s3-object[]"]) {
      const failure = await failureOf(row, { providerParams: { Document: [{ [name]: { Bucket: "b" } }] } });
      expect(failure).toBeInstanceOf(ValidationError);
      expect((failure as ValidationError).problems[0].loc).toEqual(["body", "provider_params", "Document", 0, name]);
    }
    expect(vendor.requests).toHaveLength(0);
  });

  test("a name that would make another path, or another request, of the one that was meant is refused", async () => {
    for (const model of ["..", ".", "%2E%2e", "../keys", "x HTTP/1.1\r\nhost: y\r\n\r\n", "a#b", "é"]) {
      const failure = await failureOf(asking({ path: `/models/${model}` }));
      expect([model, failure]).toEqual([model, expect.any(ValidationError)]);
    }
    vendor.next(good);
    await run(asking({ path: "/models/v1.5:do" }));
    expect(vendor.requests.map(({ path }) => path)).toEqual(["/models/v1.5:do"]);
  });

  test("files that a task does not take are refused before they are read", async () => {
    const row = rowOf({ files: { maxBytes: 2, mediaTypes: ["image/"] } });
    const unread = { name: "x", size: 9, read: () => Promise.reject(new Error("it was read")) };
    const loc = ["body", "input", "file1"];
    const type = await failureOf(row, { files: { file1: { ...unread, mediaType: "text/plain" } } });
    expect((type as ValidationError).problems).toMatchObject([{ loc, type: "unsupported_media_type" }]);
    const size = await failureOf(row, { files: { file1: { ...unread, mediaType: "image/png" } } });
    expect((size as ValidationError).problems).toMatchObject([{ loc, type: "file_too_large" }]);
  });

  test("one connection serves one call after another", async () => {
    vendor.next(good);
    await run(rowOf({}));
    // A connection is kept from the next turn on.
    await new Promise((resolve) => setImmediate(resolve));
    vendor.next(good);
    const [engine] = enginesOf(rowOf({}));
    await engine?.run(callOf());
    await new Promise((resolve) => setImmediate(resolve));
    vendor.next(good);
    await engine?.run(callOf());
    expect(vendor.requests.at(-1)?.connection).toBe(vendor.requests.at(-2)?.connection as number);
  });
});

describe("who may be called", () => {
  const missingOf = (row: ProviderRow, setup: Setup) => enginesOf(row, setup)[0]?.unavailableReason;

  test("what is not set up says which setting is missing, and is not called", async () => {
    expect(missingOf(rowOf({}), { settings: {} })).toEndWith("set TRYOUT_API_KEY.");
    expect(missingOf(rowOf({}, { baseUrl: null }), { settings: { TRYOUT_API_KEY: secret } })).toEndWith(
      "set TRYOUT_BASE_URL.",
    );
    expect(missingOf(rowOf({}), {})).toBeNull();
    expect(missingOf(amazon, { settings: {} })).toEndWith("set AWS_ACCESS_KEY_ID.");
    expect(missingOf(amazon, { settings: { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" } })).toBe(
      "The provider 'amazon' is not set up: set AWS_REGION.",
    );
    expect(missingOf(google, { settings: {} })).toEndWith("set GOOGLE_API_KEY.");
    expect(missingOf(microsoft, { settings: { MICROSOFT_API_KEY: "k" } })).toEndWith("set MICROSOFT_RESOURCE.");
    expect(await failureOf(rowOf({}), {}, { settings: {} })).toMatchObject({ code: "provider_not_configured" });
  });

  test("other names of a setting and the operator's file are read as for chat providers", async () => {
    const row = rowOf({}, { keyNames: ["TRYOUT_TOKEN"], addressNames: ["TRYOUT_ENDPOINT"], strippedSuffix: "/v1" });
    vendor.next(good);
    await run(row, {}, { settings: { TRYOUT_TOKEN: "other-key", TRYOUT_ENDPOINT: `${root}/v1/` } });
    expect(vendor.last()).toMatchObject({ path: "/do", headers: { authorization: "Bearer other-key" } });
    vendor.next(good);
    const declared = { tryout: { api_key: "declared-key", base_url: `${root}/proxy`, headers: { "x-team": "blue" } } };
    await run(row, {}, { settings: {}, declared });
    expect(vendor.last()).toMatchObject({
      path: "/proxy/do",
      headers: { authorization: "Bearer declared-key", "x-team": "blue" },
    });
    expect(missingOf(row, { settings: {}, declared: { tryout: { api_key: "" } } })).toEndWith("set TRYOUT_API_KEY.");
  });

  test("several keys of an operator are used in turn", async () => {
    const declared = {
      tryout: { base_url: root, deployments: [{ api_key: "first-key" }, { api_key: "second-key" }, { api_key: "" }] },
    };
    const [engine] = enginesOf(rowOf({}), { settings: {}, declared });
    for (let call = 0; call < 3; call++) {
      vendor.next(good);
      await engine?.run(callOf());
    }
    expect(vendor.requests.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer first-key",
      "Bearer second-key",
      "Bearer first-key",
    ]);
  });
});

describe("credentials that are made for a call", () => {
  const settings = {
    AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
    AWS_SECRET_ACCESS_KEY: "secret-access-key-of-a-test",
    AWS_DEFAULT_REGION: "eu-west-1",
    AMAZON_BASE_URL: root,
  };

  test("each service of amazon gets a signature of its own, over what goes over the wire", async () => {
    const engines = enginesOf(amazon, { settings });
    const calls: Readonly<Record<string, CallOptions>> = {
      "text/sentiment_analysis": { input: { text: "é", language: "en" } },
      "translation/automatic_translation": { input: { text: "x", target_language: "fr" } },
      "ocr/ocr": { files: { file: fileOf(Buffer.from("x"), "image/png") } },
    };
    const answered = { TranslatedText: "y", Sentiment: "POSITIVE", SentimentScore: { Positive: 0.9, Negative: 0.1 } };
    const services: string[] = [];
    for (const [task, options] of Object.entries(calls)) {
      vendor.next(answer(200, answered, { "content-type": "application/x-amz-json-1.1" }));
      const { original } = (await engines.find((engine) => engine.task === task)?.run(callOf(options))) ?? {};
      expect(original).toEqual(answered);
      services.push(checkSignature(settings.AWS_SECRET_ACCESS_KEY));
    }
    expect(services).toEqual(["comprehend", "translate", "textract"]);
    expect(vendor.last().headers["x-amz-target"]).toBe("Textract.DetectDocumentText");
  });

  /** Signs what arrived once more, by the rules of Signature Version 4, and says for which service it was. */
  function checkSignature(secretKey: string): string {
    const { method, path, headers, body } = vendor.last();
    const [, scope = "", names = "", signature] =
      /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)/.exec(headers["authorization"] ?? "") ?? [];
    const hash = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
    const lines = names.split(";").map((name) => `${name}:${headers[name]}\n`);
    const canonical = [method, path, "", lines.join(""), names, hash(body)].join("\n");
    const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hash(canonical)].join("\n");
    const sign = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
    const key = scope.split("/").reduce<string | Buffer>(sign, `AWS4${secretKey}`);
    expect(sign(key, toSign).toString("hex")).toBe(signature as string);
    expect(names.split(";")).toEqual(expect.arrayContaining(["host", "content-type", "x-amz-target"]));
    return scope.split("/")[2] ?? "";
  }

  test("a refusal of amazon is recognised by its name, and keeps the vendor's words", async () => {
    const [engine] = enginesOf(amazon, { settings });
    const call = callOf({ files: { file: fileOf(Buffer.from("x"), "image/png") } });
    vendor.next(answer(400, { __type: "ProvisionedThroughputExceededException", Message: "Slow down." }));
    const slow = await engine?.run(call).catch((error: unknown) => error);
    expect(slow).toMatchObject({ code: "provider_rate_limited" });
    expect(String(slow)).toContain("Slow down.");
    vendor.next(answer(400, { __type: "UnrecognizedClientException", message: "The security token is invalid." }));
    expect(await engine?.run(call).catch((error: unknown) => error)).toMatchObject({ code: "provider_auth_failed" });
  });

  test("google takes an API key in its header, and a token as a bearer", async () => {
    const ask = async (key: string) => {
      vendor.next(answer(200, { data: { translations: [{ translatedText: "y" }] } }));
      const engines = enginesOf(google, { settings: { GOOGLE_API_KEY: key, GOOGLE_BASE_URL: root } });
      const engine = engines.find(({ task }) => task === "translation/automatic_translation");
      await engine?.run(callOf({ input: { text: "x", target_language: "fr" } }));
      return vendor.last().headers;
    };
    expect((await ask("AIzaExample"))["x-goog-api-key"]).toBe("AIzaExample");
    expect((await ask("ya29.example"))["authorization"]).toBe("Bearer ya29.example");
  });
});

describe("what becomes of failures", () => {
  test("a vendor's statuses mean what a chat provider's mean", async () => {
    const codes = async (status: number, body: unknown = { message: "so it is" }) => codeOf(answer(status, body));
    expect(await codes(400)).toBe("provider_rejected_request");
    expect(await codes(401)).toBe("provider_auth_failed");
    expect(await codes(403)).toBe("provider_auth_failed");
    expect(await codes(413)).toBe("provider_rejected_request");
    expect(await codes(429)).toBe("provider_rate_limited");
    expect(await codes(500)).toBe("provider_error");
    expect(await codes(302, "")).toBe("provider_bad_response");
    // Where no model was named, none can be unknown.
    expect(await codes(404)).toBe("provider_rejected_request");
    expect(await codes(404, "<html>")).toBe("provider_error");
    expect(await codeOf(answer(404, { message: "no" }), { model: "x" })).toBe("model_not_found");
  });

  test("how long to wait is passed on, and a key that is quoted is not", async () => {
    vendor.next(answer(429, { error: { message: `the key ${secret} is tired` } }, { "retry-after": "7" }));
    const failure = await failureOf(rowOf({}));
    expect(failure).toMatchObject({ code: "provider_rate_limited", details: { retryAfter: 7 } });
    expect(String(failure)).toContain("is tired");
    expect(String(failure)).not.toContain(secret);
  });

  test("a failure inside a successful answer is reported like a refusal", async () => {
    vendor.next(good);
    const row = rowOf({
      fromResponse: () => {
        throw new TaskFailure(429, `enough of ${secret}`);
      },
    });
    const failure = await failureOf(row);
    expect(failure).toMatchObject({ code: "provider_rate_limited" });
    expect(String(failure)).not.toContain(secret);
  });

  test("an answer that makes no sense is the vendor's failure", async () => {
    const reads = rowOf({ fromResponse: ({ json }) => ({ output: { result: String(json) }, units: {} }) });
    vendor.next(answer(200, "not JSON"));
    expect(await failureOf(reads)).toMatchObject({ code: "provider_bad_response" });
    const stumbles = rowOf({
      fromResponse: () => {
        throw new TypeError("there is nothing");
      },
    });
    vendor.next(good);
    expect(await failureOf(stumbles)).toMatchObject({ code: "provider_bad_response" });
  });

  test("an answer with an impossible length, or nested without end, is the vendor's failure too", async () => {
    vendor.next(good);
    const makesList = rowOf({ fromResponse: () => ({ output: { result: new Array(2 ** 33).join() }, units: {} }) });
    expect(await failureOf(makesList)).toMatchObject({ code: "provider_bad_response" });
    vendor.next(answer(400, `{"error":${"[".repeat(30_000)}${"]".repeat(30_000)}}`));
    expect(await failureOf(rowOf({}))).toMatchObject({ code: "provider_rejected_request" });
  });

  test("a vendor that names another portion of its answer without end is given up", async () => {
    for (let portion = 0; portion < 5_001; portion++) vendor.next(good);
    const endless = rowOf({ next: (_answer, _call, asked) => asked });
    const failure = await failureOf(endless);
    expect(failure).toMatchObject({ code: "provider_bad_response" });
    expect(vendor.requests).toHaveLength(5_000);
  });

  test("a vendor that is not there, is silent, breaks off or talks nonsense", async () => {
    const clocks = { firstByteTimeoutMs: 80, idleTimeoutMs: 80 };
    await vendor.whileRefusing(async () => {
      expect(await failureOf(rowOf({}))).toMatchObject({ code: "provider_unreachable" });
    });
    expect(await codeOf([hang], {}, { clocks })).toBe("provider_timeout");
    const half = write(`${headOf(200, { "content-type": "application/json", "content-length": "100" })}{"half":`);
    expect(await codeOf([half, hang], {}, { clocks })).toBe("provider_timeout");
    expect(await codeOf([half, rst])).toBe("provider_disconnected");
    expect(await codeOf([write("nonsense\r\n\r\n")])).toBe("provider_bad_response");
  });

  test("an answer larger than any result is cut off", async () => {
    const unit = Buffer.alloc(1_048_576, 32);
    const head = write(headOf(200, { "content-type": "text/plain", "content-length": String(unit.length * 80) }));
    expect(await codeOf([head, { do: "flood", unit, times: 80 }])).toBe("provider_bad_response");
  });

  test("a caller who leaves takes the call along", async () => {
    const leaving = new AbortController();
    vendor.next([hang]);
    const failed = failureOf(rowOf({}), { signal: leaving.signal });
    await vendor.waitFor("the request", (requests) => requests.length === 1);
    leaving.abort();
    expect(await failed).toBeInstanceOf(CallerLeft);
    await vendor.waitFor("the closed connection", ([request]) => request?.leftAt !== null);
  });

  test("the time of the request ends the call, and so does the end of the gateway", async () => {
    expect(await codeOf([hang], { withinMs: 60 })).toBe("provider_timeout");
    const shutdownSignal = new AbortController();
    vendor.next([hang]);
    const failed = failureOf(rowOf({}), {}, { shutdownSignal: shutdownSignal.signal });
    await vendor.waitFor("the request", (requests) => requests.length === 2);
    shutdownSignal.abort();
    expect(await failed).toMatchObject({ code: "draining" });
  });
});

describe("work that continues at the vendor", () => {
  const polling = rowOf({
    next: ({ json }, _call, asked) => {
      const { state } = json as { readonly state?: string };
      if (state === "begun") return { method: "GET", path: "/jobs/7", waitMs: 20 };
      return state === "running" ? { ...asked, waitMs: 20 } : null;
    },
    fromResponse: ({ json }) => ({ output: json as Record<string, unknown>, units: {} }),
  });

  test("is polled until it is done", async () => {
    for (const state of ["begun", "running", "running", "done"]) vendor.next(answer(200, { state }));
    expect((await run(polling, { providerParams: { a: 1 } })).output).toEqual({ state: "done" });
    expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /do",
      ...Array(3).fill("GET /jobs/7"),
    ]);
    expect(vendor.requests[0]?.body.toString()).toContain('"a":1');
    expect(vendor.last().body.toString()).toBe("");
  });

  test("survives a short failure of the question, but not a long one", async () => {
    vendor.next(answer(200, { state: "begun" }));
    vendor.next(answer(503, {}));
    vendor.next(answer(429, {}));
    vendor.next(answer(503, {}));
    vendor.next(answer(200, { state: "done" }));
    expect((await run(polling)).output).toEqual({ state: "done" });
    vendor.next(answer(200, { state: "begun" }));
    for (let failures = 0; failures < 4; failures++) vendor.next(answer(503, {}));
    expect(await failureOf(polling)).toMatchObject({ code: "provider_error" });
  });

  test("is polled again after the time that the vendor states, unless the request has less time than that", async () => {
    vendor.next(answer(200, { state: "begun" }));
    vendor.next(answer(429, {}, { "retry-after": "1" }));
    vendor.next(answer(200, { state: "done" }));
    expect((await run(polling)).output).toEqual({ state: "done" });
    const [, refused, repeated] = vendor.requests.map(({ receivedAt }) => receivedAt);
    expect((repeated ?? 0) - (refused ?? 0)).toBeGreaterThan(990);
    vendor.clear();
    vendor.next(answer(200, { state: "begun" }));
    for (let failures = 0; failures < 4; failures++) vendor.next(answer(429, {}, { "retry-after": "3600" }));
    expect(await failureOf(polling)).toMatchObject({ code: "provider_rate_limited" });
    expect(vendor.requests).toHaveLength(2);
  });

  test("ends with the time of the request, or with its caller", async () => {
    const slow = (request: { readonly method: string }) =>
      answer(200, { state: request.method === "GET" ? "running" : "begun" });
    for (let questions = 0; questions < 20; questions++) vendor.next(slow);
    expect(await failureOf(polling, { withinMs: 200 })).toMatchObject({ code: "provider_timeout" });
    vendor.clear();
    const leaving = new AbortController();
    for (let questions = 0; questions < 50; questions++) vendor.next((request) => [wait(5), ...slow(request)]);
    const failed = failureOf(polling, { signal: leaving.signal });
    await vendor.waitFor("a question", (requests) => requests.length > 2);
    leaving.abort();
    expect(await failed).toBeInstanceOf(CallerLeft);
  });
});
