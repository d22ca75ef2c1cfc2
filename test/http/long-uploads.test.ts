// Work that short requests cause counts like the body of a long request: bytes of uploads that they name, messages of WebSockets, and the
// conversations that these continue.

import { afterAll, describe, expect, test } from "bun:test";
import { z } from "zod";
import { createLimits } from "../../src/access/limits.ts";
import { startServer } from "../../src/http/server.ts";
import { createTicker } from "../../src/lib/ticker.ts";
import { createLog } from "../../src/log.ts";
import { anyCaller } from "../support/any-caller.ts";
import { openPatientAdmission } from "../support/patient-admission.ts";
import { openConnection, type RawConnection } from "../support/raw-http.ts";
import { SocketClient } from "../support/responses-socket.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { waitFor } from "../support/wait.ts";

// A body of that length makes the next long one of its key wait for more than a minute, so that it is refused at once.
const hugeBodyBytes = 900_000_000;
const megabyte = 1_048_576;

const gateway = await sharedGateway({ env: { SWITCHYARD_MAX_BODY_BYTES: String(hugeBodyBytes) } });
const [key, otherKey] = [await gateway.createKey({ name: "one" }), await gateway.createKey({ name: "other" })];
const long = await upload("text ".repeat(megabyte / 5));
const short = await upload("text");

const waiting: RawConnection[] = [];
afterAll(() => {
  for (const connection of waiting) connection.leave();
});

async function upload(text: string, by = key): Promise<string> {
  const form = new FormData();
  form.set("file", new File([text], "notes.txt"));
  const headers = { authorization: `Bearer ${by}` };
  const response = await fetch(`${gateway.url}/v3/upload`, { method: "POST", headers, body: form });
  return ((await response.json()) as { file_id: string }).file_id;
}

async function send(path: string, body: unknown, by = key): Promise<{ status: number; code: string | undefined }> {
  const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
  const response = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const { error } = (await response.json()) as { error?: { code: string } };
  return { status: response.status, code: error?.code };
}

const chat = (...content: object[]) => ({ model: "sandbox/echo", messages: [{ role: "user", content }] });
const text = { type: "text", text: "Hello" };
const filePart = (id: string) => ({ type: "file", file: { file_id: id } });
const inputOf = (id: string) => [{ role: "user", content: [{ type: "input_file", file_id: id }] }];

/** Sends the head of a long request, while another key is active. */
async function occupyTurn(by = key, bytes = hugeBodyBytes): Promise<RawConnection> {
  expect(await send("/v3/chat/completions", chat(text), otherKey)).toMatchObject({ status: 200 });
  const connection = await openConnection(gateway.url);
  waiting.push(connection);
  const head = `POST /v3/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${by}\r\nContent-Type: application/json\r\n`;
  connection.send(`${head}Content-Length: ${bytes}\r\n\r\n`);
  return connection;
}

test("a body that is refused because it is too long delays no other request of its key", async () => {
  const third = await gateway.createKey({ name: "third" });
  const named = await upload("text ".repeat(megabyte / 5), third);
  const connection = await occupyTurn(third, hugeBodyBytes + 1);
  expect((await connection.receive()).status).toBe(413);
  expect(await send("/v3/chat/completions", chat(filePart(named)), third)).toMatchObject({ status: 200 });
});

describe("while a long body of its key is read and another key is active", () => {
  const requests = {
    chat: ["/v3/chat/completions", (id: string) => chat(filePart(id))],
    responses: ["/v3/responses", (id: string) => ({ model: "sandbox/echo", input: inputOf(id) })],
    messages: [
      "/v3/v1/messages",
      (id: string) => ({
        model: "sandbox/echo",
        max_tokens: 10,
        messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
      }),
    ],
  } as const;

  test.each(Object.entries(requests))("a %s request that names a long upload is refused", async (_, [path, toBody]) => {
    await waitFor("the request to be refused", async () => {
      await occupyTurn();
      return (await send(path, toBody(long))).status === 429;
    });
    expect(await send(path, toBody(short))).toMatchObject({ status: 200 });
  });

  const messages = {
    "is long": { input: "a".repeat(megabyte) },
    "names a long upload": { input: inputOf(long) },
  };

  test.each(Object.entries(messages))("a message of a WebSocket that %s is refused", async (_, message) => {
    const socket = await new SocketClient(gateway, key).opened();
    await waitFor("the message to be refused", async () => {
      await occupyTurn();
      const answer = await socket.ask({ model: "sandbox/echo", ...message });
      return answer.status === 429 && answer.error?.code === "rate_limit_exceeded";
    });
    expect(await socket.ask({ model: "sandbox/echo", input: inputOf(short) })).toMatchObject({
      type: "response.completed",
    });
    socket.socket.close();
  });

  test("a message that continues a long conversation is refused, and the connection still remembers the conversation", async () => {
    const ownKey = await gateway.createKey({ name: "talking" });
    const socket = await new SocketClient(gateway, ownKey).opened();
    const unstored = { model: "sandbox/echo", generate: false, store: false };
    const first = await socket.ask({ ...unstored, input: "a".repeat(megabyte) });
    const next = { ...unstored, input: "Hello", previous_response_id: first.response?.id };
    await waitFor("the message to be refused", async () => {
      await occupyTurn(ownKey);
      const answer = await socket.ask(next);
      if (answer.type === "response.completed") next.previous_response_id = answer.response?.id;
      return answer.status === 429;
    });
    // A second after the last request of another key, nothing waits.
    const answer = await waitFor("the message to be answered", async () => {
      const answer = await socket.ask(next);
      return answer.status === 429 ? null : answer;
    });
    expect(answer.type).toBe("response.completed");
    socket.socket.close();
  });
});

test("a key without the scope of a route does not learn whether an upload exists, and makes the gateway read none", async () => {
  const withoutScope = await gateway.createKey({ name: "tasks only", scopes: ["universal"] });
  const refused = { status: 403, code: "insufficient_scope" };
  const unknown = crypto.randomUUID();
  expect(await send("/v3/chat/completions", chat(filePart(unknown)), withoutScope)).toEqual(refused);
  const socket = await new SocketClient(gateway, withoutScope).opened();
  const answer = await socket.ask({ model: "sandbox/echo", input: inputOf(unknown) });
  expect([answer.status, answer.error?.code]).toEqual([403, "insufficient_scope"]);
  socket.socket.close();
});

test("an upload that is named several times counts as often, and nothing is read if the sum is too large", async () => {
  const parts = Array.from({ length: 65 }, () => filePart(long));
  const response = await send("/v3/chat/completions", chat(...parts));
  expect(response.status).toBe(422);
});

describe("bytes that a short request adds are work of its key", () => {
  // The work of a key decays within seconds, so it must be large.
  const addedBytes = 1e15;
  const log = createLog({ level: "error", format: "text", secrets: [], write: () => {} });
  const ticker = createTicker(10);
  const admission = openPatientAdmission(log);
  const server = startServer({
    host: "127.0.0.1",
    port: 0,
    routes: [
      {
        method: "POST",
        path: "/inline",
        key: "inference",
        body: {
          kind: "json",
          schema: z.unknown(),
          prepare: (json) => async (_, reserve) => {
            await reserve(addedBytes);
            return json;
          },
        },
        run: () => "{}",
      },
    ],
    sockets: [
      {
        path: "/inline",
        open: (socket) => ({
          receive: () => void Promise.resolve(socket.reserve(addedBytes)).then(() => socket.send("done")),
          drain: () => {},
        }),
      },
    ],
    // The key is its own id.
    authenticator: { authenticate: (authorization) => ({ ...anyCaller, keyId: authorization ?? "" }) },
    limits: createLimits(),
    bodyLimits: { maxBodyBytes: 1_000, bodyTimeoutMs: 60_000 },
    ...{ ticker, admission, log },
  });
  afterAll(() => {
    server.stopNow();
    ticker.close();
    admission.close();
  });
  const workOf = (keyId: string) => admission.begin(keyId, performance.now())?.done ?? 0;

  test("over HTTP", async () => {
    const headers = { authorization: "http", "content-type": "application/json" };
    const url = `http://127.0.0.1:${server.port}/inline`;
    expect((await fetch(url, { method: "POST", headers, body: "{}" })).status).toBe(200);
    expect(workOf("http")).toBeGreaterThan(1_000);
  });

  test("over a WebSocket", async () => {
    const options = { headers: { authorization: "socket" } } as unknown as string[];
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/inline`, options);
    const answered = Promise.withResolvers<unknown>();
    socket.onmessage = ({ data }) => answered.resolve(data);
    socket.onopen = () => socket.send("a");
    expect(await answered.promise).toBe("done");
    expect(workOf("socket")).toBeGreaterThan(1_000);
    socket.close();
  });
});
