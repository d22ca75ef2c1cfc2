// Statements about keys. Rows are never deleted, so that requests with a revoked key are answered as such.

import type { KeyKind, KeyScope, KeyState } from "../contract/keys.ts";
import type { Role } from "../contract/roles.ts";
import { type Actor, recordChange, toDifference, toShownState } from "./audit.ts";
import {
  type ChangedRow,
  changesPerPage,
  isFound,
  listPage,
  nextRevision,
  read,
  readChanges,
  write,
} from "./operation.ts";
import { integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { limitColumns, requireTeam, type TeamRecord, toTeam } from "./teams.ts";

/** Times are epoch milliseconds. */
const columns = {
  id: text(),
  kind: text<KeyKind>(),
  name: text(),
  /** The name of the key's team. */
  team: nullable(text()),
  scopes: json<readonly KeyScope[]>(),
  /** Of management keys. With a team, the role is limited to that team. */
  role: nullable(text<Role>()),
  ...limitColumns,
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
const { toRow, fromRow } = mapRecord(columns, { team: "owner" });

export type KeyRecord = RecordOf<typeof columns>;

export type KeySettings = Pick<
  KeyRecord,
  "name" | "team" | "role" | "scopes" | "expiresAt" | keyof typeof limitColumns
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
  /** The name of a team. */
  readonly team: string | null;
  /** By now. Absent or null: all keys. */
  readonly state?: KeyState | null;
  /** A part of the name or of the team's name, the end of the secret, or the id. */
  readonly search?: string | null;
  readonly limit: number;
  readonly offset: number;
}

/** The last row of a page of changes. */
export interface ChangePosition {
  readonly table: "api_keys" | "teams";
  readonly revision: bigint;
  readonly id: string;
}

/** A page of them. */
export interface KeyChanges {
  /** The newest revision. It is smaller than the requested one only if the store was restored from a backup. */
  readonly revision: bigint;
  readonly keys: readonly KeyRecord[];
  readonly teams: readonly TeamRecord[];
  /** How many teams there are. A deleted team has no row that could be among the changes. */
  readonly teamCount: number;
  /** Null: there are no further changes. */
  readonly next: ChangePosition | null;
}

/** `forbidden`: only administrators change management keys. */
export type KeyOutcome = KeyRecord | "not_found" | "revoked" | "no_team" | "forbidden";

export const keyStatements = {
  /** `newTeam` is stored if the key's team does not exist. */
  insert: write(
    "keys",
    async (
      sql,
      key: KeyRecord,
      newTeam: TeamRecord | null = null,
      actor: Actor | null = null,
    ): Promise<"inserted" | "no_team"> => {
      const revision = await nextRevision(sql, "keys");
      if (key.team !== null && !(await requireTeam(sql, { name: key.team, newTeam, revision, actor })))
        return "no_team";
      await sql`insert into api_keys ${sql.columns({ ...toRow(key), revision })}`;
      await recordChange(sql, actor, { action: "key.create", target: toTarget(key), after: toShownState(key) });
      return "inserted";
    },
  ),

  /** Stores the keys only if there are none yet, and returns whether it did. */
  insertFirst: write("keys", async (sql, keys: readonly KeyRecord[], actor: Actor | null = null): Promise<boolean> => {
    // Locks the row of the topic, so that a second process waits here until the first one has committed.
    const revision = await nextRevision(sql, "keys");
    const [row] = await sql<{ total: bigint }>`select count(*) as total from api_keys`;
    if (row?.total !== 0n) return false;
    await sql`insert into api_keys ${sql.columns(keys.map((key) => ({ ...toRow(key), revision })))}`;
    for (const key of keys)
      await recordChange(sql, actor, { action: "key.create", target: toTarget(key), after: toShownState(key) });
    return true;
  }),

  get: read(async (sql, id: string): Promise<KeyRecord | null> => await find(sql, id)),

  list: read(async (sql, { kind, team, state = null, search = null, enabled: isEnabled, ...page }: KeyFilter) => {
    const enabled = isEnabled === null ? null : Number(isEnabled);
    const now = Date.now();
    const inState = {
      active: sql.part`revoked_at is null and (expires_at is null or expires_at > ${now})`,
      expired: sql.part`revoked_at is null and expires_at <= ${now}`,
      revoked: sql.part`revoked_at is not null`,
      all: sql.part`1 = 1`,
    }[state ?? "all"];
    // A masked secret, of which the store has the end only, may be searched as it is shown.
    const wanted = search?.replace(/^.*…/, "…") ?? null;
    const from = sql.part`
      from api_keys
      where (cast(${kind} as text) is null or kind = ${kind})
        and (cast(${team} as text) is null or owner = ${team})
        and (cast(${enabled} as bigint) is null or enabled = ${enabled})
        and ${inState} and ${isFound(sql, wanted, ["name", "coalesce(owner, '')", "'…' || secret_tail"])}`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  /** In pages, because no row is ever deleted: all keys together would exceed the deadline. `from`: `next` of the page before. */
  changedSince: read(async (sql, revision: bigint, from: ChangePosition | null = null): Promise<KeyChanges> => {
    // The topic first: rows that are committed in between are then read twice instead of never.
    const [topic] = await sql<{ revision: bigint }>`select revision from topics where topic = 'keys'`;
    const newest = topic?.revision ?? 0n;
    const start = { revision: newest < revision ? 0n : revision, id: null };
    const keys = from?.table === "teams" ? [] : await readChanges(sql, "api_keys", from ?? start);
    // Teams after keys, so that the team of every key is known.
    const hasMoreKeys = keys.length === changesPerPage;
    const teams = hasMoreKeys ? [] : await readChanges(sql, "teams", from?.table === "teams" ? from : start);
    const [counted] = await sql<{ total: bigint }>`select count(*) as total from teams`;
    return {
      revision: newest,
      keys: keys.map(fromRow),
      teams: teams.map(toTeam),
      teamCount: Number(counted?.total),
      next: toPosition("api_keys", keys) ?? toPosition("teams", teams),
    };
  }),

  /** `newTeam` is stored if the changes name a team that does not exist. */
  update: write(
    "keys",
    async (
      sql,
      id: string,
      changes: Partial<KeySettings>,
      newTeam: TeamRecord | null = null,
      actor: Actor | null = null,
    ): Promise<KeyOutcome> => {
      const revision = await nextRevision(sql, "keys");
      const current = await findChangeable(sql, id, actor);
      if (typeof current === "string") return current;
      const { team = null } = changes;
      if (team !== null && !(await requireTeam(sql, { name: team, newTeam, revision, actor }))) return "no_team";
      return await change(sql, { current, row: { ...toRow(changes), revision }, action: "key.update", actor });
    },
  ),

  rotate: write("keys", async (sql, id: string, secret: KeySecret, actor: Actor | null = null): Promise<KeyOutcome> => {
    const revision = await nextRevision(sql, "keys");
    const current = await findChangeable(sql, id, actor);
    if (typeof current === "string") return current;
    const { hash: secretHash, tail: secretTail, previousUntil } = secret;
    const row = toRow({ previousHash: current.secretHash, previousUntil, secretHash, secretTail });
    return await change(sql, { current, row: { ...row, revision }, action: "key.rotate", actor });
  }),

  /** Revoking a key again changes nothing. */
  revoke: write("keys", async (sql, id: string, revokedAt: number, actor: Actor | null = null): Promise<KeyOutcome> => {
    const revision = await nextRevision(sql, "keys");
    const current = await findChangeable(sql, id, actor);
    if (current === "revoked") return (await find(sql, id)) ?? "not_found";
    if (typeof current === "string") return current;
    const row = { ...toRow({ enabled: false, revokedAt }), revision };
    return await change(sql, { current, row, action: "key.revoke", actor });
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

/** Null: the page is not full, so it is the last one. */
function toPosition(table: ChangePosition["table"], page: readonly ChangedRow[]): ChangePosition | null {
  const last = page[changesPerPage - 1];
  return last === undefined ? null : { table, revision: last.revision, id: last.id };
}

async function find(sql: Sql, id: string): Promise<KeyRecord | null> {
  const [row] = await sql`select * from api_keys where id = ${id}`;
  return row === undefined ? null : fromRow(row);
}

/** The key, if the actor may change it. Keys of other teams do not exist for an actor of one team. */
async function findChangeable(
  sql: Sql,
  id: string,
  actor: Actor | null,
): Promise<KeyRecord | "not_found" | "forbidden" | "revoked"> {
  const key = await find(sql, id);
  if (key === null || (actor !== null && actor.team !== null && actor.team !== key.team)) return "not_found";
  if (key.kind === "management" && actor !== null && actor.role !== "administrator") return "forbidden";
  return key.revokedAt === null ? key : "revoked";
}

interface Change {
  readonly current: KeyRecord;
  readonly row: SqlRow;
  readonly action: string;
  readonly actor: Actor | null;
}

async function change(sql: Sql, { current, row, action, actor }: Change): Promise<KeyOutcome> {
  const [updated] = await sql`update api_keys set ${sql.columns(row)} where id = ${current.id} returning *`;
  if (updated === undefined) return "not_found";
  const key = fromRow(updated);
  const difference = toDifference(current, key);
  if (key.team === current.team) {
    await recordChange(sql, actor, { action, target: toTarget(key), ...difference });
    return key;
  }
  // A team must not learn the name of the other one, so each has a record of its own beside the complete one, which belongs to no team.
  await recordChange(sql, actor, { action, target: { ...toTarget(key), team: null }, ...difference });
  const [lost, gained] = [{ team: current.team }, { team: key.team }];
  if (current.team !== null)
    await recordChange(sql, actor, { action, target: toTarget(current), before: lost, after: { team: null } });
  if (key.team !== null)
    await recordChange(sql, actor, { action, target: toTarget(key), before: { team: null }, after: gained });
  return key;
}

function toTarget({ id, name, team }: KeyRecord) {
  return { kind: "key", id, name, team };
}
