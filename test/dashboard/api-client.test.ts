// How the dashboard calls the gateway: addresses, the token of the session, and errors. A local server stands for the gateway.

import { afterAll, expect, test } from "bun:test";
import { ApiClient, ApiError, readError, toUrl } from "../../src/dashboard/api/client.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  routes: {
    "/refused": () => Response.json({ error: { message: "Sign in.", code: "invalid_session" } }, { status: 401 }),
    "/changed": (request) =>
      request.headers.get("x-switchyard-csrf") === "second"
        ? Response.json({ changed: true })
        : Response.json({ error: { message: "Send the token.", code: "csrf_token_invalid" } }, { status: 403 }),
    "/forbidden": () => Response.json({ error: { message: "No.", code: "insufficient_role" } }, { status: 403 }),
  },
  fetch: async (request) =>
    Response.json({ method: request.method, headers: Object.fromEntries(request.headers), body: await request.text() }),
});
afterAll(() => server.stop(true));

interface Echo {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const at = (path: string) => new URL(path, server.url).href;

test("empty values are left out of an address, and a list is repeated", () => {
  expect(toUrl("/a")).toBe("/a");
  expect(toUrl("/a", { b: null, c: undefined, d: "" })).toBe("/a");
  expect(toUrl("/a", { b: 0, c: false, d: ["x", "", "y z"] })).toBe("/a?b=0&c=false&d=x&d=y+z");
});

test("only requests that change something carry the token of the session", async () => {
  const client = new ApiClient();
  const call = (method: "GET" | "POST", body?: unknown) => client.call<Echo>(method, at("/echo"), { body });
  expect((await call("POST")).headers).not.toHaveProperty("x-switchyard-csrf");
  client.session = { csrfToken: "token", person: "Ada" };
  expect((await call("GET")).headers).not.toHaveProperty("x-switchyard-csrf");
  expect((await call("POST")).headers).toMatchObject({ "x-switchyard-csrf": "token", accept: "application/json" });
});

test("a body is sent as JSON, and a form as a form", async () => {
  const call = (body?: unknown) => new ApiClient().call<Echo>("POST", at("/echo"), { body });
  const json = await call({ a: 1 });
  expect([json.headers["content-type"], json.body]).toEqual(["application/json", '{"a":1}']);
  const form = new FormData();
  form.set("a", "1");
  expect((await call(form)).headers["content-type"]).toStartWith("multipart/form-data");
  const none = await call();
  expect([none.headers["content-type"], none.body]).toEqual([undefined, ""]);
});

test("a session that has ended is noticed", async () => {
  const client = new ApiClient();
  let ended = 0;
  client.onSignedOut = () => {
    ended++;
  };
  const failure = await client.call("GET", at("/refused")).catch((error: unknown) => error);
  expect(failure).toMatchObject({ status: 401, code: "invalid_session", message: "Sign in." });
  expect(ended).toBe(1);
  await client.call("GET", at("/forbidden")).catch(() => {});
  expect(ended).toBe(1);
});

test("a change with the token of an earlier session is repeated once, and only for the same person", async () => {
  const client = new ApiClient();
  const change = (next: ApiClient["session"]) => {
    let reads = 0;
    client.session = { csrfToken: "first", person: "Ada" };
    client.readSession = async () => {
      reads++;
      client.session = next;
    };
    return client.call("POST", at("/changed")).then(
      () => `changed after ${reads}`,
      (error: ApiError) => `${error.code} after ${reads}`,
    );
  };
  expect(await change({ csrfToken: "second", person: "Ada" })).toBe("changed after 1");
  expect(await change({ csrfToken: "third", person: "Ada" })).toBe("csrf_token_invalid after 1");
  expect(await change({ csrfToken: "second", person: "Bo" })).toBe("session_changed after 1");
  expect(await change(null)).toBe("session_changed after 1");
});

test("after another person has signed in, neither of two simultaneous changes is made", async () => {
  const client = new ApiClient();
  client.session = { csrfToken: "first", person: "Ada" };
  client.readSession = async () => {
    client.session = { csrfToken: "second", person: "Bo" };
  };
  const changes = [1, 2].map(() => client.call("POST", at("/changed")));
  const outcomes = await Promise.allSettled(changes);
  expect(outcomes.map((one) => one.status === "rejected" && one.reason.code)).toEqual(Array(2).fill("session_changed"));
});

test("a gateway that cannot be reached is told apart from a call that was given up", async () => {
  const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const address = closed.url.href;
  await closed.stop(true);
  const call = (signal?: AbortSignal) =>
    new ApiClient().call("GET", address, { ...(signal && { signal }) }).catch((error: unknown) => error);
  expect(await call()).toMatchObject({ status: 0, code: "unreachable", requestId: null });
  expect(await call(AbortSignal.abort())).not.toBeInstanceOf(ApiError);
});

test("an error has the problems of each member, and one that is no JSON has its status", async () => {
  const headers = { "x-request-id": "request-1" };
  const detail = [{ loc: ["body", "budget", "amount"], msg: "It is negative.", type: "number" }];
  const body = JSON.stringify({ error: { message: "Invalid.", code: "invalid_request" }, detail });
  const refused = await readError(new Response(body, { status: 422, headers }));
  expect(refused).toMatchObject({ status: 422, code: "invalid_request", requestId: "request-1", problems: detail });
  expect([refused.problemOf("budget"), refused.problemOf("budget.amount"), refused.problemOf("name")]).toEqual([
    ...["It is negative.", "It is negative.", null],
  ]);
  const text = await readError(new Response("Bad gateway", { status: 502, headers }));
  expect(text).toMatchObject({ status: 502, code: "unknown", requestId: "request-1", problems: [] });
  expect(text.message).toContain("502");
});
