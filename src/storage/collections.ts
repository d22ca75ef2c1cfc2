// Statements about collections of faces. A face is a vector of an engine on this machine, or the id that a provider gave it, whose vector the
// provider stores. Collections of other owners, deleted ones and expired ones are answered as if they had never existed.

import { toBatches } from "./batches.ts";
import { insertRows, listPage, type Operation, read, together, write } from "./operation.ts";
import { bytes, integer, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql } from "./sql.ts";

/** Times are epoch milliseconds. */
const columns = {
  /** A UUID in lower case. */
  id: text(),
  owner: text(),
  provider: text(),
  name: text(),
  faceCount: integer,
  createdAt: integer,
  /** Null: until it is deleted. */
  expiresAt: nullable(integer),
};
const { toRow, fromRow } = mapRecord(columns);

export type CollectionRecord = RecordOf<typeof columns>;

const faceColumns = {
  collectionId: text(),
  id: text(),
  createdAt: integer,
  vector: nullable(bytes),
};
const face = mapRecord(faceColumns);
const { vector: _, ...listedColumns } = faceColumns;
const listedFace = mapRecord(listedColumns);

export type FaceRecord = RecordOf<typeof faceColumns>;
export type ListedFace = RecordOf<typeof listedColumns>;

export interface CollectionFilter {
  readonly owner: string;
  readonly limit: number;
  readonly offset: number;
}

export interface FaceFilter {
  readonly collectionId: string;
  readonly limit: number;
  readonly offset: number;
}

type ListPosition = Pick<CollectionRecord, "createdAt" | "id">;

/** Reading or writing thousands of vectors. */
const vectorsDeadlineMs = 10_000;

function withDeadline<Args extends readonly unknown[], Result>(
  operation: Operation<Args, Result>,
): Operation<Args, Result> {
  return { ...operation, deadlineMs: vectorsDeadlineMs };
}

export const collectionStatements = {
  /** False: the owner has as many already. Expired ones do not count: the owner can neither see nor delete them. */
  create: write(null, async (sql, collection: CollectionRecord, maxPerOwner: number): Promise<boolean> => {
    const [row] = await sql<{ total: bigint }>`
      select count(*) as total from collections
      where owner = ${collection.owner} and (expires_at is null or expires_at > ${Date.now()})`;
    if (Number(row?.total ?? 0) >= maxPerOwner) return false;
    await sql`insert into collections ${sql.columns(toRow(collection))}`;
    return true;
  }),

  find: read(async (sql, id: string, owner: string): Promise<CollectionRecord | null> => {
    const [row] = await sql`
      select * from collections
      where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})`;
    return row === undefined ? null : fromRow(row);
  }),

  /** Newest first. */
  list: read(async (sql, { owner, ...page }: CollectionFilter) => {
    const from = sql.part`
      from collections where owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  /** With its faces. False: there is no such collection. */
  delete: withDeadline(
    write(null, async (sql, id: string, owner: string): Promise<boolean> => {
      const deleted = await sql`delete from collections where id = ${id} and owner = ${owner} returning id`;
      if (deleted.length > 0) await sql`delete from collection_faces where collection_id = ${id}`;
      return deleted.length > 0;
    }),
  ),

  /**
   * Returns false if the collection was deleted, or would have more than `maxFaces`. Idempotent: faces that are stored already are skipped, so
   * a call whose outcome is unknown can be retried.
   */
  addFaces: withDeadline(
    write(null, async (sql, id: string, faces: readonly FaceRecord[], maxFaces: number): Promise<boolean> => {
      // Locks the collection, so that concurrent processes cannot exceed the limit.
      const [locked] = await sql<{ face_count: bigint }>`
        update collections set face_count = face_count where id = ${id} returning face_count`;
      if (locked === undefined) return false;
      const known = await findFaces(sql, id, faces);
      const added = faces.filter((one) => !known.has(one.id));
      const count = Number(locked.face_count) + added.length;
      if (count > maxFaces) return false;
      await sql`update collections set face_count = ${count} where id = ${id}`;
      await insertRows(sql, "collection_faces", added.map(face.toRow));
      return true;
    }),
  ),

  /** Newest first, without vectors. */
  listFaces: read(async (sql, { collectionId, ...page }: FaceFilter) => {
    const from = sql.part`from collection_faces where collection_id = ${collectionId}`;
    return await listPage(sql, { columns: listedFace.names, from, ...page }, listedFace.fromRow);
  }),

  hasFace: read(async (sql, collectionId: string, id: string): Promise<boolean> => {
    const rows = await sql`select id from collection_faces where collection_id = ${collectionId} and id = ${id}`;
    return rows.length > 0;
  }),

  listVectors: withDeadline(
    read(async (sql, collectionId: string): Promise<FaceRecord[]> => {
      const rows = await sql`
        select * from collection_faces where collection_id = ${collectionId} order by created_at, id`;
      return rows.map(face.fromRow);
    }),
  ),

  deleteFace: write(null, async (sql, collectionId: string, id: string): Promise<boolean> => {
    const deleted = await sql`
      delete from collection_faces where collection_id = ${collectionId} and id = ${id} returning id`;
    if (deleted.length > 0)
      await sql`update collections set face_count = face_count - ${deleted.length} where id = ${collectionId}`;
    return deleted.length > 0;
  }),

  /**
   * Lists collections that have expired, or whose keys are all revoked, oldest first. `after` is a cursor: the last collection of the
   * previous page.
   */
  listAbandoned: read(async (sql, now: number, limit: number, after: ListPosition | null = null) => {
    const isAfter = after === null ? sql.part`1 = 1` : sql.part`(created_at, id) > (${after.createdAt}, ${after.id})`;
    // A key whose owner was changed is not revoked, so its collections stay.
    const rows = await sql`
      select * from collections
      where ${isAfter} and (
        (expires_at is not null and expires_at <= ${now})
        or (
          owner in (
            select 'key:' || id from api_keys where revoked_at is not null
            union select 'owner:' || owner from api_keys where revoked_at is not null and owner is not null
          )
          and owner not in (
            select 'key:' || id from api_keys where revoked_at is null
            union select 'owner:' || owner from api_keys where revoked_at is null and owner is not null
          )
        )
      )
      order by created_at, id limit ${limit}`;
    return rows.map(fromRow);
  }),
};

/** The ids of those of the given faces that the collection has. */
async function findFaces(sql: Sql, collectionId: string, faces: readonly FaceRecord[]): Promise<ReadonlySet<string>> {
  const batches = toBatches(faces.map(({ id }) => id));
  const found = await together(
    ...batches.map(
      (ids) => sql<{ id: string }>`
        select id from collection_faces where collection_id = ${collectionId} and id in ${sql.list(ids)}`,
    ),
  );
  return new Set(found.flat().map(({ id }) => id));
}
