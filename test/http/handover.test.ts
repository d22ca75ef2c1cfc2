// Two servers of two configurations in one process: what happens to requests before, at and after the moment of the change.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Handover } from "../../src/http/handover.ts";
import { type Reply, reply } from "../../src/http/reply.ts";
import type { Call, ServedRoute } from "../../src/http/route.ts";
import { ActiveGeneration, generationFolder } from "../../src/lib/handover.ts";
import { openConnection, requestBytes } from "../support/raw-http.ts";
import { startTestServer } from "../support/test-server.ts";

let folder = "";
let active: ActiveGeneration;
const closers: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "switchyard-handover-"));
  active = ActiveGeneration.create(folder);
  active.set(1, 1);
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true });
});

function startProcess(generation: number, routes: (name: string) => readonly ServedRoute[] = sayName) {
  mkdirSync(generationFolder(folder, generation), { recursive: true });
  const handover = new Handover({ folder, generation, index: 0 });
  const server = startTestServer(routes(`configuration ${generation}`), { handover: handover.forListener("public") });
  closers.push(server.close);
  return { handover, url: server.url };
}

function sayName(name: string): ServedRoute[] {
  const run = async ({ request, address }: Call): Promise<Reply> => {
    const bytes = request.body === null ? 0 : (await request.bytes()).length;
    return reply(JSON.stringify({ name, address, bytes, host: request.headers.get("host"), url: request.url }));
  };
  const stream = (): Reply =>
    reply({
      async writeTo(writer) {
        for (const word of ["a", "b", "c"]) await writer.write([Buffer.from(`${name} ${word}\n`)]);
      },
      abandon() {},
    });
  const form = { kind: "form", schema: undefined as never } as const;
  return [
    { method: "GET", path: "/name", key: "none", run },
    { method: "POST", path: "/name/{id}", key: "none", body: form, run },
    { method: "GET", path: "/stream", key: "none", run: stream },
  ];
}

async function ask(url: string, path = "/name", init: RequestInit = {}): Promise<Record<string, unknown>> {
  return (await (await fetch(`${url}${path}`, init)).json()) as Record<string, unknown>;
}

test("a connection that was opened before the change gets the new configuration after it, and is closed", async () => {
  const old = startProcess(1);
  const connection = await openConnection(old.url);
  const request = requestBytes({ method: "GET", path: "/name?x=1", headers: { host: "gateway.example:99" } });
  connection.send(request);
  expect((await connection.receive()).body.toString()).toContain("configuration 1");
  startProcess(2);
  active.set(2, 1);
  connection.send(request);
  const { status, headers, body } = await connection.receive();
  expect([status, headers["connection"]]).toEqual([200, "close"]);
  expect(JSON.parse(body.toString())).toEqual({
    name: "configuration 2",
    address: "127.0.0.1",
    bytes: 0,
    host: "gateway.example:99",
    url: "http://gateway.example:99/name?x=1",
  });
  connection.leave();
});

test("bodies with and without a length, and streams, are passed on whole", async () => {
  const old = startProcess(1);
  startProcess(2);
  active.set(2, 1);
  const large = new Uint8Array(3_000_000);
  const chunked = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(70_000));
      controller.enqueue(new Uint8Array(5));
      controller.close();
    },
  });
  for (const [body, bytes] of [
    ["short", 5],
    [large, 3_000_000],
    [chunked, 70_005],
  ] as const)
    expect(await ask(old.url, "/name/7", { method: "POST", body })).toMatchObject({ name: "configuration 2", bytes });
  const stream = await fetch(`${old.url}/stream`);
  expect(await stream.text()).toBe("configuration 2 a\nconfiguration 2 b\nconfiguration 2 c\n");
});

test("a process that is not active yet lets requests wait, and answers them when it is", async () => {
  startProcess(1);
  const next = startProcess(2);
  const waiting = ask(next.url);
  await Bun.sleep(0);
  active.set(2, 1);
  next.handover.settle();
  expect(await waiting).toMatchObject({ name: "configuration 2" });
});

test("requests that waited for a configuration that failed are answered by the one that stays", async () => {
  startProcess(1);
  const next = startProcess(2);
  const waiting = ask(next.url);
  next.handover.settle();
  expect(await waiting).toMatchObject({ name: "configuration 1", address: "127.0.0.1" });
});

test("a request that runs at the change keeps its configuration", async () => {
  const { promise: mayAnswer, resolve } = Promise.withResolvers<void>();
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const slow = (name: string): ServedRoute[] => [
    {
      method: "GET",
      path: "/name",
      key: "none",
      async run() {
        begin();
        await mayAnswer;
        return reply(JSON.stringify({ name }));
      },
    },
  ];
  const old = startProcess(1, slow);
  const running = ask(old.url);
  await hasBegun;
  startProcess(2, slow);
  active.set(2, 1);
  resolve();
  expect(await running).toEqual({ name: "configuration 1" });
});

test("a client cannot choose its address, nor pass a path that a proxy has not seen", async () => {
  const old = startProcess(1);
  startProcess(2);
  const forged = { headers: { "x-switchyard-client-address": "203.0.113.1" } };
  expect(await ask(old.url, "/name", forged)).toMatchObject({ address: "127.0.0.1" });
  active.set(2, 1);
  expect(await ask(old.url, "/name", forged)).toMatchObject({ name: "configuration 2", address: "127.0.0.1" });
  const connection = await openConnection(old.url);
  connection.send("GET /x/../name HTTP/1.1\r\nhost: x\r\n\r\n");
  expect((await connection.receive()).status).toBe(400);
  connection.leave();
});

test("without a process of the active configuration, the answer says that another attempt helps", async () => {
  const old = startProcess(1);
  active.set(2, 2);
  const response = await fetch(`${old.url}/name`);
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await response.json()).toMatchObject({ error: { code: "draining" } });
});
