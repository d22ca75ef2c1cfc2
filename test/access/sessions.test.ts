// When sessions end by themselves. The test controls the clock.

import { afterAll, expect, test } from "bun:test";
import { openKeyring } from "../../src/access/keys.ts";
import { createSessions } from "../../src/access/sessions.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { catchError, createEngines, quiet, withStorage } from "../contracts/engines.ts";

const [sqlite] = createEngines();
afterAll(() => sqlite.stop());
const origin = { address: "127.0.0.1", requestId: "r" };
const minuteMs = 60_000;

async function withSessions(body: (one: Awaited<ReturnType<typeof open>>) => Promise<void>): Promise<void> {
  await withStorage(await sqlite.createStore(), async (storage) => {
    const opened = await open(storage);
    await body(opened);
    await opened.keyring.close();
  });
}

async function open(storage: Storage) {
  const clock = { now: Date.now() };
  const keyring = await openKeyring({ storage, adminKey: "an-admin-key-of-a-test", staleAfterMs: 9e9, log: quiet });
  const sessions = createSessions({
    storage,
    keyring,
    idleTimeoutMs: 30 * minuteMs,
    lifetimeMs: 60 * minuteMs,
    people: null,
    log: quiet,
    now: () => clock.now,
  });
  const found = keyring.lookUp("an-admin-key-of-a-test");
  if (!("caller" in found)) throw new Error("the key is not known");
  const { token } = await sessions.startWithKey(found.caller, "an-admin-key-of-a-test", origin);
  return { storage, keyring, sessions, clock, token };
}

test("a session that is not used ends after the idle timeout", async () => {
  await withSessions(async ({ sessions, clock, token }) => {
    clock.now += 29 * minuteMs;
    await sessions.authenticate(token, true);
    clock.now += 29 * minuteMs;
    await sessions.authenticate(token, true);
    clock.now += 30 * minuteMs;
    expect(await catchError(sessions.authenticate(token, true))).toMatchObject({ code: "session_ended" });
  });
});

test("requests that a page sends by itself do not keep a session alive", async () => {
  await withSessions(async ({ sessions, clock, token }) => {
    for (let minutes = 0; minutes < 29; minutes++) {
      clock.now += minuteMs;
      await sessions.authenticate(token, false);
    }
    clock.now += minuteMs;
    expect(await catchError(sessions.authenticate(token, false))).toMatchObject({ code: "session_ended" });
  });
});

test("a session that is in use ends after its lifetime", async () => {
  await withSessions(async ({ sessions, clock, token }) => {
    for (let minutes = 0; minutes < 59; minutes++) {
      clock.now += minuteMs;
      await sessions.authenticate(token, true);
    }
    clock.now += minuteMs;
    expect(await catchError(sessions.authenticate(token, true))).toMatchObject({ code: "session_ended" });
  });
});

test("neither the token nor a hash of the key that could be guessed from it is stored", async () => {
  await withSessions(async ({ storage, token }) => {
    const row = await storage.sessions.find(Bun.SHA256.hash(token, "hex"));
    const stored = JSON.stringify(row);
    expect(row?.keyProof).toBeString();
    expect(stored).not.toContain(token);
    expect(stored).not.toContain(Bun.SHA256.hash("an-admin-key-of-a-test", "hex"));
  });
});
