// The checks of a request's head, and the cookies in it.

import { describe, expect, test } from "bun:test";
import { toCsrfToken } from "../../src/access/sessions.ts";
import { GatewayError } from "../../src/errors.ts";
import { asksForCsv } from "../../src/http/asks-for-csv.ts";
import { checkHead, hasLongBody, isValidHost, pathOf, queryOf, trimSpaces } from "../../src/http/request-head.ts";
import {
  checkForgery,
  isUseOfSession,
  readSessionCookie,
  readSignInCookie,
  toSessionCookie,
  toSignInCookie,
} from "../../src/http/session-cookie.ts";
import { thrownBy } from "../support/thrown.ts";

test("hosts have a name or an address, and may have a port", () => {
  for (const host of ["a", "example.com", "a_b.example:80", "127.0.0.1:65535", "[::1]", "[fd00::1]:8080"])
    expect([host, isValidHost(host)]).toEqual([host, true]);
  for (const host of ["", "a,b", "a b", "a/b", "user@a", "a:", "a:x", "a:70000", "a:123456", "[::1", "[g]", "a?b", "é"])
    expect([host, isValidHost(host)]).toEqual([host, false]);
});

describe("a request is refused for", () => {
  const codeOf = (headers: Record<string, string>) =>
    thrownBy(() => checkHead(new Request("http://a/", { headers })), GatewayError).code;
  const manyHeaders = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, "a"]));

  test("a host that is not valid, also the second time", () => {
    for (let time = 0; time < 2; time += 1) expect(codeOf({ host: "a,b" })).toBe("malformed_request");
    for (let time = 0; time < 2; time += 1) checkHead(new Request("http://a/", { headers: { host: "a.example" } }));
  });

  test("more than 100 headers", () => {
    checkHead(new Request("http://a/", { headers: manyHeaders(100) }));
    expect(codeOf(manyHeaders(101))).toBe("too_many_headers");
  });

  test("an expectation other than 100-continue", () => {
    checkHead(new Request("http://a/", { headers: { expect: "100-Continue" } }));
    expect(codeOf({ expect: "200-ok" })).toBe("expectation_failed");
  });
});

test("a body above 64 KiB, or of unknown length, is not read just to be discarded", async () => {
  const post = (headers: Record<string, string>) => new Request("http://a/", { method: "POST", headers, body: "x" });
  expect(hasLongBody(post({ "content-length": "65536" }))).toBe(false);
  expect(hasLongBody(post({ "content-length": "65537" }))).toBe(true);
  expect(hasLongBody(post({ "transfer-encoding": "chunked" }))).toBe(true);
  expect(hasLongBody(post({}))).toBe(false);
  const used = post({ "content-length": "65537" });
  await used.text();
  expect(hasLongBody(used)).toBe(false);
});

test("the path and the query are found in every form of a request target", () => {
  const parts = (url: string) => [pathOf(url), queryOf(url).toString()];
  expect(parts("http://a.example:80/v3/models?a=1&b=2")).toEqual(["/v3/models", "a=1&b=2"]);
  expect(parts("/v3/mod%2Fels?a=b?c")).toEqual(["/v3/mod%2Fels", "a=b%3Fc"]);
  expect(parts("https://a/")).toEqual(["/", ""]);
  expect(parts("/?a=http://b/c")).toEqual(["/", "a=http%3A%2F%2Fb%2Fc"]);
  expect(thrownBy(() => pathOf("http://a.example:443"), GatewayError).code).toBe("malformed_request");
});

test("spaces and tabs around a value are removed, and nothing else", () => {
  for (const [text, trimmed] of [
    ["", ""],
    [" ", ""],
    [" \t a b\t ", "a b"],
    ["a", "a"],
    ["\u00a0a\u2028", "\u00a0a\u2028"],
    ["\na", "\na"],
  ] as const)
    expect(trimSpaces(text)).toBe(trimmed);
});

test("CSV is sent to a client that names it before JSON", () => {
  const asks = (accept?: string) => asksForCsv(new Headers(accept === undefined ? {} : { accept }));
  expect(["text/csv", "Text/CSV; q=1, application/json", "*/*, text/csv"].map(asks)).toEqual([true, true, true]);
  expect([undefined, "", "*/*", "application/json, text/csv", "text/plain"].map(asks)).toEqual(Array(5).fill(false));
});

describe("the cookie of a session", () => {
  const withCookie = (cookie: string) => new Headers({ cookie });

  test("is read from among others", () => {
    expect(readSessionCookie(withCookie("a=b; switchyard_session = token ; c=d"))).toBe("token");
    expect(readSessionCookie(withCookie("switchyard_session=a=b=="))).toBe("a=b==");
    expect(readSessionCookie(withCookie(`switchyard_session=${"a".repeat(4_096)}`))).toHaveLength(4_096);
    expect(readSignInCookie(withCookie("switchyard_session=a; switchyard_sign_in=b"))).toBe("b");
    for (const cookie of ["switchyard_session", "switchyard_session=", "xswitchyard_session=a", "switchyard_sign_in=a"])
      expect([cookie, readSessionCookie(withCookie(cookie))]).toEqual([cookie, null]);
    expect(readSessionCookie(withCookie(`switchyard_session=${"a".repeat(4_097)}`))).toBeNull();
    expect(readSessionCookie(new Headers())).toBeNull();
  });

  test("is for pages of the gateway only, and for as long as the session", () => {
    expect(toSessionCookie("t", { lifetimeMs: 1_999, isSecure: true })).toBe(
      "switchyard_session=t; Path=/; Max-Age=1; HttpOnly; SameSite=Strict; Secure",
    );
    expect(toSessionCookie("t", { lifetimeMs: -5, isSecure: false })).toBe(
      "switchyard_session=t; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
    );
    expect(toSignInCookie("t", { lifetimeMs: 60_000, isSecure: false })).toBe(
      "switchyard_sign_in=t; Path=/v3/manage/session/oidc; Max-Age=60; HttpOnly; SameSite=Lax",
    );
  });

  test("is not used by a page that refreshes itself", () => {
    const uses = (value: string) => isUseOfSession(new Headers({ "x-switchyard-background": value }));
    expect([isUseOfSession(new Headers()), uses("false"), uses("true")]).toEqual([true, true, false]);
  });
});

describe("a change with a session", () => {
  const token = "token of the session";
  const right = { "x-switchyard-csrf": toCsrfToken(token), host: "gateway.example" };
  const refusalOf = (headers: Record<string, string>, method = "POST") => {
    try {
      const request = new Request("http://gateway.example/v3/manage/keys", { method, headers });
      checkForgery(request, token, () => "https://public.example");
      return null;
    } catch (error) {
      return error instanceof GatewayError ? error.code : error;
    }
  };

  test("needs the token of the session, and reading does not", () => {
    expect(refusalOf(right)).toBeNull();
    expect([refusalOf({}, "GET"), refusalOf({}, "HEAD")]).toEqual([null, null]);
    for (const given of ["", "x", toCsrfToken("another token")])
      expect(refusalOf({ ...right, "x-switchyard-csrf": given })).toBe("csrf_token_invalid");
    expect(refusalOf({ host: "gateway.example" })).toBe("csrf_token_invalid");
  });

  test.each([
    [{ "sec-fetch-site": "same-origin" }, null],
    [{ "sec-fetch-site": "none" }, null],
    [{ "sec-fetch-site": "same-site" }, "cross_origin_refused"],
    [{ "sec-fetch-site": "cross-site" }, "cross_origin_refused"],
    [{ origin: "http://gateway.example" }, null],
    [{ origin: "https://gateway.example" }, null],
    [{ origin: "https://public.example" }, null],
    [{ origin: "http://public.example" }, "cross_origin_refused"],
    [{ origin: "http://gateway.example:81" }, "cross_origin_refused"],
    [{ origin: "https://other.example" }, "cross_origin_refused"],
    [{ origin: "null" }, "cross_origin_refused"],
    [{ "sec-fetch-site": "same-origin", origin: "https://other.example" }, "cross_origin_refused"],
    [{ "sec-fetch-site": "cross-site", origin: "http://gateway.example" }, "cross_origin_refused"],
  ])("with the headers %j is answered with %p", (headers, code) => {
    expect(refusalOf({ ...right, ...headers } as Record<string, string>)).toBe(code);
  });
});
