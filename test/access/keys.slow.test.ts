import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createFirstKeys } from "../../src/access/first-keys.ts";
import { adminKeyId, type Keyring, openKeyring } from "../../src/access/keys.ts";
import { type CreateKeyRequest, createKeyRequest } from "../../src/contract/keys.ts";
import { dayMs, minuteMs } from "../../src/lib/time-units.ts";
import { openStorage, type Storage, type StorageOptions } from "../../src/storage/storage.ts";
import {
  catchError,
  createEngines,
  createFolders,
  describeOn,
  makeBudget,
  makeKey,
  makeTeam,
  multiplyRow,
  quiet,
  startChild,
  withDatabase,
  withStorage,
} from "../contracts/engines.ts";
import { startOwnPostgres, whyNoOwnPostgres } from "../support/postgres.ts";
import { waitFor } from "../support/wait.ts";

function request(members: Record<string, unknown> = {}): CreateKeyRequest {
  return createKeyRequest.parse({ name: "a key", ...members });
}

const everything = { kind: null, enabled: null, team: null, limit: 100, offset: 0 };

interface Room {
  readonly storage: Storage;
  readonly keyring: Keyring;
  /** The clock that the keyring goes by. */
  time: number;
}

async function withKeyring(
  options: StorageOptions,
  body: (room: Room) => Promise<void>,
  settings: { adminKey?: string; staleAfterMs?: number } = {},
): Promise<void> {
  await withStorage(options, async (storage) => {
    const room = { storage, time: Date.now() };
    const { adminKey = null, staleAfterMs = minuteMs } = settings;
    const keyring = await openKeyring({ storage, adminKey, staleAfterMs, log: quiet, now: () => room.time });
    await body(Object.assign(room, { keyring }));
    await keyring.close();
  });
}

for (const engine of createEngines()) {
  describeOn(engine, "keys", () => {
    test("a new key opens at once, is shown once, and is stored as a hash only", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring, storage }) => {
        const prefixes = { inference: "sk-sy-", management: "mgmt-sy-", sandbox: "sk-sy-sandbox-" } as const;
        for (const kind of ["inference", "management", "sandbox"] as const) {
          const made = await keyring.create(request({ kind }));
          expect(made.key).toMatch(new RegExp(`^${prefixes[kind]}[0-9A-Za-z]{43}$`));
          expect(made.masked).toBe(`${prefixes[kind]}…${made.key.slice(-4)}`);
          expect(keyring.lookUp(made.key)).toMatchObject({ caller: { keyId: made.id, kind } });
          const { key, ...shown } = made;
          expect(await keyring.get(made.id)).toEqual(shown);
          const stored = await storage.keys.get(made.id);
          expect(JSON.stringify(stored)).not.toContain(key);
          expect(stored?.secretHash).toBe(new Bun.CryptoHasher("sha256").update(key).digest("hex"));
        }
      });
    });

    test("settings are given back as they were set, with the documented defaults", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const made = await keyring.create(request({ rate_limit: { requests_per_minute: 60 }, budget: { amount: 0 } }));
        expect(made).toMatchObject({
          owner: null,
          scopes: ["chat", "responses", "universal", "embeddings"],
          allowed_models: null,
          rate_limit: { requests_per_second: null, requests_per_minute: 60, tokens_per_minute: null },
          budget: { amount: 0, period: "none" },
          expires_at: null,
          tags: {},
          enabled: true,
          last_used_at: null,
          revoked_at: null,
        });
        expect((await keyring.create(request({ kind: "management" }))).scopes).toEqual([]);
      });
    });

    test("wrong secrets are unknown, however near they are", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const { key } = await keyring.create(request());
        for (const wrong of ["", "x", key.slice(0, -1), `${key}a`, key.toUpperCase(), ` ${key}`, "x".repeat(100_000)]) {
          expect(keyring.lookUp(wrong)).toEqual({ refused: "unknown" });
        }
      });
    });

    test("a key ends at its expiry, to the millisecond, and can be given more time", async () => {
      await withKeyring(await engine.createStore(), async (room) => {
        const { keyring } = room;
        const expiresAt = room.time + minuteMs;
        const made = await keyring.create(request({ expires_at: new Date(expiresAt).toISOString() }));
        room.time = expiresAt - 1;
        expect(keyring.lookUp(made.key)).toHaveProperty("caller");
        room.time = expiresAt;
        expect(keyring.lookUp(made.key)).toEqual({ refused: "expired" });
        await keyring.update(made.id, { expires_at: null });
        expect(keyring.lookUp(made.key)).toHaveProperty("caller");
        const past = { expires_at: new Date(room.time - 1).toISOString() };
        expect(await catchError(keyring.update(made.id, past))).toMatchObject({
          problems: [{ loc: ["body", "expires_at"], type: "value_error" }],
        });
        expect(await catchError(keyring.create(request(past)))).toHaveProperty("problems");
      });
    });

    test("keys that expired long ago and revoked ones are refused after a start, and those that are given time work again", async () => {
      const options = await engine.createStore();
      const secrets = { expired: "", replaced: "", disabled: "", revoked: "", working: "" };
      const ids = { ...secrets };
      await withKeyring(options, async ({ keyring, time }) => {
        for (const name of ["expired", "disabled", "revoked", "working"] as const) {
          const expires_at = name === "working" ? null : new Date(time + minuteMs).toISOString();
          const made = await keyring.create(request({ expires_at, owner: "team" }));
          [ids[name], secrets[name]] = [made.id, made.key];
        }
        secrets.replaced = secrets.expired;
        const rotated = await keyring.rotate(ids.expired, 0);
        secrets.expired = rotated.key;
        await keyring.update(ids.disabled, { enabled: false });
        await keyring.revoke(ids.revoked);
      });
      await withStorage(options, async (storage) => {
        const time = Date.now() + 3 * dayMs;
        const keyring = await openKeyring({
          ...{ storage, adminKey: secrets.revoked, staleAfterMs: 10 * dayMs, log: quiet, now: () => time },
        });
        const look = () =>
          Object.entries(secrets).map(([name, secret]) => {
            const found = keyring.lookUp(secret);
            return [name, "refused" in found ? found.refused : "works"];
          });
        const refused = { expired: "expired", replaced: "revoked", disabled: "disabled", revoked: "revoked" };
        expect(Object.fromEntries(look())).toEqual({ ...refused, working: "works" });
        expect(await keyring.checkById(ids.expired)).toEqual({ refused: "expired" });
        expect(keyring.lookUpById(ids.revoked, () => true, true)).toEqual({ refused: "revoked" });
        expect(await keyring.findCaller(ids.revoked)).toMatchObject({ keyId: ids.revoked, team: "team" });
        // A change of the team reads its keys again.
        const team = keyring.findTeam("team");
        await storage.teams.update(team?.id ?? "", { tags: { changed: "yes" } });
        await keyring.refresh();
        expect(await keyring.findCaller(ids.expired)).toMatchObject({ tags: { changed: "yes" } });
        expect(keyring.lookUp(secrets.working)).toMatchObject({ caller: { tags: { changed: "yes" } } });
        await keyring.update(ids.expired, { expires_at: new Date(time + minuteMs).toISOString() });
        expect(Object.fromEntries(look())).toEqual({ ...refused, expired: "works", working: "works" });
        await keyring.close();
      });
    });

    test("all of many keys are known after a start", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.keys.insert(makeKey({ secretHash: "hash" }));
        await withDatabase(options, ({ sql }) => multiplyRow(sql, "api_keys", 4_500));
        const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: minuteMs, log: quiet });
        for (const { id } of (await storage.keys.list({ ...everything, limit: 5_000 })).items)
          expect(await keyring.checkById(id)).toHaveProperty("caller");
        await keyring.close();
      });
    });

    test("a disabled key is refused, and opens again when it is enabled", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const made = await keyring.create(request());
        await keyring.update(made.id, { enabled: false });
        expect(keyring.lookUp(made.key)).toEqual({ refused: "disabled" });
        await keyring.update(made.id, { enabled: true, name: "renamed" });
        expect(keyring.lookUp(made.key)).toMatchObject({ caller: { name: "renamed" } });
      });
    });

    test("a revoked key never opens again, and cannot be changed or rotated", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const made = await keyring.create(request());
        await keyring.revoke(made.id);
        await keyring.revoke(made.id);
        expect(keyring.lookUp(made.key)).toEqual({ refused: "revoked" });
        expect(await catchError(keyring.update(made.id, { enabled: true }))).toMatchObject({ code: "key_conflict" });
        expect(await catchError(keyring.rotate(made.id, 0))).toMatchObject({ code: "key_conflict" });
        expect(await keyring.get(made.id)).toMatchObject({ enabled: false, revoked_at: expect.any(String) });
      });
    });

    test("after a rotation the old secret stops at once, or when its grace is over", async () => {
      await withKeyring(await engine.createStore(), async (room) => {
        const { keyring } = room;
        const first = await keyring.create(request({ owner: "a", tags: { team: "x" } }));
        const second = await keyring.rotate(first.id, 0);
        expect(keyring.lookUp(first.key)).toEqual({ refused: "revoked" });
        const { key: _first, masked: _firstMasked, ...before } = first;
        const { key: _second, masked: _secondMasked, ...after } = second;
        expect(after).toEqual(before);
        const third = await keyring.rotate(first.id, 60);
        expect(keyring.lookUp(second.key)).toMatchObject({ caller: { keyId: first.id } });
        expect(keyring.lookUp(third.key)).toMatchObject({ caller: { keyId: first.id, owner: "a" } });
        room.time += minuteMs;
        expect(keyring.lookUp(second.key)).toEqual({ refused: "revoked" });
        expect(keyring.lookUp(third.key)).toHaveProperty("caller");
      });
    });

    test("of several replaced secrets only the last one has a grace", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const first = await keyring.create(request());
        const second = await keyring.rotate(first.id, 3600);
        const third = await keyring.rotate(first.id, 3600);
        expect(keyring.lookUp(first.key)).toEqual({ refused: "unknown" });
        for (const { key } of [second, third]) expect(keyring.lookUp(key)).toHaveProperty("caller");
      });
    });

    test("a replaced secret in its grace ends with the key when that is revoked", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const first = await keyring.create(request());
        await keyring.rotate(first.id, 3600);
        await keyring.revoke(first.id);
        expect(keyring.lookUp(first.key)).toEqual({ refused: "revoked" });
      });
    });

    test("the caller of a job is found by the id of its key, with the limits and tags of key and team", async () => {
      const options = await engine.createStore();
      await withKeyring(options, async ({ keyring: here }) => {
        await withKeyring(options, async ({ keyring: there, storage }) => {
          const modelLimits = [{ model: "openai/*", rate_limit: null, budget: makeBudget(5, "daily") }];
          const team = makeTeam("research", {
            budget: makeBudget(9, "monthly"),
            tags: { a: "team", b: "team" },
            modelLimits,
          });
          await storage.teams.insert(team);
          const limits = { rate_limit: { requests_per_minute: 60 }, tags: { b: "key" } };
          const made = await there.create(request({ team: team.id, ...limits }));
          expect(await here.findCaller(made.id)).toMatchObject({
            keyId: made.id,
            owner: "research",
            team: "research",
            tags: { a: "team", b: "key" },
            rules: [
              { id: `key:${made.id}`, holder: "key", holderName: "a key", model: null, budget: null },
              { id: `team:${team.id}`, holder: "team", holderName: "research", model: null, rateLimit: null },
              { id: `team:${team.id}/openai/*`, model: "openai/*", budget: makeBudget(5, "daily") },
            ],
          });
          await there.revoke(made.id);
          expect(await there.findCaller(made.id)).toMatchObject({ keyId: made.id });
        });
        expect(await here.findCaller(crypto.randomUUID())).toBeNull();
      });
    });

    test("unknown ids are not found", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring }) => {
        const id = crypto.randomUUID();
        const calls = [
          () => keyring.get(id),
          () => keyring.update(id, {}),
          () => keyring.rotate(id, 0),
          () => keyring.revoke(id),
        ];
        for (const call of calls) {
          expect(await catchError(call())).toMatchObject({ code: "key_not_found" });
        }
      });
    });

    test("a key made, changed and revoked by another process is known here within a second", async () => {
      const options = await engine.createStore();
      await withKeyring(options, async ({ keyring: here }) => {
        await withKeyring(options, async ({ keyring: there }) => {
          const made = await there.create(request());
          await waitFor("the key", () => "caller" in here.lookUp(made.key));
          await there.revoke(made.id);
          await waitFor("the revocation", () => "refused" in here.lookUp(made.key));
        });
        const output = await new Response(startChild("first", options, "0").stdout).text();
        expect(output).toBe("");
      });
    });

    test("the last use is recorded, but not while the caller waits", async () => {
      const options = await engine.createStore();
      const madeAt = Date.now() + 1;
      let id = "";
      await withKeyring(options, async (room) => {
        const made = await room.keyring.create(request());
        id = made.id;
        for (room.time = madeAt; room.time < madeAt + 100; room.time += 1) room.keyring.lookUp(made.key);
        expect((await room.storage.keys.get(id))?.lastUsedAt).toBeNull();
      });
      await withStorage(options, async (storage) => {
        expect((await storage.keys.get(id))?.lastUsedAt).toBe(madeAt + 99);
      });
    });

    test("the administrator's key opens without being stored, and says who it is", async () => {
      const adminKey = "an operator's own words";
      await withKeyring(
        await engine.createStore(),
        async ({ keyring, storage }) => {
          const found = keyring.lookUp(adminKey);
          if (!("caller" in found)) throw new Error("It did not open");
          expect(found.caller).toMatchObject({ keyId: adminKeyId, kind: "management" });
          expect(await keyring.describe(found.caller)).toMatchObject({ id: adminKeyId, kind: "management" });
          expect((await storage.keys.changedSince(0n)).keys).toEqual([]);
          expect(keyring.lookUp(`${adminKey} `)).toEqual({ refused: "unknown" });
        },
        { adminKey },
      );
    });

    test("the first start makes two keys that open, and no later one makes any", async () => {
      await withKeyring(await engine.createStore(), async ({ keyring, storage }) => {
        const made = await createFirstKeys(storage);
        await keyring.refresh();
        expect(keyring.lookUp(made?.inference ?? "")).toMatchObject({ caller: { kind: "inference" } });
        expect(keyring.lookUp(made?.management ?? "")).toMatchObject({ caller: { kind: "management" } });
        expect(await createFirstKeys(storage)).toBeNull();
      });
    });

    test("with an administrator's key the first start makes no management key", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        expect(await createFirstKeys(storage, { adminKey: "set" })).toMatchObject({ management: null });
      });
    });

    test("a store that was put back to an earlier state takes its later keys away", async () => {
      const options = await engine.createStore();
      await withKeyring(options, async ({ keyring }) => {
        const [kept, lost] = [await keyring.create(request()), await keyring.create(request())];
        const { databaseUrl, dataDir } = options;
        const filename = join(dataDir, "switchyard.sqlite");
        const restore = databaseUrl === null ? new Bun.SQL({ adapter: "sqlite", filename }) : new Bun.SQL(databaseUrl);
        await restore.begin(async (tx) => {
          await tx`delete from api_keys where id = ${lost.id}`;
          await tx`update topics set revision = -1`;
        });
        await restore.close();
        await waitFor("the key to be forgotten", () => "refused" in keyring.lookUp(lost.key));
        expect(keyring.lookUp(lost.key)).toEqual({ refused: "unknown" });
        expect(keyring.lookUp(kept.key)).toHaveProperty("caller");
      });
    });
  });
}

describe("while the store is away", () => {
  const folders = createFolders();
  afterAll(() => folders.remove());

  test("known keys are accepted until the snapshot is too old, and unknown keys are not called wrong", async () => {
    const storage = await openStorage({ databaseUrl: null, dataDir: folders.create(), log: quiet, deadlineMs: 60_000 });
    const keyring = await openKeyring({ storage, adminKey: "admin key", staleAfterMs: 5_000, log: quiet });
    const made = await keyring.create(request());
    const gone = await keyring.create(request());
    await keyring.revoke(gone.id);
    await storage.close();
    expect(keyring.lookUp(made.key)).toHaveProperty("caller");
    expect(keyring.lookUp(gone.key)).toEqual({ refused: "revoked" });
    expect(keyring.lookUp("sk-sy-unknown")).toEqual({ refused: "unavailable" });
    expect(await catchError(keyring.create(request()))).toMatchObject({ code: "dependency_unavailable" });
    await waitFor("the snapshot to be too old", () => "refused" in keyring.lookUp(made.key));
    expect(keyring.lookUp(made.key)).toEqual({ refused: "unavailable" });
    expect(keyring.lookUp("admin key")).toHaveProperty("caller");
    await keyring.close();
  });

  test.skipIf(whyNoOwnPostgres() !== null)(
    "keys open again, and new ones too, when PostgreSQL comes back",
    async () => {
      const server = await startOwnPostgres();
      const options = { databaseUrl: await server.createStore(), dataDir: folders.create(), log: quiet };
      const storage = await openStorage(options);
      const keyring = await openKeyring({ storage, adminKey: null, staleAfterMs: 1000, log: quiet });
      const made = await keyring.create(request());
      await server.kill();
      await waitFor("the outage to be noticed", () => !storage.isHealthy());
      expect(keyring.lookUp("sk-sy-unknown")).toEqual({ refused: "unavailable" });
      await waitFor("the snapshot to be too old", () => "refused" in keyring.lookUp(made.key));
      expect(keyring.lookUp(made.key)).toEqual({ refused: "unavailable" });
      await server.start();
      await waitFor("the key to open again", () => "caller" in keyring.lookUp(made.key));
      const other = makeKey({ secretHash: new Bun.CryptoHasher("sha256").update("from elsewhere").digest("hex") });
      await withStorage(options, (second) => second.keys.insert(other));
      await waitFor("the new key", () => "caller" in keyring.lookUp("from elsewhere"));
      expect(keyring.lookUp("sk-sy-unknown")).toEqual({ refused: "unknown" });
      await keyring.close();
      await storage.close();
      await server.stop();
    },
    120_000,
  );
});
