// Statements about teams. Keys refer to a team by its name, which never changes, because stored data belongs to that name.

import type { Budget, ModelLimit, RateLimit } from "../contract/limits.ts";
import { type Actor, recordChange, toDifference, toShownState } from "./audit.ts";
import { isFound, listPage, nextRevision, read, write } from "./operation.ts";
import { boolean, type Column, integer, json, mapRecord, nullable, type RecordOf, text } from "./record.ts";
import type { Sql } from "./sql.ts";

const noRates: RateLimit = {
  requests_per_second: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  concurrent_requests: null,
};

/** A rate limit that an earlier version stored lacks the newer members. */
const rateLimit: Column<RateLimit> = {
  toSql: (value) => JSON.stringify(value),
  fromSql: (value) => ({ ...noRates, ...JSON.parse(value as string) }),
};

/** The columns of keys and teams alike. */
export const limitColumns = {
  allowedModels: nullable(json<readonly string[]>()),
  rateLimit: nullable(rateLimit),
  budget: nullable(json<Budget>()),
  modelLimits: json<readonly ModelLimit[]>(),
  tags: json<Readonly<Record<string, string>>>(),
  enabled: boolean,
};

/** Times are epoch milliseconds. */
const columns = {
  id: text(),
  name: text(),
  displayName: nullable(text()),
  ...limitColumns,
  createdAt: integer,
};
const { toRow, fromRow } = mapRecord(columns);
export const toTeam = fromRow;

export type TeamRecord = RecordOf<typeof columns>;
export type TeamSettings = Omit<TeamRecord, "id" | "name" | "createdAt">;

export interface TeamFilter {
  /** Only the team of this name. */
  readonly name?: string | null;
  readonly enabled: boolean | null;
  /** A part of the name or display name, or the id. */
  readonly search?: string | null;
  readonly limit: number;
  readonly offset: number;
}

// Changes of teams are announced as changes of keys: both are in one snapshot.
export const teamStatements = {
  insert: write(
    "keys",
    async (sql, team: TeamRecord, actor: Actor | null = null): Promise<"inserted" | "name_taken"> => {
      const revision = await nextRevision(sql, "keys");
      if ((await findByName(sql, team.name)) !== null) return "name_taken";
      await insertTeam(sql, { team, revision, actor });
      return "inserted";
    },
  ),

  /** By its name or its id. */
  find: read(async (sql, nameOrId: string): Promise<TeamRecord | null> => await findTeam(sql, nameOrId)),

  list: read(async (sql, { name = null, search = null, enabled: isEnabled, ...page }: TeamFilter) => {
    const enabled = isEnabled === null ? null : Number(isEnabled);
    const from = sql.part`
      from teams
      where (cast(${enabled} as bigint) is null or enabled = ${enabled})
        and (cast(${name} as text) is null or name = ${name})
        and ${isFound(sql, search, ["name", "coalesce(display_name, '')"])}`;
    return await listPage(sql, { from, ...page }, fromRow);
  }),

  update: write(
    "keys",
    async (sql, id: string, changes: Partial<TeamSettings>, actor: Actor | null = null): Promise<TeamRecord | null> => {
      const revision = await nextRevision(sql, "keys");
      const current = await findById(sql, id);
      const row = { ...toRow(changes), revision };
      const [updated] = await sql`update teams set ${sql.columns(row)} where id = ${id} returning *`;
      if (current === null || updated === undefined) return null;
      const team = fromRow(updated);
      await recordChange(sql, actor, { action: "team.update", target: toTarget(team), ...toDifference(current, team) });
      return team;
    },
  ),

  listNames: read(async (sql): Promise<string[]> => {
    const rows = await sql<{ name: string }>`select name from teams`;
    return rows.map(({ name }) => name);
  }),

  /** Returns the number of keys that are not revoked; unless it is 0, the team is kept. */
  delete: write("keys", async (sql, id: string, actor: Actor | null = null): Promise<number | "not_found"> => {
    await nextRevision(sql, "keys");
    const team = await findById(sql, id);
    if (team === null) return "not_found";
    const [row] = await sql<{ total: bigint }>`
      select count(*) as total from api_keys where owner = ${team.name} and revoked_at is null`;
    if (row?.total === 0n) {
      await sql`delete from teams where id = ${id}`;
      await recordChange(sql, actor, { action: "team.delete", target: toTarget(team), before: toShownState(team) });
    }
    return Number(row?.total);
  }),
};

/** Whether there is a team of this name, or `newTeam` was stored. The caller holds the revision, so no other process deletes the team meanwhile. */
export async function requireTeam(
  sql: Sql,
  {
    name,
    newTeam,
    revision,
    actor,
  }: { name: string; newTeam: TeamRecord | null; revision: bigint; actor: Actor | null },
): Promise<boolean> {
  if ((await findByName(sql, name)) !== null) return true;
  if (newTeam === null) return false;
  await insertTeam(sql, { team: newTeam, revision, actor });
  return true;
}

async function insertTeam(
  sql: Sql,
  { team, revision, actor }: { team: TeamRecord; revision: bigint; actor: Actor | null },
): Promise<void> {
  await sql`insert into teams ${sql.columns({ ...toRow(team), revision })}`;
  await recordChange(sql, actor, { action: "team.create", target: toTarget(team), after: toShownState(team) });
}

function toTarget({ id, name }: TeamRecord) {
  return { kind: "team", id, name, team: name };
}

/** A name may have the form of an id, so names come first. */
async function findTeam(sql: Sql, nameOrId: string): Promise<TeamRecord | null> {
  return (await findByName(sql, nameOrId)) ?? (await findById(sql, nameOrId.toLowerCase()));
}

async function findByName(sql: Sql, name: string): Promise<TeamRecord | null> {
  const [row] = await sql`select * from teams where name = ${name}`;
  return row === undefined ? null : fromRow(row);
}

async function findById(sql: Sql, id: string): Promise<TeamRecord | null> {
  const [row] = await sql`select * from teams where id = ${id}`;
  return row === undefined ? null : fromRow(row);
}
