import { describe, expect, test } from "bun:test";
import { ask, hello } from "../support/chat.ts";
import { sharedGateway, type TestGateway, testGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const page = "https://app.example";
const other = "https://other.example";
const vendor = await startVendor();
const listed = await sharedGateway({ vendor, env: { SWITCHYARD_CORS_ORIGINS: `${page}, https://admin.example` } });
const key = await listed.createKey();

function preflight(gateway: TestGateway, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: "OPTIONS",
    headers: {
      origin: page,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-os",
      ...headers,
    },
  });
}

function corsHeaders({ headers }: Response): string[] {
  return [...headers.keys()].filter((name) => name.startsWith("access-control-"));
}

describe("a page of a listed origin", () => {
  test.each([
    ["/v3/chat/completions", "POST"],
    ["/v1/chat/completions", "POST"],
    ["/v3/responses/resp_1", "DELETE"],
    ["/v3/manage/keys/some-id", "PATCH"],
    ["/v3/models", "GET"],
    ["/readyz", "GET"],
  ])("gets its preflight for %s (%s) answered without a key", async (path, method) => {
    const response = await preflight(listed, path, { "access-control-request-method": method });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe(page);
    expect(response.headers.get("access-control-allow-methods")).toContain(method);
    expect(response.headers.get("access-control-allow-headers")).toBe("authorization,content-type,x-stainless-os");
    expect(response.headers.get("access-control-max-age")).toBe("7200");
    expect(response.headers.get("vary")).toBe("origin, access-control-request-headers");
  });

  test("may read answers, errors and streams, and their request id", async () => {
    const answers = [
      await ask(listed.url, key, hello, { headers: { origin: page } }),
      await ask(listed.url, key, { ...hello, stream: true }, { headers: { origin: page } }),
      await ask(listed.url, key, { model: "mock/echo" }, { headers: { origin: page } }),
      await ask(listed.url, "sk-sy-wrong-wrong-wrong-wrong", hello, { headers: { origin: page } }),
      await fetch(`${listed.url}/nowhere`, { headers: { origin: page } }),
      await fetch(`${listed.url}/v3/models`, { method: "PUT", headers: { origin: page } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 422, 401, 404, 405]);
    for (const answer of answers) {
      await answer.text();
      expect(answer.headers.get("access-control-allow-origin")).toBe(page);
      expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
      expect(answer.headers.get("vary")).toBe("origin");
      expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
    }
  });
});

test("a page of another origin gets nothing, and caches are told that answers differ", async () => {
  const preflighted = await preflight(listed, "/v3/chat/completions", { origin: other });
  const answered = await ask(listed.url, key, hello, { headers: { origin: other } });
  const direct = await ask(listed.url, key, hello);
  for (const response of [preflighted, answered, direct]) {
    await response.text();
    expect(corsHeaders(response)).toEqual([]);
    expect(response.headers.get("vary")).toBe("origin");
  }
});

test("a preflight that asks for malformed headers is not granted any", async () => {
  const response = await preflight(listed, "/v3/chat/completions", { "access-control-request-headers": "a b; c" });
  expect(response.headers.has("access-control-allow-headers")).toBe(false);
});

test("an OPTIONS request that is no preflight names the methods", async () => {
  const response = await fetch(`${listed.url}/v3/models`, { method: "OPTIONS", headers: { origin: page } });
  expect([response.status, response.headers.get("allow")]).toEqual([204, "GET, HEAD"]);
  expect(response.headers.has("access-control-allow-methods")).toBe(false);
});

test("by default no page may call the gateway", async () => {
  await using gateway = await testGateway({ vendor });
  const response = await preflight(gateway, "/v3/chat/completions");
  expect([response.status, corsHeaders(response)]).toEqual([204, []]);
  expect(response.headers.has("vary")).toBe(false);
});

test("with * every page may call inference, and none management; credentials are never allowed", async () => {
  await using gateway = await testGateway({ vendor, env: { SWITCHYARD_CORS_ORIGINS: "*" } });
  const inference = await preflight(gateway, "/v3/chat/completions");
  expect(inference.headers.get("access-control-allow-origin")).toBe("*");
  expect(inference.headers.has("access-control-allow-credentials")).toBe(false);
  for (const path of ["/v3/manage/keys", "/metrics"]) {
    expect(corsHeaders(await preflight(gateway, path))).toEqual([]);
    const authorization = `Bearer ${gateway.adminKey}`;
    const response = await fetch(`${gateway.url}${path}`, { headers: { origin: other, authorization } });
    expect([response.status, corsHeaders(response)]).toEqual([200, []]);
  }
});
