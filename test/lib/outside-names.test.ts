// Names that come from callers and vendors never reach the runtime's own objects, and a member called `__proto__` is refused and never dropped.

import { afterEach, describe, expect, test } from "bun:test";
import { findForbiddenKey } from "../../src/lib/forbidden-key.ts";
import { lookUp } from "../../src/lib/look-up.ts";
import { setAt } from "../../src/lib/set-at.ts";
import { PartialCall } from "../../src/providers/dialects/gemini/partial-call.ts";
import { sharedGateway } from "../support/test-gateway.ts";

afterEach(() => {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype])
    expect(Object.hasOwn(prototype, "polluted")).toBe(false);
  expect(Object.hasOwn(Object, "polluted")).toBe(false);
});

describe("the path of a piece of a Gemini call", () => {
  const paths = [
    "$.__proto__.polluted",
    "$.tags[0].__proto__.polluted",
    "$.tags.__proto__.polluted",
    "$.tags['__proto__']['polluted']",
    "$.a.constructor.prototype.polluted",
    "$.tags[0].constructor.polluted",
    "$.tags.constructor.prototype.polluted",
    '$["constructor"]["prototype"]["polluted"]',
  ];
  for (const jsonPath of paths)
    test(`${jsonPath} changes the call only`, () => {
      const call = new PartialCall({ name: "f", partialArgs: [{ jsonPath: "$.tags[0].x", stringValue: "y" }] }, null);
      call.add({ partialArgs: [{ jsonPath, stringValue: "yes" }] });
      call.add({ partialArgs: [{ jsonPath, stringValue: "!" }] });
      const { functionCall } = call.toPart() as { functionCall: { args: Record<string, unknown> } };
      expect(JSON.stringify(functionCall.args["tags"])).toStartWith('[{"x":"y"');
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });
});

test("a value is set in the document itself, or not at all", () => {
  const made: Record<string, unknown> = { a: { b: 1 } };
  setAt(made, ["a", "b"], 2);
  expect(made).toEqual({ a: { b: 2 } });
  expect(() => setAt(made, ["__proto__", "polluted"], 1)).toThrow();
  expect(() => setAt(made, ["constructor", "polluted"], 1)).toThrow();
  setAt(made, ["a", "__proto__"], { polluted: 1 });
  expect(JSON.stringify(made)).toBe('{"a":{"b":2,"__proto__":{"polluted":1}}}');
});

test("a table has its own entries only", () => {
  const table: Readonly<Record<string, string>> = { a: "1" };
  expect(lookUp(table, "a")).toBe("1");
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"])
    expect(lookUp(table, name)).toBeUndefined();
});

test("a forbidden key is found at any depth and in any spelling, and a text that contains the word is accepted", () => {
  const find = (text: string) => findForbiddenKey(text, JSON.parse(text));
  expect(find('{"__proto__":1}')).toEqual(["__proto__"]);
  expect(find('{"a":[{"b":{"__proto__":null}}]}')).toEqual(["a", 0, "b", "__proto__"]);
  expect(find('{"a":{"\\u005f_proto__":1}}')).toEqual(["a", "__proto__"]);
  expect(find('{"a":{"__\\u0070r\\u006Fto__":1}}')).toEqual(["a", "__proto__"]);
  expect(find('{"a":{"\\u005F\\u005F\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}}')).toEqual([
    "a",
    "__proto__",
  ]);
  expect(find('{"a":"__proto__","constructor":{"prototype":1},"b":["__proto__"]}')).toBeNull();
});

const gateway = await sharedGateway();
const key = await gateway.createKey();

describe("a request", () => {
  async function send(path: string, body: string, secret = key): Promise<{ status: number; problems: unknown }> {
    const response = await fetch(`${gateway.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body,
    });
    const { detail } = (await response.json()) as { detail: unknown };
    const problems = Array.isArray(detail) ? detail.map(({ loc, type }) => [loc, type]) : detail;
    return { status: response.status, problems };
  }

  test("with a nested __proto__ is refused before any other problem", async () => {
    const nested = '{"deep":[{"__proto__":{"admin":true}}]}';
    const bodies: readonly (readonly [path: string, body: string, loc: readonly string[]])[] = [
      ["/v3/universal-ai/async", `{"user_webhook_parameters":${nested}}`, ["user_webhook_parameters"]],
      ["/v3/responses", `{"model":"mock/echo","input":"x","metadata":${nested}}`, ["metadata"]],
      ["/v3/chat/completions", `{"model":7,"metadata":${nested}}`, ["metadata"]],
      ["/v3/universal-ai", `{"model":"text/moderation/sandbox","input":${nested}}`, ["input"]],
    ];
    for (const [path, body, loc] of bodies) {
      const problems = [[["body", ...loc, "deep", 0, "__proto__"], "forbidden_key"]];
      expect([path, await send(path, body)]).toEqual([path, { status: 422, problems }]);
    }
  });

  test("may use constructor as a name in a free-form object", async () => {
    const body = {
      model: "mock/echo",
      messages: [{ role: "user", content: "x" }],
      tools: [
        { type: "function", function: { name: "f", parameters: { properties: { constructor: { type: "string" } } } } },
      ],
    };
    expect((await send("/v3/chat/completions", JSON.stringify(body))).status).toBe(200);
    expect(JSON.parse(gateway.vendor.last().body.toString())).toMatchObject({ tools: body.tools });
  });

  test("without a body lacks the body", async () => {
    expect(await send("/v3/chat/completions", "")).toEqual({ status: 422, problems: [[["body"], "missing"]] });
  });

  test("with a fraction where an integer belongs is told so", async () => {
    const body = { model: "mock/echo", messages: [{ role: "user", content: "x" }], n: 1.5, max_tokens: 2.5 };
    expect((await send("/v3/chat/completions", JSON.stringify(body))).problems).toEqual([
      [["body", "n"], "int_from_float"],
      [["body", "max_tokens"], "int_from_float"],
    ]);
  });

  test("for a task with a misspelt member is told the nearest known name, beside its other problems", async () => {
    const body = { model: "text/moderation/sandbox", inputs: { text: "x" }, providerparams: {} };
    for (const path of ["/v3/universal-ai", "/v3/universal-ai/async"]) {
      const response = await fetch(`${gateway.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const { detail } = (await response.json()) as { detail: { loc: unknown[]; msg: string; type: string }[] };
      const told = (name: string) => `Extra inputs are not permitted; the nearest known name is '${name}'`;
      expect(response.status).toBe(422);
      expect(detail).toEqual([
        { loc: ["body", "input"], msg: "Field required", type: "missing" },
        { loc: ["body", "inputs"], msg: told("input"), type: "extra_forbidden" },
        { loc: ["body", "providerparams"], msg: told("provider_params"), type: "extra_forbidden" },
      ]);
    }
  });

  test("with a path that cannot be decoded is a 400", async () => {
    const response = await fetch(`${gateway.url}/v3/responses/%ff%fe`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(400);
  });

  test("with an address that is too long or cannot be parsed is told which", async () => {
    const long = `https://example.com/${"a".repeat(2_100)}`;
    const image = (url: string) => ({
      model: "mock/echo",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    });
    const at = ["body", "messages", 0, "content", 0, "image_url", "url"];
    const problems = async (path: string, body: unknown) => (await send(path, JSON.stringify(body))).problems;
    expect(await problems("/v3/chat/completions", image(long))).toEqual([[at, "url_too_long"]]);
    expect(await problems("/v3/chat/completions", image("https://"))).toEqual([[at, "url_parsing"]]);
    const task = { model: "ocr/ocr_async/sandbox", input: { file: long } };
    expect(await problems("/v3/universal-ai/async", task)).toEqual([[["body", "input", "file"], "url_too_long"]]);
    const job = { ...task, input: { file: "https://example.com/a.pdf" }, webhook_receiver: long };
    expect(await problems("/v3/universal-ai/async", job)).toEqual([[["body", "webhook_receiver"], "url_too_long"]]);
  });

  test("with a __proto__ in the metadata of an upload is refused", async () => {
    const form = new FormData();
    form.set("file", new File(["x"], "a.txt"));
    form.set("metadata", '{"__proto__":"x"}');
    const response = await fetch(`${gateway.url}/v3/upload`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: form,
    });
    const { detail } = (await response.json()) as { detail: { type: string }[] };
    expect([response.status, detail[0]?.type]).toEqual([422, "forbidden_key"]);
  });
});
