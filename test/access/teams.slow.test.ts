// Teams in the snapshot of keys: how changes reach other processes, and what a key gets from its team.

import { expect, test } from "bun:test";
import { createFirstKeys } from "../../src/access/first-keys.ts";
import { type AccessDefaults, openKeyring } from "../../src/access/keys.ts";
import { createTeams } from "../../src/access/teams.ts";
import { createKeyRequest } from "../../src/contract/keys.ts";
import { createTeamRequest } from "../../src/contract/teams.ts";
import type { StorageOptions } from "../../src/storage/storage.ts";
import { createEngines, describeOn, makeBudget, makeTeam, quiet, withStorage } from "../contracts/engines.ts";
import { waitFor } from "../support/wait.ts";

const requestKey = (members: Record<string, unknown> = {}) => createKeyRequest.parse({ name: "a key", ...members });

async function openAccess(options: StorageOptions, body: (access: Access) => Promise<void>, defaults?: AccessDefaults) {
  await withStorage(options, async (storage) => {
    const clock = { now: Date.now() };
    const settings = { storage, now: () => clock.now, ...(defaults && { defaults }) };
    const keyring = await openKeyring({ ...settings, adminKey: null, staleAfterMs: 60_000, log: quiet });
    await body({ storage, keyring, teams: createTeams({ ...settings, keyring }), clock });
    await keyring.close();
  });
}

interface Access extends Pick<Parameters<typeof createTeams>[0], "storage"> {
  readonly keyring: Awaited<ReturnType<typeof openKeyring>>;
  readonly teams: ReturnType<typeof createTeams>;
  readonly clock: { now: number };
}

for (const engine of createEngines()) {
  describeOn(engine, "teams", () => {
    test("what changes in a team reaches the keys of other processes", async () => {
      const options = await engine.createStore();
      await openAccess(options, async ({ keyring: here }) => {
        await openAccess(options, async ({ keyring, teams, storage }) => {
          const team = await teams.create(createTeamRequest.parse({ name: "research" }));
          const [first, lone] = [
            await keyring.create(requestKey({ team: "research" })),
            await keyring.create(requestKey()),
          ];
          const second = await keyring.rotate(first.id, 60);
          const callers = () => [first, second, lone].map(({ key }) => here.lookUp(key));
          await waitFor("the keys", () => callers().every((found) => "caller" in found));
          await teams.update(team.id, { enabled: false });
          await waitFor("the end of the team", () => "refused" in here.lookUp(second.key));
          // Both secrets of the key, and no key of another team.
          const refused = { refused: "team_disabled" };
          expect(callers()).toEqual([
            refused,
            refused,
            { caller: expect.objectContaining({ keyId: lone.id }) },
          ] as never);
          await teams.update(team.id, { enabled: true, allowed_models: ["openai/*"], tags: { a: "b" } });
          await waitFor("the team", () => "caller" in here.lookUp(second.key));
          expect(here.lookUp(second.key)).toMatchObject({
            caller: { allowedModels: [["openai/*"]], tags: { a: "b" } },
          });
          await storage.teams.update(team.id, { budget: makeBudget(3, "daily") });
          await waitFor("the budget of the team", async () => (await here.findCaller(first.id))?.rules.length === 1);
          expect(here.lookUp(second.key)).toMatchObject({ caller: { rules: [{ id: `team:${team.id}` }] } });
        });
      });
    });

    test("a team that was deleted and made again has the limits of the new one", async () => {
      await openAccess(await engine.createStore(), async ({ keyring, teams }) => {
        await teams.create(createTeamRequest.parse({ name: "x", enabled: false }));
        await teams.delete("x");
        await teams.create(createTeamRequest.parse({ name: "x", tags: { new: "yes" } }));
        const { key } = await keyring.create(requestKey({ team: "x" }));
        expect(keyring.lookUp(key)).toMatchObject({ caller: { tags: { new: "yes" } } });
      });
    });

    test("new keys and teams get the defaults that their request does not name; null means none", async () => {
      const key = { rate_limit: { ...noRates, requests_per_minute: 60 }, tags: { from: "defaults" } };
      const team = { allowed_models: ["sandbox/*"], budget: { amount: 0, period: "daily" as const, time_zone: "UTC" } };
      const check = async ({ keyring, teams, storage }: Access) => {
        expect(await keyring.create(requestKey())).toMatchObject({ ...key, budget: null, allowed_models: null });
        const none = { rate_limit: null, tags: null };
        expect(await keyring.create(requestKey(none))).toMatchObject({ rate_limit: null, tags: {} });
        const own = { rate_limit: { requests_per_second: 1 }, tags: { own: "yes" } };
        expect(await keyring.create(requestKey(own))).toMatchObject({
          rate_limit: { requests_per_second: 1, requests_per_minute: null },
          tags: { own: "yes" },
        });
        // Limits of calls are not for keys that make none.
        expect(await keyring.create(requestKey({ kind: "management" }))).toMatchObject({ rate_limit: null, tags: {} });
        const stored = { allowed_models: ["sandbox/*"], budget: { ...team.budget, raise: null } };
        expect(await teams.create(createTeamRequest.parse({ name: "a" }))).toMatchObject(stored);
        const nothing = { name: "b", allowed_models: null, budget: null };
        expect(await teams.create(createTeamRequest.parse(nothing))).toMatchObject({
          allowed_models: null,
          budget: null,
        });
        await keyring.create(requestKey({ owner: "c" }));
        expect(await teams.get("c")).toMatchObject(stored);
        expect((await storage.keys.list({ kind: null, enabled: null, team: "c", limit: 1, offset: 0 })).total).toBe(1);
      };
      await openAccess(await engine.createStore(), check, { key, team });
      await withStorage(await engine.createStore(), async (storage) => {
        await createFirstKeys(storage, { defaults: { key, team } });
        const { items } = await storage.keys.list({ kind: null, enabled: null, team: null, limit: 9, offset: 0 });
        expect(new Map(items.map(({ kind, tags }) => [kind, tags]))).toEqual(
          new Map([
            ["inference", { from: "defaults" }],
            ["management", {}],
          ]),
        );
      });
    });

    test("a raise is shown until it ends, and ends by itself", async () => {
      await openAccess(await engine.createStore(), async ({ keyring, teams, storage, clock }) => {
        const raise = { amount: 5, until: new Date(clock.now + 60_000).toISOString() };
        const budget = { ...makeBudget(10, "monthly"), raise };
        const modelLimits = [{ model: "openai/*", rate_limit: null, budget }];
        const team = makeTeam("research", { budget, modelLimits });
        await storage.teams.insert(team);
        const { id } = await keyring.create(requestKey({ team: "research" }));
        expect(await teams.get(team.id)).toMatchObject({ budget, model_limits: modelLimits });
        expect((await keyring.findCaller(id))?.rules).toMatchObject([{ budget }, { budget }]);
        clock.now += 60_000;
        const ended = { ...budget, raise: null };
        expect(await teams.get(team.id)).toMatchObject({ budget: ended, model_limits: [{ budget: ended }] });
      });
    });
  });
}

const noRates = {
  requests_per_second: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
};
