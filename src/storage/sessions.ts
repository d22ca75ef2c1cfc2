// Statements about the sessions of people who signed in. The token in the cookie is not stored, only its hash.

import { type Actor, recordChange } from "./audit.ts";
import { deleteOldest, listPage, read, sweep, write } from "./operation.ts";
import { integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";

/** Times are epoch milliseconds. */
const columns = {
  id: text(),
  /** SHA-256 of the token, in hexadecimal. */
  tokenHash: text(),
  /** Of a session that began with a key: its id, and a hash over the token and the hash of the secret that was used. */
  keyId: nullable(text()),
  keyProof: nullable(text()),
  /** Of a session that began with OpenID Connect: the issuer, the subject there, and the groups at the sign-in, which decide about the role. */
  issuer: nullable(text()),
  subject: nullable(text()),
  groups: nullable(json<readonly string[]>()),
  name: text(),
  createdAt: integer,
  seenAt: integer,
  expiresAt: integer,
};
const { toRow, fromRow } = mapRecord(columns, { groups: "group_names" });

export type SessionRecord = RecordOf<typeof columns>;

export interface SessionFilter {
  readonly now: number;
  readonly usedAfter: number;
  readonly limit: number;
  readonly offset: number;
}

export const sessionStatements = {
  insert: write(null, async (sql, session: SessionRecord, actor: Actor): Promise<void> => {
    await sql`insert into sessions ${sql.columns(toRow(session))}`;
    const target = { kind: "session", id: session.id, name: session.name, team: actor.team };
    const after = { method: session.keyId === null ? "oidc" : "key", expires_at: toIso(session.expiresAt) };
    await recordChange(sql, actor, { action: "session.start", target, after });
  }),

  find: read(async (sql, tokenHash: string): Promise<SessionRecord | null> => {
    const [row] = await sql`select * from sessions where token_hash = ${tokenHash}`;
    return row === undefined ? null : fromRow(row);
  }),

  /** The time only moves forward: several processes may answer requests of one session. */
  touch: write(null, async (sql, id: string, at: number): Promise<void> => {
    await sql`update sessions set seen_at = ${at} where id = ${id} and seen_at < ${at}`;
  }),

  /** Newest first, those that have not ended. `usedAfter`: sessions without a use since then have ended. */
  list: read(async (sql, { now, usedAfter, ...page }: SessionFilter) => {
    const from = sql.part`from sessions where expires_at > ${now} and seen_at > ${usedAfter}`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  /** False: there is no such session. */
  delete: write(null, async (sql, id: string, actor: Actor): Promise<boolean> => {
    const [row] = await sql`delete from sessions where id = ${id} returning *`;
    if (row === undefined) return false;
    const target = { kind: "session", id, name: fromRow(row).name, team: actor.team };
    await recordChange(sql, actor, { action: "session.end", target });
    return true;
  }),

  deleteExpired: sweep(async (sql, now: number, limit: number): Promise<number> => {
    const from = sql.part`from sessions where`;
    return (await deleteOldest(sql, { from, timeColumn: "expires_at", until: now, limit, returning: ["id"] })).length;
  }),
};

function toIso(time: number): string {
  return new Date(time).toISOString();
}
