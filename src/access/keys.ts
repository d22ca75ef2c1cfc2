// The keys of callers. Lookups use a snapshot in memory; keys are created, changed and revoked in the store.

import { timingSafeEqual } from "node:crypto";
import type { CreateKeyRequest, KeyKind, KeyObject, KeyWithSecret, UpdateKeyRequest } from "../contract/keys.ts";
import type { LimitDefaults } from "../contract/limits.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import { shareRuns } from "../lib/share-runs.ts";
import type { Log } from "../log.ts";
import type { Actor } from "../storage/audit.ts";
import type { KeyFilter, KeyOutcome, KeyRecord } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
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
import { type LimitRule, type ToProviderName, toRules } from "./limit-rules.ts";
import { gatewayActor } from "./roles.ts";
import { toTeamRecord } from "./team-records.ts";

export type Lookup =
  | { readonly caller: Caller }
  | { readonly refused: "unknown" | "expired" | "revoked" | "team_disabled" | "unavailable" };

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

export interface KeyringOptions {
  readonly storage: Storage;
  readonly adminKey: string | null;
  /** How long keys are accepted while the store is down, because revocations cannot be noticed then. */
  readonly staleAfterMs: number;
  /** The limits of new keys, and of teams that are created with them. */
  readonly defaults?: AccessDefaults;
  /** Patterns of limits may use any name of a provider. Absent: no limits are applied, in commands. */
  readonly toProviderName?: ToProviderName;
  /** On whose behalf keys are changed unless a call says otherwise. Default: the gateway itself. */
  readonly actor?: Actor;
  readonly log: Log;
  readonly now?: () => number;
}

export interface AccessDefaults {
  readonly key: LimitDefaults;
  readonly team: LimitDefaults;
}

export const noDefaults: AccessDefaults = { key: {}, team: {} };

/** The administrator's key is not stored. No stored key has this id. */
export const adminKeyId = "00000000-0000-0000-0000-000000000000";

interface Entry {
  readonly keyId: string;
  /** The bytes of the hexadecimal text. */
  readonly hash: Buffer;
  /** Created in advance, so that a lookup allocates nothing. */
  readonly found: { readonly caller: Caller };
  readonly isRevoked: boolean;
  readonly isTeamDisabled: boolean;
  readonly expiresAt: number;
  /** When a replaced secret stops working; infinite for the current secret. */
  readonly replacedAt: number;
  usedAt: number;
}

const hashLength = 64;
// No key is longer, and hashing long values would let anyone cause work.
const maxSecretLength = 512;
const recordUsesEveryMs = 10_000;
const maxUsesPerWrite = 200;
const tickEveryMs = 500;
// The time in which other processes notice a change: two polls of SQLite, or a NOTIFY of PostgreSQL.
const propagationMs = 100;

const unknown: Lookup = { refused: "unknown" };
const expired: Lookup = { refused: "expired" };
const revoked: Lookup = { refused: "revoked" };
const teamDisabled: Lookup = { refused: "team_disabled" };
const unavailable: Lookup = { refused: "unavailable" };

export async function openKeyring(options: KeyringOptions) {
  const { storage, adminKey, staleAfterMs, defaults = noDefaults, log, now = Date.now } = options;
  const { toProviderName = (name) => name, actor: ownActor = gatewayActor } = options;
  const keys = new Map<string, KeyRecord>();
  const teams = new Map<string, Team>();
  const entries = new Map<string, Entry>();
  const used = new Map<string, Entry>();
  const admin = adminKey === null ? null : toAdminRecord(adminKey);
  const adminEntry =
    admin === null
      ? null
      : toEntry(admin, { caller: toCaller(admin, null, toProviderName), isTeamDisabled: false }, admin.secretHash);
  // Reused by every lookup, which is faster than allocating a buffer.
  const scratch = Buffer.alloc(hashLength);
  let revision = 0n;
  let confirmedAt = now();
  let isStale = false;
  let hasFailed = false;
  let isClosed = false;

  /** Synchronous: uses the snapshot only. */
  function lookUp(secret: string): Lookup {
    if (secret.length > maxSecretLength) return unknown;
    // The map is indexed by the SHA-256 of the value, so the time of the lookup reveals nothing about stored secrets. The comparison that
    // decides takes constant time.
    const hex = hashSecret(secret);
    const entry = entries.get(hex) ?? (admin?.secretHash === hex ? adminEntry : null);
    scratch.write(hex, "latin1");
    if (entry === null || !timingSafeEqual(entry.hash, scratch)) {
      // While the store is down, the key may be new, so it is not reported as unknown.
      return isStale || hasFailed || !storage.isHealthy() ? unavailable : unknown;
    }
    return judge(entry);
  }

  /** Whether the key behind the entry works now. */
  function judge(entry: Entry): Lookup {
    if (entry === adminEntry) return entry.found;
    if (isStale) return unavailable;
    const time = now();
    if (entry.isRevoked || time >= entry.replacedAt) return revoked;
    if (time >= entry.expiresAt) return expired;
    if (entry.isTeamDisabled) return teamDisabled;
    entry.usedAt = time;
    if (!used.has(entry.keyId)) used.set(entry.keyId, entry);
    return entry.found;
  }

  /** Reads the changes from the store. */
  const refresh = shareRuns(load);

  async function load(): Promise<void> {
    try {
      const startedAt = now();
      const changes = await storage.keys.changedSince(revision);
      // The store was restored from a backup, so keys that it does not contain must not work.
      if (changes.revision < revision) forgetAll();
      const changed = new Set(changes.teams.map(({ name }) => name));
      for (const team of changes.teams)
        teams.set(team.name, { record: team, rules: toRules("team", team, toProviderName) });
      if (changed.size > 0)
        for (const key of keys.values()) if (key.team !== null && changed.has(key.team)) remember(key);
      for (const key of changes.keys) remember(key);
      revision = changes.revision;
      hasFailed = false;
      confirm(startedAt);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }

  function remember(key: KeyRecord): void {
    const before = keys.get(key.id);
    if (before !== undefined) {
      entries.delete(before.secretHash);
      if (before.previousHash !== null) entries.delete(before.previousHash);
    }
    keys.set(key.id, key);
    const team = key.team === null ? null : (teams.get(key.team) ?? null);
    const holder = { caller: toCaller(key, team, toProviderName), isTeamDisabled: team?.record.enabled === false };
    entries.set(key.secretHash, toEntry(key, holder, key.secretHash));
    if (key.previousHash === null) return;
    entries.set(key.previousHash, toEntry(key, holder, key.previousHash, key.previousUntil ?? 0));
  }

  function forgetAll(): void {
    keys.clear();
    teams.clear();
    entries.clear();
  }

  function confirm(time: number): void {
    confirmedAt = Math.max(confirmedAt, time);
    isStale = now() - confirmedAt > staleAfterMs;
  }

  /** A healthy store announces every change, so the snapshot is current. Otherwise the snapshot ages. */
  function tick(): void {
    if (hasFailed && storage.isHealthy()) refreshQuietly();
    confirm(storage.isHealthy() && !hasFailed ? now() : confirmedAt);
  }

  function refreshQuietly(): void {
    refresh().catch((error) => log.warn("Keys could not be read from the store", { error }));
  }

  /** Runs in the background. Uses that could not be stored are retried the next time. */
  async function recordUses(): Promise<void> {
    const waiting = [...used.values()].map((entry) => ({ id: entry.keyId, at: entry.usedAt, entry }));
    used.clear();
    for (let start = 0; start < waiting.length; start += maxUsesPerWrite) {
      const batch = waiting.slice(start, start + maxUsesPerWrite);
      try {
        await storage.keys.touch(batch.map(({ id, at }) => ({ id, at })));
      } catch (error) {
        log.debug("The last use of keys could not be recorded", { error });
        for (const { id, entry } of waiting.slice(start)) if (!used.has(id)) used.set(id, entry);
        return;
      }
    }
  }

  storage.onKeysChanged(() => {
    if (!isClosed) refreshQuietly();
  });
  await refresh();
  const ticking = setInterval(tick, tickEveryMs);
  const recording = setInterval(() => void recordUses(), recordUsesEveryMs);
  ticking.unref();
  recording.unref();

  /** `ofTeam`: keys of other teams do not exist for the caller; null: of any team. */
  async function find(id: string, ofTeam: string | null = null): Promise<KeyRecord> {
    const key = await storage.keys.get(id.toLowerCase());
    return key === null || (ofTeam !== null && key.team !== ofTeam) ? refuseUnknown() : key;
  }

  /** The team that a request names; undefined: it names no team. `newTeam` is stored if no team has that name. */
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
    return { name: owner, newTeam: toTeamRecord({ name: owner }, defaults.team, now()) };
  }

  return {
    lookUp,
    refresh,

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

    /** The caller of a key by its id, also of a key that is revoked or has expired. Null: no key has the id. */
    async findCaller(keyId: string): Promise<Caller | null> {
      // Another process may have created the key a moment ago. The limits of a known key are taken from the snapshot.
      if (!keys.has(keyId)) await refresh();
      const hash = keys.get(keyId)?.secretHash;
      return hash === undefined ? null : (entries.get(hash)?.found.caller ?? null);
    },

    /**
     * The state of a key with which a session began. `wasUsed` recognises the hash of the secret that was used then: a session ends with
     * that secret.
     */
    lookUpById(keyId: string, wasUsed: (secretHash: string) => boolean): Lookup {
      const key = keyId === adminKeyId ? admin : keys.get(keyId);
      if (key === null || key === undefined)
        return isStale || hasFailed || !storage.isHealthy() ? unavailable : unknown;
      const hash = [key.secretHash, key.previousHash].find((one) => one !== null && wasUsed(one));
      const entry = key === admin ? adminEntry : entries.get(hash ?? "");
      return hash === undefined || entry === undefined || entry === null ? revoked : judge(entry);
    },

    /** From the snapshot, by name or id. */
    findTeam(nameOrId: string): TeamRecord | null {
      const byName = teams.get(nameOrId)?.record;
      return byName ?? [...teams.values()].find(({ record }) => record.id === nameOrId)?.record ?? null;
    },

    /** Whether the store has been down for longer than `staleAfterMs`, so that known keys are refused. */
    isStale: () => isStale,

    async close(): Promise<void> {
      if (isClosed) return;
      isClosed = true;
      clearInterval(ticking);
      clearInterval(recording);
      await recordUses();
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

/**
 * Creates the keys of a first start if the store has none. If several processes try, one of them succeeds. With an administrator's key in the
 * settings, no management key is created.
 */
export async function createFirstKeys(
  storage: Storage,
  options: { readonly adminKey?: string | null; readonly defaults?: AccessDefaults; readonly now?: () => number } = {},
): Promise<{ inference: string; management: string | null } | null> {
  const time = (options.now ?? Date.now)();
  const inference = generateSecret("inference");
  const management = (options.adminKey ?? null) === null ? generateSecret("management") : null;
  const limits = (options.defaults ?? noDefaults).key;
  const create = (kind: KeyKind, name: string, secret: string) =>
    toRecord({ request: plainRequest(kind, name), team: null, secret, defaults: limits, now: time });
  const first = [create("inference", "First inference key", inference)];
  if (management !== null) first.push(create("management", "First management key", management));
  return (await storage.keys.insertFirst(first, gatewayActor)) ? { inference, management } : null;
}

/** A team as lookups use it. */
interface Team {
  readonly record: TeamRecord;
  readonly rules: readonly LimitRule[];
}

interface NamedTeam {
  readonly name: string | null;
  readonly newTeam: TeamRecord | null;
}

function toCaller(key: KeyRecord, team: Team | null, toProviderName: ToProviderName): Caller {
  const lists = [key.allowedModels, team?.record.allowedModels ?? null].filter((list) => list !== null);
  return {
    keyId: key.id,
    kind: key.kind,
    name: key.name,
    owner: key.team,
    scopes: new Set(key.scopes),
    allowedModels: lists.length === 0 ? null : lists,
    rateLimit: key.rateLimit,
    budget: key.budget,
    team: key.team,
    role: key.role,
    rules: [...toRules("key", key, toProviderName), ...(team?.rules ?? [])],
    tags: { ...team?.record.tags, ...key.tags },
  };
}

/** `replacedAt`: infinite for the current secret. */
function toEntry(
  key: KeyRecord,
  { caller, isTeamDisabled }: { readonly caller: Caller; readonly isTeamDisabled: boolean },
  hex: string,
  replacedAt = Number.POSITIVE_INFINITY,
): Entry {
  return {
    keyId: key.id,
    hash: Buffer.from(hex, "latin1"),
    found: { caller },
    isRevoked: key.revokedAt !== null || !key.enabled,
    isTeamDisabled,
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
    replacedAt,
    usedAt: 0,
  };
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

function refuseRole(): never {
  const msg = "Roles belong to management keys; inference and sandbox keys have scopes";
  throw new ValidationError([{ loc: ["body", "role"], msg, type: "value_error" }]);
}

function refuseTeam(): never {
  const msg = "There is no team with this name or id. POST /v3/manage/teams creates one";
  throw new ValidationError([{ loc: ["body", "team"], msg, type: "value_error" }]);
}
