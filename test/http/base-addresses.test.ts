// One base address for every client: /v3, /v3/v1 and /v1 lead to the same routes, so that it does not matter whether a client
// appends `/v1` itself. Management routes have one path.

import { expect, test } from "bun:test";
import { readError } from "../support/chat.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const bases = ["/v3", "/v3/v1", "/v1"];
const model = "sandbox/echo";
const messages = [{ role: "user", content: "hello" }];

const vendor = await startVendor();
const gateway = await sharedGateway({ vendor });
const key = await gateway.createKey();

function call(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const calls: readonly (readonly [method: string, route: string, body?: unknown])[] = [
  ["GET", "/models"],
  ["POST", "/chat/completions", { model, messages }],
  ["POST", "/llm/chat/completions", { model, messages }],
  ["POST", "/responses", { model, input: "hello" }],
  ["POST", "/messages", { model, max_tokens: 10, messages }],
  ["POST", "/messages/count_tokens", { model, messages }],
  ["POST", "/embeddings", { model: "sandbox/embedding", input: "hello" }],
  ["POST", "/moderations", { model: "sandbox/ok", input: "hello" }],
  ["GET", "/info"],
  ["GET", "/openapi.json"],
];

for (const [method, route, body] of calls) {
  test(`${method} ${route} is the same below each base address`, async () => {
    const answers = await Promise.all(bases.map((base) => call(method, `${base}${route}`, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first, ...others] = await Promise.all(answers.map(async (answer) => shapeOf(await answer.json())));
    for (const other of others) expect(other).toEqual(first);
  });
}

/** The names of all members, at every depth: values such as ids and times differ from call to call. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

test("a route with parameters is found below each base address", async () => {
  for (const base of bases) {
    const unknown = await readError(await call("GET", `${base}/models/nowhere/some/model`));
    expect(unknown).toMatchObject({ status: 404, code: "model_not_found" });
    const answer = await readError(await call("GET", `${base}/responses/resp_${"0".repeat(48)}`));
    expect(answer).toMatchObject({ status: 404, code: "response_not_found" });
  }
});

test("errors have the form of their route, and x-api-key is read on it, whatever the base address", async () => {
  for (const base of bases) {
    const refused = await call("POST", `${base}/messages`, { model: "nowhere/x", max_tokens: 10, messages });
    expect(await refused.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
    const known = await fetch(`${gateway.url}${base}/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ model, max_tokens: 10, messages }),
    });
    expect(known.status).toBe(200);
    const usual = await readError(await call("POST", `${base}/chat/completions`, { model: "nowhere/x", messages }));
    expect(usual.code).toBe("provider_not_found");
  }
});

test("a WebSocket is opened below each base address", async () => {
  for (const base of bases) {
    const url = `${gateway.url.replace("http", "ws")}${base}/responses`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } } as unknown as string[]);
    await waitFor("the connection", () => socket.readyState === WebSocket.OPEN);
    socket.close();
  }
});

test("a path of an older version is refused with the versions that are served", async () => {
  const { status, message } = await readError(await fetch(`${gateway.url}/v2/chat/completions`, { method: "POST" }));
  expect([status, message]).toEqual([404, expect.stringContaining("; paths start with /v3 or /v1")]);
});

test("what the guides to migration name as missing is 404", async () => {
  for (const guide of ["litellm", "portkey"]) {
    const text = await Bun.file(`docs/migration-${guide}.md`).text();
    const [, section = ""] = /ithout a counterpart\n([\s\S]*?)(?=\n## |$)/.exec(text) ?? [];
    const named = Array.from(section.matchAll(/^\| (.*?) \|/gm), ([, cell = ""]) => [
      ...cell.matchAll(/`(\/[^`]+)`/g),
    ]).flat();
    expect(named.length).toBeGreaterThan(3);
    for (const [, path = ""] of named)
      for (const method of ["GET", "POST"])
        expect([path, (await fetch(`${gateway.url}${path}`, { method })).status]).toEqual([path, 404]);
  }
});

test("management routes have one path, so that a rule of a proxy for it covers them", async () => {
  for (const base of ["/v1", "/v3/v1"]) {
    const answer = await fetch(`${gateway.url}${base}/manage/keys`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    });
    expect(await readError(answer)).toMatchObject({ status: 404, code: "not_found" });
  }
});

test("the OpenAPI document lists each operation once", async () => {
  const document = (await (await call("GET", "/v3/openapi.json")).json()) as { paths: Record<string, unknown> };
  const others = Object.keys(document.paths).filter((path) => path.startsWith("/v1/") || path === "/v3/messages");
  expect(others).toEqual([]);
});
