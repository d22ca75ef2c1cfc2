// What every engine promises about teams.

import { expect, test } from "bun:test";
import { waitFor } from "../support/wait.ts";
import { describeOn, type Engine, makeBudget, makeKey, makeTeam, withStorage } from "./engines.ts";

const everything = { enabled: null, limit: 100, offset: 0 };

export function describeTeamStore(engine: Engine): void {
  describeOn(engine, "teams", () => {
    test("a team comes back as it was stored, by its name and by its id, and survives a restart", async () => {
      const options = await engine.createStore();
      const rates = { requests_per_second: null, requests_per_minute: 5, tokens_per_minute: 9, concurrent_requests: 1 };
      const team = makeTeam("Zoë's \u{1f511} team'; drop table teams; --", {
        displayName: "Zoë",
        allowedModels: ["openai/*"],
        rateLimit: rates,
        budget: { ...makeBudget(0.000001, "weekly"), raise: { amount: 8, until: "2040-01-01T00:00:00.000Z" } },
        modelLimits: [{ model: "openai/*", rate_limit: rates, budget: null }],
        tags: { a: "b" },
        enabled: false,
      });
      await withStorage(options, async (storage) => expect(await storage.teams.insert(team)).toBe("inserted"));
      await withStorage(options, async (storage) => {
        expect(await storage.teams.find(team.name)).toEqual(team);
        expect(await storage.teams.find(team.id.toUpperCase())).toEqual(team);
        expect(await storage.teams.find("another")).toBeNull();
        expect((await storage.keys.changedSince(0n)).teams).toEqual([team]);
      });
    });

    test("a name is taken once, also when two processes want it at the same moment", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (one) => {
        await withStorage(options, async (other) => {
          const stores = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : other));
          const outcomes = await Promise.all(stores.map((storage) => storage.teams.insert(makeTeam("wanted"))));
          expect<string[]>(outcomes.toSorted()).toEqual(["inserted", ...Array.from({ length: 9 }, () => "name_taken")]);
          expect((await one.teams.list(everything)).total).toBe(1);
        });
      });
    });

    test("a name that has the form of an id is found before the id", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const first = makeTeam("first");
        const second = makeTeam(first.id);
        await storage.teams.insert(first);
        await storage.teams.insert(second);
        expect(await storage.teams.find(first.id)).toEqual(second);
      });
    });

    test("lists are newest first, paged and filtered; a change touches what it names", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const teams = Array.from({ length: 3 }, (_, index) => makeTeam(`team ${index}`, { createdAt: 1000 + index }));
        for (const team of teams) await storage.teams.insert(team);
        const [first, second, third] = teams;
        const page = await storage.teams.list({ ...everything, limit: 2 });
        expect(page).toEqual({ total: 3, items: [third, second] as typeof teams });
        const changed = await storage.teams.update(first?.id ?? "", { enabled: false, budget: makeBudget(1, "daily") });
        expect(changed).toEqual({ ...makeTeam(""), ...first, enabled: false, budget: makeBudget(1, "daily") });
        expect((await storage.teams.list({ ...everything, enabled: false })).items).toEqual([changed as never]);
        expect(await storage.teams.update(crypto.randomUUID(), { enabled: false })).toBeNull();
      });
    });

    test("a search finds teams by a part of their name or display name, and by their id", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const research = makeTeam("research", { displayName: "R&D 100%", createdAt: 2 });
        const sales = makeTeam("Sales_North", { createdAt: 1 });
        await storage.teams.insert(research);
        await storage.teams.insert(sales);
        const find = async (search: string) =>
          (await storage.teams.list({ ...everything, search })).items.map(({ name }) => name);
        expect(await find("SEAR")).toEqual(["research"]);
        expect(await find("r&d")).toEqual(["research"]);
        expect(await find(sales.id.toUpperCase())).toEqual(["Sales_North"]);
        expect(await find("r")).toEqual(["research", "Sales_North"]);
        // The wildcards of SQL are text.
        expect(await find("%")).toEqual(["research"]);
        expect(await find("_")).toEqual(["Sales_North"]);
        expect((await storage.teams.list({ ...everything, search: "sales", name: "research" })).total).toBe(0);
      });
    });

    test("a key is stored only with a team that exists, or that is stored with it", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const key = makeKey({ team: "research" });
        expect(await storage.keys.insert(key)).toBe("no_team");
        expect(await storage.keys.get(key.id)).toBeNull();
        const team = makeTeam("research");
        expect(await storage.keys.insert(key, team)).toBe("inserted");
        // The team that exists is kept.
        expect(await storage.keys.insert(makeKey({ team: "research" }), makeTeam("research"))).toBe("inserted");
        expect((await storage.teams.list(everything)).items).toEqual([team]);
        expect(await storage.keys.update(key.id, { team: "sales" })).toBe("no_team");
        expect(await storage.keys.get(key.id)).toMatchObject({ team: "research" });
        expect(await storage.keys.update(key.id, { team: "sales" }, makeTeam("sales"))).toMatchObject({
          team: "sales",
        });
        await storage.keys.revoke(key.id, 1);
        expect(await storage.keys.update(key.id, { team: "third" }, makeTeam("third"))).toBe("revoked");
        expect(await storage.teams.find("third")).toBeNull();
      });
    });

    test("a team is deleted only without keys, also when a key is created at the same moment", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (one) => {
        await withStorage(options, async (other) => {
          for (let round = 0; round < 10; round += 1) {
            const team = makeTeam(`team ${round}`);
            await one.teams.insert(team);
            const key = makeKey({ team: team.name });
            const [remaining, inserted] = await Promise.all([one.teams.delete(team.id), other.keys.insert(key)]);
            expect([remaining, inserted, (await one.teams.find(team.id)) !== null]).toEqual(
              remaining === 0 ? [0, "no_team", false] : [1, "inserted", true],
            );
            await one.keys.revoke(key.id, 1);
            expect(await one.teams.delete(team.id)).toBe(remaining === 0 ? "not_found" : 0);
          }
        });
      });
    });

    test("a change of a team is announced to other processes", async () => {
      const options = await engine.createStore();
      await withStorage(options, async (here) => {
        let seen = 0n;
        here.onKeysChanged(() => {
          here.keys.changedSince(0n).then(
            ({ revision }) => {
              seen = revision;
            },
            () => {},
          );
        });
        await withStorage(options, async (there) => {
          const team = makeTeam("research");
          await there.teams.insert(team);
          await waitFor("the new team", () => seen === 1n);
          await there.teams.update(team.id, { enabled: false });
          await waitFor("the change", () => seen === 2n);
          await there.teams.delete(team.id);
          await waitFor("the deletion", () => seen === 3n);
        });
      });
    });
  });
}
