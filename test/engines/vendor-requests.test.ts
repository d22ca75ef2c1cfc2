// How the request of a vendor's task is put together: the caller's parameters, the credentials and the bytes. Also which deployment and
// model perform a task, and what it is charged. The vendor and its answers are invented.

import { describe, expect, test } from "bun:test";
import { encodeRequest } from "../../src/engines/vendors/encode-request.ts";
import { mergeParams } from "../../src/engines/vendors/merge-params.ts";
import { toTaskResponse } from "../../src/engines/vendors/send-request.ts";
import {
  createDeploymentTurns,
  createVendorEngines,
  findNamed,
  type VendorOptions,
} from "../../src/engines/vendors/vendor-engine.ts";
import { ValidationError } from "../../src/errors.ts";
import { completeCharge } from "../../src/lib/charge.ts";
import { configureProviders, type Declared, type Provider } from "../../src/providers/configure.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import type { ProviderRow } from "../../src/providers/provider.ts";
import type { ProviderTask, TaskRequest } from "../../src/providers/task.ts";
import { answer } from "../support/answers.ts";
import { problemsOf, rejectionOf } from "../support/thrown.ts";
import { callOf, openVendorClient } from "./vendor-calls.ts";

const { vendor, ticker, http, log, root } = await openVendorClient();
const key = "tryout0123456789abcdef";

const summarize: ProviderTask = {
  task: "text/summarize",
  docs: "",
  toRequest: () => ({ path: "/do" }),
  fromResponse: () => ({ output: { result: "done" }, units: { request: 1 } }),
};

function providerOf(row: Partial<ProviderRow> = {}, declared: Declared = {}): Provider {
  const tryout: ProviderRow = {
    name: "tryout",
    title: "Tryout",
    docs: "",
    auth: { kind: "bearer" },
    baseUrl: `${root}/v1`,
    tasks: [summarize],
    ...row,
  };
  const provider = configureProviders([tryout], { tryout: { api_key: key, ...declared } }, () => null).get("tryout");
  if (provider === undefined) throw new Error("there is no provider");
  return provider;
}

describe("the caller's parameters", () => {
  const open = { row: {}, task: {} };
  const merged = (request: Omit<TaskRequest, "path">, params: JsonObject) =>
    mergeParams({ path: "/do", ...request }, params, open);
  const file = { name: "file", fileName: "a.pdf", mediaType: "application/pdf", bytes: new Uint8Array(2) };
  const config = { name: "config", value: '{"mode":"fast","options":{"a":1}}' };

  test("are merged member by member, and a list or a value is replaced", () => {
    const value = { a: { b: 1, c: [1, 2] }, d: 1, e: { f: 1 } };
    const params = { a: { c: [3] }, d: { x: 1 }, e: null, g: 2 };
    expect(merged({ body: { kind: "json", value } }, params).body).toEqual({
      kind: "json",
      value: { a: { b: 1, c: [3] }, d: { x: 1 }, e: null, g: 2 },
    });
  });

  test("are merged where the task says, and the way there is made", () => {
    const at = (paramsPath: (string | number)[], value: unknown) =>
      merged({ paramsPath, body: { kind: "json", value } }, { a: 1 }).body;
    expect(at(["config", "audio"], { text: "x" })).toMatchObject({ value: { text: "x", config: { audio: { a: 1 } } } });
    expect(at([1], [{ b: 1 }, { b: 2 }])).toMatchObject({ value: [{ b: 1 }, { a: 1, b: 2 }] });
  });

  test("are fields of a form, of which they replace others but no file", () => {
    const parts = [file, { name: "mode", value: "slow" }, { name: "language", value: "en" }];
    const params = { mode: "fast", file: "no", nested: { a: 1 }, count: 2, unset: null };
    expect(merged({ body: { kind: "form", parts } }, params).body).toEqual({
      kind: "form",
      parts: [
        file,
        { name: "language", value: "en" },
        { name: "mode", value: "fast" },
        { name: "nested", value: '{"a":1}' },
        { name: "count", value: "2" },
      ],
    });
  });

  test("are merged into the JSON of one field of a form", () => {
    const parts = [file, { name: "other", value: "{}" }, config];
    expect(merged({ paramsPath: ["config"], body: { kind: "form", parts } }, { options: { b: 2 } }).body).toEqual({
      kind: "form",
      parts: [
        file,
        { name: "other", value: "{}" },
        { name: "config", value: '{"mode":"fast","options":{"a":1,"b":2}}' },
      ],
    });
  });

  test("are merged into fields, and into the query of a request that has no members", () => {
    const fields = { a: "1", b: "2" };
    expect(merged({ body: { kind: "fields", fields } }, { b: 3, c: null }).body).toEqual({
      kind: "fields",
      fields: { a: "1", b: "3" },
    });
    const query = { a: "1", b: "2" };
    expect(merged({ query }, { b: 3 }).query).toEqual({ a: "1", b: "3" });
    const body = { kind: "bytes" as const, bytes: new Uint8Array(2), mediaType: "audio/mpeg" };
    expect(merged({ query, body }, { c: 4 })).toEqual({ path: "/do", body, query: { ...query, c: "4" } });
  });

  test("that none are change nothing", () => {
    const request: TaskRequest = { path: "/do", body: { kind: "json", value: [1] } };
    expect(mergeParams(request, {}, open)).toBe(request);
  });

  test.each([
    ["that reach data of others", { row: { sealedParams: ["bucket"] }, task: {} }],
    ["that the provider bills", { row: { billedParams: ["bucket"] }, task: {} }],
    ["that the task bills", { row: {}, task: { billedParams: ["bucket"] } }],
  ])("%s are refused at any depth", (_, rules) => {
    const request: TaskRequest = { path: "/do", body: { kind: "json", value: {} } };
    const problems = problemsOf(() => mergeParams(request, { a: 1, list: [null, { Bucket: "x" }] }, rules));
    expect(problems).toMatchObject([{ loc: ["body", "provider_params", "list", 1, "Bucket"] }]);
    expect(mergeParams(request, { name: "bucket" }, rules).body).toMatchObject({ value: { name: "bucket" } });
  });
});

describe("a request on the wire", () => {
  async function encode(request: TaskRequest, row: Partial<ProviderRow> = {}) {
    const [deployment] = providerOf(row).taskDeployments;
    if (deployment === undefined) throw new Error("there is no deployment");
    const { head, body } = await encodeRequest(request, deployment);
    const [start = "", ...lines] = head.trimEnd().split("\r\n");
    return { start, headers: lines, body: Buffer.from(body).toString() };
  }
  const member = { auth: { kind: "member" as const, name: "key" } };

  test.each([
    ["/do", { a: "x y", b: null, c: undefined, d: 0 }, "POST /v1/do?a=x%20y&d=0 HTTP/1.1"],
    ["/do?z=1", { a: "b" }, "POST /v1/do?z=1&a=b HTTP/1.1"],
    ["/do", {}, "POST /v1/do HTTP/1.1"],
  ])("has its query after its path: %s with %j", async (path, query, start) => {
    expect((await encode({ path, query: query as Record<string, string> })).start).toBe(start);
  });

  test.each([
    [{ kind: "json", value: { a: 1 } }, '{"a":1}', "application/json"],
    [{ kind: "json", value: 1, mediaType: "application/x-amz-json-1.1" }, "1", "application/x-amz-json-1.1"],
    [{ kind: "fields", fields: { a: "x y" } }, "a=x+y", "application/x-www-form-urlencoded"],
    [{ kind: "bytes", bytes: Buffer.from("abc"), mediaType: "audio/mpeg" }, "abc", "audio/mpeg"],
    [{ kind: "text", text: "é", mediaType: "application/ssml+xml" }, "é", "application/ssml+xml"],
  ] as const)("of %j has its content and its type", async (body, content, mediaType) => {
    const encoded = await encode({ path: "/do", body });
    expect(encoded.body).toBe(content);
    expect(encoded.headers).toContain(`content-type: ${mediaType}`);
  });

  test("without a body has no type", async () => {
    const { headers, body, start } = await encode({ path: "/do", method: "GET" });
    expect([start, body]).toEqual(["GET /v1/do HTTP/1.1", ""]);
    expect(headers.join()).not.toContain("content-type");
  });

  test("has the headers of the task, and those of the address in their place", async () => {
    const headers = { "Content-Type": "audio/wav", Accept: "audio/*", Authorization: "mine", "X-Own": "1" };
    const body = { kind: "bytes" as const, bytes: new Uint8Array(1), mediaType: "audio/mpeg" };
    const encoded = await encode({ path: "/do", headers, body });
    expect(encoded.headers).toContain("content-type: audio/wav");
    expect(encoded.headers).toContain("accept: audio/*");
    expect(encoded.headers).toContain("x-own: 1");
    expect(encoded.headers).toContain(`authorization: Bearer ${key}`);
    expect(encoded.headers.filter((line) => /^(content-type|authorization):/.test(line))).toHaveLength(2);
  });

  test("has a key that is a member wherever the body has members, and nothing replaces it", async () => {
    const json = await encode({ path: "/do", body: { kind: "json", value: { a: 1, key: "mine" } } }, member);
    expect(json.body).toBe(`{"a":1,"key":"${key}"}`);
    const fields = await encode({ path: "/do", body: { kind: "fields", fields: { key: "mine" } } }, member);
    expect([fields.body, fields.start]).toEqual([`key=${key}`, "POST /v1/do HTTP/1.1"]);
    const form = await encode({ path: "/do", body: { kind: "form", parts: [{ name: "a", value: "1" }] } }, member);
    expect(form.body).toContain(`name="key"\r\n\r\n${key}\r\n`);
    expect((await encode({ path: "/do", method: "GET" }, member)).start).toBe(`GET /v1/do?key=${key} HTTP/1.1`);
    const bytes = { kind: "bytes" as const, bytes: new Uint8Array(1), mediaType: "audio/mpeg" };
    expect((await rejectionOf(encode({ path: "/do", body: bytes }, member), Error)).message).toContain("needs a body");
  });
});

test("the type of an answer is read without its parameters", () => {
  const typeOf = (contentType: string | null) =>
    toTaskResponse("tryout", { status: 200, header: () => contentType, bytes: new Uint8Array() }).mediaType;
  expect([typeOf("Application/JSON; charset=utf-8"), typeOf("audio/mpeg"), typeOf(null)]).toEqual([
    "application/json",
    "audio/mpeg",
    "",
  ]);
});

describe("deployments", () => {
  const deployments = ["a", "b", "c"].map((name) => ({
    name,
    api_key: `key-${name}`,
    ...(name !== "c" && { models: ["m1"] }),
  }));
  const provider = providerOf({}, { deployments });

  test("that serve a model take turns, each call with the others behind", () => {
    const turns = createDeploymentTurns(provider);
    const namesOf = (model: string | null) => turns(model).map(({ name }) => name);
    const [a, b, c] = provider.taskDeployments.map(({ name }) => name) as [string, string, string];
    expect([namesOf("m1"), namesOf("m1"), namesOf("m1"), namesOf("m1")]).toEqual([
      [a, b, c],
      [b, c, a],
      [c, a, b],
      [a, b, c],
    ]);
    expect(namesOf("m2")).toEqual([c]);
    expect(namesOf(null).toSorted()).toEqual([a, b, c]);
    expect(createDeploymentTurns(providerOf({}, { deployments: deployments.slice(0, 1) }))("m2")).toEqual([]);
  });

  test("are found by the name that a call has", () => {
    const second = provider.taskDeployments[1];
    expect(findNamed(provider, { ...callOf(), deployment: second?.name ?? "" })).toBe(second as never);
    expect(findNamed(provider, callOf())).toBeUndefined();
    expect(findNamed(provider, { ...callOf(), deployment: "unknown" })).toBeUndefined();
  });
});

describe("an engine", () => {
  type Options = Pick<VendorOptions, "priceTokens">;

  function engineOf(task: Partial<ProviderTask>, declared: Declared = {}, options: Options = {}) {
    const chat = { models: [{ id: "chatty" }, { id: "wordy" }] };
    const row = { chat, tasks: [{ ...summarize, ...task }] };
    const [engine] = createVendorEngines({
      ...options,
      providers: [providerOf(row, declared)],
      http,
      ticker,
      clocks: { connectTimeoutMs: 60_000, firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000, totalTimeoutMs: 60_000 },
      shutdownSignal: new AbortController().signal,
      log,
    });
    if (engine === undefined) throw new Error("there is no engine");
    return engine;
  }

  const models = ["small", "large"];

  const listed = { models, defaultModel: "small" };
  const anything = { ...listed, acceptsAnyModel: true };

  test.each([
    ["the operator's, if the task lists it", listed, "large", "large"],
    ["the task's, if it does not list the operator's", listed, "other", "small"],
    ["the operator's, if the task accepts any", anything, "other", "other"],
    ["the task's, if the operator's is a chat model", anything, "wordy", "small"],
  ])("has a default model: %s", (_, task, declared, expected) => {
    expect(engineOf(task, { default_model: { "text/summarize": declared } }).defaultModel).toBe(expected);
  });

  test("has the task's default model where the operator chose for other tasks", () => {
    expect(engineOf(listed, { default_model: { "audio/tts": "large" } }).defaultModel).toBe("small");
    expect(engineOf({}).defaultModel).toBeUndefined();
  });

  test("chooses by the input where the task does, unless the operator chose", () => {
    const task = { ...listed, defaultModelFor: () => "large" };
    expect(engineOf(task).defaultModelFor?.({})).toBe("large");
    const declared = { default_model: { "text/summarize": "small" } };
    expect(engineOf(task, declared).defaultModelFor).toBeUndefined();
  });

  test("takes the files that its task takes, up to the limit", async () => {
    const engine = engineOf({ files: { maxBytes: 5, mediaTypes: ["image/", "application/pdf"] } });
    const withFile = (mediaType: string, size: number) => {
      vendor.next(answer(200, {}));
      return engine.run(
        callOf({ files: { file: { name: "x", mediaType, size, read: async () => new Uint8Array() } } }),
      );
    };
    expect((await withFile("image/png", 5)).output).toEqual({ result: "done" });
    expect((await withFile("application/pdf", 1)).output).toEqual({ result: "done" });
    for (const [mediaType, size] of [
      ["application/pdf+x", 1],
      ["text/plain", 1],
      ["image/png", 6],
    ] as const)
      expect(await rejectionOf(withFile(mediaType, size), ValidationError)).toBeInstanceOf(ValidationError);
  });

  describe("of a task that is billed by tokens", () => {
    const usage = { input_tokens: 3 };
    const byTokens = { tokenModel: "small", fromResponse: () => ({ output: { result: "done" }, units: {}, usage }) };
    const priceTokens: NonNullable<Options["priceTokens"]> = ({ name }, model, used) => {
      expect([name, used]).toEqual(["tryout", usage]);
      return completeCharge({ cost: model === "small" ? 1 : 2, reason: null });
    };
    const chargeOf = async (task: Partial<ProviderTask>, model?: string, options: Options = { priceTokens }) => {
      vendor.next(answer(200, {}));
      return (await engineOf(task, {}, options).run(callOf(model === undefined ? {} : { model }))).charge;
    };

    test("charges the tokens of the model that was used", async () => {
      expect(await chargeOf(byTokens)).toMatchObject({ cost: 1, reason: null });
      expect(await chargeOf(byTokens, "large")).toMatchObject({ cost: 2, reason: null });
    });

    test("charges no tokens that are not known, not billed or have no price", async () => {
      expect(await chargeOf({ tokenModel: "small" })).toBeUndefined();
      expect(await chargeOf({ fromResponse: byTokens.fromResponse })).toBeUndefined();
      expect(await chargeOf(byTokens, "small", {})).toBeUndefined();
    });
  });
});
