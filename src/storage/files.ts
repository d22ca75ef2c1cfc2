// Statements about files: uploads of callers and results of tasks. The bytes are stored elsewhere, in a folder or in S3. A row is written
// after its bytes and deleted before them, so every listed file can be read. Files of other owners, deleted files and expired files are
// answered as if they had never existed.

import { deleteExpiredRows, read, write } from "./operation.ts";
import { integer, json, mapRecord, text } from "./record.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** Times are epoch milliseconds. */
export interface FileRecord {
  /** A UUID in lower case. */
  readonly id: string;
  readonly owner: string;
  readonly kind: FileKind;
  /** Where the bytes are stored. */
  readonly place: FilePlace;
  readonly name: string;
  readonly size: number;
  readonly mediaType: string;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** `upload`: sent by a caller. `result`: produced by a task. */
export type FileKind = "upload" | "result";
export type FilePlace = "folder" | "s3";

/** The members of a deleted row that are needed to delete its bytes. */
export type DeletedFile = Pick<FileRecord, "id" | "place" | "expiresAt">;

export interface FileFilter {
  readonly owner: string;
  /** Null: every purpose. */
  readonly purpose: string | null;
  readonly limit: number;
  readonly offset: number;
}

const columns = {
  id: text(),
  owner: text(),
  kind: text<FileKind>(),
  place: text<FilePlace>(),
  name: text(),
  size: integer,
  mediaType: text(),
  purpose: text(),
  metadata: json<FileRecord["metadata"]>(),
  createdAt: integer,
  expiresAt: integer,
};
const { toRow, fromRow } = mapRecord<FileRecord>(columns);
const { fromRow: toDeleted } = mapRecord<DeletedFile>({
  id: columns.id,
  place: columns.place,
  expiresAt: columns.expiresAt,
});
const deletedColumns = ["id", "owner", "size", "place", "expires_at"];

export const fileStatements = {
  /**
   * False: the files of the owner would exceed `maxOwnerBytes`. One statement checks and increments the sum, so concurrent processes cannot
   * exceed it. Throws if the id exists.
   */
  create: write(null, async (sql, file: FileRecord, maxOwnerBytes: number): Promise<boolean> => {
    await sql`insert into file_bytes (owner, bytes) values (${file.owner}, 0) on conflict (owner) do nothing`;
    const counted = await sql`
      update file_bytes set bytes = bytes + ${file.size}
      where owner = ${file.owner} and bytes + ${file.size} <= ${maxOwnerBytes} returning bytes`;
    if (counted.length === 0) return false;
    await sql`insert into files ${sql.columns(toRow(file))}`;
    return true;
  }),

  findUpload: read(async (sql, id: string, owner: string): Promise<FileRecord | null> => {
    const [row] = await sql`
      select * from files
      where id = ${id} and owner = ${owner} and kind = 'upload' and expires_at > ${Date.now()}`;
    return row === undefined ? null : fromRow(row);
  }),

  /** Without an owner, because a signed address is enough to read a result. */
  findResult: read(async (sql, id: string): Promise<FileRecord | null> => {
    const [row] = await sql`
      select * from files where id = ${id} and kind = 'result' and expires_at > ${Date.now()}`;
    return row === undefined ? null : fromRow(row);
  }),

  /** Newest first. */
  listUploads: read(async (sql, filter: FileFilter): Promise<{ total: number; files: FileRecord[] }> => {
    const { owner, purpose, limit, offset } = filter;
    const from = sql.part`
      from files where owner = ${owner} and kind = 'upload' and expires_at > ${Date.now()}
        and (cast(${purpose} as text) is null or purpose = ${purpose})`;
    const [count] = await sql<{ total: bigint }>`select count(*) as total ${from}`;
    const rows = await sql`select * ${from} order by created_at desc, id desc limit ${limit} offset ${offset}`;
    return { total: Number(count?.total ?? 0), files: rows.map(fromRow) };
  }),

  /** The bytes of all uploads and results of an owner, including expired files that are not deleted yet. */
  countBytes: read(async (sql, owner: string): Promise<number> => {
    const [row] = await sql<{ bytes: bigint }>`select bytes from file_bytes where owner = ${owner}`;
    return Number(row?.bytes ?? 0);
  }),

  deleteUploads: write(null, async (sql, owner: string, ids: readonly string[]): Promise<DeletedFile[]> => {
    const deleted: SqlRow[] = [];
    // In the order of ids, so that concurrent calls for the same files cannot deadlock.
    for (const id of new Set(ids.toSorted())) {
      deleted.push(
        ...(await sql`
          delete from files where id = ${id} and owner = ${owner} and kind = 'upload'
          returning ${sql.names(deletedColumns)}`),
      );
    }
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  /** At most `limit` uploads that were created until `before`, the oldest first. */
  deleteSomeUploads: write(null, async (sql, owner: string, before: number, limit: number): Promise<DeletedFile[]> => {
    const [last] = await sql<{ created_at: bigint; id: string }>`
        select created_at, id from files where owner = ${owner} and kind = 'upload' and created_at <= ${before}
        order by created_at, id limit 1 offset ${limit - 1}`;
    // A range of the index instead of a list of ids, so that concurrent calls lock rows in the same order.
    const range =
      last === undefined
        ? sql.part`created_at <= ${before}`
        : sql.part`(created_at, id) <= (${last.created_at}, ${last.id})`;
    const deleted = await sql`
      delete from files where owner = ${owner} and kind = 'upload' and ${range} returning ${sql.names(deletedColumns)}`;
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  deleteExpired: write(null, async (sql, now: number, limit: number): Promise<DeletedFile[]> => {
    const deleted = await deleteExpiredRows(sql, { table: "files", columns: deletedColumns, now, limit });
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  /** The ids from `first` up to but excluding `end`. Only a hint, because the collation of the database may order ids differently: check `exists`, too. */
  listIds: read(async (sql, place: FilePlace, first: string, end: string): Promise<string[]> => {
    const rows = await sql<{ id: string }>`
      select id from files where id >= ${first} and id < ${end} and place = ${place}`;
    return rows.map((row) => row.id);
  }),

  /** True also for an expired file that is not deleted yet. */
  exists: read(async (sql, id: string): Promise<boolean> => {
    return (await sql`select id from files where id = ${id}`).length > 0;
  }),
};

/** Call it after deleting the rows. It goes in the order of owners, so that concurrent deletions cannot deadlock. */
async function subtractBytes(sql: Sql, deleted: readonly SqlRow[]): Promise<void> {
  const byOwner = Map.groupBy(deleted, (row) => row["owner"] as string);
  for (const owner of [...byOwner.keys()].toSorted()) {
    const bytes = (byOwner.get(owner) ?? []).reduce((sum, row) => sum + Number(row["size"]), 0);
    await sql`update file_bytes set bytes = bytes - ${bytes} where owner = ${owner}`;
  }
}
