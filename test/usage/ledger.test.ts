import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerBatch } from "../../src/storage/ledger.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Ledger, type LedgerOptions, openLedger } from "../../src/usage/ledger.ts";
import { createFolders, quiet, withStorage } from "../contracts/engines.ts";
import { makeLine } from "../contracts/ledger-store.ts";

const folders = createFolders();
afterAll(() => folders.remove());

interface Opened {
  readonly storage: Storage;
  readonly folder: string;
  readonly open: (changes?: Partial<LedgerOptions>) => Ledger;
}

async function withLedgers(body: (opened: Opened) => Promise<void>): Promise<void> {
  const dataDir = folders.create();
  const folder = join(dataDir, "ledger");
  await withStorage({ databaseUrl: null, dataDir, log: quiet }, async (storage) => {
    // Only flushes that the test asks for.
    const defaults = { store: storage.ledger, folder, maxSpoolBytes: 2 ** 30, log: quiet, flushEveryMs: 3_600_000 };
    await body({ storage, folder, open: (changes) => openLedger({ ...defaults, ...changes }) });
  });
}

/** The store of a gateway whose database is away. */
async function withStoreAway(body: (store: LedgerOptions["store"]) => Promise<void>): Promise<void> {
  let store: LedgerOptions["store"] | null = null;
  await withStorage({ databaseUrl: null, dataDir: folders.create(), log: quiet }, async ({ ledger }) => {
    store = ledger;
  });
  if (store !== null) await body(store);
}

/** A store that does not accept lines until `isAway` is false. */
function switchable(present: LedgerOptions["store"], away: LedgerOptions["store"]) {
  const store = {
    ...present,
    isAway: true,
    append: (batch: LedgerBatch) => (store.isAway ? away : present).append(batch),
  };
  return store;
}

/** Records lines until the spool is full, and returns how many. */
function fill(ledger: Ledger): number {
  let recorded = 0;
  expect(() => {
    for (; recorded < 1_000; recorded++) {
      ledger.refuseWhenFull();
      ledger.record(makeLine());
    }
  }).toThrow("space on disk");
  return recorded;
}

function spoolFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".spool"));
}

test("a recorded line is on disk at once and in the store after a flush, and no file is left after the end", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    const ledger = open();
    const line = makeLine({ reason: "ünïcode \u{1f600} and\nline breaks" });
    ledger.record(line);
    const [file = ""] = spoolFiles(folder);
    expect(readFileSync(join(folder, file), "utf8")).toStartWith(`,${JSON.stringify({ n: 1, ...line })}\n\0`);
    expect((await storage.ledger.count()).lines).toBe(0);
    await ledger.flush();
    ledger.record(makeLine());
    await ledger.close();
    expect((await storage.ledger.count()).lines).toBe(2);
    expect(ledger.dropped).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("lines of many segments, recorded while others are being stored, are all stored once", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    const ledger = open({ segmentBytes: 4_096 });
    let recorded = 0;
    for (let round = 0; round < 20; round++) {
      for (let index = 0; index < 25; index++, recorded++) ledger.record(makeLine({ reason: "é".repeat(index * 7) }));
      const flushed = ledger.flush();
      for (let index = 0; index < 5; index++, recorded++) ledger.record(makeLine());
      await flushed;
    }
    await ledger.flush();
    expect(await storage.ledger.count()).toMatchObject({ lines: recorded });
    expect(spoolFiles(folder).length).toBeLessThanOrEqual(2);
    await ledger.close();
  });
});

test("what a process left behind is stored by another one, once, and without a line that was cut off", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    await withStoreAway(async (store) => {
      const ended = open({ store, segmentBytes: 8_192 });
      for (let index = 0; index < 60; index++) ended.record(makeLine());
      await ended.close();
    });
    const [first = ""] = spoolFiles(folder).sort();
    const bytes = readFileSync(join(folder, first));
    const copy = Buffer.from(bytes);
    copy.write(',{"id":"cut', bytes.indexOf(0), "utf8");
    writeFileSync(join(folder, first), copy);
    const copies = spoolFiles(folder).map((name) => [name, readFileSync(join(folder, name))] as const);

    const next = open();
    await next.flush();
    expect((await storage.ledger.count()).lines).toBe(60);
    await next.close();
    expect(readdirSync(folder)).toEqual([]);

    // As if the process had ended after the transaction, and before it removed the files.
    for (const [name, content] of copies) writeFileSync(join(folder, name), content);
    const again = open();
    await again.flush();
    await again.close();
    expect((await storage.ledger.count()).lines).toBe(60);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("the files of a process that runs are left alone", async () => {
  await withLedgers(async ({ storage, open }) => {
    const [one, other] = [open(), open()];
    one.record(makeLine());
    await other.flush();
    expect((await storage.ledger.count()).lines).toBe(0);
    await one.close();
    await other.close();
    expect((await storage.ledger.count()).lines).toBe(1);
  });
});

test("while the store is away lines wait on disk, and calls are refused when the space is used up", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    await withStoreAway(async (away) => {
      const store = switchable(storage.ledger, away);
      const ledger = open({ store, segmentBytes: 4_096, maxSpoolBytes: 20_000 });
      let recorded = fill(ledger);
      // Calls that were sent before are recorded all the same.
      for (let index = 0; index < 30; index++, recorded++) ledger.record(makeLine());
      await expect(ledger.flush()).rejects.toThrow();
      expect(ledger.isBehind).toBe(true);
      store.isAway = false;
      await ledger.flush();
      await ledger.flush();
      ledger.refuseWhenFull();
      expect(ledger.isBehind).toBe(false);
      expect((await storage.ledger.count()).lines).toBe(recorded);
      expect(ledger.dropped).toBe(0);
      await ledger.close();
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});

test("a disk that cannot be written to refuses calls, and loses no line of the running ones", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    const ledger = open({ segmentBytes: 4_096 });
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, "a file in the place of the folder");
    for (let index = 0; index < 40; index++) ledger.record(makeLine());
    expect(() => ledger.refuseWhenFull()).toThrow("space on disk");
    await ledger.flush();
    ledger.record(makeLine());
    rmSync(folder);
    renameSync(`${folder}-away`, folder);
    await ledger.flush();
    await ledger.flush();
    ledger.refuseWhenFull();
    expect((await storage.ledger.count()).lines).toBe(41);
    await ledger.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("refusals do not grow a spool that is full, and all are counted when there is space again", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    await withStoreAway(async (away) => {
      const store = switchable(storage.ledger, away);
      const ledger = open({ store, segmentBytes: 4_096, maxSpoolBytes: 20_000 });
      const recorded = fill(ledger);
      const refuse = (keyId: string | null, endpoint: string) => {
        const outcome = "dependency_unavailable";
        ledger.recordRefusal({ keyId, endpoint, outcome }, () =>
          makeLine({ attempt: 0, key_id: keyId ?? undefined, endpoint, outcome, cost_pico: undefined }),
        );
      };
      const files = spoolFiles(folder).length;
      for (let round = 0; round < 10; round++) {
        for (let index = 0; index < 1_000; index++) refuse(index % 2 === 0 ? "a" : null, `/v3/${index % 4}`);
        await expect(ledger.flush()).rejects.toThrow();
        expect(ledger.waiting).toBe(recorded);
        expect(spoolFiles(folder)).toHaveLength(files);
      }
      store.isAway = false;
      await ledger.flush();
      expect(await storage.ledger.count()).toMatchObject({ lines: recorded + 10_000, rows: recorded + 4 });
      await ledger.flush();
      ledger.refuseWhenFull();
      // With space, refusals have lines of their own again.
      refuse("a", "/v3/0");
      refuse("a", "/v3/0");
      await ledger.close();
      expect(await storage.ledger.count()).toMatchObject({ lines: recorded + 10_002, rows: recorded + 6 });
      expect(readdirSync(folder)).toEqual([]);
    });
  });
});

test("a gateway that ends while its spool is full loses no refusal", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    let recorded = 0;
    await withStoreAway(async (store) => {
      const ledger = open({ store, segmentBytes: 4_096, maxSpoolBytes: 20_000 });
      recorded = fill(ledger);
      const refused = { keyId: "a", endpoint: "/v3/chat/completions", outcome: "dependency_unavailable" };
      for (let index = 0; index < 500; index++)
        ledger.recordRefusal(refused, () =>
          makeLine({ attempt: 0, key_id: "a", outcome: refused.outcome, cost_pico: undefined }),
        );
      await ledger.close();
    });
    const next = open();
    await next.flush();
    await next.close();
    expect(await storage.ledger.count()).toMatchObject({ lines: recorded + 500, rows: recorded + 1 });
    expect(readdirSync(folder)).toEqual([]);
  });
});

test("equal refusals are merged beyond the first twenty of a key, and of all callers without a key", async () => {
  await withLedgers(async ({ storage, open }) => {
    const ledger = open();
    const refuse = (keyId: string | null, endpoint: string, outcome: string) =>
      ledger.recordRefusal({ keyId, endpoint, outcome }, () =>
        makeLine({ attempt: 0, key_id: keyId ?? undefined, endpoint, outcome, cost_pico: undefined }),
      );
    for (let index = 0; index < 100; index++) refuse("a", "/v3/chat/completions", "rate_limit_exceeded");
    for (let index = 0; index < 21; index++) refuse("b", "/v3/chat/completions", "rate_limit_exceeded");
    for (let index = 0; index < 90; index++) refuse(null, `/v3/${index % 3}`, "invalid_api_key");
    await ledger.flush();
    await ledger.close();
    const rows = 20 + 1 + (20 + 1) + (20 + 3);
    expect(await storage.ledger.count()).toMatchObject({ lines: 100 + 21 + 90, rows });
  });
});

test("a line of merged refusals has only the tags that all of them have", async () => {
  await withLedgers(async ({ storage, open }) => {
    const ledger = open();
    const refused = { keyId: "a", endpoint: "/v3/chat/completions", outcome: "rate_limit_exceeded" };
    for (let index = 0; index < 30; index++) {
      const tags = { app: "shop", project: `project-${index}`, ...(index !== 25 && { stage: "test" }) };
      ledger.recordRefusal({ ...refused, tags }, () =>
        makeLine({ attempt: 0, key_id: "a", outcome: refused.outcome, tags, cost_pico: undefined }),
      );
    }
    await ledger.flush();
    await ledger.close();
    const period = { from: 0, to: Date.now() + 3_600_000, offsetMs: 0 };
    const groups = await storage.usageReports.summarize({ ...period, groupBy: ["tags"], filters: {}, maxGroups: 100 });
    if (groups === "too_many") throw new Error("too many groups");
    expect(groups.filter(({ lines }) => lines > 1).map(({ values, lines }) => [values[0], lines])).toEqual([
      ['{"app":"shop"}', 10],
    ]);
  });
});

test("text that PostgreSQL cannot store, and a line that the store refuses, hold up no other line", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    const ledger = open();
    ledger.record(makeLine({ model: "nul \0 and half \ud800 of a pair" }));
    for (let index = 0; index < 10; index++) ledger.record(makeLine());
    ledger.record(makeLine({ usage: { text: "x".repeat(5_000_000) } }));
    // A line without a required member.
    ledger.record(JSON.parse('{"id":"incomplete","time":5}'));
    for (let index = 0; index < 10; index++) ledger.record(makeLine());
    await ledger.flush();
    await ledger.close();
    expect((await storage.ledger.count()).lines).toBe(22);
    expect(readFileSync(join(folder, "refused-lines.jsonl"), "utf8")).toBe('{"n":13,"id":"incomplete","time":5}\n');
    expect(ledger.refused).toBe(1);
  });
});

test("a process that starts retries the lines that the store refused, and each counts once", async () => {
  await withLedgers(async ({ storage, folder, open }) => {
    const file = join(folder, "refused-lines.jsonl");
    const incomplete = { n: 7, id: "incomplete", time: 5 };
    const refused = [
      ...[makeLine({ n: 5 }), makeLine({ n: 6 }), incomplete].map((line) => JSON.stringify(line)),
      "no JSON",
    ];
    const text = refused.map((line) => `${line}\n`).join("");
    await open().close();
    // The second file is what a crash leaves behind.
    for (const name of ["refused-lines.jsonl", "refused-lines.retried.jsonl", "refused-lines.jsonl"]) {
      writeFileSync(join(folder, name), text);
      const ledger = open();
      await ledger.flush();
      await ledger.close();
      expect((await storage.ledger.count()).lines).toBe(2);
      const left = readFileSync(file, "utf8").trimEnd().split("\n");
      expect(new Set(left)).toEqual(new Set(["no JSON", '{"n":3,"id":"incomplete","time":5,"once":1}']));
      expect(ledger.refused).toBe(1);
      rmSync(file);
    }
  });
});
