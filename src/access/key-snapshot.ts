// The keys and teams in memory, as lookups use them: read from the store when it announces a change, and refused when the store has been down
// for too long.

import { timingSafeEqual } from "node:crypto";
import { shareRuns } from "../lib/share-runs.ts";
import { dayMs } from "../lib/time-units.ts";
import type { Log } from "../log.ts";
import type { KeyChanges, KeyRecord } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import type { TeamRecord } from "../storage/teams.ts";
import type { Caller } from "./caller.ts";
import { hashSecret } from "./key-records.ts";
import { asWritten, type CountedNames, type LimitRule, replaceRules, toRules } from "./limit-rules.ts";

export type Lookup =
  | { readonly caller: Caller }
  | { readonly refused: "unknown" | "expired" | "revoked" | "disabled" | "team_disabled" | "unavailable" };

export interface KeySnapshotOptions {
  readonly storage: Storage;
  /** How long keys are accepted while the store is down, because revocations cannot be noticed then. */
  readonly staleAfterMs: number;
  /** Patterns may use any name of a provider and any spelling of a model. Absent: no limits are applied, in commands. */
  readonly names?: CountedNames;
  readonly log: Log;
  readonly now?: () => number;
}

interface Entry {
  readonly keyId: string;
  /** The bytes of the hexadecimal text. */
  readonly hash: Buffer;
  /** Created in advance, so that a lookup allocates nothing. */
  readonly found: { readonly caller: Caller };
  readonly isRevoked: boolean;
  readonly isDisabled: boolean;
  readonly isTeamDisabled: boolean;
  readonly expiresAt: number;
  /** When a replaced secret stops working; infinite for the current secret. */
  readonly replacedAt: number;
  usedAt: number;
}

/** What is kept of a key that no longer works: rows of keys are never deleted, so there may be many. */
interface RetiredKey {
  readonly secretHash: string;
  readonly previousHash: string | null;
  readonly refusal: Lookup;
}

// After its expiry. A key that is given more time is read again.
const retiredAfterMs = dayMs;
const hashLength = 64;
// No key is longer, and hashing long values would let anyone cause work.
const maxSecretLength = 512;
const recordUsesEveryMs = 10_000;
const maxUsesPerWrite = 200;
const tickEveryMs = 500;

const unknown: Lookup = { refused: "unknown" };
const expired: Lookup = { refused: "expired" };
const revoked: Lookup = { refused: "revoked" };
const disabled: Lookup = { refused: "disabled" };
const teamDisabled: Lookup = { refused: "team_disabled" };
const unavailable: Lookup = { refused: "unavailable" };

/** `admin`: the administrator's key, which is not stored. */
export async function openKeySnapshot(options: KeySnapshotOptions, admin: KeyRecord | null) {
  const { storage, staleAfterMs, names = asWritten, log, now = Date.now } = options;
  const keys = new Map<string, KeyRecord>();
  const teams = new Map<string, Team>();
  const entries = new Map<string, Entry>();
  const retired = new Map<string, RetiredKey>();
  const retiredSecrets = new Map<string, Lookup>();
  const used = new Map<string, Entry>();
  const adminEntry =
    admin === null
      ? null
      : toEntry(admin, { caller: toCaller(admin, null, names), isTeamDisabled: false }, admin.secretHash);
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
    const known = entries.get(hex);
    const refusal = known === undefined ? judgeRetired(retiredSecrets.get(hex)) : undefined;
    if (refusal !== undefined) return refusal;
    const entry = known ?? (admin?.secretHash === hex ? adminEntry : null);
    scratch.write(hex, "latin1");
    return entry === null || !timingSafeEqual(entry.hash, scratch) ? judgeMissing() : use(entry);
  }

  /** While the store is down, the key may be new, so it is not reported as unknown. */
  function judgeMissing(): Lookup {
    return isStale || hasFailed || !storage.isHealthy() ? unavailable : unknown;
  }

  /** As `judge`, and notes the use of a key that works. */
  function use(entry: Entry): Lookup {
    const time = now();
    const lookup = judge(entry, time);
    if (lookup !== entry.found || entry === adminEntry) return lookup;
    entry.usedAt = time;
    if (!used.has(entry.keyId)) used.set(entry.keyId, entry);
    return lookup;
  }

  /** Whether the key behind the entry works at this time. */
  function judge(entry: Entry, time: number): Lookup {
    if (entry === adminEntry) return entry.found;
    if (isStale) return unavailable;
    if (entry.isRevoked || time >= entry.replacedAt) return revoked;
    if (entry.isDisabled) return disabled;
    if (time >= entry.expiresAt) return expired;
    return entry.isTeamDisabled ? teamDisabled : entry.found;
  }

  /** Reads the changes from the store. */
  const refresh = shareRuns(load);

  async function load(): Promise<void> {
    try {
      const startedAt = now();
      const changes = await readChanges();
      // The store was restored from a backup, so keys that it does not contain must not work.
      if (changes.revision < revision) forgetAll();
      const changed = new Set(changes.teams.map(({ name }) => name));
      for (const team of changes.teams) teams.set(team.name, { record: team, rules: toRules("team", team, names) });
      if (changed.size > 0)
        for (const key of keys.values()) if (key.team !== null && changed.has(key.team)) remember(key);
      for (const key of changes.keys) remember(key);
      if (teams.size !== changes.teamCount) await forgetDeletedTeams();
      revision = changes.revision;
      hasFailed = false;
      confirm(startedAt);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  }

  async function readChanges(): Promise<Omit<KeyChanges, "next">> {
    let { next, ...changes } = await storage.keys.changedSince(revision);
    const [keys, teams] = [[...changes.keys], [...changes.teams]];
    while (next !== null) {
      const page: KeyChanges = await storage.keys.changedSince(revision, next);
      keys.push(...page.keys);
      teams.push(...page.teams);
      changes = { ...changes, teamCount: page.teamCount };
      next = page.next;
    }
    // The revision of the first page: what changed later is read again.
    return { ...changes, keys, teams };
  }

  async function forgetDeletedTeams(): Promise<void> {
    const existing = new Set(await storage.teams.listNames());
    for (const name of teams.keys()) if (!existing.has(name)) teams.delete(name);
  }

  function remember(key: KeyRecord): void {
    // A key that was known is kept in full, because requests and jobs of it may run.
    if (keys.has(key.id) || !isRetired(key, now())) hold(key);
    else retire(key);
  }

  function retire(key: KeyRecord): void {
    dropRetired(key.id);
    const refusal = key.revokedAt !== null ? revoked : key.enabled ? expired : disabled;
    retired.set(key.id, { secretHash: key.secretHash, previousHash: key.previousHash, refusal });
    retiredSecrets.set(key.secretHash, refusal);
    if (key.previousHash !== null) retiredSecrets.set(key.previousHash, revoked);
  }

  function hold(key: KeyRecord): void {
    dropRetired(key.id);
    const before = keys.get(key.id);
    const team = key.team === null ? null : (teams.get(key.team) ?? null);
    const holder = { caller: toCaller(key, team, names), isTeamDisabled: team?.record.enabled === false };
    if (before !== undefined) {
      const old = entries.get(before.secretHash)?.found.caller;
      // Lines of the ledger name the team with which their request began, so its calls are charged to that team.
      if (old?.team === key.team) replaceRules(old.rules, holder.caller.rules);
      entries.delete(before.secretHash);
      if (before.previousHash !== null) entries.delete(before.previousHash);
    }
    keys.set(key.id, key);
    entries.set(key.secretHash, toEntry(key, holder, key.secretHash));
    if (key.previousHash === null) return;
    entries.set(key.previousHash, toEntry(key, holder, key.previousHash, key.previousUntil ?? 0));
  }

  function dropRetired(keyId: string): void {
    const before = retired.get(keyId);
    if (before === undefined) return;
    retired.delete(keyId);
    retiredSecrets.delete(before.secretHash);
    if (before.previousHash !== null) retiredSecrets.delete(before.previousHash);
  }

  function forgetAll(): void {
    for (const map of [keys, teams, entries, retired, retiredSecrets]) map.clear();
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

  const isKnown = (keyId: string) => keys.has(keyId) || retired.has(keyId);
  const judgeRetired = (refusal: Lookup | undefined) => (refusal !== undefined && isStale ? unavailable : refusal);

  storage.onKeysChanged(() => {
    if (!isClosed) refreshQuietly();
  });
  await refresh();
  const ticking = setInterval(tick, tickEveryMs);
  const recording = setInterval(() => void recordUses(), recordUsesEveryMs);
  ticking.unref();
  recording.unref();

  return {
    lookUp,
    refresh,

    /** The caller of a key by its id, also of a key that is revoked or has expired. Null: no key has the id. */
    async findCaller(keyId: string): Promise<Caller | null> {
      // Another process may have created the key a moment ago. The limits of a known key are taken from the snapshot.
      if (!isKnown(keyId)) await refresh();
      const key = retired.has(keyId) ? await storage.keys.get(keyId) : null;
      if (key !== null && retired.has(keyId)) hold(key);
      const hash = keys.get(keyId)?.secretHash;
      return hash === undefined ? null : (entries.get(hash)?.found.caller ?? null);
    },

    /**
     * The state of a key with which a session began. `wasUsed` recognises the hash of the secret that was used then: a session ends with
     * that secret. `isUse`: whether the last use of the key is noted.
     */
    lookUpById(keyId: string, wasUsed: (secretHash: string) => boolean, isUse: boolean): Lookup {
      const refusal = judgeRetired(retired.get(keyId)?.refusal);
      if (refusal !== undefined) return refusal;
      const key = keyId === admin?.id ? admin : keys.get(keyId);
      if (key === undefined) return judgeMissing();
      const hash = [key.secretHash, key.previousHash].find((one) => one !== null && wasUsed(one));
      const entry = key === admin ? adminEntry : entries.get(hash ?? "");
      if (hash === undefined || entry === undefined || entry === null) return revoked;
      return isUse ? use(entry) : judge(entry, now());
    },

    /** Whether a request with this key would be accepted now. Not a use of the key. */
    async checkById(keyId: string): Promise<Lookup> {
      if (!isKnown(keyId)) await refresh();
      const refusal = judgeRetired(retired.get(keyId)?.refusal);
      if (refusal !== undefined) return refusal;
      const entry = entries.get(keys.get(keyId)?.secretHash ?? "");
      return entry === undefined ? judgeMissing() : judge(entry, now());
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

/** Whether a key can work again only after a change of the key. */
function isRetired({ revokedAt, expiresAt, previousUntil }: KeyRecord, time: number): boolean {
  if (revokedAt !== null) return true;
  return expiresAt !== null && expiresAt < time - retiredAfterMs && (previousUntil ?? 0) <= time;
}

/** A team as lookups use it. */
interface Team {
  readonly record: TeamRecord;
  readonly rules: readonly LimitRule[];
}

function toCaller(key: KeyRecord, team: Team | null, names: CountedNames): Caller {
  const lists = [key.allowedModels, team?.record.allowedModels ?? null].flatMap((list) =>
    list === null ? [] : [list.map(names.spellName)],
  );
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
    rules: [...toRules("key", key, names), ...(team?.rules ?? [])],
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
    isRevoked: key.revokedAt !== null,
    isDisabled: !key.enabled,
    isTeamDisabled,
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
    replacedAt,
    usedAt: 0,
  };
}
