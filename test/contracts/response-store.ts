// What every engine promises about responses.

import { expect, test } from "bun:test";
import { responseStatements } from "../../src/storage/responses.ts";
import type { Sql, SqlValue } from "../../src/storage/sql.ts";
import type { ResponseRecord, Storage, StorageOptions } from "../../src/storage/storage.ts";
import { inParallel } from "../support/wait.ts";
import { catchError, describeOn, type Engine, makeResponse, withDatabase, withStorage } from "./engines.ts";

const mine = "tenant-a";
const foreign = "tenant-b";

const [expired, batch] = [1_000, 70];
// PostgreSQL scans a shorter table.
const longConversation = 1_000;

export function describeResponseStore(engine: Engine): void {
  describeOn(engine, "responses", () => {
    test("a response comes back as it was stored, byte for byte, and survives a restart", async () => {
      const options = await engine.createStore();
      const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const responses = [
        makeResponse({ owner: "Zoë's \u{1f3e2} 'team'; drop table responses; --", body: everyByte, status: "queued" }),
        makeResponse({ providerResponseId: "resp_theirs", body: null, input: null, expiresAt: null }),
        makeResponse({
          body: new Uint8Array(0),
          input: everyByte.subarray(10, 20),
          previousId: "resp_before",
          depth: 7,
        }),
        makeResponse({ body: new Uint8Array(Buffer.alloc(3_000_000, everyByte)) }),
      ];
      await withStorage(options, async (storage) => {
        for (const response of responses) await storage.responses.create(response);
      });
      await withStorage(options, async (storage) => {
        for (const { id, owner, ...rest } of responses) {
          expect(await storage.responses.find(id, owner)).toEqual({ id, owner, ...rest });
        }
      });
    });

    test("an id that is taken is not overwritten", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const first = await create(storage);
        await catchError(storage.responses.create(makeResponse({ id: first.id })));
        await catchError(storage.responses.create(makeResponse({ id: first.id, owner: foreign })));
        expect(await storage.responses.find(first.id, mine)).toEqual(first);
        expect(await storage.responses.find(first.id, foreign)).toBeNull();
      });
    });

    test("an update touches what it names and nothing else", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const response = await create(storage, { status: "queued", body: null });
        const other = await create(storage, { status: "queued" });
        expect(await storage.responses.update(response.id, mine, { providerResponseId: "theirs" })).toBe(true);
        expect(await storage.responses.update(response.id, mine, { status: "in_progress" })).toBe(true);
        const body = new Uint8Array([1, 0, 255]);
        expect(await storage.responses.update(response.id, mine, { status: "completed", body })).toBe(true);
        const changed = { ...response, providerResponseId: "theirs", status: "completed", body };
        expect(await storage.responses.find(response.id, mine)).toEqual(changed);
        expect(await storage.responses.find(other.id, mine)).toEqual(other);
        expect(await storage.responses.update("resp_unknown", mine, { status: "failed" })).toBe(false);
        expect(String(await catchError(storage.responses.update(other.id, mine, {})))).toContain(
          "must change at least one member",
        );
      });
    });

    test("a response that has ended stays as it ended", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        for (const status of ["completed", "incomplete", "failed", "cancelled"]) {
          const ended = await create(storage, { status });
          expect(await storage.responses.update(ended.id, mine, { status: "in_progress", body: null })).toBe(false);
          expect(await storage.responses.find(ended.id, mine)).toEqual(ended);
        }
      });
    });

    test("of a cancel and a completion that meet over two connections, one wins and the other is told", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          for (let round = 0; round < 20; round += 1) {
            const { id } = await create(one, { status: "in_progress" });
            const [cancelled, completed] = await Promise.all([
              one.responses.update(id, mine, { status: "cancelled" }),
              two.responses.update(id, mine, { status: "completed" }),
            ]);
            expect(cancelled).not.toBe(completed);
            const found = await one.responses.find(id, mine);
            expect(found?.status).toBe(cancelled ? "cancelled" : "completed");
          }
        }),
      );
    });

    test("what one connection has stored, changed or deleted is so for the other at once", async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          await inParallel(200, 50, async (index) => {
            const [here, there] = index % 2 === 0 ? [one, two] : [two, one];
            const response = await create(here, { status: "in_progress" });
            expect(await there.responses.find(response.id, mine)).toEqual(response);
            expect(await there.responses.update(response.id, mine, { status: "completed" })).toBe(true);
            expect((await here.responses.find(response.id, mine))?.status).toBe("completed");
            const deleted = await Promise.all([
              here.responses.delete(response.id, mine),
              there.responses.delete(response.id, mine),
            ]);
            expect(deleted.toSorted()).toEqual([false, true]);
            expect(await here.responses.find(response.id, mine)).toBeNull();
          });
        }),
      );
    });

    test("to anyone but its owner a response is as one that never existed, and nothing they do changes it", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const [first, second] = await createChain(storage, 2, { status: "in_progress" });
        const strangers = [foreign, "", "TENANT-A", "tenant-a ", "tenant-_", "%", "' or '1'='1"];
        for (const id of [first?.id, second?.id, "resp_unknown", "", "%"].map(String)) {
          for (const owner of strangers) {
            expect(await storage.responses.find(id, owner)).toBeNull();
            expect(await storage.responses.update(id, owner, { status: "failed", body: null })).toBe(false);
            expect(await storage.responses.delete(id, owner)).toBe(false);
            expect(await storage.responses.chain(id, owner, 10)).toBeNull();
            expect(await storage.responses.chain(id, owner, 1)).toBeNull();
          }
        }
        expect(await storage.responses.chain(second?.id ?? "", mine, 10)).toEqual([first, second] as ResponseRecord[]);
      });
    });

    test("a conversation never reaches into somebody else's, whatever its rows say", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const theirs = await create(storage, { owner: foreign });
        const crooked = await create(storage, { previousId: theirs.id, depth: 2 });
        expect(await storage.responses.chain(crooked.id, mine, 10)).toBeNull();
        expect(await storage.responses.chain(crooked.id, foreign, 10)).toBeNull();
      });
    });

    test("a conversation is its turns from the oldest to the newest, and branches share their beginning", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const turns = await createChain(storage, 5);
        const branch = await create(storage, { previousId: turns[1]?.id ?? null, depth: 3 });
        const [newest, middle] = [turns[4]?.id ?? "", turns[2]?.id ?? ""];
        expect(await storage.responses.chain(newest, mine, 5)).toEqual(turns);
        expect(await storage.responses.chain(middle, mine, 5)).toEqual(turns.slice(0, 3));
        expect(await storage.responses.chain(branch.id, mine, 5)).toEqual([...turns.slice(0, 2), branch]);
        expect(await storage.responses.chain("resp_unknown", mine, 5)).toBeNull();
      });
    });

    test("a conversation with more turns or more bytes than can be taken is said to be too long", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const turns = await createChain(storage, 4);
        const newest = turns[3]?.id ?? "";
        expect(await storage.responses.chain(newest, mine, 3)).toBe("too_long");
        expect(await storage.responses.chain(newest, mine, 1)).toBe("too_long");
        expect(await storage.responses.chain(newest, mine, 4)).toHaveLength(4);
        const large = await createChain(storage, 9, { body: new Uint8Array(4_000_000) });
        expect(await storage.responses.chain(large[8]?.id ?? "", mine, 100)).toBe("too_long");
        expect(await storage.responses.chain(large[3]?.id ?? "", mine, 100)).toHaveLength(4);
      });
    });

    test("a conversation that leads back to itself ends", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const first = makeResponse();
        const second = await create(storage, { previousId: first.id, depth: 2 });
        await storage.responses.create({ ...first, previousId: second.id });
        expect(await storage.responses.chain(second.id, mine, 100)).toBe("too_long");
      });
    });

    test("after a turn was deleted or has expired, later turns can be read but not continued", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const turns = await createChain(storage, 5);
        const [oldest, , third, , newest] = turns.map((turn) => turn.id);
        expect(await storage.responses.delete(third ?? "", mine)).toBe(true);
        expect(await storage.responses.delete(third ?? "", mine)).toBe(false);
        expect(await storage.responses.find(third ?? "", mine)).toBeNull();
        expect(await storage.responses.chain(newest ?? "", mine, 10)).toBeNull();
        expect(await storage.responses.chain(third ?? "", mine, 10)).toBeNull();
        expect(await storage.responses.find(newest ?? "", mine)).toEqual(turns[4] ?? null);
        expect(await storage.responses.chain(turns[1]?.id ?? "", mine, 10)).toHaveLength(2);
        expect(await storage.responses.delete(oldest ?? "", mine)).toBe(true);
        expect(await storage.responses.chain(turns[1]?.id ?? "", mine, 10)).toBeNull();

        const past = await create(storage, { expiresAt: Date.now() - 1 });
        const later = await create(storage, { previousId: past.id, depth: 2 });
        expect(await storage.responses.chain(later.id, mine, 10)).toBeNull();
      });
    });

    test("an expired response is gone before it is cleaned up", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        const past = await create(storage, { expiresAt: Date.now() - 1, status: "in_progress" });
        expect(await storage.responses.find(past.id, mine)).toBeNull();
        expect(await storage.responses.update(past.id, mine, { status: "completed" })).toBe(false);
        expect(await storage.responses.chain(past.id, mine, 10)).toBeNull();
        expect(await storage.responses.delete(past.id, mine)).toBe(false);
      });
    });

    test(`${expired} expired responses are cleaned up in batches by two connections, each counted once, others left`, async () => {
      const options = await engine.createStore();
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          const now = Date.now();
          const bytes = { body: new Uint8Array(8), input: null };
          // Many expire at the same moment, so that a batch ends in the middle of such a moment.
          await inParallel(expired, 100, (index) =>
            one.responses.create(makeResponse({ ...bytes, expiresAt: now - (index % 7) })),
          );
          const alive = await create(one, { expiresAt: now + 60_000 });
          const forever = await create(one, { expiresAt: null });
          const counts: number[] = [];
          const cleanUp = async (storage: Storage) => {
            for (;;) {
              const count = await storage.responses.deleteExpired(now, batch);
              counts.push(count);
              expect(count).toBeLessThanOrEqual(batch);
              if (count === 0) return;
            }
          };
          await Promise.all([cleanUp(one), cleanUp(two)]);
          expect(counts.reduce((sum, count) => sum + count, 0)).toBe(expired);
          expect(await one.responses.find(alive.id, mine)).toEqual(alive);
          expect(await one.responses.find(forever.id, mine)).toEqual(forever);
        }),
      );
    });

    test("the longest expired are cleaned up first", async () => {
      await withStorage(await engine.createStore(), async (storage) => {
        for (const expiresAt of [300, 100, 200, 400]) await create(storage, { expiresAt });
        expect(await storage.responses.deleteExpired(200, 1)).toBe(1);
        expect(await storage.responses.deleteExpired(100, 10)).toBe(0);
        expect(await storage.responses.deleteExpired(300, 2)).toBe(2);
        expect(await storage.responses.deleteExpired(400, 10)).toBe(1);
        expect(await storage.responses.deleteExpired(400, 10)).toBe(0);
      });
    });

    test(`a conversation of ${longConversation} turns is read with a lookup per turn, not with a scan`, async () => {
      const options = await engine.createStore();
      await withStorage(options, async (storage) => {
        const turns = await createChain(storage, longConversation);
        const newest = turns.at(-1)?.id ?? "";
        expect(await storage.responses.chain(newest, mine, longConversation)).toHaveLength(longConversation);
        const plan = await explainChain(options, newest);
        expect(plan).toMatch(/SEARCH responses|Index Scan using .* on responses/);
        expect(plan).not.toMatch(/SCAN responses|Seq Scan on responses/);
      });
    });
  });
}

async function create(storage: Storage, changes: Partial<ResponseRecord> = {}): Promise<ResponseRecord> {
  const response = makeResponse(changes);
  await storage.responses.create(response);
  return response;
}

/** The turns of one conversation, the oldest first. */
async function createChain(storage: Storage, length: number, changes: Partial<ResponseRecord> = {}) {
  const turns: ResponseRecord[] = [];
  for (let depth = 1; depth <= length; depth += 1)
    turns.push(makeResponse({ ...changes, previousId: turns.at(-1)?.id ?? null, depth }));
  await inParallel(length, 20, (index) => storage.responses.create(turns[index] as ResponseRecord));
  return turns;
}

/** How the engine plans to read a conversation. */
async function explainChain(options: StorageOptions, id: string): Promise<string> {
  let plan = "";
  await withDatabase(options, ({ engine, transaction }) =>
    transaction(async (sql) => {
      // A thousand rows are few pages, which PostgreSQL may read as a whole. What counts is that an index serves every turn.
      if (engine === "postgres") await sql.script("set local enable_seqscan = off");
      const explain = async (text: TemplateStringsArray, ...values: SqlValue[]) => {
        const command = engine === "sqlite" ? "explain query plan" : "explain";
        const statement = text.reduce((whole, part, index) => `${whole}$${index}${part}`);
        plan = Bun.inspect(await sql.execute(`${command} ${statement}`, values));
        return [];
      };
      await responseStatements.chain.run(Object.assign(explain, sql) as unknown as Sql, id, mine, 1000);
    }),
  );
  return plan;
}
