// When sessions end by themselves, and which role the groups of a person have. The test controls the clock.

import { afterAll, describe, expect, test } from "bun:test";
import { openKeyring } from "../../src/access/keys.ts";
import { createSessions, type GroupRole } from "../../src/access/sessions.ts";
import { createKeyRequest } from "../../src/contract/keys.ts";
import { minuteMs } from "../../src/lib/time-units.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { catchError, createEngines, quiet, withStorage } from "../contracts/engines.ts";

const [sqlite] = createEngines();
afterAll(() => sqlite.stop());
const origin = { address: "127.0.0.1", requestId: "r" };

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
  const startedAt = clock.now;
  /** `minutes`: after the session began. */
  const authenticate = (minutes: number, isByPerson: boolean) => {
    clock.now = startedAt + minutes * minuteMs;
    return sessions.authenticate(token, isByPerson);
  };
  return { storage, keyring, sessions, clock, token, authenticate };
}

test("a session that is not used ends after the idle timeout", async () => {
  await withSessions(async ({ authenticate }) => {
    await authenticate(29, true);
    await authenticate(58, true);
    expect(await catchError(authenticate(88, true))).toMatchObject({ code: "session_ended" });
  });
});

test("requests that a page sends by itself do not keep a session alive", async () => {
  await withSessions(async ({ authenticate }) => {
    for (let minutes = 1; minutes < 30; minutes++) await authenticate(minutes, false);
    expect(await catchError(authenticate(30, false))).toMatchObject({ code: "session_ended" });
  });
});

test("a session that is in use ends after its lifetime", async () => {
  await withSessions(async ({ authenticate }) => {
    for (let minutes = 1; minutes < 60; minutes++) await authenticate(minutes, true);
    expect(await catchError(authenticate(60, true))).toMatchObject({ code: "session_ended" });
  });
});

test.each([
  ["a request that a page sends by itself is no use of the key", false, 0],
  ["a request of a person is a use of the key", true, 5],
] as const)("%s with which the session began", async (_, isByPerson, lastUseMinutes) => {
  await withStorage(await sqlite.createStore(), async (storage) => {
    const clock = { now: Date.now() };
    const now = () => clock.now;
    const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 9e9, log: quiet, now });
    const times = { idleTimeoutMs: 30 * minuteMs, lifetimeMs: 60 * minuteMs };
    const sessions = createSessions({ storage, keyring, ...times, people: null, log: quiet, now });
    const { id, key } = await keyring.create(createKeyRequest.parse({ name: "Ada", kind: "management" }));
    const found = keyring.lookUp(key);
    if (!("caller" in found)) throw new Error("the key is not known");
    const startedAt = clock.now;
    const { token } = await sessions.startWithKey(found.caller, key, origin);
    clock.now += 5 * minuteMs;
    await sessions.authenticate(token, isByPerson);
    // Stores the uses that it has noted.
    await keyring.close();
    expect((await storage.keys.get(id))?.lastUsedAt).toBe(startedAt + lastUseMinutes * minuteMs);
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

describe("after a reload, a session has the role that its groups have now", () => {
  const issuer = "https://login.example";
  const grant = (group: string, role: GroupRole["role"]): GroupRole => ({ group, role, team: null });

  /** The roles of a person, whose session began with the first list of grants, with each of the lists. */
  async function findRoles(groups: readonly string[], configurations: readonly (readonly GroupRole[])[]) {
    const found: unknown[] = [];
    await withStorage(await sqlite.createStore(), async (storage) => {
      const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 9e9, log: quiet });
      const times = { idleTimeoutMs: 30 * minuteMs, lifetimeMs: 60 * minuteMs };
      const configured = configurations.map((roles) =>
        createSessions({ storage, keyring, ...times, people: { issuer, roles }, log: quiet }),
      );
      const person = { issuer, subject: "ada", name: "Ada", groups };
      const { token } = (await configured[0]?.startForPerson(person, origin)) ?? { token: "" };
      for (const sessions of configured)
        found.push((await sessions.authenticate(token, true).catch((error) => error)).role ?? "none");
      await keyring.close();
    });
    return found;
  }

  const administrators = grant("administrators", "administrator");

  test("also that of a group which had none at the sign-in", async () => {
    const configurations = [
      [administrators],
      [grant("suspended", "viewer"), administrators],
      [grant("support", "operator")],
      [grant("others", "viewer")],
    ];
    const found = await findRoles(["support", "administrators", "suspended"], configurations);
    expect(found).toEqual(["administrator", "viewer", "operator", "none"]);
  });

  test("and of an issuer that states thousands of groups, those with a role are stored first", async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `group ${index}`);
    const long = "x".repeat(5_000);
    const roles = [administrators, grant(long, "operator")];
    const [demoted, ungranted] = [[grant("group 0", "viewer"), ...roles], [grant("group 4999", "viewer")]];
    const found = await findRoles([...many, long, "administrators"], [roles, [...roles].reverse(), demoted, ungranted]);
    expect(found).toEqual(["administrator", "operator", "viewer", "none"]);
  });
});
