// Who may call: keys are looked up in a snapshot in memory, and made, changed and revoked in the store.

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
import type { KeyOutcome, KeyRecord, KeySettings } from "../storage/keys.ts";
import type { Storage } from "../storage/storage.ts";
import type { Caller } from "./caller.ts";

export type Lookup =
  | { readonly caller: Caller }
  | { readonly refused: "unknown" | "expired" | "revoked" | "unavailable" };

export interface KeyListRequest {
  readonly kind: KeyKind | null;
  readonly enabled: boolean | null;
  readonly owner: string | null;
  readonly page: number;
  readonly limit: number;
}

export interface Keyring {
  /** Never waits and never asks the store. */
  lookUp(secret: string): Lookup;
  create(request: CreateKeyRequest): Promise<KeyWithSecret>;
  list(request: KeyListRequest): Promise<{ items: KeyObject[]; total: number }>;
  get(id: string): Promise<KeyObject>;
  update(id: string, request: UpdateKeyRequest): Promise<KeyObject>;
  /** The key keeps its id and settings; the old secret works for `graceSeconds` more. */
  rotate(id: string, graceSeconds: number): Promise<KeyWithSecret>;
  /** For good. */
  revoke(id: string): Promise<void>;
  /** The key that a caller came with, also when it is the administrator's, which is not stored. */
  describe(caller: Caller): Promise<KeyObject>;
  /** Reads what changed in the store. Calls that come while one runs share the next. */
  refresh(): Promise<void>;
  /** The store has been away for so long that known keys are refused: see `staleAfterMs`. */
  isStale(): boolean;
  close(): Promise<void>;
}

export interface KeyringOptions {
  readonly storage: Storage;
  readonly adminKey: string | null;
  /** For how long keys are still believed when the store does not answer: a revocation cannot be heard meanwhile. */
  readonly staleAfterMs: number;
  readonly log: Log;
  readonly now?: () => number;
}

/** The administrator's key is not stored; it has the one id that a stored key never gets. */
export const adminKeyId = "00000000-0000-0000-0000-000000000000";

interface Entry {
  readonly keyId: string;
  /** The hexadecimal digits as bytes. */
  readonly hash: Buffer;
  /** Made beforehand: a lookup allocates nothing. */
  readonly found: { readonly caller: Caller };
  readonly isRevoked: boolean;
  readonly expiresAt: number;
  /** The end of a replaced secret's grace; infinite for the current one. */
  readonly replacedAt: number;
  usedAt: number;
}

const prefixes: Record<KeyKind, string> = {
  inference: "sk-sy-",
  management: "mgmt-sy-",
  sandbox: "sk-sy-sandbox-",
};
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 43 characters of 62 are 256 bits, as many as 32 bytes have.
const secretLength = 43;
const tailLength = 4;
const hashLength = 64;
// Longer ones cannot be ours, and hashing them would be work that anyone can order.
const longestSecret = 512;
const recordUsesEveryMs = 10_000;
const usesAtOnce = 200;
const tickEveryMs = 500;
// Two polls of SQLite, or a NOTIFY with time to spare.
const othersHearWithinMs = 100;

const unknown: Lookup = { refused: "unknown" };
const expired: Lookup = { refused: "expired" };
const revoked: Lookup = { refused: "revoked" };
const unavailable: Lookup = { refused: "unavailable" };

export async function openKeyring(options: KeyringOptions): Promise<Keyring> {
  const { storage, adminKey, staleAfterMs, log, now = Date.now } = options;
  const keys = new Map<string, KeyRecord>();
  const entries = new Map<string, Entry>();
  const used = new Map<string, Entry>();
  const admin = adminKey === null ? null : toAdminEntry(adminKey);
  // Filled anew by every lookup, which is quicker than a new buffer each time.
  const scratch = Buffer.alloc(hashLength);
  let revision = 0n;
  let confirmedAt = now();
  let isStale = false;
  let hasFailed = false;
  let isClosed = false;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  function lookUp(secret: string): Lookup {
    if (secret.length > longestSecret) return unknown;
    // The place in the map depends on the SHA-256 of what was sent, so the time it takes tells nothing about stored secrets;
    // the comparison that decides is one of constant time.
    const hex = hash(secret);
    const entry = entries.get(hex) ?? (admin?.hex === hex ? admin.entry : undefined);
    scratch.write(hex, "latin1");
    if (entry === undefined || !timingSafeEqual(entry.hash, scratch)) {
      // A key that was made while we could not hear of it is not the caller's mistake.
      return isStale || hasFailed || !storage.isHealthy() ? unavailable : unknown;
    }
    if (entry === admin?.entry) return entry.found;
    if (isStale) return unavailable;
    const time = now();
    if (entry.isRevoked || time >= entry.replacedAt) return revoked;
    if (time >= entry.expiresAt) return expired;
    entry.usedAt = time;
    if (!used.has(entry.keyId)) used.set(entry.keyId, entry);
    return entry.found;
  }

  function refresh(): Promise<void> {
    if (running === null) {
      running = load().finally(() => {
        running = null;
      });
      return running;
    }
    // The one that runs may have read before the change that we are told of.
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
      // The store was put back to an earlier state: what it does not know any more must not open anything.
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
    const found = { caller: toCaller(key) };
    entries.set(key.secretHash, toEntry(key, key.secretHash, Number.POSITIVE_INFINITY, found));
    if (key.previousHash === null) return;
    entries.set(key.previousHash, toEntry(key, key.previousHash, key.previousUntil ?? 0, found));
  }

  function forgetAll(): void {
    keys.clear();
    entries.clear();
  }

  function confirm(time: number): void {
    confirmedAt = Math.max(confirmedAt, time);
    isStale = now() - confirmedAt > staleAfterMs;
  }

  /** A store that answers tells of every change, so what we hold is as of now; one that does not makes it older. */
  function tick(): void {
    if (hasFailed && storage.isHealthy()) refreshQuietly();
    confirm(storage.isHealthy() && !hasFailed ? now() : confirmedAt);
  }

  function refreshQuietly(): void {
    refresh().catch((error) => log.warn("Keys could not be read from the store", { error }));
  }

  /** Off the way of requests, and never worth an error to anyone: what could not be written is tried again. */
  async function recordUses(): Promise<void> {
    const waiting = [...used.values()].map((entry) => ({ id: entry.keyId, at: entry.usedAt, entry }));
    used.clear();
    for (let start = 0; start < waiting.length; start += usesAtOnce) {
      const batch = waiting.slice(start, start + usesAtOnce);
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

  return {
    lookUp,
    refresh,

    create: async (request) => {
      const secret = generateSecret(request.kind);
      const key = toRecord(request, secret, now());
      await storage.keys.insert(key);
      await settle(refresh());
      return { ...toKeyObject(key), key: secret };
    },

    list: async ({ page, limit, ...filter }) => {
      const { total, keys: found } = await storage.keys.list({ ...filter, limit, offset: (page - 1) * limit });
      return { items: found.map(toKeyObject), total };
    },

    get: async (id) => {
      const key = await storage.keys.get(id.toLowerCase());
      if (key === null) throw notFound();
      return toKeyObject(key);
    },

    update: async (id, request) => {
      const key = expectKey(await storage.keys.update(id.toLowerCase(), toSettings(request, now())));
      await settle(refresh());
      return toKeyObject(key);
    },

    rotate: async (id, graceSeconds) => {
      const current = await storage.keys.get(id.toLowerCase());
      if (current === null) throw notFound();
      const secret = generateSecret(current.kind);
      const previousUntil = now() + graceSeconds * 1000;
      const replacement = { hash: hash(secret), tail: secret.slice(-tailLength), previousUntil };
      const key = expectKey(await storage.keys.rotate(current.id, replacement));
      await settle(refresh());
      return { ...toKeyObject(key), key: secret };
    },

    revoke: async (id) => {
      const key = await storage.keys.revoke(id.toLowerCase(), now());
      if (key === null) throw notFound();
      await settle(refresh());
    },

    describe: async (caller) => {
      if (caller.keyId === adminKeyId) return describeAdmin();
      const key = await storage.keys.get(caller.keyId);
      if (key === null) throw notFound();
      return toKeyObject(key);
    },

    isStale: () => isStale,

    close: async () => {
      if (isClosed) return;
      isClosed = true;
      clearInterval(ticking);
      clearInterval(recording);
      await recordUses();
    },
  };
}

/**
 * The write is done; a snapshot that cannot follow at once follows by itself. The other serving processes get the time that they
 * need to hear of it, so that a key which was just shown opens at whichever of them its first request arrives, and a revoked one at none.
 */
async function settle(refreshed: Promise<void>): Promise<void> {
  await Promise.all([refreshed.catch(() => {}), Bun.sleep(othersHearWithinMs)]);
}

/**
 * The keys of a first start: made only when the store has none at all, by exactly one of the processes that try.
 * With an administrator's key from the settings, no management key is needed.
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
      // 248 is the largest multiple of 62 in a byte: the rest would make some characters likelier than others.
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
    tags: key.tags,
  };
}

function toEntry(key: KeyRecord, hex: string, replacedAt: number, found: { readonly caller: Caller }): Entry {
  return {
    keyId: key.id,
    hash: Buffer.from(hex, "latin1"),
    found,
    isRevoked: key.revokedAt !== null || !key.enabled,
    expiresAt: key.expiresAt ?? Number.POSITIVE_INFINITY,
    replacedAt,
    usedAt: 0,
  };
}

function toAdminEntry(adminKey: string): { readonly hex: string; readonly entry: Entry } {
  const never = Number.POSITIVE_INFINITY;
  const caller: Caller = {
    keyId: adminKeyId,
    kind: "management",
    name: "SWITCHYARD_ADMIN_KEY",
    owner: null,
    scopes: new Set(),
    allowedModels: null,
    rateLimit: null,
    budget: null,
    tags: {},
  };
  const hex = hash(adminKey);
  const times = { expiresAt: never, replacedAt: never, usedAt: 0 };
  return {
    hex,
    entry: { keyId: adminKeyId, hash: Buffer.from(hex, "latin1"), found: { caller }, isRevoked: false, ...times },
  };
}

function describeAdmin(): KeyObject {
  return {
    id: adminKeyId,
    name: "SWITCHYARD_ADMIN_KEY",
    kind: "management",
    // Chosen by the operator: it may be short, so not even its last characters are shown.
    masked: "…",
    owner: null,
    scopes: [],
    allowed_models: null,
    rate_limit: null,
    budget: null,
    expires_at: null,
    tags: {},
    enabled: true,
    created_at: new Date(0).toISOString(),
    last_used_at: null,
    revoked_at: null,
  };
}

function expectKey(outcome: KeyOutcome): KeyRecord {
  if (outcome === "not_found") throw notFound();
  if (outcome === "revoked") {
    throw new GatewayError("key_conflict", "The key was revoked, which is final. Create a new one.");
  }
  return outcome;
}

function notFound(): GatewayError {
  return new GatewayError("key_not_found", "There is no key with this id.");
}
