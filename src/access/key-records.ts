// Keys as they are requested, stored and shown, and their secrets.

import {
  type CreateKeyRequest,
  type KeyKind,
  type KeyObject,
  keyScopes,
  type UpdateKeyRequest,
} from "../contract/keys.ts";
import type { LimitDefaults } from "../contract/limits.ts";
import { ValidationError } from "../errors.ts";
import type { KeyRecord, KeySettings } from "../storage/keys.ts";
import type { Caller, CallerSession } from "./caller.ts";
import { toChangedLimits, toNewLimits, toShownLimits } from "./limit-settings.ts";

const prefixes: Record<KeyKind, string> = {
  inference: "sk-sy-",
  management: "mgmt-sy-",
  sandbox: "sk-sy-sandbox-",
};
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 43 characters of a 62-character alphabet have 256 bits.
const secretLength = 43;
const tailLength = 4;

export function generateSecret(kind: KeyKind): string {
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

export function hashSecret(secret: string): string {
  return Bun.SHA256.hash(secret, "hex");
}

/** Enough of a secret to recognise it by. */
export function tailOf(secret: string): string {
  return secret.slice(-tailLength);
}

/** A key without a limit. */
export function plainRequest(kind: KeyKind, name: string) {
  return { name, kind, expires_at: null, enabled: true };
}

export interface NewKey {
  readonly request: Omit<CreateKeyRequest, "team" | "owner">;
  /** The name of its team. */
  readonly team: string | null;
  readonly secret: string;
  readonly defaults: LimitDefaults;
  readonly now: number;
}

export function toRecord({ request, team, secret, defaults, now }: NewKey): KeyRecord {
  const isManagement = request.kind === "management";
  return {
    id: Bun.randomUUIDv7(),
    kind: request.kind,
    name: request.name,
    team,
    role: isManagement ? (request.role ?? "administrator") : null,
    scopes: isManagement ? [] : (request.scopes ?? keyScopes),
    // Default limits are for keys that call models.
    ...toNewLimits(request, isManagement ? {} : defaults, now),
    enabled: request.enabled,
    expiresAt: toFutureTime(request.expires_at, now),
    secretHash: hashSecret(secret),
    secretTail: tailOf(secret),
    previousHash: null,
    previousUntil: null,
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
  };
}

/** All changes but that of the team. */
export function toSettings(request: UpdateKeyRequest, now: number): Partial<KeySettings> {
  const { name, role, scopes, enabled, expires_at: expiresAt } = request;
  return {
    ...toChangedLimits(request, now),
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(expiresAt === undefined ? {} : { expiresAt: toFutureTime(expiresAt, now) }),
  };
}

function toFutureTime(text: string | null, now: number): number | null {
  if (text === null) return null;
  const parsed = Date.parse(text);
  if (parsed > now) return parsed;
  throw new ValidationError([
    { loc: ["body", "expires_at"], msg: "The expiry must be in the future", type: "value_error" },
  ]);
}

export function toKeyObject(key: KeyRecord, now: number): KeyObject {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    masked: `${prefixes[key.kind]}…${key.secretTail}`,
    team: key.team,
    owner: key.team,
    role: key.role,
    scopes: [...key.scopes],
    ...toShownLimits(key, now),
    expires_at: toIso(key.expiresAt),
    enabled: key.enabled,
    created_at: new Date(key.createdAt).toISOString(),
    last_used_at: toIso(key.lastUsedAt),
    revoked_at: toIso(key.revokedAt),
  };
}

/** A person who signed in, in the form of a key. */
export function toUserObject({ name, team, role }: Caller, session: CallerSession, now: number): KeyObject {
  const record = toRecord({ request: plainRequest("management", name), team, secret: "", defaults: {}, now });
  return { ...toKeyObject({ ...record, id: session.id, role, expiresAt: session.expiresAt }, now), masked: "…" };
}

function toIso(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
