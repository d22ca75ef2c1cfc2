// Statements about files: uploads of callers and results of tasks. The bytes are stored elsewhere, in a folder or in S3. A row is written
// after its bytes and deleted before them, so every listed file can be read. Files of other owners, deleted files and expired files are
// answered as if they had never existed.

import { maxListLength, toBatches } from "./batches.ts";
import { deleteOldest, isOwnedBy, listPage, read, readPage, sweep, write } from "./operation.ts";
import { integer, json, mapRecord, type RecordOf, text } from "./record.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** `upload`: sent by a caller. `result`: produced by a task. */
export type FileKind = "upload" | "result";
/** Where the bytes are stored. */
export type FileBackend = "folder" | "s3";

/** Times are epoch milliseconds. */
const columns = {
  /** A UUID in lower case. */
  id: text(),
  owner: text(),
  kind: text<FileKind>(),
  backend: text<FileBackend>(),
  name: text(),
  size: integer,
  mediaType: text(),
  purpose: text(),
  metadata: json<Readonly<Record<string, unknown>>>(),
  createdAt: integer,
  expiresAt: integer,
};
const { toRow, fromRow } = mapRecord(columns, { backend: "place" });

export type FileRecord = RecordOf<typeof columns>;

/** `keyName`: of the key that the file belongs to; null if it belongs to a team. */
export type ManagedFileRecord = FileRecord & { readonly keyName: string | null };

const { id, owner, size, backend, expiresAt } = columns;
const deleted = mapRecord({ id, owner, size, backend, expiresAt }, { backend: "place" });

/** The members of a deleted row that are needed to delete its bytes. */
export type DeletedFile = Pick<FileRecord, "id" | "backend" | "expiresAt">;

export interface FileFilter {
  readonly owner: string;
  /** Null: every purpose. */
  readonly purpose: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface AnyFileFilter extends Omit<FileFilter, "owner"> {
  /** Null: every owner. */
  readonly owner: string | null;
}

/** The owner of a file is `key:<id>` or a team. */
const managedColumns = [
  "*",
  "(select name from api_keys where api_keys.id = substr(files.owner, 5) and files.owner like 'key:%') as key_name",
];

function fromManagedRow(row: SqlRow): ManagedFileRecord {
  return { ...fromRow(row), keyName: (row["key_name"] ?? null) as string | null };
}

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
  listUploads: read(async (sql, { owner, purpose, ...page }: FileFilter) => {
    const from = sql.part`
      from files where owner = ${owner} and kind = 'upload' and expires_at > ${Date.now()}
        and (cast(${purpose} as text) is null or purpose = ${purpose})`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  /** Newest first, of all owners or of one. For the operator. */
  listAllUploads: read(async (sql, { owner, purpose, ...page }: AnyFileFilter) => {
    const from = sql.part`
      from files where ${isOwnedBy(sql, owner)} and kind = 'upload' and expires_at > ${Date.now()}
        and (cast(${purpose} as text) is null or purpose = ${purpose})`;
    const [sums] = await sql<{ total: bigint; bytes: bigint }>`
      select count(*) as total, cast(coalesce(sum(size), 0) as bigint) as bytes ${from}`;
    const items = await readPage(sql, { columns: managedColumns, from, ...page }, fromManagedRow);
    return { total: Number(sums?.total ?? 0), totalBytes: Number(sums?.bytes ?? 0), items };
  }),

  /** Of any owner. For the operator. */
  findAnyUpload: read(async (sql, id: string): Promise<ManagedFileRecord | null> => {
    const [row] = await sql`
      select ${sql.names(managedColumns)} from files
      where id = ${id} and kind = 'upload' and expires_at > ${Date.now()}`;
    return row === undefined ? null : fromManagedRow(row);
  }),

  /** The bytes of all uploads and results of an owner, including expired files that are not deleted yet. */
  countBytes: read(async (sql, owner: string): Promise<number> => {
    const [row] = await sql<{ bytes: bigint }>`select bytes from file_bytes where owner = ${owner}`;
    return Number(row?.bytes ?? 0);
  }),

  deleteUploads: write(null, async (sql, owner: string, ids: readonly string[]): Promise<DeletedFile[]> => {
    const rows: SqlRow[] = [];
    const lock = sql.raw(sql.engine === "postgres" ? "for update" : "");
    // Locked in the order of ids, so that concurrent calls for the same files cannot deadlock.
    for (const batch of toBatches([...new Set(ids)].toSorted(), maxListLength)) {
      rows.push(
        ...(await sql`
          delete from files where id in (
            select id from files
            where id in ${sql.list(batch)} and owner = ${owner} and kind = 'upload' order by id ${lock}
          ) returning ${sql.names(deleted.names)}`),
      );
    }
    return await subtractBytes(sql, rows);
  }),

  /** At most `limit` uploads that were created until `before`, the oldest first. */
  deleteSomeUploads: write(null, async (sql, owner: string, before: number, limit: number): Promise<DeletedFile[]> => {
    const from = sql.part`from files where owner = ${owner} and kind = 'upload' and`;
    const range = { from, timeColumn: "created_at", until: before, limit, returning: deleted.names } as const;
    return await subtractBytes(sql, await deleteOldest(sql, range));
  }),

  deleteExpired: sweep(async (sql, now: number, limit: number): Promise<DeletedFile[]> => {
    const from = sql.part`from files where`;
    const range = { from, timeColumn: "expires_at", until: now, limit, returning: deleted.names } as const;
    return await subtractBytes(sql, await deleteOldest(sql, range));
  }),

  /** The ids from `first` up to but excluding `end`. Only a hint, because the collation of the database may order ids differently: check `exists`, too. */
  listIds: read(async (sql, backend: FileBackend, first: string, end: string): Promise<string[]> => {
    const rows = await sql<{ id: string }>`
      select id from files where id >= ${first} and id < ${end} and place = ${backend}`;
    return rows.map((row) => row.id);
  }),

  /** True also for an expired file that is not deleted yet. */
  exists: read(async (sql, id: string): Promise<boolean> => {
    return (await sql`select id from files where id = ${id}`).length > 0;
  }),
};

/** Call it with the deleted rows. It goes in the order of owners, so that concurrent deletions cannot deadlock. */
async function subtractBytes(sql: Sql, rows: readonly SqlRow[]): Promise<DeletedFile[]> {
  const files = rows.map(deleted.fromRow);
  const byOwner = Map.groupBy(files, (file) => file.owner);
  for (const [owner, some] of [...byOwner].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const bytes = some.reduce((sum, file) => sum + file.size, 0);
    await sql`update file_bytes set bytes = bytes - ${bytes} where owner = ${owner}`;
  }
  return files;
}
