// The keys of callers: created, changed and revoked in the store, and looked up in a snapshot of it (key-snapshot.ts).

import type { CreateKeyRequest, KeyObject, KeyWithSecret, UpdateKeyRequest } from "../contract/keys.ts";
import type { LimitDefaults } from "../contract/limits.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import type { Actor } from "../storage/audit.ts";
import type { KeyFilter, KeyOutcome, KeyRecord } from "../storage/keys.ts";
import type { TeamRecord } from "../storage/teams.ts";
import type { Caller } from "./caller.ts";
import {
  generateSecret,
  hashSecret,
  plainRequest,
  tailOf,
  toKeyObject,
  toRecord,
  toSettings,
  toUserObject,
} from "./key-records.ts";
import { type KeySnapshotOptions, openKeySnapshot } from "./key-snapshot.ts";
import { gatewayActor } from "./roles.ts";
import { toTeamRecord } from "./team-records.ts";

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

export interface KeyringOptions extends KeySnapshotOptions {
  readonly adminKey: string | null;
  /** The limits of new keys, and of teams that are created with them. */
  readonly defaults?: AccessDefaults;
  /** On whose behalf keys are changed unless a call says otherwise. Default: the gateway itself. */
  readonly actor?: Actor;
}

export interface AccessDefaults {
  readonly key: LimitDefaults;
  readonly team: LimitDefaults;
}

export const noDefaults: AccessDefaults = { key: {}, team: {} };

/** The administrator's key is not stored. No stored key has this id. */
export const adminKeyId = "00000000-0000-0000-0000-000000000000";

// The time in which other processes notice a change: two polls of SQLite, or a NOTIFY of PostgreSQL.
const propagationMs = 100;

export async function openKeyring(options: KeyringOptions) {
  const { storage, adminKey, defaults = noDefaults, actor: ownActor = gatewayActor, now = Date.now } = options;
  const admin = adminKey === null ? null : toAdminRecord(adminKey);
  const snapshot = await openKeySnapshot(options, admin);
  const { refresh } = snapshot;

  /** `ofTeam`: keys of other teams do not exist for the caller; null: of any team. */
  async function find(id: string, ofTeam: string | null = null): Promise<KeyRecord> {
    const key = await storage.keys.get(id.toLowerCase());
    return key === null || (ofTeam !== null && key.team !== ofTeam) ? refuseUnknown() : key;
  }

  /** The team that a request names; undefined: it names no team. `newTeam`, which only administrators may create, is stored if no team has that name. */
  async function readTeam(
    { team, owner }: Pick<UpdateKeyRequest, "team" | "owner">,
    actor: Actor,
  ): Promise<NamedTeam | undefined> {
    const named = team === undefined ? owner : team;
    if (actor.team !== null && named !== undefined) {
      const found = named === null ? null : await storage.teams.find(named);
      return { name: found?.name === actor.team ? actor.team : refuseTeam(), newTeam: null };
    }
    if (typeof team === "string") {
      const found = await storage.teams.find(team);
      return { name: found?.name ?? refuseTeam(), newTeam: null };
    }
    if (typeof owner !== "string") return team === null || owner === null ? { name: null, newTeam: null } : undefined;
    if (actor.role !== "administrator") {
      const found = await storage.teams.find(owner);
      return { name: found?.name ?? refuseNewTeam(), newTeam: null };
    }
    return { name: owner, newTeam: toTeamRecord({ name: owner }, defaults.team, now()) };
  }

  return {
    ...snapshot,

    async create(
      { team: _, owner: __, ...request }: CreateKeyRequest,
      actor: Actor = ownActor,
    ): Promise<KeyWithSecret> {
      if (request.kind === "management" && actor.role !== "administrator") refuseManagementKeys();
      const named = await readTeam({ team: _, owner: __ }, actor);
      const { name: team, newTeam } = named ?? { name: actor.team, newTeam: null };
      const secret = generateSecret(request.kind);
      const key = toRecord({ request, team, secret, defaults: defaults.key, now: now() });
      if ((await storage.keys.insert(key, newTeam, actor)) === "no_team") refuseTeam();
      await waitForPropagation(refresh());
      return { ...toKeyObject(key, now()), key: secret };
    },

    /** `team`: a name or an id. `ofTeam`: only keys of this team exist for the caller; null: all. */
    async list(
      { team, ...filter }: KeyFilter,
      ofTeam: string | null = null,
    ): Promise<{ items: KeyObject[]; total: number }> {
      const named = team === null ? null : ((await storage.teams.find(team))?.name ?? team);
      const name = named ?? ofTeam;
      if (ofTeam !== null && name !== ofTeam) return { items: [], total: 0 };
      const { total, items } = await storage.keys.list({ ...filter, team: name });
      return { items: items.map((key) => toKeyObject(key, now())), total };
    },

    get: async (id: string, ofTeam: string | null = null): Promise<KeyObject> =>
      toKeyObject(await find(id, ofTeam), now()),

    async update(id: string, request: UpdateKeyRequest, actor: Actor = ownActor): Promise<KeyObject> {
      const current = await find(id, actor.team);
      if (request.role !== undefined && current.kind !== "management") refuseRole();
      const named = await readTeam(request, actor);
      const settings = toSettings(request, now());
      const changes = named === undefined ? settings : { ...settings, team: named.name };
      const key = expectKey(await storage.keys.update(current.id, changes, named?.newTeam ?? null, actor));
      await waitForPropagation(refresh());
      return toKeyObject(key, now());
    },

    /** Replaces the secret. The key keeps its id and settings, and the old secret works for another `graceSeconds`. */
    async rotate(id: string, graceSeconds: number, actor: Actor = ownActor): Promise<KeyWithSecret> {
      const current = await find(id, actor.team);
      const secret = generateSecret(current.kind);
      const previousUntil = now() + graceSeconds * 1000;
      const replacement = { hash: hashSecret(secret), tail: tailOf(secret), previousUntil };
      const key = expectKey(await storage.keys.rotate(current.id, replacement, actor));
      await waitForPropagation(refresh());
      return { ...toKeyObject(key, now()), key: secret };
    },

    async revoke(id: string, actor: Actor = ownActor): Promise<void> {
      expectKey(await storage.keys.revoke(id.toLowerCase(), now(), actor));
      await waitForPropagation(refresh());
    },

    /** The key of a caller; also works for callers whose key is not stored: the administrator's key, and people who signed in. */
    async describe(caller: Caller): Promise<KeyObject> {
      const { keyId, session } = caller;
      if (session !== undefined && session.subject !== null) return toUserObject(caller, session, now());
      if (admin === null || keyId !== adminKeyId) return toKeyObject(await find(keyId), now());
      // The operator chose this key, and it may be short, so not even its last characters are shown.
      return { ...toKeyObject(admin, now()), masked: "…" };
    },
  };
}

/**
 * Waits until all serving processes have noticed a stored change, so that a new key works in each of them and a revoked one in none. If the
 * refresh fails, the snapshot catches up later.
 */
export async function waitForPropagation(refreshed: Promise<void>): Promise<void> {
  await Promise.all([refreshed.catch(() => {}), Bun.sleep(propagationMs)]);
}

interface NamedTeam {
  readonly name: string | null;
  readonly newTeam: TeamRecord | null;
}

function toAdminRecord(adminKey: string): KeyRecord {
  const request = plainRequest("management", "SWITCHYARD_ADMIN_KEY");
  return { ...toRecord({ request, team: null, secret: adminKey, defaults: {}, now: 0 }), id: adminKeyId };
}

function expectKey(outcome: KeyOutcome): KeyRecord {
  if (outcome === "not_found") refuseUnknown();
  if (outcome === "no_team") refuseTeam();
  if (outcome === "forbidden") refuseManagementKeys();
  if (outcome === "revoked")
    throw new GatewayError("key_conflict", "The key was revoked and cannot be changed. Create a new one.");
  return outcome;
}

function refuseUnknown(): never {
  throw new GatewayError("key_not_found", "There is no key with this id.");
}

function refuseManagementKeys(): never {
  throw new GatewayError("insufficient_role", "Only administrators may create and change management keys.");
}

function refuseNewTeam(): never {
  throw new GatewayError("insufficient_role", "There is no team with this name, and only administrators create teams.");
}

function refuseRole(): never {
  const msg = "Roles belong to management keys; inference and sandbox keys have scopes";
  throw new ValidationError([{ loc: ["body", "role"], msg, type: "value_error" }]);
}

function refuseTeam(): never {
  const msg = "There is no team with this name or id. POST /v3/manage/teams creates one";
  throw new ValidationError([{ loc: ["body", "team"], msg, type: "value_error" }]);
}
