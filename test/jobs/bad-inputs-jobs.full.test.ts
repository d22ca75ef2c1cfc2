// Bad inputs around jobs: what is sent, what receivers do, and what must come of it. Names are given by a name server of the test's own, and
// servers on port 443 by a proxy that knows their true ports.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash, generateKeyPairSync, verify } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { canonicalizeJsonText, toCanonicalJson } from "../../src/jobs/canonical-json.ts";
import { toWebhookBody } from "../../src/jobs/webhook-payload.ts";
import { signDigest } from "../../src/jobs/webhook-signature.ts";
import {
  type BadInput,
  badInputs,
  type Fixtures,
  mockWithTasks,
  needsNames,
  type ReceiverScript,
  taskScripts,
  toBytes,
} from "../support/bad-inputs.ts";
import { type Canary, startCanary } from "../support/canary.ts";
import { type DnsServer, startDnsServer } from "../support/dns-server.ts";
import { checkResponse } from "../support/expectations.ts";
import { type GatewayProcess, startGatewayProcess } from "../support/gateway-process.ts";
import { gatewayName, receiverAddress, receiverNames, strangeAddress } from "../support/names.ts";
import { openConnection } from "../support/raw-http.ts";
import {
  type RawTlsReceiver,
  type RawTlsReceiverOptions,
  type ReceivedRequest,
  startRawTlsReceiver,
  toAnswer,
} from "../support/raw-tls-receiver.ts";
import { type ResponsesVendor, startResponsesVendor } from "../support/responses-vendor.ts";
import { receiversCertificate } from "../support/tls-receiver.ts";
import { startTunnelProxy, type TunnelProxy } from "../support/tunnel-proxy.ts";
import { waitFor } from "../support/wait.ts";
import { watchMemory } from "../support/watch.ts";

const maxFileBytes = 1_000_000;

let vendor: ResponsesVendor;
let dns: DnsServer;
let canary: Canary;
let files: RawTlsReceiver;
let stranger: RawTlsReceiver;
let proxy: TunnelProxy;
let gateway: GatewayProcess;
let fixtures: Fixtures;

beforeAll(async () => {
  vendor = await startResponsesVendor();
  dns = await startDnsServer(receiverNames);
  canary = await startCanary();
  files = await startRawTlsReceiver({ address: receiverAddress, answer: serveFile });
  stranger = await startRawTlsReceiver({ address: strangeAddress, isStrange: true, answer: serveFile });
  const ports: Readonly<Record<string, number>> = { [receiverAddress]: files.port, [strangeAddress]: stranger.port };
  proxy = await startTunnelProxy({ toPort: (address) => ports[address] ?? canary.port });
  gateway = await startGatewayProcess({
    vendor,
    env: {
      SWITCHYARD_EGRESS_DNS: dns.address,
      SWITCHYARD_EGRESS_ALLOW: `${receiverAddress},${strangeAddress}`,
      SWITCHYARD_EGRESS_PROXY: proxy.url,
      SWITCHYARD_PUBLIC_URL: `https://${gatewayName}`,
      SWITCHYARD_MAX_FILE_BYTES: String(maxFileBytes),
      NODE_EXTRA_CA_CERTS: receiversCertificate,
    },
    config: { providers: { mock: mockWithTasks(vendor.url) } },
  });
  const key = await gateway.createKey({ name: "A" });
  const job = await submit(gateway, key, { model: "text/moderation/sandbox", input: { text: "x" } });
  fixtures = {
    KEY_A: key,
    JOB_A_UPPER: job.toUpperCase(),
    GATEWAY_PUBLIC_HOST: gatewayName,
    CANARY_PORT: String(canary.port),
  };
});

afterAll(async () => {
  await gateway?.stop();
  for (const server of [proxy, files, stranger]) server?.stop();
  await dns?.stop();
  await vendor?.stop();
  canary?.server.close();
});

/** The files of the cases, and an end to the ones that have none when their reader leaves. */
function serveFile({ path }: ReceivedRequest, socket: TLSSocket): void {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/pdf\r\n";
  if (path === "/to-http") socket.end(toAnswer(302, "", { location: "http://files.example.com/a" }));
  else if (path === "/100gib") socket.write(`${head}content-length: ${100 * 2 ** 30}\r\n\r\n%PDF-1.7\n`);
  else if (path === "/bomb.gz") {
    const packed = Bun.gzipSync(Buffer.alloc(100 * maxFileBytes), { level: 9 });
    socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
    socket.end(packed);
  } else if (path === "/endless") {
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const push = () => {
      while (socket.writable && socket.write(chunk));
    };
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    socket.on("drain", push);
    push();
  } else socket.end(toAnswer(200, "%PDF-1.7\n", { "content-type": "application/pdf" }));
}

const named = badInputs.filter(needsNames);
for (const group of ["uni", "job", "hook"])
  describe(group, () => {
    for (const badInput of named.filter((one) => one.group === group)) {
      test(`${badInput.id}: ${badInput.name}`, () => runCase(badInput));
    }
  });

async function runCase(badInput: BadInput): Promise<void> {
  const { expect: expected } = badInput;
  vendor.clear();
  for (const [model, script] of taskScripts) vendor.on(model, script);
  const before = { hits: canary.hits(), jobs: await countJobs() };
  const connection = await openConnection(gateway.url);
  connection.send(toBytes(badInput, fixtures));
  const response = await connection.receive();
  await checkResponse(expected, response, connection);
  connection.leave();
  if (expected.side_effects?.canary_hits !== undefined)
    expect(canary.hits() - before.hits).toBe(expected.side_effects.canary_hits);
  if (expected.side_effects?.job_created === false) expect(await countJobs()).toBe(before.jobs);
}

interface Delivery {
  readonly state: string;
  readonly attempts: readonly {
    readonly started_at: string;
    readonly duration_ms: number;
    readonly status: number | null;
    readonly error: string | null;
  }[];
}

interface Delivered {
  readonly badInput: BadInput;
  readonly delivery: Delivery;
  readonly requests: readonly ReceivedRequest[];
  readonly canaryHits: number;
}

// After about 1, 5 and 25 seconds, a fifth more or less.
const retriesMs = [1_000, 5_000, 25_000] as const;
const jitter = 0.2;
const longestDeliveryMs = 100_000;
const gibibyte = 2 ** 30;

describe("deliver", () => {
  const cases = named.filter(({ group, send }) => group === "deliver" && send.receiver?.output === undefined);
  const ended = new Map<string, Delivered>();
  const closers: (() => void)[] = [];
  let own: GatewayProcess;
  let grownMegabytes = 0;

  // All at once, because their retries take half a minute; but for the one whose memory is measured.
  beforeAll(async () => {
    own = await startGatewayProcess({
      vendor,
      jobWorkers: 1,
      env: {
        SWITCHYARD_EGRESS_DNS: dns.address,
        SWITCHYARD_EGRESS_ALLOW: receiverAddress,
        NODE_EXTRA_CA_CERTS: receiversCertificate,
      },
    });
    const key = await own.createKey();
    const large = cases.filter(({ send }) => send.receiver?.body_gib !== undefined);
    const rest = cases.filter((badInput) => !large.includes(badInput));
    for (const delivered of await Promise.all(rest.map((badInput) => deliver(own, key, badInput, closers))))
      ended.set(delivered.badInput.id, delivered);
    const [working = 0] = (await own.processes()).working;
    const memory = watchMemory(working);
    await memory.started;
    for (const badInput of large) ended.set(badInput.id, await deliver(own, key, badInput, closers));
    grownMegabytes = await memory.stop();
  }, longestDeliveryMs + 30_000);

  afterAll(async () => {
    for (const close of closers) close();
    await own?.kill();
  });

  for (const badInput of cases)
    test(`${badInput.id}: ${badInput.name}`, () => {
      const delivered = ended.get(badInput.id);
      if (delivered === undefined) throw new Error("it was not delivered");
      checkDelivery(delivered);
      if (badInput.expect.max_rss_growth_mb !== undefined)
        expect(grownMegabytes).toBeLessThan(badInput.expect.max_rss_growth_mb);
    });

  for (const { id, name, send } of named.filter(({ send }) => send.receiver?.output !== undefined))
    test(`${id}: ${name}`, () => signAndVerify(send.receiver?.output ?? {}));
});

/** A receiver, and a listener with the same port on loopback, for requests that are led there. */
async function startTrappedReceiver(
  options: RawTlsReceiverOptions,
): Promise<{ receiver: RawTlsReceiver; trap: Canary }> {
  for (;;) {
    const receiver = await startRawTlsReceiver(options);
    // A port that is free on the address of the receiver may be taken on loopback.
    const trap = await startCanary(receiver.port).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
      return null;
    });
    if (trap !== null) return { receiver, trap };
    receiver.stop();
  }
}

/** Submits a job whose receiver does what the case says, and waits until nothing more will be tried. */
async function deliver(
  to: GatewayProcess,
  key: string,
  badInput: BadInput,
  closers: (() => void)[],
): Promise<Delivered> {
  const script = badInput.send.receiver ?? {};
  const { receiver, trap } = await startTrappedReceiver({
    address: receiverAddress,
    answer: (_request, socket) => receive(script, socket),
    ...(script.tls === "1.0" && { maxVersion: "TLSv1" }),
  });
  closers.push(receiver.stop, () => void trap.server.close());
  if (script.refuse === true) receiver.stop();
  const host = script.tls === "wrong_host" ? `${badInput.id}.wrong.example` : `${badInput.id}.hooks.example`;
  const then = script.dns === undefined ? [] : [script.dns === "nx" ? ("nxdomain" as const) : [script.dns]];
  dns.set(host, [receiverAddress], ...then);
  const job = await submit(to, key, {
    model: "text/sentiment_analysis/sandbox",
    input: { text: "It is good." },
    webhook_receiver: `https://${host}:${receiver.port}/hook`,
  });
  // Four attempts of thirty seconds are too long to wait for: the first one is looked at, webhook-delivery.test.ts has the rest.
  const isOver = ({ state, attempts }: Delivery) => (script.hang === true ? attempts.length > 0 : state !== "pending");
  const delivery = await waitFor(
    `${badInput.id} to be delivered or given up`,
    async () => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${to.url}/v3/universal-ai/async/${job}/deliveries`, { headers });
      // On a busy machine the store may not answer in time; a client asks again then.
      if (response.status === 503) return undefined;
      const { items } = (await response.json()) as { items: readonly Delivery[] };
      return items.find(isOver);
    },
    { withinMs: longestDeliveryMs, everyMs: 200 },
  );
  return { badInput, delivery, requests: receiver.requests, canaryHits: trap.hits() };
}

function receive(script: ReceiverScript, socket: TLSSocket): void {
  if (script.hang === true) return;
  const { status = 200, location, retry_after } = script;
  if (script.drip_body === true) {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
    const timer = setInterval(() => socket.write("x"), 100);
    socket.on("close", () => clearInterval(timer));
  } else if (script.body_gib !== undefined) {
    const piece = Buffer.alloc(65_536, "x");
    const push = () => {
      while (socket.writable && socket.write(piece));
    };
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${script.body_gib * gibibyte}\r\n\r\n`);
    socket.on("drain", push);
    push();
  } else
    socket.write(
      toAnswer(status, "", {
        ...(location !== undefined && { location }),
        ...(retry_after !== undefined && { "retry-after": retry_after }),
      }),
    );
}

function checkDelivery({ badInput, delivery, requests, canaryHits }: Delivered): void {
  const { expect: expected, send } = badInput;
  const { attempts, state } = delivery;
  const timeoutSeconds = expected.per_attempt_timeout_s;
  if (timeoutSeconds !== undefined) {
    expect([state, attempts.length, attempts[0]?.status]).toEqual(["pending", 1, null]);
    // It may end later than this on a busy machine.
    expect(Math.round((attempts[0]?.duration_ms ?? 0) / 1_000)).toBeGreaterThanOrEqual(timeoutSeconds);
    return;
  }
  expect({ state, attempts: attempts.length }).toEqual({
    state: expected.state ?? "delivered",
    attempts: expected.attempts ?? 1,
  });
  for (const [index, retryMs] of retriesMs.slice(0, attempts.length - 1).entries()) {
    const [before, after] = [attempts[index], attempts[index + 1]];
    const waitedMs = Date.parse(after?.started_at ?? "") - Date.parse(before?.started_at ?? "");
    expect(waitedMs).toBeGreaterThan(retryMs * (1 - jitter) - 100);
  }
  if (send.receiver?.status !== undefined) {
    expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => send.receiver?.status ?? null));
    expect(requests).toHaveLength(attempts.length);
  } else expect(requests).toEqual([]);
  for (const { error } of attempts) expect(error ?? "").not.toMatch(/127\.|ECONN|ENOTFOUND/);
  expect(canaryHits).toBe(0);
  if (send.receiver?.location !== undefined) expect(dns.lookups(new URL(send.receiver.location).hostname)).toBe(0);
  for (const member of expected.body_absent ?? [])
    expect(JSON.parse(requests[0]?.body.toString() ?? "")).not.toHaveProperty([member]);
}

/**
 * deliver-24 and -25: no task has such members in its output, so the body is made of a job that has. What Python reads and writes again
 * verifies, and so do the raw bytes; JavaScript spells numbers below 1e-4 in another way.
 */
async function signAndVerify(output: Readonly<Record<string, number>>): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const body = toWebhookBody({
    id: crypto.randomUUID(),
    status: "success",
    feature: "text",
    subfeature: "moderation",
    provider: "sandbox",
    model: null,
    createdAt: Date.now(),
    finishedAt: Date.now(),
    request: "{}",
    result: JSON.stringify({ output }),
  });
  const signature = Buffer.from(await signDigest(body, privateKey), "hex");
  const isGood = (bytes: Uint8Array | string) =>
    verify("sha256", Buffer.from(createHash("sha256").update(bytes).digest("hex")), publicKey, signature);
  expect(isGood(body)).toBe(true);
  expect(isGood(canonicalizeJsonText(body.toString()))).toBe(true);
  expect(isGood(toCanonicalJson(JSON.parse(body.toString())))).toBe(true);
  const python = Bun.which("python3");
  if (python === null) return;
  const write =
    "import json,sys; sys.stdout.buffer.write(json.dumps(json.load(sys.stdin.buffer), sort_keys=True, indent=2, ensure_ascii=False).encode())";
  const written = Bun.spawnSync([python, "-c", write], { stdin: body }).stdout;
  expect(isGood(written)).toBe(true);
}

async function countJobs(): Promise<number> {
  const headers = { authorization: `Bearer ${fixtures["KEY_A"]}` };
  const response = await fetch(`${gateway.url}/v3/universal-ai/async?limit=1`, { headers });
  expect(response.status).toBe(200);
  return ((await response.json()) as { total: number }).total;
}

/** The id of a new job. */
async function submit(to: GatewayProcess, key: string, body: Readonly<Record<string, unknown>>): Promise<string> {
  const response = await fetch(`${to.url}/v3/universal-ai/async`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`a job was answered with ${response.status}: ${text}`);
  return (JSON.parse(text) as { job_id: string }).job_id;
}
