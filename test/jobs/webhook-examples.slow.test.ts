import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toCanonicalJson } from "../../src/jobs/canonical-json.ts";
import { openWebhookKeys, toKeySet, toPem, type WebhookKeys } from "../../src/jobs/webhook-keys.ts";
import { signWebhook } from "../../src/jobs/webhook-signature.ts";
import { quiet as log } from "../contracts/engines.ts";
import { closeAfterEach } from "../support/closers.ts";
import { takeRsaPair } from "../support/rsa-pairs.ts";
import { waitFor, within } from "../support/wait.ts";
import { createMemorySecrets } from "../support/webhook-secrets.ts";

const examples = join(import.meta.dir, "../../examples/webhooks");
const folder = mkdtempSync(join(tmpdir(), "switchyard-receivers-"));
setDefaultTimeout(300_000);

const closers = closeAfterEach();
afterAll(() => rmSync(folder, { recursive: true }));

/** Publishes its keys as the gateway does. */
function startGateway(keys: WebhookKeys): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const [current, ...others] = await keys.published();
      if (current === undefined) return new Response(null, { status: 500 });
      return new URL(request.url).pathname === "/v3/webhooks/keys"
        ? Response.json(toKeySet([current, ...others]))
        : new Response(toPem(current.rsa));
    },
  });
  closers.push(() => void server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

interface Receiver {
  readonly url: string;
  readonly printed: () => string;
}

async function startReceiver(command: readonly string[], gateway: string): Promise<Receiver> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, GATEWAY: gateway, PORT: "0" },
    stdout: "pipe",
    stderr: "ignore",
  });
  closers.push(() => child.kill());
  let printed = "";
  const read = async () => {
    for await (const part of child.stdout) printed += new TextDecoder().decode(part);
  };
  read().catch(() => {});
  const port = await waitFor("the receiver's port", () => /listening on (\d+)/.exec(printed)?.[1]);
  return { url: `http://127.0.0.1:${port}/hook`, printed: () => printed };
}

const jobId = "550e8400-e29b-41d4-a716-446655440000";
const payload = {
  ...{ event: "async_job_completed", job_id: jobId, status: "success", model: null },
  // What re-writing receivers stumble over: the bytes are what counts.
  output: { "10": 1, "9": 2, "\u{1f600}": "é\u2028", score: 0.00005 },
};
const body = toCanonicalJson(payload);

async function sign(
  keys: WebhookKeys,
  timestampSeconds = Math.floor(Date.now() / 1000),
): Promise<Record<string, string>> {
  const message = { id: "delivery", timestampSeconds, body: Buffer.from(body) };
  return { "content-type": "application/json", ...(await signWebhook(message, await keys.signing())) };
}

async function post(url: string, headers: Record<string, string>, content = body): Promise<number> {
  const answer = fetch(url, { method: "POST", headers, body: content, signal: AbortSignal.timeout(60_000) });
  return (await within(60_000, "the receiver's answer", answer)).status;
}

const python = Bun.which("python3");
const go = Bun.which("go");
const node = Bun.which("node");
const openssl = Bun.which("openssl");
const curl = Bun.which("curl");

interface Program {
  readonly name: string;
  readonly isMissing: boolean;
  readonly checksAge: boolean;
  /** What to run, made ready. */
  readonly prepare: () => Promise<readonly string[]>;
}

const programs: readonly Program[] = [
  {
    name: "receiver.ts in Bun",
    isMissing: false,
    checksAge: true,
    prepare: async () => [process.execPath, join(examples, "receiver.ts")],
  },
  {
    name: "receiver.ts in Node",
    isMissing: node === null,
    checksAge: true,
    async prepare() {
      // Without its types, since older ones do not take them off themselves.
      const path = join(folder, "receiver.mjs");
      const source = await Bun.file(join(examples, "receiver.ts")).text();
      writeFileSync(path, new Bun.Transpiler({ loader: "ts", target: "node" }).transformSync(source));
      return [node ?? "", path];
    },
  },
  {
    name: "receiver.py (python3)",
    isMissing: python === null,
    checksAge: false,
    prepare: async () => [python ?? "", join(examples, "receiver.py")],
  },
  {
    name: "receiver.go (go)",
    isMissing: go === null,
    checksAge: true,
    async prepare() {
      const path = join(folder, "receiver");
      const built = Bun.spawn([go ?? "", "build", "-o", path, join(examples, "receiver.go")], { stderr: "inherit" });
      expect(await within(110_000, "the Go compiler", built.exited)).toBe(0);
      return [path];
    },
  },
];

describe.each([...programs])("$name", ({ isMissing, checksAge, prepare }) => {
  test.skipIf(isMissing)("takes what is signed, once and again, and refuses what is not", async () => {
    const command = await prepare();
    const keys = openWebhookKeys({ secrets: createMemorySecrets().store, log, createRsaPair: takeRsaPair });
    const stranger = openWebhookKeys({ secrets: createMemorySecrets().store, log, createRsaPair: takeRsaPair });
    const receiver = await startReceiver(command, startGateway(keys));
    const headers = await sign(keys);
    expect(await post(receiver.url, headers)).toBe(204);
    expect(await post(receiver.url, headers)).toBe(204);
    await waitFor("both in its log", () => receiver.printed().includes(`job ${jobId}: success, seen before`));

    const signature = headers["X-Service-Signature"] ?? "";
    const forged: [string, Record<string, string>, string][] = [
      ["another body", headers, body.replace("success", "failure")],
      ["a body written anew", headers, JSON.stringify(payload)],
      ["no signature", { "content-type": "application/json" }, body],
      ["a cut signature", { ...headers, "X-Service-Signature": signature.slice(2) }, body],
      [
        "a changed signature",
        { ...headers, "X-Service-Signature": signature.replace(/^./, (one) => (one === "0" ? "1" : "0")) },
        body,
      ],
      ["no hexadecimal", { ...headers, "X-Service-Signature": "zz" }, body],
      ["an empty body", headers, ""],
      ["somebody else's key", await sign(stranger), body],
    ];
    for (const [what, wrong, content] of forged)
      expect([what, await post(receiver.url, wrong, content)]).toEqual([what, 400]);
    if (checksAge) {
      expect(await post(receiver.url, await sign(keys, Math.floor(Date.now() / 1000) - 3_600))).toBe(400);
      expect(await post(receiver.url, { ...headers, "webhook-id": "other" })).toBe(400);
    }
    expect(receiver.printed().match(/job /g)?.length).toBe(2);
  });

  test.skipIf(isMissing)(
    "takes a key that is newer than its own, and asks to try again when the gateway is away",
    async () => {
      const command = await prepare();
      const keys = openWebhookKeys({ secrets: createMemorySecrets().store, log, createRsaPair: takeRsaPair });
      const receiver = await startReceiver(command, startGateway(keys));
      expect(await post(receiver.url, await sign(keys))).toBe(204);
      await keys.rotate({ isUrgent: true, dropOld: true });
      const headers = await sign(keys);
      // It does not ask for every request that it cannot check.
      await waitFor("the new key", async () => (await post(receiver.url, headers)) === 204, { everyMs: 200 });

      const lonely = await startReceiver(command, "http://127.0.0.1:9");
      expect(await post(lonely.url, headers)).toBe(503);
    },
  );
});

test.skipIf(openssl === null || curl === null)(
  "verify.sh (openssl, curl) finds a kept body good, and a changed one not",
  async () => {
    const keys = openWebhookKeys({ secrets: createMemorySecrets().store, log, createRsaPair: takeRsaPair });
    const gateway = startGateway(keys);
    const signature = (await sign(keys))["X-Service-Signature"] ?? "";
    const path = join(folder, "body.json");
    const run = async () => {
      const env = { ...process.env, GATEWAY: gateway };
      const child = Bun.spawn([join(examples, "verify.sh"), path, signature], {
        env,
        stdout: "pipe",
        stderr: "ignore",
      });
      const text = await new Response(child.stdout).text();
      return [await child.exited, text.trim()];
    };
    writeFileSync(path, body);
    expect(await run()).toEqual([0, "Verified OK"]);
    writeFileSync(path, `${body}\n`);
    expect((await run())[0]).not.toBe(0);
  },
);
