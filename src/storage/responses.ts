// Statements about stored responses and their conversations.
//
// Every statement takes the owner. Responses of other owners, deleted ones and expired ones are answered as if they had never existed. A turn
// holds only its own input and output. If one turn of a conversation is deleted or expires, the later turns can still be read but not
// continued.

import { deleteOldest, read, sweep, write } from "./operation.ts";
import { bytes, integer, mapRecord, nullable, type RecordOf, text } from "./record.ts";

/** Times are epoch milliseconds. */
const columns = {
  /** The id that callers see. */
  id: text(),
  owner: text(),
  keyId: text(),
  provider: text(),
  deployment: text(),
  /** Null if the gateway stores the conversation itself. */
  providerResponseId: nullable(text()),
  model: text(),
  status: text(),
  previousId: nullable(text()),
  /** The number of turns of the conversation, including this one. */
  depth: integer,
  createdAt: integer,
  /** Null: stored until it is deleted. */
  expiresAt: nullable(integer),
  /** The encrypted response resource. Null if the provider stores it. */
  body: nullable(bytes),
  /** The encrypted input items of this turn. Null if the provider stores them. */
  input: nullable(bytes),
};
const { toRow, fromRow } = mapRecord(columns);

export type ResponseRecord = RecordOf<typeof columns>;
export type ResponseChanges = Partial<Pick<ResponseRecord, "status" | "body" | "providerResponseId">>;

/**
 * The turns from the oldest to the newest. Null: at least one of them does not exist. "too_long": they exceed the maximum depth or
 * `maxChainBytes`.
 */
export type ResponseChain = readonly ResponseRecord[] | "too_long" | null;

// Encrypted bytes. Without a limit, one request could fill the memory. The content may be longer, because it is compressed; conversation-store.ts
// limits it when it opens the turns.
const maxChainBytes = 32 * 1_048_576;

export const responseStatements = {
  /** Throws if the id exists. */
  create: write(null, async (sql, response: ResponseRecord): Promise<void> => {
    await sql`insert into responses ${sql.columns(toRow(response))}`;
  }),

  find: read(async (sql, id: string, owner: string): Promise<ResponseRecord | null> => {
    const [row] = await sql`
      select * from responses
      where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})`;
    return row === undefined ? null : fromRow(row);
  }),

  /** Returns whether the response was changed. A finished response never changes: if a cancel and a completion race, the first one wins. */
  update: write(null, async (sql, id: string, owner: string, changes: ResponseChanges): Promise<boolean> => {
    const row = toRow(changes);
    if (Object.keys(row).length === 0) throw new Error("An update of a response must change at least one member");
    const updated = await sql`
      update responses set ${sql.columns(row)}
      where id = ${id} and owner = ${owner} and (expires_at is null or expires_at > ${Date.now()})
        and status not in ('completed', 'incomplete', 'failed', 'cancelled')
      returning id`;
    return updated.length > 0;
  }),

  /** Returns whether the response existed. */
  delete: write(null, async (sql, id: string, owner: string): Promise<boolean> => {
    const deleted = await sql<{ expires_at: bigint | null }>`
      delete from responses where id = ${id} and owner = ${owner} returning expires_at`;
    const [row] = deleted;
    return row !== undefined && (row.expires_at === null || row.expires_at > Date.now());
  }),

  chain: read(async (sql, id: string, owner: string, maxDepth: number): Promise<ResponseChain> => {
    const now = Date.now();
    // The recursion collects ids and sizes only, and stops one step beyond a limit. Bodies are read only if both limits are kept.
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

  /** Returns the number of deleted responses. */
  deleteExpired: sweep(async (sql, now: number, limit: number): Promise<number> => {
    const from = sql.part`from responses where`;
    const range = { from, timeColumn: "expires_at", until: now, limit, returning: ["id"] } as const;
    return (await deleteOldest(sql, range)).length;
  }),
};
