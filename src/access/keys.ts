// The keys of callers. Lookups use a snapshot in memory; keys are created, changed and revoked in the store.

import { timingSafeEqual } from "node:crypto";
import {
  type CreateKeyRequest,
  type KeyKind,
  type KeyObject,
  type KeyWithSecret,
  keyScopes,
  type UpdateKeyRequest,
} from "../contract/keys.ts";
import { GatewayError, ValidationError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { KeyFilter, KeyOutcome, KeyRecord, KeySettings } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import type { Caller } from "./caller.ts";
import { toRules } from "./limit-rules.ts";

export type Lookup =
  | { readonly caller: Caller }
  | { readonly refused: "unknown" | "expired" | "revoked" | "unavailable" };

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

export interface KeyringOptions {
  readonly storage: Storage;
  readonly adminKey: string | null;
  /** How long keys are accepted while the store is down, because revocations cannot be noticed then. */
  readonly staleAfterMs: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** The administrator's key is not stored. No stored key has this id. */
export const adminKeyId = "00000000-0000-0000-0000-000000000000";

interface Entry {
  readonly keyId: string;
  /** The bytes of the hexadecimal text. */
  readonly hash: Buffer;
  /** Created in advance, so that a lookup allocates nothing. */
  readonly found: { readonly caller: Caller };
  readonly isRevoked: boolean;
  readonly expiresAt: number;
  /** When a replaced secret stops working; infinite for the current secret. */
  readonly replacedAt: number;
  usedAt: number;
}

const prefixes: Record<KeyKind, string> = {
  inference: "sk-sy-",
  management: "mgmt-sy-",
  sandbox: "sk-sy-sandbox-",
};
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 43 characters of a 62-character alphabet have 256 bits.
const secretLength = 43;
const tailLength = 4;
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
const unavailable: Lookup = { refused: "unavailable" };

export async function openKeyring(options: KeyringOptions) {
  const { storage, adminKey, staleAfterMs, log, now = Date.now } = options;
  const keys = new Map<string, KeyRecord>();
  const entries = new Map<string, Entry>();
  const used = new Map<string, Entry>();
  const admin = adminKey === null ? null : toAdminRecord(adminKey);
  const adminEntry = admin === null ? null : toEntry(admin, admin.secretHash, Number.POSITIVE_INFINITY);
  // Reused by every lookup, which is faster than allocating a buffer.
  const scratch = Buffer.alloc(hashLength);
  let revision = 0n;
  let confirmedAt = now();
  let isStale = false;
  let hasFailed = false;
  let isClosed = false;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  /** Synchronous: uses the snapshot only. */
  function lookUp(secret: string): Lookup {
    if (secret.length > maxSecretLength) return unknown;
    // The map is indexed by the SHA-256 of the value, so the time of the lookup reveals nothing about stored secrets. The comparison that
    // decides takes constant time.
    const hex = hash(secret);
    const entry = entries.get(hex) ?? (admin?.secretHash === hex ? adminEntry : null);
    scratch.write(hex, "latin1");
    if (entry === null || !timingSafeEqual(entry.hash, scratch)) {
      // While the store is down, the key may be new, so it is not reported as unknown.
      return isStale || hasFailed || !storage.isHealthy() ? unavailable : unknown;
    }
    if (entry === adminEntry) return entry.found;
    if (isStale) return unavailable;
    const time = now();
    if (entry.isRevoked || time >= entry.replacedAt) return revoked;
    if (time >= entry.expiresAt) return expired;
    entry.usedAt = time;
    if (!used.has(entry.keyId)) used.set(entry.keyId, entry);
    return entry.found;
  }

  /** Reads the changes from the store. Calls during a refresh share the next one. */
  function refresh(): Promise<void> {
    if (running === null) {
      running = load().finally(() => {
        running = null;
      });
      return running;
    }
    // The running refresh may have read before the change.
    next ??= running
      .catch(() => {})
      .then(() => {
        next = null;
        return refresh();
      });
    return next;
  }

  async function load(): Promise<void> {
    try {
      const startedAt = now();
      const changes = await storage.keys.changedSince(revision);
      // The store was restored from a backup, so keys that it does not contain must not work.
      if (changes.revision < revision) forgetAll();
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
    entries.set(key.secretHash, toEntry(key, key.secretHash, Number.POSITIVE_INFINITY));
    if (key.previousHash === null) return;
    entries.set(key.previousHash, toEntry(key, key.previousHash, key.previousUntil ?? 0));
  }

  function forgetAll(): void {
    keys.clear();
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

  async function find(id: string): Promise<KeyRecord> {
    return (await storage.keys.get(id.toLowerCase())) ?? refuseUnknown();
  }

  return {
    lookUp,
    refresh,

    async create(request: CreateKeyRequest): Promise<KeyWithSecret> {
      const secret = generateSecret(request.kind);
      const key = toRecord(request, secret, now());
      await storage.keys.insert(key);
      await waitForPropagation(refresh());
      return { ...toKeyObject(key), key: secret };
    },

    async list(filter: KeyFilter): Promise<{ items: KeyObject[]; total: number }> {
      const { total, items } = await storage.keys.list(filter);
      return { items: items.map(toKeyObject), total };
    },

    get: async (id: string): Promise<KeyObject> => toKeyObject(await find(id)),

    async update(id: string, request: UpdateKeyRequest): Promise<KeyObject> {
      const key = expectKey(await storage.keys.update(id.toLowerCase(), toSettings(request, now())));
      await waitForPropagation(refresh());
      return toKeyObject(key);
    },

    /** Replaces the secret. The key keeps its id and settings, and the old secret works for another `graceSeconds`. */
    async rotate(id: string, graceSeconds: number): Promise<KeyWithSecret> {
      const current = await find(id);
      const secret = generateSecret(current.kind);
      const previousUntil = now() + graceSeconds * 1000;
      const replacement = { hash: hash(secret), tail: secret.slice(-tailLength), previousUntil };
      const key = expectKey(await storage.keys.rotate(current.id, replacement));
      await waitForPropagation(refresh());
      return { ...toKeyObject(key), key: secret };
    },

    async revoke(id: string): Promise<void> {
      if ((await storage.keys.revoke(id.toLowerCase(), now())) === null) refuseUnknown();
      await waitForPropagation(refresh());
    },

    /** The key of a caller; also works for the administrator's key, which is not stored. */
    async describe({ keyId }: Caller): Promise<KeyObject> {
      if (admin === null || keyId !== adminKeyId) return toKeyObject(await find(keyId));
      // The operator chose this key, and it may be short, so not even its last characters are shown.
      return { ...toKeyObject(admin), masked: "…" };
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
async function waitForPropagation(refreshed: Promise<void>): Promise<void> {
  await Promise.all([refreshed.catch(() => {}), Bun.sleep(propagationMs)]);
}

/**
 * Creates the keys of a first start if the store has none. If several processes try, one of them succeeds. With an administrator's key in the
 * settings, no management key is created.
 */
export async function createFirstKeys(
  storage: Storage,
  options: { readonly adminKey?: string | null; readonly now?: () => number } = {},
): Promise<{ inference: string; management: string | null } | null> {
  const time = (options.now ?? Date.now)();
  const inference = generateSecret("inference");
  const management = (options.adminKey ?? null) === null ? generateSecret("management") : null;
  const first = [toRecord(defaults("inference", "First inference key"), inference, time)];
  if (management !== null) first.push(toRecord(defaults("management", "First management key"), management, time));
  return (await storage.keys.insertFirst(first)) ? { inference, management } : null;
}

function defaults(kind: KeyKind, name: string): CreateKeyRequest {
  const none = { owner: null, allowed_models: null, rate_limit: null, budget: null, expires_at: null };
  return { name, kind, ...none, tags: {}, enabled: true };
}

function generateSecret(kind: KeyKind): string {
  let secret = prefixes[kind];
  const end = secret.length + secretLength;
  while (secret.length < end) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // 248 is the largest multiple of 62 that fits a byte. Larger values would make some characters more likely.
      if (byte < 248 && secret.length < end) secret += alphabet[byte % 62];
    }
  }
  return secret;
}

function hash(secret: string): string {
  return Bun.SHA256.hash(secret, "hex");
}

function toRecord(request: CreateKeyRequest, secret: string, time: number): KeyRecord {
  return {
    id: Bun.randomUUIDv7(),
    kind: request.kind,
    name: request.name,
    owner: request.owner,
    scopes: request.kind === "management" ? [] : (request.scopes ?? keyScopes),
    allowedModels: request.allowed_models,
    rateLimit: request.rate_limit,
    budget: request.budget,
    tags: request.tags,
    enabled: request.enabled,
    expiresAt: toFutureTime(request.expires_at, time),
    secretHash: hash(secret),
    secretTail: secret.slice(-tailLength),
    previousHash: null,
    previousUntil: null,
    createdAt: time,
    revokedAt: null,
    lastUsedAt: null,
  };
}

function toSettings(request: UpdateKeyRequest, time: number): Partial<KeySettings> {
  const { allowed_models: allowedModels, rate_limit: rateLimit, expires_at: expiresAt, ...same } = request;
  const settings = {
    ...same,
    ...(allowedModels === undefined ? {} : { allowedModels }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(expiresAt === undefined ? {} : { expiresAt: toFutureTime(expiresAt, time) }),
  };
  return settings as Partial<KeySettings>;
}

function toFutureTime(text: string | null, time: number): number | null {
  if (text === null) return null;
  const parsed = Date.parse(text);
  if (parsed > time) return parsed;
  throw new ValidationError([
    { loc: ["body", "expires_at"], msg: "The expiry must be in the future", type: "value_error" },
  ]);
}

function toKeyObject(key: KeyRecord): KeyObject {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    masked: `${prefixes[key.kind]}…${key.secretTail}`,
    owner: key.owner,
    scopes: [...key.scopes],
    allowed_models: key.allowedModels === null ? null : [...key.allowedModels],
    rate_limit: key.rateLimit,
    budget: key.budget,
    expires_at: toIso(key.expiresAt),
    tags: { ...key.tags },
    enabled: key.enabled,
    created_at: new Date(key.createdAt).toISOString(),
    last_used_at: toIso(key.lastUsedAt),
    revoked_at: toIso(key.revokedAt),
  };
}

function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function toCaller(key: KeyRecord): Caller {
  return {
    keyId: key.id,
    kind: key.kind,
    name: key.name,
    owner: key.owner,
    scopes: new Set(key.scopes),
    allowedModels: key.allowedModels,
    rateLimit: key.rateLimit,
    budget: key.budget,
    team: key.owner,
    rules: toRules("key", key),
    tags: key.tags,
  };
}

function toEntry(key: KeyRecord, hex: string, replacedAt: number): Entry {
  return {
    keyId: key.id,
    hash: Buffer.from(hex, "latin1"),
    found: { caller: toCaller(key) },
    isRevoked: key.revokedAt !== null || !key.enabled,
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
    replacedAt,
    usedAt: 0,
  };
}

function toAdminRecord(adminKey: string): KeyRecord {
  return { ...toRecord(defaults("management", "SWITCHYARD_ADMIN_KEY"), adminKey, 0), id: adminKeyId };
}

function expectKey(outcome: KeyOutcome): KeyRecord {
  if (outcome === "not_found") refuseUnknown();
  if (outcome === "revoked")
    throw new GatewayError("key_conflict", "The key was revoked and cannot be changed. Create a new one.");
  return outcome;
}

function refuseUnknown(): never {
  throw new GatewayError("key_not_found", "There is no key with this id.");
}
