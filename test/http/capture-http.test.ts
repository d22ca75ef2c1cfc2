// Captured headers and content over real HTTP: only if the operator asks for it, without secrets, bounded, and for administrators alone.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { type CapturedContent, capturedContent } from "../../src/contract/captures.ts";
import { databaseFile } from "../../src/storage/data-dir.ts";
import { sharedGateway, type TestGateway, testGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

const maxCharacters = 3_000;
/** A credential of the gateway that has no known form. */
const configuredSecret = "configured value 51c2a0";
const gateway = await sharedGateway({
  env: {
    SWITCHYARD_CAPTURE_CONTENT: "true",
    SWITCHYARD_CAPTURE_CHARACTERS: String(maxCharacters),
    SWITCHYARD_TRACE_REDACT: "patient-\\d+",
    DEEPL_API_KEY: configuredSecret,
  },
});
await gateway.manage("POST", "/teams", { name: "red" });
await gateway.manage("POST", "/teams", { name: "blue" });

async function createKey(members: object = {}): Promise<string> {
  return ((await gateway.manage("POST", "/keys", { name: "program", ...members })) as { key: string }).key;
}

interface Sent {
  readonly id: string;
  readonly status: number;
  readonly text: string;
}

async function send(path: string, body: unknown, key: string, headers: Record<string, string> = {}): Promise<Sent> {
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { id: response.headers.get("x-request-id") ?? "", status: response.status, text: await response.text() };
}

function chat(content: string, more: object = {}) {
  return { model: "sandbox/echo", messages: [{ role: "user", content }], ...more };
}

async function read(from: TestGateway, id: string, key = from.adminKey) {
  const response = await fetch(`${from.url}/v3/manage/requests/${id}/content`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: response.status, json: (await response.json()) as CapturedContent };
}

async function untilCaptured(id: string) {
  const { items } = await waitFor("the captured request", async () => {
    const { status, json } = await read(gateway, id);
    return status === 200 && json.items.length > 0 ? capturedContent.parse(json) : null;
  });
  return items[0] as CapturedContent["items"][number];
}

const key = await createKey({ team: "red" });

test("headers and content of a request and its answer are captured, without secrets", async () => {
  const secret = "sk-proj-ABCDEFGHIJKLMNOP";
  const question = `My key is ${secret} or ${configuredSecret}, and I am patient-4711.`;
  const sent = await send("/v3/chat/completions", chat(question), key, {
    cookie: "session=cookie-secret",
    "x-api-key": "api-key-secret",
    "x-custom-token": "token-secret",
    "x-note": "plain",
  });
  const captured = await untilCaptured(sent.id);
  expect(captured).toMatchObject({ method: "POST", path: "/v3/chat/completions", team: "red" });
  const { request, answer } = captured;
  expect(request.headers).toMatchObject({
    ...{ authorization: "[redacted]", cookie: "[redacted]", "x-api-key": "[redacted]", "x-custom-token": "[redacted]" },
    "x-note": "plain",
  });
  expect(JSON.parse(request.body ?? "")).toEqual(chat("My key is [redacted] or [redacted], and I am [redacted]."));
  expect(answer).toMatchObject({ status: 200, is_cut: false });
  expect(answer.headers["x-request-id"]).toBe(sent.id);
  expect(JSON.parse(answer.body ?? "")).toMatchObject({ object: "chat.completion" });
  expect(answer.text).toContain("My key is [redacted]");
  const text = JSON.stringify(captured);
  for (const hidden of [
    secret,
    configuredSecret,
    "patient-4711",
    "cookie-secret",
    "api-key-secret",
    "token-secret",
    key,
  ])
    expect(text).not.toContain(hidden);
  // Nothing of it can be read in the database.
  using database = new Database(databaseFile(gateway.dataFolder), { readonly: true });
  const rows = database.query("select content from captures").all() as { content: Uint8Array }[];
  expect(rows.length).toBeGreaterThan(0);
  for (const { content } of rows) expect(Buffer.from(content).includes("My key")).toBe(false);
});

test("a stream is captured when it has ended, with its text put together, in each format", async () => {
  const question = "Say something long enough for several parts.";
  const calls = [
    ["/v3/chat/completions", chat(question, { stream: true })],
    ["/v3/v1/messages", { ...chat(question, { stream: true }), max_tokens: 100 }],
    ["/v3/responses", { model: "sandbox/echo", input: question, stream: true, store: false }],
  ] as const;
  for (const [path, body] of calls) {
    const { id, status, text } = await send(path, body, key);
    expect([path, status]).toEqual([path, 200]);
    const { answer } = await untilCaptured(id);
    expect(answer.headers["content-type"], path).toStartWith("text/event-stream");
    expect(answer.text, path).toContain("Say something long");
    expect(text.startsWith((answer.body ?? "").slice(0, 200)), path).toBe(true);
  }
});

test("long texts are cut, and encoded files are not captured", async () => {
  const file = Buffer.alloc(12_000, 7).toString("base64");
  const { id } = await send(
    "/v3/chat/completions",
    chat(`data:image/png;base64,${file} ${"word ".repeat(2_000)}`),
    key,
  );
  const { request } = await untilCaptured(id);
  expect(request.body).toContain("[16000 characters of an encoded file] word word");
  expect(request.body?.length).toBe(maxCharacters);
  expect(request.is_cut).toBe(true);
  const long = await send("/v3/chat/completions", chat("word ".repeat(500_000)), key);
  const captured = await untilCaptured(long.id);
  const whole = await send("/v3/chat/completions", chat(Buffer.alloc(90_000, 7).toString("base64")), key);
  expect((await untilCaptured(whole.id)).request.is_cut).toBe(true);
  expect(JSON.stringify(captured).length).toBeLessThan(maxCharacters * 4);
});

test("refused requests of a known key are captured, and those without one are not", async () => {
  const refused = await send("/v3/chat/completions", { model: "sandbox/echo" }, key);
  expect(refused.status).toBe(422);
  const { answer, request } = await untilCaptured(refused.id);
  expect([answer.status, request.body]).toEqual([422, '{"model":"sandbox/echo"}']);
  const stranger = await send("/v3/chat/completions", chat("Hi"), "sk-sy-unknown");
  expect(stranger.status).toBe(401);
  // Of the same process, and later: what was before it is stored.
  await untilCaptured((await send("/v3/chat/completions", chat("Later"), key)).id);
  expect((await read(gateway, stranger.id)).json.items ?? []).toEqual([]);
});

test("only administrators read content, of their team, and the audit log says who did", async () => {
  const { id } = await send("/v3/chat/completions", chat("Hi"), key);
  await untilCaptured(id);
  const keys = {
    operator: await createKey({ kind: "management", role: "operator" }),
    red: await createKey({ kind: "management", role: "administrator", team: "red", name: "Ada" }),
    blue: await createKey({ kind: "management", role: "administrator", team: "blue" }),
  };
  expect((await read(gateway, id, keys.operator)).status).toBe(403);
  expect((await read(gateway, id, keys.red)).json.items).toHaveLength(1);
  expect(await read(gateway, id, keys.blue)).toMatchObject({
    status: 404,
    json: { error: { code: "request_not_found" }, detail: expect.any(String) },
  });
  const { items } = (await gateway.manage("GET", `/audit?target=${id}&actor=Ada`)) as { items: object[] };
  expect(items).toMatchObject([{ action: "request.read_content", target: { kind: "request", team: "red" } }]);
});

test("a read of content of several teams is recorded for each of them", async () => {
  const id = `shared-${crypto.randomUUID()}`;
  const owners = [key, await createKey({ team: "blue" }), await createKey(), await createKey({ team: "red" })];
  for (const owner of owners)
    expect((await send("/v3/chat/completions", chat("Hi"), owner, { "x-request-id": id })).status).toBe(200);
  await waitFor("the captured requests", async () => {
    const { json } = await read(gateway, id);
    return json.items?.length === owners.length ? true : null;
  });
  const reader = await createKey({ kind: "management", role: "administrator", name: "Grace" });
  expect((await read(gateway, id, reader)).json.items).toHaveLength(owners.length);
  const listReads = async (asKey: string) => {
    const headers = { authorization: `Bearer ${asKey}` };
    const response = await fetch(`${gateway.url}/v3/manage/audit?target=${id}&actor=Grace`, { headers });
    const { items } = (await response.json()) as { items: { action: string; target: { team: string | null } }[] };
    return items.map(({ action, target }) => `${action} ${target.team}`).toSorted();
  };
  const action = "request.read_content";
  expect(await listReads(gateway.adminKey)).toEqual([`${action} blue`, `${action} null`, `${action} red`]);
  const blue = await createKey({ kind: "management", role: "viewer", team: "blue" });
  expect(await listReads(blue)).toEqual([`${action} blue`]);
});

test("without the setting nothing is captured", async () => {
  await using other = await testGateway();
  const program = await other.createKey();
  const response = await fetch(`${other.url}/v3/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${program}`, "content-type": "application/json" },
    body: JSON.stringify(chat("Hi")),
  });
  const id = response.headers.get("x-request-id") ?? "";
  const { json } = await waitFor("the line of the request", async () => {
    const found = await read(other, id);
    return found.status === 200 ? found : null;
  });
  expect(json).toEqual({ request_id: id, is_enabled: false, retention_hours: 72, items: [] });
  using database = new Database(databaseFile(other.dataFolder), { readonly: true });
  expect(database.query("select count(*) as count from captures").get()).toEqual({ count: 0 });
});
