// Statements about keys. Rows are never deleted, so that requests with a revoked key are answered as such.

import type { Budget, KeyKind, KeyScope, RateLimit } from "../contract/keys.ts";
import { listPage, nextRevision, read, write } from "./operation.ts";
import { boolean, integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql, SqlRow } from "./sql.ts";

/** Times are epoch milliseconds. */
const columns = {
  id: text(),
  kind: text<KeyKind>(),
  name: text(),
  owner: nullable(text()),
  scopes: json<readonly KeyScope[]>(),
  allowedModels: nullable(json<readonly string[]>()),
  rateLimit: nullable(json<RateLimit>()),
  tags: json<Readonly<Record<string, string>>>(),
  enabled: boolean,
  /** SHA-256 of the secret, in hexadecimal. */
  secretHash: text(),
  /** The last characters of the secret, so that people can tell keys apart. */
  secretTail: text(),
  /** The secret before the last rotation, and when it stops working. */
  previousHash: nullable(text()),
  previousUntil: nullable(integer),
  createdAt: integer,
  expiresAt: nullable(integer),
  revokedAt: nullable(integer),
  lastUsedAt: nullable(integer),
};
const withoutBudget = mapRecord(columns);

export type KeyRecord = RecordOf<typeof columns> & { readonly budget: Budget | null };

export type KeySettings = Pick<
  KeyRecord,
  "name" | "owner" | "scopes" | "allowedModels" | "rateLimit" | "budget" | "tags" | "enabled" | "expiresAt"
>;

export interface KeySecret {
  readonly hash: string;
  readonly tail: string;
  /** When the replaced secret stops working. */
  readonly previousUntil: number;
}

export interface KeyFilter {
  readonly kind: KeyKind | null;
  readonly enabled: boolean | null;
  readonly owner: string | null;
  readonly limit: number;
  readonly offset: number;
}

export interface KeyChanges {
  /** The newest revision. It is smaller than the requested one only if the store was restored from a backup. */
  readonly revision: bigint;
  readonly keys: readonly KeyRecord[];
}

export type KeyOutcome = KeyRecord | "not_found" | "revoked";

export const keyStatements = {
  insert: write("keys", async (sql, key: KeyRecord): Promise<void> => {
    const revision = await nextRevision(sql, "keys");
    await sql`insert into api_keys ${sql.columns({ ...toRow(key), revision })}`;
  }),

  /** Stores the keys only if there are none yet, and returns whether it did. */
  insertFirst: write("keys", async (sql, keys: readonly KeyRecord[]): Promise<boolean> => {
    // Locks the row of the topic, so that a second process waits here until the first one has committed.
    const revision = await nextRevision(sql, "keys");
    const [row] = await sql<{ total: bigint }>`select count(*) as total from api_keys`;
    if (row?.total !== 0n) return false;
    await sql`insert into api_keys ${sql.columns(keys.map((key) => ({ ...toRow(key), revision })))}`;
    return true;
  }),

  get: read(async (sql, id: string): Promise<KeyRecord | null> => await find(sql, id)),

  list: read(async (sql, { kind, owner, enabled: isEnabled, ...page }: KeyFilter) => {
    const enabled = isEnabled === null ? null : Number(isEnabled);
    const from = sql.part`
      from api_keys
      where (cast(${kind} as text) is null or kind = ${kind})
        and (cast(${owner} as text) is null or owner = ${owner})
        and (cast(${enabled} as bigint) is null or enabled = ${enabled})`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  changedSince: read(async (sql, revision: bigint): Promise<KeyChanges> => {
    // The topic first: rows that are committed in between are then read twice instead of never.
    const [topic] = await sql<{ revision: bigint }>`select revision from topics where topic = 'keys'`;
    const newest = topic?.revision ?? 0n;
    const after = newest < revision ? 0n : revision;
    const rows = await sql`select * from api_keys where revision > ${after}`;
    return { revision: newest, keys: rows.map(fromRow) };
  }),

  update: write("keys", async (sql, id: string, changes: Partial<KeySettings>): Promise<KeyOutcome> => {
    const revision = await nextRevision(sql, "keys");
    const row = { ...toRow(changes), revision };
    const updated = await sql`
      update api_keys set ${sql.columns(row)} where id = ${id} and revoked_at is null returning *`;
    return await toOutcome(sql, id, updated);
  }),

  rotate: write("keys", async (sql, id: string, secret: KeySecret): Promise<KeyOutcome> => {
    const revision = await nextRevision(sql, "keys");
    const updated = await sql`
      update api_keys set previous_hash = secret_hash, previous_until = ${secret.previousUntil},
        secret_hash = ${secret.hash}, secret_tail = ${secret.tail}, revision = ${revision}
      where id = ${id} and revoked_at is null returning *`;
    return await toOutcome(sql, id, updated);
  }),

  /** Revoking a key again changes nothing. */
  revoke: write("keys", async (sql, id: string, revokedAt: number): Promise<KeyRecord | null> => {
    const revision = await nextRevision(sql, "keys");
    await sql`
      update api_keys set enabled = 0, revoked_at = ${revokedAt}, revision = ${revision}
      where id = ${id} and revoked_at is null`;
    return await find(sql, id);
  }),

  /** Announces no change, because no snapshot holds the time of the last use. */
  touch: write(null, async (sql, uses: readonly { readonly id: string; readonly at: number }[]): Promise<void> => {
    // In the order of ids, so that concurrent gateways cannot deadlock.
    for (const { id, at } of uses.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      await sql`
        update api_keys set last_used_at = ${at}
        where id = ${id} and (last_used_at is null or last_used_at < ${at})`;
    }
  }),
};

async function find(sql: Sql, id: string): Promise<KeyRecord | null> {
  const [row] = await sql`select * from api_keys where id = ${id}`;
  return row === undefined ? null : fromRow(row);
}

async function toOutcome(sql: Sql, id: string, updated: readonly SqlRow[]): Promise<KeyOutcome> {
  const [row] = updated;
  if (row !== undefined) return fromRow(row);
  return (await find(sql, id)) === null ? "not_found" : "revoked";
}

/** The budget has two columns. */
function toRow({ budget, ...key }: Partial<KeyRecord>): SqlRow {
  const row = withoutBudget.toRow(key);
  if (budget === undefined) return row;
  if (budget === null) return { ...row, budget_pico_usd: null, budget_period: null };
  return { ...row, budget_pico_usd: toPico(budget.amount), budget_period: budget.period };
}

function fromRow(row: SqlRow): KeyRecord {
  const pico = row["budget_pico_usd"] as bigint | null;
  const budget = pico === null ? null : { amount: fromPico(pico), period: row["budget_period"] as Budget["period"] };
  return { ...withoutBudget.fromRow(row), budget };
}

// A budget has whole micro-dollars, so both conversions are exact.
function toPico(usd: number): bigint {
  return BigInt(Math.round(usd * 1e6)) * 1_000_000n;
}

function fromPico(pico: bigint): number {
  return Number(pico / 1_000_000n) / 1e6;
}
