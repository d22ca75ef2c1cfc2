// Statements about the audit log. A change and its record are written in one transaction, by `recordChange`.

import type { Role } from "../contract/roles.ts";
import { deleteOldest, read, sweep, write } from "./operation.ts";
import { integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql } from "./sql.ts";

/** On whose behalf a change is made, and what that person or key may change. */
export interface Actor {
  /** `user`: a person who signed in with OpenID Connect. `gateway`: the gateway itself. */
  readonly kind: "key" | "user" | "command" | "gateway";
  /** The id of a key, or the subject of a person at the issuer. */
  readonly id: string | null;
  readonly name: string;
  readonly role: Role;
  /** The only team whose data the actor may change; null: all. */
  readonly team: string | null;
  /** The address of the client, or the name of the machine on which a command ran. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/**
 * - `done`: the change is stored.
 * - `failed`: nothing was changed, or the change stopped half-way; `code` says why.
 * - `refused`: it was not permitted.
 * - `started`: the change is being made, or the process ended while it was. Only for changes outside of the store.
 */
export type AuditOutcome = "done" | "failed" | "refused" | "started";

/** Times are epoch milliseconds. */
const columns = {
  id: text(),
  time: integer,
  actorKind: text<Actor["kind"]>(),
  actorId: nullable(text()),
  actorName: text(),
  actorRole: text<Role>(),
  address: nullable(text()),
  requestId: nullable(text()),
  action: text(),
  outcome: text<AuditOutcome>(),
  code: nullable(text()),
  targetKind: text(),
  targetId: nullable(text()),
  targetName: nullable(text()),
  /** The team that the target belongs to: who may see the records of that team may see this one. */
  team: nullable(text()),
  stateBefore: nullable(json<Readonly<Record<string, unknown>>>()),
  stateAfter: nullable(json<Readonly<Record<string, unknown>>>()),
};
const { toRow, fromRow } = mapRecord(columns);

export type AuditRecord = RecordOf<typeof columns>;

export interface AuditTarget {
  readonly kind: string;
  readonly id: string | null;
  readonly name: string | null;
  readonly team: string | null;
}

export interface AuditEvent {
  readonly action: string;
  readonly target: AuditTarget;
  readonly outcome?: AuditOutcome;
  readonly code?: string | null;
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
  /** Epoch milliseconds; absent: now. */
  readonly at?: number;
}

export interface AuditFilter {
  readonly from: number | null;
  readonly to: number | null;
  readonly team: string | null;
  readonly actor: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly outcome: AuditOutcome | null;
  /** The record after which the page begins, towards the past. */
  readonly after: { readonly time: number; readonly id: string } | null;
  readonly limit: number;
}

export const auditStatements = {
  insert: write(null, async (sql, actor: Actor, event: AuditEvent): Promise<string> => {
    return await insertRecord(sql, actor, event);
  }),

  /** Sets the outcome of a record that was inserted as `started`. */
  finish: write(null, async (sql, id: string, { before, after, name, ...result }: AuditResult): Promise<void> => {
    const row = toRow({ ...result, targetName: name, stateBefore: before, stateAfter: after });
    await sql`update audit set ${sql.columns(row)} where id = ${id}`;
  }),

  /** Newest first. */
  list: read(async (sql, filter: AuditFilter): Promise<AuditRecord[]> => {
    const { from, to, team, actor, action, target, outcome, after, limit } = filter;
    let where = sql.part`time >= ${from ?? 0}`;
    if (to !== null) where = sql.part`${where} and time < ${to}`;
    if (team !== null) where = sql.part`${where} and team = ${team}`;
    if (actor !== null) where = sql.part`${where} and (actor_id = ${actor} or actor_name = ${actor})`;
    if (action !== null) where = sql.part`${where} and (action = ${action} or target_kind = ${action})`;
    if (target !== null) where = sql.part`${where} and (target_id = ${target} or target_name = ${target})`;
    if (outcome !== null) where = sql.part`${where} and outcome = ${outcome}`;
    if (after !== null) where = sql.part`${where} and (time, id) < (${after.time}, ${after.id})`;
    const rows = await sql`select * from audit where ${where} order by time desc, id desc limit ${limit}`;
    return rows.map(fromRow);
  }),

  deleteOld: sweep(async (sql, until: number, limit: number): Promise<number> => {
    const deletion = { from: sql.part`from audit where`, timeColumn: "time", until, limit, returning: ["id"] } as const;
    return (await deleteOldest(sql, deletion)).length;
  }),
};

export interface AuditResult {
  readonly outcome: AuditOutcome;
  readonly code: string | null;
  readonly name: string | null;
  readonly team: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

/** Null: the change is not recorded, as in the first start. */
export async function recordChange(sql: Sql, actor: Actor | null, event: AuditEvent): Promise<void> {
  if (actor !== null) await insertRecord(sql, actor, event);
}

async function insertRecord(sql: Sql, actor: Actor, event: AuditEvent): Promise<string> {
  const { action, target, outcome = "done", code = null, before = null, after = null, at = Date.now() } = event;
  const id = Bun.randomUUIDv7();
  const record: AuditRecord = {
    id,
    time: at,
    actorKind: actor.kind,
    actorId: actor.id,
    actorName: actor.name,
    actorRole: actor.role,
    address: actor.address,
    requestId: actor.requestId,
    action,
    outcome,
    code,
    targetKind: target.kind,
    targetId: target.id,
    targetName: target.name,
    team: target.team,
    stateBefore: before,
    stateAfter: after,
  };
  await sql`insert into audit ${sql.columns(toRow(record))}`;
  return id;
}

// Hashes of secrets are not shown, and the time of the last use is not a change.
const hiddenMembers: ReadonlySet<string> = new Set(["secretHash", "previousHash", "lastUsedAt"]);

/** A stored record as the audit log shows it: without secrets, with the names and times of the API. */
export function toShownState(record: object): Record<string, unknown> {
  const shown = Object.entries(record).filter(([member]) => !hiddenMembers.has(member));
  return Object.fromEntries(shown.map(([member, value]) => [toSnakeCase(member), toShownValue(member, value)]));
}

/** The members in which two records differ, of both. */
export function toDifference(before: object, after: object) {
  const [old, current] = [toShownState(before), toShownState(after)];
  const changed = Object.keys(current).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(current[name]));
  const pick = (state: Record<string, unknown>) => Object.fromEntries(changed.map((name) => [name, state[name]]));
  return { before: pick(old), after: pick(current) };
}

function toSnakeCase(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toShownValue(member: string, value: unknown): unknown {
  const isTime = typeof value === "number" && /(?:At|Until)$/.test(member);
  return isTime ? new Date(value).toISOString() : value;
}
