// What every engine promises about the gateway's own secrets.

import { expect, test } from "bun:test";
import { waitFor } from "../support/wait.ts";
import { catchError, describeOn, type Engine, runTogether, withStorage } from "./engines.ts";

export function describeSecretStore(engine: Engine): void {
  describeOn(engine, "secrets", () => {
    test("a secret is random bytes of the length asked for, another for each name, and survives a restart", async () => {
      const options = await engine.createStore();
      const [first, other] = await withStorage(options, async (storage) => [
        await storage.secrets.getOrCreate("first", 32),
        await storage.secrets.getOrCreate("other", 64),
      ]);
      expect(first).toHaveLength(32);
      expect(other).toHaveLength(64);
      expect(new Set(first).size).toBeGreaterThan(8);
      expect(other?.slice(0, 32)).not.toEqual(first);
      await withStorage(options, async (storage) => {
        expect(await storage.secrets.getOrCreate("first", 32)).toEqual(first ?? new Uint8Array());
      });
    });

    test("a secret that is there with another length is an error and stays as it is", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const secret = await storage.secrets.getOrCreate("name", 32);
        expect(String(await catchError(storage.secrets.getOrCreate("name", 33)))).toContain(
          "has 32 bytes instead of 33",
        );
        expect(String(await catchError(storage.secrets.getOrCreate("short", 8)))).toContain("at least 16 bytes");
        expect(await storage.secrets.getOrCreate("name", 32)).toEqual(secret);
      });
    });

    test("two connections that ask at once, many times over, are given the same secret", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          for (let round = 0; round < 20; round += 1) {
            const asked = Array.from({ length: 8 }, (_, index) =>
              (index % 2 === 0 ? one : two).secrets.getOrCreate(`round ${round}`, 32),
            );
            const given = await Promise.all(asked);
            expect(new Set(given.map((secret) => secret.toHex())).size).toBe(1);
          }
        }),
      );
    });

    test("four processes that start together are given the same secret", async () => {
      const outputs = await runTogether("secret", await engine.createStore());
      expect(outputs[0]).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set(outputs).size).toBe(1);
    });

    test("secrets that processes hold in memory are stored, listed, replaced and removed, and each change is announced", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          let announced = 0;
          two.onKeysChanged(() => {
            announced += 1;
          });
          const expectAnnouncement = async (work: () => Promise<unknown>) => {
            const before = announced;
            await work();
            await waitFor("an announcement", () => announced > before);
          };
          await one.secrets.getOrCreate("other", 32);
          await expectAnnouncement(() => one.secrets.put("a:x", Buffer.from("first")));
          await expectAnnouncement(() => one.secrets.put("a:x", Buffer.from("second")));
          await expectAnnouncement(() => one.secrets.put("a:w", Buffer.from("third")));
          const listed = await two.secrets.listUnder("a:");
          expect(listed.map(({ name, value }) => [name, Buffer.from(value).toString()])).toEqual([
            ["a:w", "third"],
            ["a:x", "second"],
          ]);
          let isReplaced = false;
          await expectAnnouncement(async () => {
            isReplaced = await one.secrets.replace("a:x", Buffer.from("second"), Buffer.from("fourth"));
          });
          const isReplacedAgain = await two.secrets.replace("a:x", Buffer.from("second"), Buffer.from("fifth"));
          expect([isReplaced, isReplacedAgain]).toEqual([true, false]);
          expect(Buffer.from((await two.secrets.find("a:x")) ?? []).toString()).toBe("fourth");
          let isRemoved = false;
          await expectAnnouncement(async () => {
            isRemoved = await one.secrets.remove("a:x");
          });
          expect([isRemoved, await one.secrets.remove("a:x")]).toEqual([true, false]);
          expect((await two.secrets.listUnder("a:")).map(({ name }) => name)).toEqual(["a:w"]);
        }),
      );
    });
  });
}
