// Statements about responses: which are kept, for whom, and the conversation that leads to one.
//
// Every statement takes the owner. What belongs to somebody else, was deleted or has expired is answered as what never
// existed. A turn holds its own input and output and nothing of the turns before it, so a conversation is whole only while
// all of its turns are there: delete one, or let it expire, and the later ones can still be read but not continued.

import { read, write } from "./operation.ts";
import type { SqlRow, SqlValue } from "./sql.ts";

/** Times are epoch milliseconds. */
export interface ResponseRecord {
  /** Ours, as the caller knows it. */
  readonly id: string;
  readonly owner: string;
  readonly keyId: string;
  readonly provider: string;
  readonly deployment: string;
  /** Null when the gateway itself keeps the conversation. */
  readonly providerResponseId: string | null;
  readonly model: string;
  readonly status: string;
  readonly previousId: string | null;
  /** How many turns the conversation has, this one included. */
  readonly depth: number;
  readonly createdAt: number;
  /** Null: until it is deleted. */
  readonly expiresAt: number | null;
  /** The response resource, sealed. Null when the provider keeps it. */
  readonly body: Uint8Array | null;
  /** The input items of this turn alone, sealed. Null when the provider keeps them. */
  readonly input: Uint8Array | null;
}

export type ResponseChanges = Partial<Pick<ResponseRecord, "status" | "body" | "providerResponseId">>;

/**
 * The turns from the oldest to the newest. Null: the newest or one of those before it is not there. "too_long": there are more
 * than asked for, or more bytes of them than should be held in memory.
 */
export type ResponseChain = readonly ResponseRecord[] | "too_long" | null;

// Of sealed bytes. What a model can take in is less; without a limit one caller could fill the memory with one request.
const maxChainBytes = 32 * 1_048_576;

export const responseStatements = {
  /** Fails when the id is taken. */
  create: write(null, async (sql, response: ResponseRecord): Promise<void> => {
    await sql`insert into responses ${sql.columns(toRow(response))}`;
  }),

  find: read(async (sql, id: string, owner: string): Promise<ResponseRecord | null> => {
    const [row] = await sql`
      select * from responses
      where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})`;
    return row === undefined ? null : fromRow(row);
  }),

  /**
   * Whether it was changed. A response that has ended stays as it is: of a cancel and a completion that meet, the first wins
   * and the second learns that it did not.
   */
  update: write(null, async (sql, id: string, owner: string, changes: ResponseChanges): Promise<boolean> => {
    const row = changesToRow(changes);
    if (Object.keys(row).length === 0) throw new Error("An update of a response has to change something");
    const updated = await sql`
      update responses set ${sql.columns(row)}
      where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})
        and status not in ('completed', 'incomplete', 'failed', 'cancelled')
      returning id`;
    return updated.length > 0;
  }),

  /** Whether it was there. */
  delete: write(null, async (sql, id: string, owner: string): Promise<boolean> => {
    const deleted = await sql<{ expires_at: bigint | null }>`
      delete from responses where id = ${id} and owner = ${owner} returning expires_at`;
    const [row] = deleted;
    return row !== undefined && (row.expires_at === null || row.expires_at > Date.now());
  }),

  chain: read(async (sql, id: string, owner: string, maxDepth: number): Promise<ResponseChain> => {
    const now = Date.now();
    // The walk carries no bytes and goes one step beyond a limit; the bytes are read only when it stayed within both.
    const rows = await sql`
      with recursive turns (turn_id, turn_previous_id, turn_step, turn_bytes) as (
        select id, previous_id, 1, cast(coalesce(length(body), 0) + coalesce(length(input), 0) as bigint)
        from responses
        where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${now})
        union all
        select id, previous_id, turn_step + 1, turn_bytes + coalesce(length(body), 0) + coalesce(length(input), 0)
        from turns join responses on id = turn_previous_id
        where owner = ${owner} and (expires_at is null or expires_at > ${now})
          and turn_step <= ${maxDepth} and turn_bytes <= ${maxChainBytes}
      ),
      extent as (select max(turn_step) as steps, max(turn_bytes) as bytes from turns)
      select turn_bytes, turn_previous_id, responses.*
      from turns cross join extent
        left join responses on id = turn_id and steps <= ${maxDepth} and bytes <= ${maxChainBytes}
      order by turn_step desc`;
    const [oldest] = rows;
    if (oldest === undefined) return null;
    if (rows.length > maxDepth || (oldest["turn_bytes"] as bigint) > maxChainBytes) return "too_long";
    return oldest["turn_previous_id"] === null ? rows.map(fromRow) : null;
  }),

  /** How many were deleted, the longest expired first. Fewer than `limit`: no more are left, or another replica is at them. */
  deleteExpired: write(null, async (sql, now: number, limit: number): Promise<number> => {
    const [last] = await sql<{ expires_at: bigint; id: string }>`
      select expires_at, id from responses where expires_at <= ${now}
      order by expires_at, id limit 1 offset ${limit - 1}`;
    // A range of the index and not a list of ids: two replicas that clean up at once then lock rows in the same order.
    const deleted =
      last === undefined
        ? await sql`delete from responses where expires_at <= ${now} returning id`
        : await sql`delete from responses where (expires_at, id) <= (${last.expires_at}, ${last.id}) returning id`;
    return deleted.length;
  }),
};

function toRow(response: ResponseRecord): SqlRow {
  return {
    id: response.id,
    owner: response.owner,
    key_id: response.keyId,
    provider: response.provider,
    deployment: response.deployment,
    provider_response_id: response.providerResponseId,
    model: response.model,
    status: response.status,
    previous_id: response.previousId,
    depth: response.depth,
    created_at: response.createdAt,
    expires_at: response.expiresAt,
    body: response.body,
    input: response.input,
  };
}

function changesToRow(changes: ResponseChanges): SqlRow {
  const row: Record<string, SqlValue> = {};
  if (changes.status !== undefined) row["status"] = changes.status;
  if (changes.body !== undefined) row["body"] = changes.body;
  if (changes.providerResponseId !== undefined) row["provider_response_id"] = changes.providerResponseId;
  return row;
}

/** The casts say what `toRow` wrote: these columns have no other writer. */
function fromRow(row: SqlRow): ResponseRecord {
  return {
    id: row["id"] as string,
    owner: row["owner"] as string,
    keyId: row["key_id"] as string,
    provider: row["provider"] as string,
    deployment: row["deployment"] as string,
    providerResponseId: row["provider_response_id"] as string | null,
    model: row["model"] as string,
    status: row["status"] as string,
    previousId: row["previous_id"] as string | null,
    depth: Number(row["depth"]),
    createdAt: Number(row["created_at"]),
    expiresAt: row["expires_at"] === null ? null : Number(row["expires_at"]),
    body: toBytes(row["body"]),
    input: toBytes(row["input"]),
  };
}

/** PostgreSQL answers with a Buffer and SQLite's thread with a plain array of bytes: the same kind from both. */
function toBytes(value: SqlValue | undefined): Uint8Array | null {
  if (!(value instanceof Uint8Array)) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
