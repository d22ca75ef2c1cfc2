// The log has one line for each request, including refused ones, and exactly one for a plain chat completion.

import { expect, test } from "bun:test";
import { answer } from "../support/answers.ts";
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
  config: { providers: { nowhere: refused } },
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

test("a plain chat completion is one line, with its route, key and cost", async () => {
  const lines = await chat(hello);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ level: "info", path: "/v3/chat/completions", status: 200, outcome: "completed" });
  expect(lines[0]?.["key"]).toBeString();
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
