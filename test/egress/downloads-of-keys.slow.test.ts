// The memory for files that requests name by their address, over HTTP: a request holds its files until it ends, and one key does not
// block the others.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { answer, until, write } from "../support/answers.ts";
import { ask, chatPath, readError } from "../support/chat.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { declareTasks } from "../support/task-gateway.ts";
import { startVendor, type Vendor } from "../support/vendor.ts";
import { waitFor } from "../support/wait.ts";

const tlsFolder = join(import.meta.dir, "../support/tls");
const certificate = join(tlsFolder, "certificate.pem");
const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

let vendor: Vendor;
let gateway: GatewayProcess;
let files: ReturnType<typeof serveFiles>;

beforeAll(async () => {
  vendor = await startVendor();
  files = serveFiles();
  gateway = await startGatewayProcess({
    vendor,
    env: {
      NODE_EXTRA_CA_CERTS: certificate,
      SWITCHYARD_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
      // A key may hold half of it.
      SWITCHYARD_MAX_DOWNLOAD_BYTES: "1048576",
    },
    config: {
      providers: {
        inhouse: declareTasks(vendor, ["ocr/ocr"]),
        local: { dialect: "ollama", base_url: `http://127.0.0.1:${vendor.port}/local` },
      },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  await files?.stop(true);
  await vendor?.stop();
});

/** Pictures, whose length is their name. The test's certificate is for the name localhost. */
function serveFiles() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    tls: { cert: Bun.file(certificate), key: Bun.file(join(tlsFolder, "key.pem")) },
    fetch: (request) =>
      new Response(Buffer.concat([signature, Buffer.alloc(Number(new URL(request.url).pathname.slice(1)) - 8, 7)])),
  });
}

function send(key: string, body: object, path: string, signal?: AbortSignal): Promise<Response> {
  return ask(gateway.url, key, body, { path, ...(signal && { signal }) });
}

const address = (bytes: number) => `https://localhost:${files.port}/${bytes}`;
const task = { path: "/v3/universal-ai", model: "ocr/ocr/inhouse", answer: { output: { text: "read" } } };
const chat = {
  path: chatPath,
  model: "local/llava",
  answer: { model: "llava", message: { content: "seen" }, done: true },
};

const requests = {
  "a task": {
    ...task,
    bytes: 300_000,
    body: (bytes: number) => ({ model: task.model, input: { file: address(bytes) } }),
  },
  "a chat": {
    ...chat,
    // Held as a data URL of 200,000 characters.
    bytes: 150_000,
    body: (bytes: number) => ({
      model: chat.model,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: address(bytes) } }] }],
    }),
  },
};

describe.each(Object.entries(requests))("%s", (_name, request) => {
  const { path, body, bytes } = request;

  test("holds its files until it is answered, and other keys are served meanwhile", async () => {
    vendor.clear();
    const [key, other] = await Promise.all([gateway.createKey(), gateway.createKey()]);
    const gate = Promise.withResolvers<void>();
    vendor.next([until(gate.promise), ...answer(200, request.answer)]);
    const first = send(key, body(bytes), path);
    await vendor.waitFor("the first call", ({ length }) => length === 1);
    const refused = await send(key, body(bytes), path);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await readError(refused)).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    vendor.next(answer(200, request.answer));
    expect((await send(other, body(150_000), path)).status).toBe(200);
    gate.resolve();
    expect((await first).status).toBe(200);
    vendor.next(answer(200, request.answer));
    expect((await send(key, body(bytes), path)).status).toBe(200);
  });

  test("holds its files no longer when its client has left", async () => {
    vendor.clear();
    const key = await gateway.createKey();
    const client = new AbortController();
    vendor.next([until(new Promise(() => {}))]);
    const left = send(key, body(bytes), path, client.signal).catch(() => "left");
    await vendor.waitFor("the call", ({ length }) => length === 1);
    client.abort();
    expect(await left).toBe("left");
    vendor.on(request.model === task.model ? task.model : "llava", answer(200, request.answer));
    await waitFor("a request of the same size", async () => (await send(key, body(bytes), path)).status === 200);
  });
});

test("a stream holds its files until it has ended", async () => {
  vendor.clear();
  const key = await gateway.createKey();
  const { path, body, bytes, answer: last } = requests["a chat"];
  const gate = Promise.withResolvers<void>();
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n";
  const line = (value: object) => write(`${JSON.stringify(value)}\n`);
  const begun = { model: "llava", message: { role: "assistant", content: "see" }, done: false };
  vendor.next([write(head), line(begun), until(gate.promise), line({ ...last, done_reason: "stop" }), { do: "fin" }]);
  const streamed = await send(key, { ...body(bytes), stream: true }, path);
  expect(streamed.status).toBe(200);
  expect((await send(key, body(bytes), path)).status).toBe(429);
  gate.resolve();
  await streamed.text();
  vendor.on("llava", answer(200, last));
  await waitFor("a request of the same size", async () => (await send(key, body(bytes), path)).status === 200);
});

test("a file that does not fit at any time is refused as too large", async () => {
  const response = await send(await gateway.createKey(), requests["a task"].body(600_000), task.path);
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({ detail: [{ loc: ["body", "input", "file"], type: "file_too_large" }] });
});
