// The list of uploads that operators read, on both engines.

import { expect, test } from "bun:test";
import { type AnyFileFilter, type FileRecord, fileStatements } from "../../src/storage/files.ts";
import type { Sql, SqlFragment, SqlValue } from "../../src/storage/sql.ts";
import type { StorageOptions } from "../../src/storage/storage.ts";
import { createEngines, describeOn, withDatabase, withStorage } from "../contracts/engines.ts";

const everything: AnyFileFilter = { owner: null, purpose: null, limit: 2, offset: 0 };

function makeFile(changes: Partial<FileRecord>): FileRecord {
  return {
    id: crypto.randomUUID(),
    owner: "tenant-a",
    kind: "upload",
    backend: "folder",
    name: "a.txt",
    size: 5,
    mediaType: "text/plain",
    purpose: "ocr",
    metadata: {},
    createdAt: 1,
    expiresAt: Date.now() + 3_600_000,
    ...changes,
  };
}

for (const engine of createEngines()) {
  describeOn(engine, "uploads of all owners", () => {
    test("a page comes with the number and the size of all uploads that match", async () => {
      const options = await engine.createStore();
      await withStorage(options, async ({ files }) => {
        const uploads = [1, 2, 3].map((createdAt) => makeFile({ createdAt, size: 10 ** createdAt }));
        const others = [
          makeFile({ owner: "tenant-b", createdAt: 4, purpose: "other" }),
          makeFile({ kind: "result" }),
          makeFile({ expiresAt: 1 }),
        ];
        for (const file of [...uploads, ...others]) await files.create(file, 1_000_000);
        const [one, two, three] = uploads;
        expect(await files.listAllUploads(everything)).toMatchObject({
          total: 4,
          totalBytes: 1_115,
          items: [others[0], three] as FileRecord[],
        });
        const mine = { ...everything, owner: "tenant-a" };
        expect(await files.listAllUploads(mine)).toMatchObject({ total: 3, totalBytes: 1_110, items: [three, two] });
        expect(await files.listAllUploads({ ...mine, offset: 2 })).toMatchObject({ totalBytes: 1_110, items: [one] });
        expect(await files.listAllUploads({ ...mine, purpose: "other" })).toEqual({
          total: 0,
          totalBytes: 0,
          items: [],
        });
      });
    });

    test.skipIf(engine.name !== "SQLite")("the uploads of one owner are found by an index, in two reads", async () => {
      const plans = await explainList(await engine.createStore(), { ...everything, owner: "tenant-a" });
      expect(plans).toHaveLength(2);
      for (const plan of plans) expect(plan).toContain("SEARCH files USING INDEX files_by_owner (owner=? AND kind=?");
    });
  });
}

for (const engine of createEngines()) {
  describeOn(engine, "many uploads", () => {
    test.skipIf(engine.name !== "PostgreSQL")("a thousand are deleted in a few statements", async () => {
      const options = await engine.createStore();
      const ids = await addUploads(options, 1_000);
      await countDeletions(options);
      await withStorage(options, async ({ files }) => {
        expect(await files.deleteUploads("tenant-a", ids)).toHaveLength(1_000);
        expect(await files.countBytes("tenant-a")).toBe(0);
      });
      await withDatabase(options, async ({ sql }) => {
        expect((await sql`select * from deletions`).length).toBeLessThanOrEqual(10);
      });
    });

    test("two connections that delete the same ones in different orders do not deadlock, and each is deleted once", async () => {
      const options = await engine.createStore();
      const ids = await addUploads(options, 1_000);
      const theirs = makeFile({ owner: "tenant-b" });
      const result = makeFile({ kind: "result" });
      await withStorage(options, (one) =>
        withStorage(options, async (two) => {
          for (const file of [theirs, result]) await one.files.create(file, 1_000_000);
          const named = [...ids, theirs.id, result.id, crypto.randomUUID(), ...ids.slice(0, 10)];
          const deleted = await Promise.all([
            one.files.deleteUploads("tenant-a", named),
            two.files.deleteUploads("tenant-a", named.toReversed()),
            one.files.deleteUploads("tenant-a", named.slice(0, 500).toReversed()),
          ]);
          expect(deleted.flatMap((some) => some.map(({ id }) => id)).toSorted()).toEqual(ids);
          expect(await one.files.countBytes("tenant-a")).toBe(result.size);
          expect(await one.files.findUpload(theirs.id, "tenant-b")).toEqual(theirs);
        }),
      );
    });
  });
}

/** Returns their ids, in order. */
async function addUploads(options: StorageOptions, count: number): Promise<string[]> {
  const first = makeFile({ id: "00000000-0000-4000-8000-100000000000" });
  await withStorage(options, ({ files }) => files.create(first, 1_000_000));
  const ids: string[] = [];
  await withDatabase(options, async ({ sql }) => {
    await sql`
      insert into files (id, owner, kind, place, name, size, media_type, purpose, metadata, created_at, expires_at)
      with recursive numbers (number) as (select 1 union all select number + 1 from numbers where number < ${count - 1})
      select '00000000-0000-4000-8000-' || (100000000000 + number), owner, kind, place, name, size, media_type, purpose,
        metadata, created_at, expires_at
      from files cross join numbers`;
    await sql`update file_bytes set bytes = (select sum(size) from files)`;
    ids.push(...(await sql<{ id: string }>`select id from files order by id`).map(({ id }) => id));
  });
  expect(ids).toHaveLength(count);
  return ids;
}

/** Adds a row to the table `deletions` for every statement that deletes files. */
async function countDeletions(options: StorageOptions): Promise<void> {
  await withDatabase(options, async ({ sql }) => {
    await sql.script(`
      create table deletions (time text);
      create function count_deletion() returns trigger language plpgsql as $$
      begin
        insert into deletions values (now()::text);
        return null;
      end $$;
      create trigger count_deletion after delete on files for each statement execute function count_deletion()`);
  });
}

/** How SQLite plans each statement of the list. */
async function explainList(options: StorageOptions, filter: AnyFileFilter): Promise<string[]> {
  const plans: string[] = [];
  await withDatabase(options, async ({ sql }) => {
    const explain = async (text: TemplateStringsArray, ...values: (SqlValue | SqlFragment)[]) => {
      const rows = await sql<{ detail: string }>`explain query plan ${sql.part(text, ...values)}`;
      plans.push(rows.map(({ detail }) => detail).join("\n"));
      return [];
    };
    await fileStatements.listAllUploads.run(Object.assign(explain, sql) as unknown as Sql, filter);
  });
  return plans;
}
