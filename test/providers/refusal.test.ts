// How the error answers of vendors become errors of the gateway. The bodies have documented shapes; their words are invented.

import { describe, expect, test } from "bun:test";
import { configureProviders, type Provider } from "../../src/providers/configure.ts";
import { ErrorInAnswer } from "../../src/providers/dialect.ts";
import { rows } from "../../src/providers/index.ts";
import {
  readErrorMessage,
  toErrorInAnswer,
  toFailureInAnswer,
  toRefusal,
  toTaskRefusal,
} from "../../src/providers/refusal.ts";

const key = "tryout0123456789abcdef";
const providers = configureProviders(rows, { openai: { api_key: key }, anthropic: { api_key: "k" } }, () => null);
const openai = providers.get("openai") as Provider;
const errorOf = (message: string) => JSON.stringify({ error: { message } });

describe("a status", () => {
  test.each([
    [400, "provider_rejected_request"],
    [401, "provider_auth_failed"],
    [402, "provider_auth_failed"],
    [403, "provider_auth_failed"],
    [404, "model_not_found"],
    [408, "provider_timeout"],
    [409, "provider_error"],
    [422, "provider_rejected_request"],
    [429, "provider_rate_limited"],
    [499, "provider_rejected_request"],
    [500, "provider_error"],
    [503, "provider_error"],
    [304, "provider_bad_response"],
  ])("of %d is %s", (status, code) => {
    expect(toRefusal(openai, status, null, errorOf("no")).code).toBe(code as never);
  });

  test("of refused credentials means the content where the body says so", () => {
    const body = JSON.stringify({ error: { code: "content_filter", message: "no" } });
    for (const status of [401, 402, 403])
      expect(toRefusal(openai, status, null, body).code).toBe("provider_rejected_request");
    expect(toRefusal(openai, 500, null, body).code).toBe("provider_error");
  });

  test("of 404 means the model only in a call that names one", () => {
    const codeOf = (body: string, namesModel: boolean) => toTaskRefusal(openai, 404, null, body, namesModel).code;
    expect([codeOf(errorOf("no"), true), codeOf(errorOf("no"), false), codeOf("", false)]).toEqual([
      "model_not_found",
      "provider_rejected_request",
      "provider_error",
    ]);
  });

  test("of 402 means spent credits in a call of a task, so that another provider may be tried", () => {
    expect(toTaskRefusal(openai, 402, null, errorOf("no")).code).toBe("provider_rate_limited");
    expect(toTaskRefusal(openai, 403, null, errorOf("no")).code).toBe("provider_auth_failed");
  });
});

describe("the time to wait", () => {
  const waitOf = (header: string | null, status = 429) => toRefusal(openai, status, header, "").details.retryAfter;

  test.each([
    ["7", 7],
    ["1.2", 2],
    ["0", 0],
    ["-5", 1],
    ["soon", 1],
    [null, 1],
    ["999999", 86_400],
    ["Wed, 21 Oct 2015 07:28:00 GMT", 1],
  ])("of %p is %d seconds", (header, seconds) => {
    expect(waitOf(header)).toBe(seconds);
  });

  test("is read from a date", () => {
    const inOneHour = waitOf(new Date(Date.now() + 3_600_000).toUTCString()) ?? 0;
    expect(inOneHour).toBeGreaterThan(3_000);
    expect(inOneHour).toBeLessThanOrEqual(3_600);
  });

  test("after a failure is passed on only if the vendor states it", () => {
    expect([waitOf("7", 503), waitOf(null, 503)]).toEqual([7, undefined]);
  });
});

describe("the message", () => {
  test.each([
    ['{"error":{"message":"no"}}', "no"],
    ['{"error":"no"}', "no"],
    ['{"Message":"no"}', "no"],
    ['{"detail":[{"msg":"no"}]}', "no"],
    ['{"errors":[],"title":"no"}', "no"],
    ['{"error":{"code":5},"message":"no"}', "no"],
    ['"no"', "no"],
    [" no \n", "no"],
    ["  <html>no</html>", ""],
    ["null", ""],
    ["5", ""],
    ['{"error":null}', ""],
    ["[]", ""],
  ])("in %s is %j", (body, message) => {
    expect(readErrorMessage(body)).toBe(message);
  });

  test("is read from sixteen levels at most", () => {
    const nested = (levels: number) => `${'{"error":'.repeat(levels)}"no"${"}".repeat(levels)}`;
    const wrapped = (levels: number) => `${'{"error":'.repeat(levels)}{"message":"no"}${"}".repeat(levels)}`;
    expect([readErrorMessage(nested(17)), readErrorMessage(wrapped(16)), readErrorMessage(wrapped(17))]).toEqual([
      "no",
      "no",
      "",
    ]);
  });

  test("has at most a thousand characters, and no key", () => {
    const { message } = toRefusal(openai, 400, null, errorOf(`${key} ${"x".repeat(2_000)}`));
    expect(message).toBe(`The provider 'openai' rejected the request: [hidden] ${"x".repeat(991)}`);
  });

  test("ends with a full stop where the vendor has none", () => {
    expect(toRefusal(openai, 400, null, "<html>").message).toBe("The provider 'openai' rejected the request.");
    expect(toErrorInAnswer(openai, {}).message).toBe("The provider 'openai' failed.");
    expect(toErrorInAnswer(openai, { message: "no" }).message).toBe("The provider 'openai' failed: no");
  });
});

test("a failure inside an answer has the status that the dialect read, or is a failure of the provider", () => {
  const codeOf = (status: number | null) => toFailureInAnswer(openai, new ErrorInAnswer("no", status)).code;
  expect([codeOf(429), codeOf(400), codeOf(null)]).toEqual([
    "provider_rate_limited",
    "provider_rejected_request",
    "provider_error",
  ]);
});

test("the dialect of a provider may correct the status", () => {
  const anthropic = providers.get("anthropic") as Provider;
  const body = JSON.stringify({ type: "error", error: { type: "rate_limit_error", message: "no" } });
  expect([toRefusal(openai, 400, null, body).code, toRefusal(anthropic, 400, null, body).code]).toEqual([
    "provider_rejected_request",
    "provider_rate_limited",
  ]);
  for (const broken of ["", "5", "[]", "{"])
    expect(toRefusal(anthropic, 400, null, broken).code).toBe("provider_rejected_request");
});
