// Statements about keys. Rows are never deleted: a revoked key stays known, so that it can be answered as revoked.

import type { Budget, KeyKind, KeyScope, RateLimit } from "../contract/keys.ts";
import { nextRevision, read, write } from "./operation.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";

/** Times are epoch milliseconds. */
export interface KeyRecord {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly owner: string | null;
  readonly scopes: readonly KeyScope[];
  readonly allowedModels: readonly string[] | null;
  readonly rateLimit: RateLimit | null;
  readonly budget: Budget | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly enabled: boolean;
  /** SHA-256 of the secret, hexadecimal. */
  readonly secretHash: string;
  /** The last characters of the secret, so that people can tell keys apart. */
  readonly secretTail: string;
  /** The secret before the last rotation, and until when it works. */
  readonly previousHash: string | null;
  readonly previousUntil: number | null;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export type KeySettings = Pick<
  KeyRecord,
  "name" | "owner" | "scopes" | "allowedModels" | "rateLimit" | "budget" | "tags" | "enabled" | "expiresAt"
>;

export interface KeySecret {
  readonly hash: string;
  readonly tail: string;
  /** Until when the secret that is replaced keeps working. */
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
  /** The newest revision there is. Smaller than the one asked about only when the store was put back to an older state. */
  readonly revision: bigint;
  readonly keys: readonly KeyRecord[];
}

export type KeyOutcome = KeyRecord | "not_found" | "revoked";

export const keyStatements = {
  insert: write("keys", async (sql, key: KeyRecord): Promise<void> => {
    const revision = await nextRevision(sql, "keys");
    await sql`insert into api_keys ${sql.columns({ ...toRow(key), revision })}`;
  }),

  /** Stores these keys only if there is none at all, and says whether it did. */
  insertFirst: write("keys", async (sql, keys: readonly KeyRecord[]): Promise<boolean> => {
    // The lock on the topic's row makes a second process wait here until the first has committed.
    const revision = await nextRevision(sql, "keys");
    const [row] = await sql<{ total: bigint }>`select count(*) as total from api_keys`;
    if (row?.total !== 0n) return false;
    await sql`insert into api_keys ${sql.columns(keys.map((key) => ({ ...toRow(key), revision })))}`;
    return true;
  }),

  get: read(async (sql, id: string): Promise<KeyRecord | null> => await find(sql, id)),

  list: read(async (sql, filter: KeyFilter): Promise<{ total: number; keys: KeyRecord[] }> => {
    const { kind, owner, limit, offset } = filter;
    const enabled = filter.enabled === null ? null : Number(filter.enabled);
    const [count] = await sql<{ total: bigint }>`
      select count(*) as total from api_keys
      where (cast(${kind} as text) is null or kind = ${kind})
        and (cast(${owner} as text) is null or owner = ${owner})
        and (cast(${enabled} as bigint) is null or enabled = ${enabled})`;
    const rows = await sql`
      select * from api_keys
      where (cast(${kind} as text) is null or kind = ${kind})
        and (cast(${owner} as text) is null or owner = ${owner})
        and (cast(${enabled} as bigint) is null or enabled = ${enabled})
      order by created_at desc, id desc limit ${limit} offset ${offset}`;
    return { total: Number(count?.total ?? 0), keys: rows.map(fromRow) };
  }),

  changedSince: read(async (sql, revision: bigint): Promise<KeyChanges> => {
    // The topic first: rows that are committed in between are read twice rather than never.
    const [topic] = await sql<{ revision: bigint }>`select revision from topics where topic = 'keys'`;
    const newest = topic?.revision ?? 0n;
    const after = newest < revision ? 0n : revision;
    const rows = await sql`select * from api_keys where revision > ${after}`;
    return { revision: newest, keys: rows.map(fromRow) };
  }),

  update: write("keys", async (sql, id: string, changes: Partial<KeySettings>): Promise<KeyOutcome> => {
    const revision = await nextRevision(sql, "keys");
    const row = { ...settingsToRow(changes), revision };
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

  /** Revoking twice is the same as once: the first time stays. */
  revoke: write("keys", async (sql, id: string, revokedAt: number): Promise<KeyRecord | null> => {
    const revision = await nextRevision(sql, "keys");
    await sql`
      update api_keys set enabled = 0, revoked_at = ${revokedAt}, revision = ${revision}
      where id = ${id} and revoked_at is null`;
    return await find(sql, id);
  }),

  /** No topic: nobody's snapshot holds these times. */
  touch: write(null, async (sql, uses: readonly { readonly id: string; readonly at: number }[]): Promise<void> => {
    // In the order of ids, so that two gateways that record at once cannot lock each other out.
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

function toRow(key: KeyRecord): SqlRow {
  return {
    id: key.id,
    kind: key.kind,
    ...settingsToRow(key),
    secret_hash: key.secretHash,
    secret_tail: key.secretTail,
    previous_hash: key.previousHash,
    previous_until: key.previousUntil,
    created_at: key.createdAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

function settingsToRow(settings: Partial<KeySettings>): SqlRow {
  const row: Record<string, SqlValue> = {};
  if (settings.name !== undefined) row["name"] = settings.name;
  if (settings.owner !== undefined) row["owner"] = settings.owner;
  if (settings.scopes !== undefined) row["scopes"] = JSON.stringify(settings.scopes);
  if (settings.allowedModels !== undefined) row["allowed_models"] = toJson(settings.allowedModels);
  if (settings.rateLimit !== undefined) row["rate_limit"] = toJson(settings.rateLimit);
  if (settings.budget !== undefined) {
    row["budget_pico_usd"] = settings.budget === null ? null : toPico(settings.budget.amount);
    row["budget_period"] = settings.budget === null ? null : settings.budget.period;
  }
  if (settings.tags !== undefined) row["tags"] = JSON.stringify(settings.tags);
  if (settings.enabled !== undefined) row["enabled"] = Number(settings.enabled);
  if (settings.expiresAt !== undefined) row["expires_at"] = settings.expiresAt;
  return row;
}

/** The casts say what `toRow` wrote: these columns have no other writer. */
function fromRow(row: SqlRow): KeyRecord {
  const pico = row["budget_pico_usd"] as bigint | null;
  return {
    id: row["id"] as string,
    kind: row["kind"] as KeyKind,
    name: row["name"] as string,
    owner: row["owner"] as string | null,
    scopes: JSON.parse(row["scopes"] as string),
    allowedModels: fromJson(row["allowed_models"]),
    rateLimit: fromJson(row["rate_limit"]),
    budget: pico === null ? null : { amount: fromPico(pico), period: row["budget_period"] as Budget["period"] },
    tags: JSON.parse(row["tags"] as string),
    enabled: row["enabled"] === 1n,
    secretHash: row["secret_hash"] as string,
    secretTail: row["secret_tail"] as string,
    previousHash: row["previous_hash"] as string | null,
    previousUntil: toTime(row["previous_until"]),
    createdAt: Number(row["created_at"]),
    expiresAt: toTime(row["expires_at"]),
    revokedAt: toTime(row["revoked_at"]),
    lastUsedAt: toTime(row["last_used_at"]),
  };
}

function toJson(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function fromJson<T>(text: SqlValue | undefined): T | null {
  return typeof text === "string" ? JSON.parse(text) : null;
}

function toTime(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

// By way of whole micro-dollars, the finest a budget may be: both directions are exact.
function toPico(usd: number): bigint {
  return BigInt(Math.round(usd * 1e6)) * 1_000_000n;
}

function fromPico(pico: bigint): number {
  return Number(pico / 1_000_000n) / 1e6;
}
