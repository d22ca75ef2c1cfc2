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
        expect(await files.listAllUploads(everything)).toEqual({
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
