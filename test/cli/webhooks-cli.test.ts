import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLocalCertificate } from "../../src/cli/local-certificate.ts";
import { createWebhooksCommand } from "../../src/cli/webhooks.ts";
import { toCanonicalJson } from "../../src/jobs/canonical-json.ts";
import { openWebhookKeys, toKeySet, toPem, toStandardPublicKey } from "../../src/jobs/webhook-keys.ts";
import { signWebhook } from "../../src/jobs/webhook-signature.ts";
import { quiet as log } from "../contracts/engines.ts";
import { closeAfterEach } from "../support/closers.ts";
import { openTestStorage } from "../support/open-test-storage.ts";
import { takeRsaPair } from "../support/rsa-pairs.ts";
import { runCommand } from "../support/run-command.ts";
import { waitFor, within } from "../support/wait.ts";
import { type DeliveryTask, startWebhookChild } from "../support/webhook-child.ts";
import { createMemorySecrets } from "../support/webhook-secrets.ts";

const folder = mkdtempSync(join(tmpdir(), "switchyard-webhooks-"));
setDefaultTimeout(300_000);

const closers = closeAfterEach();
const storage = await openTestStorage({ dataDir: folder });
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true });
});

const secrets = createMemorySecrets();
const keys = openWebhookKeys({ secrets: secrets.store, log, staleAfterMs: 0, createRsaPair: takeRsaPair });

function startGateway(keySet: () => unknown): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async ({ url }) =>
      new URL(url).pathname === "/v3/webhooks/keys"
        ? Response.json(await keySet())
        : new Response(null, { status: 404 }),
  });
  closers.push(() => void server.stop(true));
  return `http://127.0.0.1:${server.port}`;
}

interface Given {
  readonly input?: string;
  readonly gateway?: string;
  readonly signal?: AbortSignal;
}

function start(args: readonly string[], { input = "", gateway = "http://127.0.0.1:9", signal }: Given = {}) {
  const printed: string[] = [];
  const errors: string[] = [];
  let closed = 0;
  const code = runCommand(createWebhooksCommand, [...args], {
    settings: () => ({ dataDir: folder, gatewayUrl: gateway }),
    openStorage: async () => ({
      secrets: secrets.store,
      audit: storage.audit,
      close: async () => {
        closed += 1;
      },
    }),
    log,
    readInput: async () => Buffer.from(input),
    print: (line) => void printed.push(line),
    printError: (line) => void errors.push(line),
    ...(signal === undefined ? {} : { signal }),
  });
  return { code, text: () => printed.join("\n"), errors: () => errors.join("\n"), closed: () => closed };
}

async function run(args: readonly string[], given: Given = {}) {
  const command = start(args, given);
  const code = await within(60_000, `switchyard webhooks ${args.join(" ")}`, command.code);
  return { code, text: command.text(), errors: command.errors(), closed: command.closed() };
}

const body = toCanonicalJson({ job_id: "1", status: "success", output: { score: 0.00005 } });

async function writeHeaders(name: string, change: Record<string, string> = {}): Promise<string> {
  const message = { id: "d1", timestampSeconds: 1_777_000_000, body: Buffer.from(body) };
  const headers = { ...(await signWebhook(message, await keys.signing())), ...change };
  const path = join(folder, name);
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
  writeFileSync(
    path,
    name.endsWith(".json") ? JSON.stringify(headers) : `POST /hook HTTP/1.1\r\n${lines.join("")}\r\n`,
  );
  return path;
}

describe("switchyard webhooks verify", () => {
  test("finds both signatures good with the gateway's keys, a file, a key set or a whpk_ text", async () => {
    const gateway = startGateway(async () => toKeySet(await keys.published()));
    const bodyFile = join(folder, "body.json");
    writeFileSync(bodyFile, body);
    const headers = await writeHeaders("headers.txt");
    const good = "X-Service-Signature: good\nStandard Webhooks: good";
    expect(await run(["verify", bodyFile, "--headers", headers, "--from", gateway])).toMatchObject({
      code: 0,
      text: good,
    });
    // Without --from: the gateway of this machine's settings. Without a file: standard input.
    expect(
      await run(["verify", "--headers", await writeHeaders("headers.json")], { input: body, gateway }),
    ).toMatchObject({
      code: 0,
      text: good,
    });
    const [key] = await keys.published();
    if (key === undefined) throw new Error("no key");
    const set = join(folder, "keys.json");
    writeFileSync(set, JSON.stringify(toKeySet([key])));
    expect((await run(["verify", bodyFile, "--headers", headers, "--key", set])).text).toBe(good);
    const pem = join(folder, "key.pem");
    writeFileSync(pem, toPem(key.rsa));
    const standard = toStandardPublicKey(key.ed25519);
    expect((await run(["verify", bodyFile, "--headers", headers, "--key", pem, "--key", standard])).text).toBe(good);
    const { "X-Service-Signature": signature = "" } = await signWebhook(
      { id: "d1", timestampSeconds: 1, body: Buffer.from(body) },
      await keys.signing(),
    );
    expect(await run(["verify", bodyFile, "--signature", signature, "--key", pem])).toMatchObject({
      code: 0,
      text: "X-Service-Signature: good",
    });
  });

  test("says what is wrong, and ends with 1", async () => {
    const gateway = startGateway(async () => toKeySet(await keys.published()));
    const headers = await writeHeaders("headers.txt");
    const changed = await run(["verify", "--headers", headers], { input: `${body} `, gateway });
    expect(changed.code).toBe(1);
    expect(changed.text).toBe(
      "X-Service-Signature: good; the body was reformatted on the way, and its canonical form was signed\n" +
        "Standard Webhooks: WRONG, the id, time or body was changed, or another key signed it",
    );
    const old = await run(["verify", "--headers", headers, "--check-age"], { input: body, gateway });
    expect([old.code, old.text]).toEqual([1, expect.stringMatching(/WRONG, it was signed \d+ seconds ago/)]);
    const plain = join(folder, "plain.txt");
    writeFileSync(plain, "Content-Type: application/json\n");
    expect(await run(["verify", "--headers", plain], { input: body, gateway })).toMatchObject({
      code: 1,
      text: "WRONG: no header holds a signature",
    });
  });

  test("a gateway that cannot be asked, and a command that is not understood, are told apart", async () => {
    const headers = await writeHeaders("headers.txt");
    const away = await run(["verify", "--headers", headers], { input: body });
    expect([away.code, away.errors]).toEqual([
      1,
      expect.stringContaining("The keys could not be read from http://127.0.0.1:9/"),
    ]);
    const gateway = startGateway(() => ({}));
    expect((await run(["verify", "--headers", headers, "--from", `${gateway}/x`], { input: body })).errors).toContain(
      "it answered 404",
    );
    expect((await run(["verify", "--headers", headers, "--from", gateway], { input: body })).errors).toContain(
      "no public key",
    );
    for (const args of [
      ["verify"],
      ["nonsense"],
      [],
      ["listen", "--status", "abc"],
      ["keys", "more"],
      ["verify", "--headers", headers, "--from", "x"],
    ])
      expect((await run(args)).code).toBe(2);
    expect((await run(["--help"])).text).toContain("verify [options] [file]");
  });
});

describe("switchyard webhooks keys, rotate-key and drop-old-keys", () => {
  test("list, rotate and drop, and leave the store closed", async () => {
    const listed = await run(["keys", "--json"]);
    expect(listed).toMatchObject({ code: 0, closed: 1 });
    const [first] = JSON.parse(listed.text);
    expect(first).toMatchObject({ state: "current", published_until: null });
    expect(listed.text).not.toContain("PRIVATE");

    const rotated = JSON.parse((await run(["rotate-key", "--json"])).text);
    expect(rotated.map(({ state }: { state: string }) => state)).toEqual(["current", "next"]);
    expect(rotated[0].keys[0].kid).toBe(first.keys[0].kid);
    const now = JSON.parse((await run(["rotate-key", "--now", "--json"])).text);
    expect(now.map(({ state }: { state: string }) => state)).toEqual(["current", "old"]);
    expect(now[1].keys[0].kid).toBe(first.keys[0].kid);
    const text = (await run(["keys"])).text;
    expect(text).toMatch(/^state +created +signs from +published until +algorithm +key id +public key\n/);
    expect(text).toMatch(new RegExp(`^old .* RSA 3072 +${first.keys[0].kid} `, "m"));
    expect(text).toMatch(/whpk_[A-Za-z0-9+/]{43}=/);
    expect(JSON.parse((await run(["drop-old-keys", "--json"])).text)).toHaveLength(1);
    expect(JSON.parse((await run(["rotate-key", "--drop-old", "--json"])).text)).toMatchObject([{ state: "current" }]);
    const filter = {
      from: null,
      to: null,
      team: null,
      actor: null,
      action: "webhook_keys",
      target: null,
      outcome: null,
    };
    const records = await storage.audit.list({ ...filter, after: null, limit: 10 });
    const changes = records.map(({ action, outcome, actorKind }) => [action, outcome, actorKind]);
    const rotation = ["webhook_keys.rotate", "done", "command"];
    expect(changes).toEqual([rotation, ["webhook_keys.drop_old", "done", "command"], rotation, rotation]);
    expect(records.at(-1)).toMatchObject({
      stateBefore: { published: [first.keys[0].kid] },
      stateAfter: { published: [first.keys[0].kid, expect.any(String)] },
    });
  });
});

describe("switchyard webhooks listen", () => {
  test("a gateway that trusts its certificate reaches it; it shows and checks what came, and answers as it was told", async () => {
    const names = ["localhost", "127.0.0.1", "::1"];
    const { path } = openLocalCertificate(join(folder, "webhook-listener"), names);
    const child = await within(60_000, "the deliverer", startWebhookChild(path));
    closers.push(child.stop);
    const gateway = startGateway(() => child.keys);
    const saved = join(folder, "callbacks");
    const options = ["--status", "500,200", "--count", "2", "--save", saved, "--from", gateway];
    const listener = start(["listen", "--port", "0", ...options]);
    const port = await waitFor("its address", () => /https:\/\/127\.0\.0\.1:(\d+)/.exec(listener.text())?.[1]);
    expect(listener.text()).toContain(
      `NODE_EXTRA_CA_CERTS=${path} SWITCHYARD_EGRESS_ALLOW=127.0.0.1/32 npx switchyard-gateway serve`,
    );

    const task: DeliveryTask = {
      ...{ id: "d1", receiver: `https://127.0.0.1:${port}/`, attempts: [], allow: ["127.0.0.1/32"], names: {} },
      ...{ timeoutMs: 5_000, stopAfterMs: null },
      job: {
        ...{
          id: "550e8400-e29b-41d4-a716-446655440000",
          owner: "o",
          keyId: "k",
          feature: "ocr",
          subfeature: "ocr_async",
        },
        ...{
          provider: "sandbox",
          model: null,
          status: "success",
          createdAt: 0,
          finishedAt: 1_000,
          expiresAt: 2_000,
          runs: 1,
        },
        ...{ progress: null, costReason: null, webhookReceiver: null, request: "{}", checkpoint: null },
        result: JSON.stringify({ output: { raw_text: "hello" } }),
      } as const,
    };
    const first = await within(60_000, "the first answer", child.deliver(task));
    expect([first.outcome?.state, first.outcome?.attempt.status]).toEqual(["pending", 500]);
    const second = await within(60_000, "the second answer", child.deliver(task));
    expect(second.outcome?.state).toBe("delivered");
    expect(await within(60_000, "its end", listener.code)).toBe(0);
    expect(listener.text().match(/ {2}X-Service-Signature: good\n {2}Standard Webhooks: good/g)?.length).toBe(2);
    expect(listener.text()).toContain(`"raw_text": "hello"`);

    const kept = ["verify", join(saved, "2.json"), "--headers", join(saved, "2.headers"), "--from", gateway];
    expect(listener.text()).toContain(kept.slice(0, 4).join(" "));
    expect(await within(60_000, "the check", start(kept).code)).toBe(0);
  });

  test("what is not signed, or not by this gateway, is said; so is a gateway that is away", async () => {
    const gateway = startGateway(async () => toKeySet(await keys.published()));
    const stop = new AbortController();
    const listener = start(["listen", "--http", "--port", "0", "--from", gateway], { signal: stop.signal });
    const port = await waitFor("its address", () => /http:\/\/127\.0\.0\.1:(\d+)/.exec(listener.text())?.[1]);
    const send = (headers: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body, signal: AbortSignal.timeout(60_000) });
    expect((await send({})).status).toBe(200);
    expect(listener.text()).toContain("  not signed");
    await send({ "x-service-signature": "00" });
    expect(listener.text()).toContain("X-Service-Signature: WRONG, the signature has 1 bytes");
    stop.abort();
    expect(await within(60_000, "its end", listener.code)).toBe(0);

    const away = new AbortController();
    const lonely = start(["listen", "--http", "--port", "0"], { signal: away.signal });
    const other = await waitFor("its address", () => /http:\/\/127\.0\.0\.1:(\d+)/.exec(lonely.text())?.[1]);
    await fetch(`http://127.0.0.1:${other}/`, { method: "POST", body, signal: AbortSignal.timeout(60_000) });
    expect(lonely.text()).toContain("not checked: The keys could not be read");
    away.abort();
    await within(60_000, "its end", lonely.code);
  });

  test("its certificate stays the same until it is asked for another name, and is good for nothing else", () => {
    const place = join(folder, "certificates");
    const first = openLocalCertificate(place, ["localhost", "127.0.0.1", "::1", "2001:db8::5:0:1"]);
    expect(openLocalCertificate(place, ["localhost"]).certificate).toBe(first.certificate);
    const parsed = new X509Certificate(first.certificate);
    expect([parsed.ca, parsed.checkHost("localhost"), parsed.checkHost("example.com")]).toEqual([
      false,
      "localhost",
      undefined,
    ]);
    expect(["127.0.0.1", "::1", "2001:db8::5:0:1", "127.0.0.2"].map((ip) => parsed.checkIP(ip) !== undefined)).toEqual([
      ...[true, true, true, false],
    ]);
    expect(statSync(join(place, "key.pem")).mode & 0o777).toBe(0o600);
    expect(openLocalCertificate(place, ["host.docker.internal"]).certificate).not.toBe(first.certificate);
  });
});
