import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createPublicKey } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { openLocalCertificate } from "../../src/cli/local-certificate.ts";
import type { DeliveryOutcome } from "../../src/jobs/deliverer.ts";
import { verifyWebhook } from "../../src/jobs/webhook-signature.ts";
import type { DeliveryAttempt } from "../../src/storage/job-records.ts";
import { within } from "../support/wait.ts";
import {
  type DeliveryReport,
  type DeliveryTask,
  startWebhookChild,
  type WebhookChild,
} from "../support/webhook-child.ts";

const address = "127.0.0.1";
const host = "hooks.example.com";
const folder = mkdtempSync(join(tmpdir(), "switchyard-delivery-"));
const trusted = openLocalCertificate(join(folder, "trusted"), [host, address]);
const stranger = openLocalCertificate(join(folder, "stranger"), [host, address]);
const closers: (() => void)[] = [];
let child: WebhookChild;
setDefaultTimeout(300_000);

beforeAll(async () => {
  child = await within(60_000, "the deliverer", startWebhookChild(trusted.path));
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(() => {
  child.stop();
  rmSync(folder, { recursive: true });
});

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
}

type Answer = (request: Request) => Response | Promise<Response>;

function receive(answer: Answer, certificate = trusted): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: address,
    port: 0,
    tls: { cert: certificate.certificate, key: certificate.key },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const body = new Uint8Array(await request.arrayBuffer());
      received.push({ method: request.method, path: pathname, headers: request.headers, body });
      return await answer(request);
    },
  });
  closers.push(() => void server.stop(true));
  return { url: `https://${host}:${server.port}/hook`, port: server.port ?? 0, received };
}

/** A receiver that speaks for itself, above TLS or without it. */
async function receiveRaw(
  onConnection: (socket: Socket) => void,
  isTls = true,
): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const sockets = new Set<Socket>();
  const take = (socket: Socket) => {
    count += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  };
  const tls = { cert: trusted.certificate, key: trusted.key };
  const server: Server = isTls ? createTlsServer(tls, take) : createServer(take);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return { url: `https://${host}:${bound.port}/hook`, count: () => count };
}

const job: DeliveryTask["job"] = {
  ...{ id: "550e8400-e29b-41d4-a716-446655440000", owner: "owner", keyId: "key" },
  ...{ feature: "ocr", subfeature: "ocr_async", provider: "sandbox", model: null, status: "success" },
  ...{ createdAt: Date.parse("2026-04-21T12:00:00Z"), finishedAt: Date.parse("2026-04-21T12:01:30Z") },
  ...{ expiresAt: Date.parse("2036-04-21T12:00:00Z"), runs: 1, progress: null, costReason: null, checkpoint: null },
  webhookReceiver: null,
  request: JSON.stringify({ request: { user_webhook_parameters: { order: "Ⅶ" } } }),
  result: JSON.stringify({ output: { raw_text: "hello" } }),
};

function deliver(receiver: string, more: Partial<DeliveryTask> = {}): Promise<DeliveryReport> {
  const task: DeliveryTask = {
    ...{ id: crypto.randomUUID(), receiver, attempts: [], job, allow: [`${address}/32`] },
    ...{ names: { [host]: [address] }, timeoutMs: 5_000, stopAfterMs: null, ...more },
  };
  return within(60_000, `an attempt at ${receiver}`, child.deliver(task));
}

async function outcomeOf(receiver: string, more: Partial<DeliveryTask> = {}): Promise<DeliveryOutcome> {
  const { outcome, thrown } = await deliver(receiver, more);
  if (outcome === null) throw new Error(thrown ?? "");
  // What an owner reads names nothing of the inside.
  expect(outcome.attempt.error ?? "").not.toMatch(/127\.|localhost|::/);
  return outcome;
}

function attemptsBefore(count: number): DeliveryAttempt[] {
  const before = { startedAt: 0, durationMs: 1, status: 500, error: "The receiver answered 500", keyId: "k" };
  return Array.from({ length: count }, (_, index) => ({ number: index + 1, ...before }));
}

const keysOf = (type: string) =>
  child.keys.keys.filter(({ kty }) => kty === type).map((key) => createPublicKey({ key, format: "jwk" }));

describe("a callback", () => {
  test("is the canonical payload with the headers of the specification, and both signatures are good", async () => {
    const receiver = receive(() => new Response("thanks"));
    const id = crypto.randomUUID();
    expect((await outcomeOf(receiver.url, { id })).state).toBe("delivered");
    const [got] = receiver.received;
    if (got === undefined) throw new Error("nothing arrived");
    expect([got.method, got.path]).toEqual(["POST", "/hook"]);
    expect(Object.fromEntries(got.headers)).toMatchObject({
      "content-type": "application/json",
      "user-agent": "Switchyard-Webhooks/1",
      "x-service-webhook": "true",
      "x-service-hash-algorithm": "SHA256",
      "x-service-signature": expect.stringMatching(/^[0-9a-f]{768}$/),
      "webhook-id": id,
      "webhook-signature": expect.stringMatching(/^v1a,[A-Za-z0-9+/]{86}==$/),
    });
    expect(Math.abs(Number(got.headers.get("webhook-timestamp")) * 1000 - Date.now())).toBeLessThan(120_000);
    expect(new TextDecoder().decode(got.body)).toBe(`{
  "created_at": "2026-04-21T12:00:00+00:00",
  "event": "async_job_completed",
  "feature": "ocr",
  "finished_at": "2026-04-21T12:01:30+00:00",
  "job_id": "550e8400-e29b-41d4-a716-446655440000",
  "model": null,
  "output": {
    "raw_text": "hello"
  },
  "provider": "sandbox",
  "status": "success",
  "subfeature": "ocr_async",
  "user_parameters": {
    "order": "Ⅶ"
  }
}`);
    const checks = verifyWebhook({
      body: got.body,
      header: (name) => got.headers.get(name),
      keys: { rsa: keysOf("RSA"), ed25519: keysOf("OKP") },
      nowMs: Date.now(),
    });
    expect(checks.map(({ scheme, isGood }) => [scheme, isGood])).toEqual([
      ["X-Service-Signature", true],
      ["Standard Webhooks", true],
    ]);
  });

  test("has the same webhook-id at every attempt, and names the key that signed it", async () => {
    const receiver = receive(() => new Response(null, { status: 503 }));
    const id = crypto.randomUUID();
    const first = await outcomeOf(receiver.url, { id });
    const second = await outcomeOf(receiver.url, { id, attempts: [first.attempt] });
    expect(receiver.received.map(({ headers }) => headers.get("webhook-id"))).toEqual([id, id]);
    expect([first.attempt.number, second.attempt.number]).toEqual([1, 2]);
    expect(second.attempt.keyId).toBe(child.keys.keys[0]?.["kid"] ?? "");
    expect(Math.abs(first.attempt.startedAt - Date.now())).toBeLessThan(120_000);
  });
});

describe("what the receiver answers decides", () => {
  test.each([200, 201, 202, 204])("%d: delivered", async (status) => {
    const receiver = receive(() => new Response(null, { status }));
    const { attempt, state, nextAt } = await outcomeOf(receiver.url);
    expect([state, nextAt, attempt.status, attempt.error]).toEqual(["delivered", null, status, null]);
  });

  test.each([301, 302, 303, 304, 307, 308])("%d: failed, not followed and not retried", async (status) => {
    const other = receive(() => new Response());
    const receiver = receive(() => new Response(null, { status, headers: { location: other.url } }));
    const { attempt, state, nextAt } = await outcomeOf(receiver.url);
    expect([state, nextAt, attempt.status]).toEqual(["failed", null, status]);
    expect(attempt.error).toBe(`The receiver answered ${status}; redirects are not followed`);
    expect([receiver.received.length, other.received.length]).toEqual([1, 0]);
  });

  test.each([400, 401, 404, 408, 410, 422, 429])("%d: failed, not retried", async (status) => {
    const receiver = receive(() => new Response("no", { status, headers: { "retry-after": "1" } }));
    const { attempt, state, nextAt } = await outcomeOf(receiver.url);
    expect([state, nextAt, attempt.status, attempt.error]).toEqual([
      "failed",
      null,
      status,
      `The receiver answered ${status}`,
    ]);
  });

  test.each([500, 502, 503, 504, 599])("%d: retried", async (status) => {
    const receiver = receive(() => new Response("oh", { status, headers: { "retry-after": "3600" } }));
    const { attempt, state, nextAt } = await outcomeOf(receiver.url);
    expect([state, attempt.status, attempt.error]).toEqual(["pending", status, `The receiver answered ${status}`]);
    expect(nextAt).toBeGreaterThan(Date.now() - 60_000);
  });

  test("a body that drips for ever changes nothing: delivered", async () => {
    const receiver = await receiveRaw((socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"));
      const timer = setInterval(() => socket.write("."), 50);
      socket.on("close", () => clearInterval(timer));
    });
    const { attempt, state } = await outcomeOf(receiver.url);
    expect([state, attempt.status]).toEqual(["delivered", 200]);
  });

  test("nor does one without an end", async () => {
    const block = Buffer.alloc(65_536, ".");
    const receiver = await receiveRaw((socket) => {
      const pour = () => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.on("drain", pour);
        pour();
      });
    });
    const { state } = await outcomeOf(receiver.url);
    expect(state).toBe("delivered");
  });
});

describe("a receiver that does not answer is tried again", () => {
  const cases: [string, string, () => Promise<string>][] = [
    ["it is silent", "The receiver did not answer in time", async () => (await receiveRaw(() => {})).url],
    [
      "it is silent before TLS",
      "The receiver did not answer in time",
      async () => (await receiveRaw(() => {}, false)).url,
    ],
    [
      "it closes the connection",
      "The receiver closed the connection, or its answer was not HTTP",
      async () => (await receiveRaw((socket) => socket.once("data", () => socket.destroy()))).url,
    ],
    [
      "it speaks nonsense",
      "The receiver closed the connection, or its answer was not HTTP",
      async () =>
        (await receiveRaw((socket) => socket.once("data", () => socket.end("220 mail.example.com\r\n\r\n")))).url,
    ],
    [
      "it has no TLS",
      "No secure connection could be made to the receiver",
      async () => (await receiveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"), false)).url,
    ],
    ["nobody listens", "The receiver refused the connection", refusedUrl],
    [
      "its name is unknown",
      "The receiver's name could not be resolved",
      async () => "https://unknown.example.com/hook",
    ],
    [
      "nobody vouches for its certificate",
      "The receiver's certificate is not trusted",
      async () => receive(() => new Response(), stranger).url,
    ],
    [
      "its certificate is for another name",
      "The receiver's certificate is for another name",
      async () => receive(() => new Response()).url.replace(host, "other.example.com"),
    ],
  ];

  test.each(cases)("%s: %s", async (_what, words, prepare) => {
    const names = { [host]: [address], "other.example.com": [address] };
    const { attempt, state, nextAt } = await outcomeOf(await prepare(), { timeoutMs: 500, names });
    expect([state, attempt.status, attempt.error]).toEqual(["pending", null, words]);
    expect(nextAt).not.toBeNull();
  });

  async function refusedUrl(): Promise<string> {
    const receiver = receive(() => new Response());
    for (const close of closers.splice(0)) close();
    return receiver.url;
  }
});

describe("an address that may not be called is not called, and not tried again", () => {
  test("a name that leads inside by now", async () => {
    const receiver = receive(() => new Response());
    const { attempt, state, nextAt } = await outcomeOf(receiver.url, { allow: [] });
    expect([state, nextAt, attempt.status]).toEqual(["blocked", null, null]);
    expect(attempt.error).toBe("The gateway is not allowed to call the receiver's address");
    expect(receiver.received.length).toBe(0);
  });

  test("http", async () => {
    const { state, nextAt } = await outcomeOf(`http://${host}/hook`);
    expect([state, nextAt]).toEqual(["blocked", null]);
  });
});

describe("retries", () => {
  test.each([
    [0, 800, 1_200],
    [1, 4_000, 6_000],
    [2, 20_000, 30_000],
  ])("after %d attempts before it, the next comes %d to %d ms after the end of this one", async (before, least, most) => {
    const receiver = receive(() => new Response(null, { status: 500 }));
    const delays: number[] = [];
    for (let round = 0; round < 12; round++) {
      const started = Date.now();
      const { outcome, endedAt } = await deliver(receiver.url, { attempts: attemptsBefore(before) });
      expect(outcome?.state).toBe("pending");
      expect(outcome?.nextAt ?? 0).toBeGreaterThanOrEqual(started + least);
      expect(outcome?.nextAt ?? 0).toBeLessThanOrEqual(endedAt + most);
      delays.push((outcome?.nextAt ?? 0) - endedAt);
    }
    // With jitter: what failed together does not come back together.
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan((most - least) / 10);
  });

  test.each([
    [0, [800, 4_000, 20_000]],
    [0.5, [1_000, 5_000, 25_000]],
    [1, [1_200, 6_000, 30_000]],
  ])("they come after about 1, 5 and 25 seconds: dice of %d give %p ms", async (random, delays) => {
    const receiver = receive(() => new Response(null, { status: 500 }));
    for (const [before, delay] of delays.entries()) {
      const startedAt = Date.now();
      const { outcome, endedAt } = await deliver(receiver.url, { attempts: attemptsBefore(before), random });
      // The attempt ended between these two moments.
      expect((outcome?.nextAt ?? 0) - delay).toBeWithin(startedAt, endedAt + 1);
    }
  });

  test("there are three: the fourth attempt is the last", async () => {
    const receiver = receive(() => new Response(null, { status: 500 }));
    const { attempt, state, nextAt } = await outcomeOf(receiver.url, { attempts: attemptsBefore(3) });
    expect([attempt.number, state, nextAt]).toEqual([4, "failed", null]);
  });
});

test("a delivery that is aborted before anything was sent throws, and no attempt is counted", async () => {
  const receiver = receive(() => new Response());
  const { outcome, thrown } = await deliver(receiver.url, { stopAfterMs: 0 });
  expect([outcome, thrown, receiver.received.length]).toEqual([null, "Error: stop", 0]);
});

test("a delivery that is aborted after its request was sent is an attempt, and is retried at once", async () => {
  const receiver = await receiveRaw(() => {});
  const { attempt, state, nextAt } = await outcomeOf(receiver.url, { stopAfterMs: 300, attempts: attemptsBefore(3) });
  expect([attempt.number, state, attempt.error]).toEqual([
    4,
    "pending",
    "The gateway stopped before the receiver answered",
  ]);
  expect(nextAt).toBeNumber();
});

test("a result that cannot be written ends the delivery instead of being tried for ever", async () => {
  const receiver = receive(() => new Response());
  const { attempt, state, nextAt } = await outcomeOf(receiver.url, { job: { ...job, result: "{broken" } });
  expect([state, nextAt, receiver.received.length]).toEqual(["failed", null, 0]);
  expect(attempt.error).toBe("The job's result could not be converted to a webhook body");
});
