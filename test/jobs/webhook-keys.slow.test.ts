import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash, createPublicKey, verify } from "node:crypto";
import { webhookRoutes } from "../../src/http/endpoints/webhooks.ts";
import {
  openWebhookKeys,
  publishedAfterMs,
  signsAfterMs,
  toPem,
  type WebhookKeys,
} from "../../src/jobs/webhook-keys.ts";
import { signWebhook, verifyWebhook } from "../../src/jobs/webhook-signature.ts";
import { createLog } from "../../src/log.ts";
import { createEngines, describeOn, withStorage } from "../contracts/engines.ts";
import { takeRsaPair } from "../support/rsa-pairs.ts";
import { openTestServer } from "../support/test-server.ts";
import { createMemorySecrets, type MemorySecrets } from "../support/webhook-secrets.ts";

// To make an RSA key takes a second now and then, and a busy machine longer.
setDefaultTimeout(300_000);

const logged: string[] = [];
const log = createLog({ level: "debug", format: "json", secrets: [], write: (lines) => void logged.push(lines) });

/** A process that has these secrets, whose clock the test sets forward. */
function open(
  secrets: MemorySecrets,
  clock = { ms: Date.parse("2026-05-01T00:00:00Z") },
  staleAfterMs = 0,
): WebhookKeys {
  const now = () => clock.ms;
  return openWebhookKeys({
    ...{ secrets: secrets.store, log, staleAfterMs, now, monotonicNow: now },
    createRsaPair: takeRsaPair,
  });
}

const message = { id: "msg", timestampSeconds: 1_777_000_000, body: Buffer.from(`{\n  "a": 1\n}`) };

afterEach(() => {
  // Whatever happened: a private key is never written.
  log.flush();
  expect(logged.join("")).not.toContain("PRIVATE");
});

async function check(keys: WebhookKeys, verifier: WebhookKeys): Promise<boolean[]> {
  const headers = await signWebhook(message, await keys.signing());
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const published = await verifier.published();
  const checks = verifyWebhook({
    body: message.body,
    header: (name) => lower.get(name) ?? null,
    keys: { rsa: published.map(({ rsa }) => rsa), ed25519: published.map(({ ed25519 }) => ed25519) },
    nowMs: null,
  });
  return checks.map(({ isGood }) => isGood);
}

describe("webhook keys", () => {
  test("are made once, also when several processes start at the same moment", async () => {
    const secrets = createMemorySecrets();
    // These generate their own RSA pairs.
    const all = [1, 2, 3].map(() => openWebhookKeys({ secrets: secrets.store, log }));
    const ids = await Promise.all(all.map(async (keys) => (await keys.signing()).keyId));
    expect(new Set(ids).size).toBe(1);
    const [key] = await open(secrets).published();
    expect(key).toMatchObject({ state: "current", keyId: ids[0], publishedUntil: null });
    expect(key?.rsa.asymmetricKeyDetails?.modulusLength).toBe(3072);
    expect(key?.ed25519.asymmetricKeyType).toBe("ed25519");
  });

  test("a new one is published at once, signs later, and the old one stays published for a time", async () => {
    const secrets = createMemorySecrets();
    const clock = { ms: Date.parse("2026-05-01T00:00:00Z") };
    const [keys, other] = [open(secrets, clock), open(secrets, clock)];
    const before = await keys.signing();
    const published = await keys.rotate();
    expect(published.map(({ state }) => state)).toEqual(["current", "next"]);
    const [oldId, newId] = published.map(({ keyId }) => keyId);
    expect(oldId).toBe(before.keyId);
    // Another process shows it before anybody signs with it.
    expect((await other.published()).map(({ keyId }) => keyId)).toEqual([oldId ?? "", newId ?? ""]);
    expect((await other.signing()).keyId).toBe(before.keyId);

    clock.ms += signsAfterMs;
    expect((await other.signing()).keyId).toBe(newId ?? "");
    const after = await other.published();
    expect(after.map(({ state, keyId }) => [state, keyId])).toEqual([
      ["current", newId ?? ""],
      ["old", oldId ?? ""],
    ]);
    expect(after[1]?.publishedUntil).toBe(clock.ms + publishedAfterMs);
    expect(await check(other, keys)).toEqual([true, true]);

    clock.ms += publishedAfterMs;
    expect((await other.published()).map(({ keyId }) => keyId)).toEqual([newId ?? ""]);
  });

  test("while the old one is published, a receiver that knows only its Ed25519 key is served too", async () => {
    const secrets = createMemorySecrets();
    const keys = open(secrets);
    const [old] = await keys.published();
    await keys.rotate({ isUrgent: true });
    const headers = await signWebhook(message, await keys.signing());
    const signatures = (headers["webhook-signature"] ?? "")
      .split(" ")
      .map((one) => Buffer.from(one.slice(4), "base64"));
    const content = Buffer.concat([Buffer.from("msg.1777000000."), message.body]);
    expect(signatures.map((one) => old !== undefined && verify(null, content, old.ed25519, one))).toEqual([
      false,
      true,
    ]);
    await keys.dropOld();
    expect((await signWebhook(message, await keys.signing()))["webhook-signature"]).not.toContain(" ");
  });

  test("one that leaked signs and is published no more", async () => {
    const secrets = createMemorySecrets();
    const keys = open(secrets);
    const before = await keys.signing();
    const published = await keys.rotate({ dropOld: true });
    expect(published.map(({ state }) => state)).toEqual(["current"]);
    expect(published[0]?.keyId).not.toBe(before.keyId);
    expect((await keys.signing()).keyId).toBe(published[0]?.keyId ?? "");
  });

  test("the private half of a key that is two rotations old is not kept", async () => {
    const secrets = createMemorySecrets();
    const keys = open(secrets);
    for (const _ of [1, 2, 3]) await keys.rotate({ isUrgent: true });
    expect((await keys.published()).length).toBe(4);
    expect(secrets.text().match(/BEGIN PRIVATE KEY/g)?.length).toBe(4);
  });

  test("a second rotation before the new key signs takes its place", async () => {
    const secrets = createMemorySecrets();
    const keys = open(secrets);
    const [current, next] = await keys.rotate();
    const again = await keys.rotate();
    expect(again.map(({ state }) => state)).toEqual(["current", "next"]);
    expect(again[0]?.keyId).toBe(current?.keyId ?? "");
    expect(again[1]?.keyId).not.toBe(next?.keyId ?? "");
    expect((await keys.dropOld()).length).toBe(2);
  });

  test("of two rotations at once one is done and the other says that it was not", async () => {
    const secrets = createMemorySecrets();
    const [one, other] = [open(secrets), open(secrets)];
    await Promise.all([one.signing(), other.signing()]);
    const results = await Promise.allSettled([one.rotate(), other.rotate()]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await one.published()).length).toBe(2);
  });

  test("a running process reads the keys again when they are too old, and then signs with the rotated key", async () => {
    const secrets = createMemorySecrets();
    const clock = { ms: Date.parse("2026-05-01T00:00:00Z") };
    const running = open(secrets, clock, 300);
    const { keyId } = await running.signing();
    await open(secrets, clock).rotate({ isUrgent: true });
    const reads = secrets.reads();
    clock.ms += 299;
    for (let calls = 0; calls < 20; calls++) expect((await running.signing()).keyId).toBe(keyId);
    expect(secrets.reads()).toBe(reads);
    clock.ms += 1;
    expect((await running.signing()).keyId).not.toBe(keyId);
    expect(secrets.reads()).toBe(reads + 1);
  });

  test("while the store is down, keys that were read still sign, and a process without keys fails with the reason", async () => {
    const secrets = createMemorySecrets();
    const keys = open(secrets);
    const { keyId } = await keys.signing();
    secrets.isAway = true;
    expect((await keys.signing()).keyId).toBe(keyId);
    const late = open(secrets);
    expect(await late.signing().catch(String)).toBe("Error: the store is away");
    secrets.isAway = false;
    expect((await late.signing()).keyId).toBe(keyId);
  });

  test("after the clock was set back, a key still signs", async () => {
    const secrets = createMemorySecrets();
    const clock = { ms: Date.parse("2026-05-01T00:00:00Z") };
    const keys = open(secrets, clock);
    const { keyId } = await keys.signing();
    clock.ms -= 86_400_000;
    expect((await keys.signing()).keyId).toBe(keyId);
    expect((await keys.published()).map(({ state }) => state)).toEqual(["current"]);
  });
});

for (const engine of createEngines()) {
  describeOn(engine, "webhook keys", () => {
    test("two gateways that start at once agree, both see a rotation, and one of two rotations at once is refused", async () => {
      const place = await engine.createStore();
      await withStorage(place, (here) =>
        withStorage(place, async (there) => {
          // Both rotations must have read the keys before one of them writes.
          const bothHaveRead = Promise.withResolvers<void>();
          let rotations: number | null = null;
          const createRsaPair = async () => {
            if (rotations !== null && ++rotations === 2) bothHaveRead.resolve();
            if (rotations !== null) await bothHaveRead.promise;
            return takeRsaPair();
          };
          const [one, other] = [here, there].map(({ secrets }) =>
            openWebhookKeys({ secrets, log, staleAfterMs: 0, createRsaPair }),
          );
          if (one === undefined || other === undefined) throw new Error("no keys");
          const [first, same] = await Promise.all([one.signing(), other.signing()]);
          expect(same.keyId).toBe(first.keyId);
          rotations = 0;
          const results = await Promise.allSettled([one.rotate({ isUrgent: true }), other.rotate({ isUrgent: true })]);
          expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
          const [seen, seenThere] = await Promise.all([one.published(), other.published()]);
          expect(seen.map(({ state }) => state)).toEqual(["current", "old"]);
          expect(seenThere.map(({ keyId }) => keyId)).toEqual(seen.map(({ keyId }) => keyId));
          expect(await check(one, other)).toEqual([true, true]);
        }),
      );
    });
  });
}

describe("the public routes", () => {
  test("the current key in PEM, to be kept for a minute", async () => {
    const keys = open(createMemorySecrets());
    const get = openTestServer(webhookRoutes(keys));
    const answer = await get("/v3/webhooks/public-key");
    const [current] = await keys.published();
    expect(await answer.text()).toBe(current === undefined ? "" : toPem(current.rsa));
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
    const tag = answer.headers.get("etag") ?? "";
    expect((await get("/v3/webhooks/public-key", { "if-none-match": tag })).status).toBe(304);
    await keys.rotate({ isUrgent: true });
    expect((await get("/v3/webhooks/public-key", { "if-none-match": tag })).status).toBe(200);
  });

  test("all published keys as a key set, named by their thumbprints, without a private member", async () => {
    const keys = open(createMemorySecrets());
    await keys.rotate({ isUrgent: true });
    const answer = await openTestServer(webhookRoutes(keys))("/v3/webhooks/keys");
    expect(answer.headers.get("content-type")).toBe("application/jwk-set+json");
    const { keys: set } = (await answer.json()) as { keys: Record<string, string>[] };
    expect(set.map(({ kty, alg, use }) => [kty, alg, use])).toEqual([
      ["RSA", "RS256", "sig"],
      ["OKP", "EdDSA", "sig"],
      ["RSA", "RS256", "sig"],
      ["OKP", "EdDSA", "sig"],
    ]);
    expect(
      set.flatMap((key) => Object.keys(key)).filter((name) => ["d", "p", "q", "dp", "dq", "qi"].includes(name)),
    ).toEqual([]);
    for (const key of set) {
      // RFC 7638, section 3: the members in the order of their names, without white space.
      const text =
        key["kty"] === "RSA"
          ? `{"e":"${key["e"]}","kty":"RSA","n":"${key["n"]}"}`
          : `{"crv":"Ed25519","kty":"OKP","x":"${key["x"]}"}`;
      expect(key["kid"]).toBe(createHash("sha256").update(text).digest("base64url"));
      expect(createPublicKey({ key, format: "jwk" }).type).toBe("public");
    }
    const raw = Buffer.from(set[1]?.["x"] ?? "", "base64url");
    expect(set[1]?.["whpk"]).toBe(`whpk_${raw.toString("base64")}`);
  });
});

describe("a signature is found wrong when", () => {
  const keys = open(createMemorySecrets());

  async function verdictOf(
    change: (headers: Map<string, string>) => void,
    body: Uint8Array = message.body,
    nowMs: number | null = null,
  ) {
    const headers = await signWebhook(message, await keys.signing());
    const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    change(lower);
    const [key] = await keys.published();
    if (key === undefined) throw new Error("no key");
    const verifying = { rsa: [key.rsa], ed25519: [key.ed25519] };
    const checks = verifyWebhook({ body, header: (name) => lower.get(name) ?? null, keys: verifying, nowMs });
    return checks.map(({ isGood, says }) => (isGood ? says : `wrong: ${says}`));
  }

  test("nothing is wrong: it is good", async () => {
    expect(await verdictOf(() => {})).toEqual(["good", "good"]);
  });

  test("the body was changed", async () => {
    expect(await verdictOf(() => {}, Buffer.from(`{\n  "a": 2\n}`))).toEqual([
      "wrong: the body was changed, or another key signed it",
      "wrong: the id, time or body was changed, or another key signed it",
    ]);
  });

  test("a body that was only reformatted passes the first scheme and fails the second, which signs its bytes", async () => {
    expect(await verdictOf(() => {}, Buffer.from(`{"a":1}`))).toEqual([
      "good; the body was reformatted on the way, and its canonical form was signed",
      "wrong: the id, time or body was changed, or another key signed it",
    ]);
  });

  test("id or time were changed", async () => {
    const wrong = "wrong: the id, time or body was changed, or another key signed it";
    expect(await verdictOf((headers) => headers.set("webhook-id", "other"))).toEqual(["good", wrong]);
    expect(await verdictOf((headers) => headers.set("webhook-timestamp", "1777000001"))).toEqual(["good", wrong]);
  });

  test("it is too old, or from the future", async () => {
    const now = message.timestampSeconds * 1000;
    expect(await verdictOf(() => {}, message.body, now + 299_000)).toEqual(["good", "good"]);
    expect((await verdictOf(() => {}, message.body, now + 301_000))[1]).toContain("signed 301 seconds ago");
    expect((await verdictOf(() => {}, message.body, now - 400_000))[1]).toContain("signed 400 seconds in the future");
  });

  test("a header is missing or malformed", async () => {
    const says = async (name: string, value: string | null) =>
      await verdictOf((headers) => void (value === null ? headers.delete(name) : headers.set(name, value)));
    expect(await says("x-service-signature", "xyz")).toContain("wrong: the signature is not hexadecimal");
    expect(await says("x-service-signature", "00ff")).toContain(
      "wrong: the signature has 2 bytes; one of this key has 384",
    );
    expect(await says("x-service-hash-algorithm", "MD5")).toContain(
      `wrong: X-Service-Hash-Algorithm is "MD5"; only SHA256 is known`,
    );
    expect(await says("webhook-id", null)).toContain("wrong: the header webhook-id is missing");
    expect(await says("webhook-signature", "v1,AAAA")).toContain(
      "wrong: webhook-signature holds no signature of the kind v1a",
    );
    expect(await says("webhook-signature", "v1a,AAAA")).toHaveLength(2);
    expect(await says("webhook-signature", null)).toEqual(["good"]);
  });
});
