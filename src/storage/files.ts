// Statements about files: what callers uploaded and what tasks produced. The bytes are elsewhere, in a folder or in S3; a row is
// written after its bytes are safe and deleted before they are, so that whatever is listed can be read.
//
// What belongs to somebody else, was deleted or has expired is answered as what never existed.

import { read, write } from "./operation.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** Times are epoch milliseconds. */
export interface FileRecord {
  /** A UUID in lower case. */
  readonly id: string;
  readonly owner: string;
  /** What a caller sent, or what a task produced. */
  readonly kind: FileKind;
  /** Where its bytes are. */
  readonly place: FilePlace;
  readonly name: string;
  readonly size: number;
  readonly mediaType: string;
  readonly purpose: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export type FileKind = "upload" | "result";
export type FilePlace = "folder" | "s3";

/** What is left of a row that was deleted: enough to find its bytes. */
export type DeletedFile = Pick<FileRecord, "id" | "place" | "expiresAt">;

export interface FileFilter {
  readonly owner: string;
  /** Null: every purpose. */
  readonly purpose: string | null;
  readonly limit: number;
  readonly offset: number;
}

export const fileStatements = {
  /**
   * False: with it the files of its owner would have more than `maxOwnerBytes` together. The sum is checked and counted in one statement, so
   * that no number of processes exceeds it. Fails when the id is taken.
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

  /** Without an owner: whoever holds a signed address may read it. */
  findResult: read(async (sql, id: string): Promise<FileRecord | null> => {
    const [row] = await sql`
      select * from files where id = ${id} and kind = 'result' and expires_at > ${Date.now()}`;
    return row === undefined ? null : fromRow(row);
  }),

  /** Newest first. */
  listUploads: read(async (sql, filter: FileFilter): Promise<{ total: number; files: FileRecord[] }> => {
    const { owner, purpose, limit, offset } = filter;
    const now = Date.now();
    const [count] = await sql<{ total: bigint }>`
      select count(*) as total from files
      where owner = ${owner} and kind = 'upload' and expires_at > ${now}
        and (cast(${purpose} as text) is null or purpose = ${purpose})`;
    const rows = await sql`
      select * from files
      where owner = ${owner} and kind = 'upload' and expires_at > ${now}
        and (cast(${purpose} as text) is null or purpose = ${purpose})
      order by created_at desc, id desc limit ${limit} offset ${offset}`;
    return { total: Number(count?.total ?? 0), files: rows.map(fromRow) };
  }),

  /** The bytes of all files of an owner: uploads and results, also those that have expired and were not yet swept. */
  countBytes: read(async (sql, owner: string): Promise<number> => {
    const [row] = await sql<{ bytes: bigint }>`select bytes from file_bytes where owner = ${owner}`;
    return Number(row?.bytes ?? 0);
  }),

  deleteUploads: write(null, async (sql, owner: string, ids: readonly string[]): Promise<DeletedFile[]> => {
    const deleted: SqlRow[] = [];
    // In the order of ids, so that two calls that name the same files cannot lock each other out.
    for (const id of new Set(ids.toSorted())) {
      deleted.push(
        ...(await sql`
          delete from files where id = ${id} and owner = ${owner} and kind = 'upload'
          returning id, owner, size, place, expires_at`),
      );
    }
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  /** Some of those that were there at `before`, the oldest first. Fewer than `limit`: no more are left. */
  deleteSomeUploads: write(null, async (sql, owner: string, before: number, limit: number): Promise<DeletedFile[]> => {
    const [last] = await sql<{ created_at: bigint; id: string }>`
        select created_at, id from files where owner = ${owner} and kind = 'upload' and created_at <= ${before}
        order by created_at, id limit 1 offset ${limit - 1}`;
    // A range of the index and not a list of ids: two that delete at once then lock rows in the same order.
    const deleted =
      last === undefined
        ? await sql`
              delete from files where owner = ${owner} and kind = 'upload' and created_at <= ${before}
              returning id, owner, size, place, expires_at`
        : await sql`
              delete from files where owner = ${owner} and kind = 'upload'
                and (created_at, id) <= (${last.created_at}, ${last.id})
              returning id, owner, size, place, expires_at`;
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  /** The longest expired first. Fewer than `limit`: no more are left, or another replica is at them. */
  deleteExpired: write(null, async (sql, now: number, limit: number): Promise<DeletedFile[]> => {
    const [last] = await sql<{ expires_at: bigint; id: string }>`
      select expires_at, id from files where expires_at <= ${now}
      order by expires_at, id limit 1 offset ${limit - 1}`;
    const deleted =
      last === undefined
        ? await sql`delete from files where expires_at <= ${now} returning id, owner, size, place, expires_at`
        : await sql`
            delete from files where (expires_at, id) <= (${last.expires_at}, ${last.id})
            returning id, owner, size, place, expires_at`;
    await subtractBytes(sql, deleted);
    return deleted.map(toDeleted);
  }),

  /** The ids from `first` on and before `end`, at one place. A hint where text has an order of its own: ask `exists` as well. */
  listIds: read(async (sql, place: FilePlace, first: string, end: string): Promise<string[]> => {
    const rows = await sql<{ id: string }>`
      select id from files where id >= ${first} and id < ${end} and place = ${place}`;
    return rows.map((row) => row.id);
  }),

  /** Also when it has expired and was not yet swept. */
  exists: read(async (sql, id: string): Promise<boolean> => {
    return (await sql`select id from files where id = ${id}`).length > 0;
  }),
};

/** After the rows of `files`, and in the order of owners: two that delete at once cannot wait for each other. */
async function subtractBytes(sql: Sql, deleted: readonly SqlRow[]): Promise<void> {
  const byOwner = Map.groupBy(deleted, (row) => row["owner"] as string);
  for (const owner of [...byOwner.keys()].toSorted()) {
    const bytes = (byOwner.get(owner) ?? []).reduce((sum, row) => sum + Number(row["size"]), 0);
    await sql`update file_bytes set bytes = bytes - ${bytes} where owner = ${owner}`;
  }
}

function toRow(file: FileRecord): SqlRow {
  return {
    id: file.id,
    owner: file.owner,
    kind: file.kind,
    place: file.place,
    name: file.name,
    size: file.size,
    media_type: file.mediaType,
    purpose: file.purpose,
    metadata: JSON.stringify(file.metadata),
    created_at: file.createdAt,
    expires_at: file.expiresAt,
  };
}

/** The casts say what `toRow` wrote: these columns have no other writer. */
function fromRow(row: SqlRow): FileRecord {
  return {
    id: row["id"] as string,
    owner: row["owner"] as string,
    kind: row["kind"] as FileKind,
    place: row["place"] as FilePlace,
    name: row["name"] as string,
    size: Number(row["size"]),
    mediaType: row["media_type"] as string,
    purpose: row["purpose"] as string,
    metadata: JSON.parse(row["metadata"] as string),
    createdAt: Number(row["created_at"]),
    expiresAt: Number(row["expires_at"]),
  };
}

function toDeleted(row: SqlRow): DeletedFile {
  return { id: row["id"] as string, place: row["place"] as FilePlace, expiresAt: Number(row["expires_at"]) };
}
