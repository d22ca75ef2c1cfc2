// What every engine promises about sessions and the audit log.

import { expect, test } from "bun:test";
import { gatewayActor } from "../../src/access/roles.ts";
import type { AuditFilter } from "../../src/storage/audit.ts";
import type { SessionRecord } from "../../src/storage/sessions.ts";
import { catchError, describeOn, type Engine, makeKey, makeTeam, withStorage } from "./engines.ts";

const everything: AuditFilter = {
  ...{ from: null, to: null, team: null, actor: null, action: null, target: null, outcome: null, after: null },
  limit: 100,
};
const actor = { ...gatewayActor, kind: "key", id: "k", name: "Zoë", address: "::1", requestId: "r" } as const;

function makeSession(changes: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id: Bun.randomUUIDv7(),
    tokenHash: Bun.SHA256.hash(crypto.randomUUID(), "hex"),
    keyId: null,
    keyProof: null,
    issuer: "https://issuer.example",
    subject: "ada",
    groups: ["a", "b"],
    name: "Ada",
    createdAt: 1_000,
    seenAt: 1_000,
    expiresAt: 5_000,
    ...changes,
  };
}

export function describeAuditStore(engine: Engine): void {
  describeOn(engine, "audit and sessions", () => {
    test("a change and its record are stored together, or neither is", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey();
        await storage.keys.insert(key, null, actor);
        // The hash is taken, so the insert fails after the team was created.
        const taken = makeKey({ secretHash: key.secretHash, team: "new" });
        await catchError(storage.keys.insert(taken, makeTeam("new"), actor));
        const records = await storage.audit.list(everything);
        expect(records.map(({ action, targetId }) => [action, targetId])).toEqual([["key.create", key.id]]);
        expect(await storage.teams.find("new")).toBeNull();
      });
    });

    test("an actor of one team changes keys of that team, and management keys only as an administrator", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [own, foreign] = [makeKey({ team: "a" }), makeKey({ team: "b" })];
        const manager = makeKey({ team: "a", kind: "management", role: "viewer" });
        await storage.keys.insert(own, makeTeam("a"));
        await storage.keys.insert(foreign, makeTeam("b"));
        await storage.keys.insert(manager);
        const operator = { ...actor, role: "operator", team: "a" } as const;
        const secret = { hash: "h", tail: "t", previousUntil: 0 };
        expect(await storage.keys.update(own.id, { name: "x" }, null, operator)).toMatchObject({ name: "x" });
        for (const outcome of [
          await storage.keys.update(foreign.id, { name: "x" }, null, operator),
          await storage.keys.rotate(foreign.id, secret, operator),
          await storage.keys.revoke(foreign.id, 1, operator),
        ])
          expect(outcome).toBe("not_found");
        expect(await storage.keys.rotate(manager.id, secret, operator)).toBe("forbidden");
        expect(await storage.keys.get(foreign.id)).toEqual(foreign);
      });
    });

    test("a key that moves to another team does not reveal either team to the other", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey({ team: "from-team" });
        await storage.keys.insert(key, makeTeam("from-team"));
        await storage.keys.update(key.id, { team: "to-team" }, makeTeam("to-team"), actor);
        const of = async (team: string) => JSON.stringify(await storage.audit.list({ ...everything, team }));
        expect(await of("from-team")).toContain(key.id);
        expect(await of("from-team")).not.toContain("to-team");
        expect(await of("to-team")).toContain(key.id);
        expect(await of("to-team")).not.toContain("from-team");
        const all = await storage.audit.list({ ...everything, action: "key.update" });
        expect(all.find(({ team }) => team === null)).toMatchObject({
          stateBefore: { team: "from-team" },
          stateAfter: { team: "to-team" },
        });
      });
    });

    test("records are listed newest first, in pages, and old ones are deleted", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const target = { kind: "thing", id: "t", name: null, team: null };
        for (let number = 0; number < 5; number++)
          await storage.audit.insert(actor, { action: "thing.change", target, after: { number } });
        const first = await storage.audit.list({ ...everything, limit: 2 });
        const last = first.at(-1);
        const rest = await storage.audit.list({ ...everything, after: last === undefined ? null : last });
        expect([...first, ...rest].map(({ stateAfter }) => stateAfter?.["number"])).toEqual([4, 3, 2, 1, 0]);
        expect(first[0]).toMatchObject({ actorName: "Zoë", address: "::1", requestId: "r", outcome: "done" });
        expect(await storage.audit.deleteOld(Date.now() + 1_000, 3)).toBe(3);
        expect(await storage.audit.deleteOld(0, 3)).toBe(0);
        expect((await storage.audit.list(everything)).map(({ stateAfter }) => stateAfter?.["number"])).toEqual([4, 3]);
      });
    });

    test("a session comes back as it was stored, until it is ended or expired", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [one, other] = [
          makeSession(),
          makeSession({ expiresAt: 9_000, groups: null, keyId: "k", keyProof: "p" }),
        ];
        await storage.sessions.insert(one, actor);
        await storage.sessions.insert(other, actor);
        expect(await storage.sessions.find(one.tokenHash)).toEqual(one);
        const listed = await storage.sessions.list({ now: 6_000, usedAfter: 0, limit: 10, offset: 0 });
        expect(listed).toEqual({ total: 1, items: [other] });
        const used = await storage.sessions.list({ now: 4_000, usedAfter: 1_000, limit: 10, offset: 0 });
        expect(used).toEqual({ total: 0, items: [] });
        await storage.sessions.touch(one.id, 3_000);
        await storage.sessions.touch(one.id, 2_000);
        expect((await storage.sessions.find(one.tokenHash))?.seenAt).toBe(3_000);
        expect(await storage.sessions.deleteExpired(6_000, 10)).toBe(1);
        expect(await storage.sessions.find(one.tokenHash)).toBeNull();
        await storage.sessions.delete(other.id, actor);
        await storage.sessions.delete(other.id, actor);
        expect(await storage.sessions.find(other.tokenHash)).toBeNull();
        const actions = (await storage.audit.list(everything)).map(({ action }) => action);
        expect(actions).toEqual(["session.end", "session.start", "session.start"]);
      });
    });
  });
}
