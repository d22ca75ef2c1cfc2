// What every engine promises about keys.

import { expect, test } from "bun:test";
import { ValidationError } from "../../src/errors.ts";
import type { KeyChanges } from "../../src/storage/keys.ts";
import { waitFor } from "../support/wait.ts";
import {
  catchError,
  describeOn,
  type Engine,
  makeBudget,
  makeKey,
  makeTeam,
  multiplyRow,
  runTogether,
  startChild,
  watchKeys,
  withDatabase,
  withStorage,
} from "./engines.ts";

const everything = { kind: null, enabled: null, team: null, limit: 100, offset: 0 };

export function describeKeyStore(engine: Engine): void {
  describeOn(engine, "keys", () => {
    test("a key comes back as it was stored, and survives a restart", async () => {
      const options = await engine.createStore();
      const key = makeKey({
        name: "Zoë's \u{1f511} 'quoted' \"key\"; drop table api_keys; --",
        team: "team\\a",
        scopes: ["chat", "embeddings"],
        allowedModels: ["openai/*", "anthropic/claude"],
        rateLimit: {
          requests_per_second: 5,
          requests_per_minute: null,
          tokens_per_minute: 1_000_000_000,
          concurrent_requests: 7,
        },
        budget: makeBudget(8_999_999.123456, "monthly"),
        tags: { team: "a", note: "\u0000 is fine inside JSON" },
        enabled: false,
        expiresAt: 4_102_444_800_000,
      });
      await withStorage(options, (storage) => storage.keys.insert(key, makeTeam("team\\a")));
      await withStorage(options, async (storage) => expect(await storage.keys.get(key.id)).toEqual(key));
    });

    test("zero, an empty list and nothing at all are different things", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const zero = makeKey({ budget: makeBudget(0, "none"), scopes: [], allowedModels: [] });
        const none = makeKey({ budget: null, allowedModels: null });
        await storage.keys.insert(zero);
        await storage.keys.insert(none);
        expect(await storage.keys.get(zero.id)).toEqual(zero);
        expect(await storage.keys.get(none.id)).toEqual(none);
        expect(await storage.keys.get(crypto.randomUUID())).toBeNull();
      });
    });

    test("lists are newest first, paged and filtered, with the number of all", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        expect(await storage.keys.list(everything)).toEqual({ total: 0, items: [] });
        const keys = Array.from({ length: 5 }, (_, index) =>
          makeKey({
            name: `key ${index}`,
            createdAt: 1000 + index,
            kind: index === 0 ? "management" : "inference",
            team: index < 2 ? "a" : null,
            enabled: index !== 4,
          }),
        );
        for (const key of keys) await storage.keys.insert(key, makeTeam("a"));
        const names = async (filter: object) =>
          (await storage.keys.list({ ...everything, ...filter })).items.map((key) => key.name);
        expect(await names({ limit: 2, offset: 1 })).toEqual(["key 3", "key 2"]);
        expect((await storage.keys.list({ ...everything, limit: 2 })).total).toBe(5);
        expect(await names({ kind: "management" })).toEqual(["key 0"]);
        expect(await names({ team: "a" })).toEqual(["key 1", "key 0"]);
        expect(await names({ enabled: false })).toEqual(["key 4"]);
        expect(await names({ enabled: true, team: "a", kind: "inference" })).toEqual(["key 1"]);
      });
    });

    test("a search finds keys by a part of their name or team, by the end of their secret and by their id", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const mail = makeKey({ name: "Mail worker 100%", team: "Sales_North", secretTail: "Zy9w", createdAt: 2 });
        const shop = makeKey({ name: "shop", secretTail: "mail", createdAt: 1 });
        await storage.keys.insert(mail, makeTeam("Sales_North"));
        await storage.keys.insert(shop);
        const find = async (search: string) =>
          (await storage.keys.list({ ...everything, search })).items.map((key) => key.name);
        expect(await find("WORKER")).toEqual([mail.name]);
        expect(await find("sales")).toEqual([mail.name]);
        expect(await find("zy9W")).toEqual([mail.name]);
        expect(await find(`sy-…${mail.secretTail}`)).toEqual([mail.name]);
        expect(await find(shop.id.toUpperCase())).toEqual([shop.name]);
        expect(await find("mail")).toEqual([mail.name, shop.name]);
        // The wildcards of SQL are text.
        expect(await find("%")).toEqual([mail.name]);
        expect(await find("l_s")).toEqual([]);
        expect(await find("s_north")).toEqual([mail.name]);
        expect(await find("\\")).toEqual([]);
        expect((await storage.keys.list({ ...everything, search: "shop", team: "Sales_North" })).total).toBe(0);
      });
    });

    test("lists are filtered by what keys are good for now", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const hour = 3_600_000;
        const times = {
          endless: null,
          lasting: Date.now() + hour,
          expired: Date.now() - hour,
          revoked: Date.now() - hour,
        };
        for (const [index, [name, expiresAt]] of Object.entries(times).entries()) {
          const key = makeKey({ name, expiresAt, createdAt: 1000 - index });
          await storage.keys.insert(key);
          if (name === "revoked") await storage.keys.revoke(key.id, Date.now());
        }
        const names = async (state: "active" | "expired" | "revoked" | null) =>
          (await storage.keys.list({ ...everything, state })).items.map((key) => key.name);
        expect(await names("active")).toEqual(["endless", "lasting"]);
        expect(await names("expired")).toEqual(["expired"]);
        expect(await names("revoked")).toEqual(["revoked"]);
        expect(await names(null)).toHaveLength(4);
      });
    });

    test("a change touches what it names and nothing else", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey({ team: "a", budget: makeBudget(1.5, "daily"), tags: { x: "y" } });
        await storage.keys.insert(key, makeTeam("a"));
        expect(await storage.keys.update(key.id, { name: "new", team: null })).toEqual({
          ...key,
          name: "new",
          team: null,
        });
        const updated = await storage.keys.update(key.id, { budget: null, enabled: false });
        expect(updated).toEqual({ ...key, name: "new", team: null, budget: null, enabled: false });
        expect(await storage.keys.update(key.id, {})).toEqual(updated);
        expect(await storage.keys.update(crypto.randomUUID(), { name: "x" })).toBe("not_found");
      });
    });

    test("revoking is final, and twice is the same as once", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey();
        await storage.keys.insert(key);
        expect(await storage.keys.revoke(key.id, 5000)).toEqual({ ...key, enabled: false, revokedAt: 5000 });
        expect(await storage.keys.revoke(key.id, 6000)).toMatchObject({ revokedAt: 5000 });
        expect(await storage.keys.update(key.id, { enabled: true })).toBe("revoked");
        expect(await storage.keys.rotate(key.id, { hash: "h", tail: "t", previousUntil: 0 })).toBe("revoked");
        expect(await storage.keys.revoke(crypto.randomUUID(), 1)).toBe("not_found");
      });
    });

    test("a rotated key keeps its id and remembers the secret before", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey();
        await storage.keys.insert(key);
        const secret = { hash: "new hash", tail: "new", previousUntil: 7000 };
        expect(await storage.keys.rotate(key.id, secret)).toEqual({
          ...key,
          secretHash: "new hash",
          secretTail: "new",
          previousHash: key.secretHash,
          previousUntil: 7000,
        });
      });
    });

    test("only what changed since a revision is read again", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [first, second] = [makeKey(), makeKey()];
        await storage.keys.insert(first);
        const before = await storage.keys.changedSince(0n);
        expect(before.keys.map((key) => key.id)).toEqual([first.id]);
        await storage.keys.insert(second);
        await storage.keys.touch([{ id: first.id, at: 1 }]);
        const after = await storage.keys.changedSince(before.revision);
        expect(after.keys.map((key) => key.id)).toEqual([second.id]);
        expect((await storage.keys.changedSince(after.revision)).keys).toEqual([]);
      });
    });

    test("many keys and teams are read in pages, also those of one revision", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        await storage.keys.insert(makeKey({ team: "team" }), makeTeam("team"));
        await withDatabase(options, async ({ sql }) => {
          for (const table of ["api_keys", "teams"] as const) await multiplyRow(sql, table, 4_500);
        });
        const [keys, teams] = [new Set<string>(), new Set<string>()];
        let pages = 0;
        for (let from: KeyChanges["next"] = null; ; ) {
          const page: KeyChanges = await storage.keys.changedSince(0n, from);
          pages += 1;
          expect(page.keys.length).toBeLessThanOrEqual(2_000);
          expect(page.teams.length).toBeLessThanOrEqual(2_000);
          for (const { id } of page.keys) keys.add(id);
          for (const { id } of page.teams) teams.add(id);
          from = page.next;
          if (from === null) break;
        }
        expect([keys.size, teams.size, pages]).toEqual([4_501, 4_501, 5]);
      });
    });

    test("the last use only moves forward", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey();
        await storage.keys.insert(key);
        await storage.keys.touch([{ id: key.id, at: 2000 }]);
        await storage.keys.touch([
          { id: key.id, at: 1000 },
          { id: crypto.randomUUID(), at: 1000 },
        ]);
        expect((await storage.keys.get(key.id))?.lastUsedAt).toBe(2000);
      });
    });

    test("writes that come together are all stored, and one that fails fails alone", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const taken = makeKey();
        await storage.keys.insert(taken);
        const keys = Array.from({ length: 50 }, () => makeKey());
        const bad = makeKey({ secretHash: taken.secretHash });
        const writes = keys.map((key) => storage.keys.insert(key));
        writes.splice(25, 0, storage.keys.insert(bad));
        const results = await Promise.allSettled(writes);
        expect(results.map((result) => result.status).filter((status) => status === "rejected")).toHaveLength(1);
        expect(results[25]?.status).toBe("rejected");
        expect((await storage.keys.list(everything)).total).toBe(51);
        // The one that failed had taken a revision before: that is undone too.
        expect((await storage.keys.changedSince(0n)).revision).toBe(51n);
      });
    });

    test("text with a NUL character is refused as the caller's mistake", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey();
        await storage.keys.insert(key);
        expect(await catchError(storage.keys.insert(makeKey({ name: "a\u0000b" })))).toBeInstanceOf(ValidationError);
        expect(await catchError(storage.keys.update(key.id, { team: "\u0000" }))).toBeInstanceOf(ValidationError);
        expect(await catchError(storage.keys.get("\u0000"))).toBeInstanceOf(ValidationError);
        expect(await storage.keys.get(key.id)).toEqual(key);
      });
    });

    test("a lone surrogate does not break anything", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey({ name: "a\ud800b" });
        await storage.keys.insert(key);
        expect((await storage.keys.get(key.id))?.name).toBe("a\ufffdb");
      });
    });

    test("first keys are stored once, by one of four processes that start together", async () => {
      const options = await engine.createStore();
      const outputs = await runTogether("first", options);
      expect(outputs.filter((output) => output.startsWith("sk-sy-"))).toHaveLength(1);
      await withStorage(options, async (storage) => expect((await storage.keys.list(everything)).total).toBe(2));
    });

    test("a change made by another process is announced", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const announced = watchKeys(storage);
        for (let round = 0; round < 2; round += 1) {
          const id = await new Response(startChild("insert", options).stdout).text();
          await waitFor("the change to be announced", () => announced.has(id));
        }
      });
    });

    test("a change made by this process is announced", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const announced = watchKeys(storage);
        const key = makeKey();
        await storage.keys.insert(key);
        await waitFor("the change to be announced", () => announced.has(key.id));
      });
    });

    test("a closed store refuses with an outage and does not hang", async () => {
      const options = await engine.createStore();
      const closed = await withStorage(options, async (storage) => storage);
      expect(closed.isHealthy()).toBe(false);
      expect(await catchError(closed.keys.get("x"))).toMatchObject({ code: "dependency_unavailable" });
      await closed.close();
    });
  });
}
