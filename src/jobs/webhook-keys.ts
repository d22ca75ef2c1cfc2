// The keys that sign webhooks: an RSA pair for X-Service-Signature and an Ed25519 pair for Standard Webhooks. They are created at the first
// start and stored, so that all processes and replicas share them.
//
// A new pair is published before it signs. Otherwise a receiver that does not know the key yet would answer 4xx and lose the webhook. So all
// processes must publish the key, and the receivers' cached copies of the list must have expired, before the key is used.

import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Log } from "../log.ts";

/** Stores all keys as one value. */
export interface WebhookKeyStore {
  read(): Promise<Uint8Array | null>;
  /** Returns the stored bytes: these, or those of the process that was first. */
  createOnce(bytes: Uint8Array): Promise<Uint8Array>;
  /** False: the value is no longer `old` and was not changed. */
  replace(old: Uint8Array, next: Uint8Array): Promise<boolean>;
}

/** The part of the secret store that is needed here. */
export interface WebhookSecrets {
  find(name: string): Promise<Uint8Array | null>;
  createOnce(name: string, value: Uint8Array): Promise<Uint8Array>;
  replace(name: string, old: Uint8Array, next: Uint8Array): Promise<boolean>;
}

export interface WebhookKeys {
  /** The keys that sign now. */
  signing(): Promise<SigningKeys>;
  /** The current key, then the next one, then the old ones. */
  published(): Promise<readonly PublishedKey[]>;
  /** Creates a new pair. */
  rotate(how?: RotateOptions): Promise<readonly PublishedKey[]>;
  /** Stops publishing the old keys. */
  dropOld(): Promise<readonly PublishedKey[]>;
}

export interface SigningKeys {
  /** `kid` of the RSA key. */
  readonly keyId: string;
  readonly rsa: KeyObject;
  /** The current key, then older published keys that can still sign, for receivers that know only one of them. */
  readonly ed25519: readonly KeyObject[];
}

export interface PublishedKey {
  readonly state: "current" | "next" | "old";
  readonly keyId: string;
  readonly rsa: KeyObject;
  readonly ed25519KeyId: string;
  readonly ed25519: KeyObject;
  /** Epoch milliseconds, like the times below. */
  readonly createdAt: number;
  readonly signsFrom: number;
  /** Null: until the next rotation. */
  readonly publishedUntil: number | null;
}

export interface RotateOptions {
  /** The new key signs at once: for use after a key was compromised. */
  readonly isUrgent?: boolean;
  readonly dropOld?: boolean;
}

export interface WebhookKeyOptions {
  readonly store: WebhookKeyStore;
  readonly log: Log;
  /** How long a process uses the keys before it reads them again. */
  readonly staleAfterMs?: number;
  readonly now?: () => number;
}

/** `max-age` of the answers with public keys, in the caches of receivers and proxies. */
export const publishedKeysMaxAgeSeconds = 60;
/** The time from the creation of a key to its first signature. */
export const signsAfterMs = 120_000;
/** How long an old key stays published after its successor began to sign. */
export const publishedAfterMs = 30 * 86_400_000;

const secretName = "webhook-keys";
const defaultStaleAfterMs = 10_000;
const modulusLength = 3072;
const generate = promisify(generateKeyPair);

/** Both pairs, as they are stored. */
interface StoredKey {
  readonly created_at: number;
  readonly signs_from: number;
  readonly published_until: number | null;
  readonly rsa: StoredPair;
  readonly ed25519: StoredPair;
}

/** PEM. A pair without its private key can only be published. */
interface StoredPair {
  readonly public: string;
  readonly private: string | null;
}

interface StoredKeys {
  readonly version: 1;
  readonly keys: readonly StoredKey[];
}

interface LoadedKey extends Omit<PublishedKey, "state"> {
  readonly kept: StoredKey;
  readonly privateRsa: KeyObject | null;
  readonly privateEd25519: KeyObject | null;
}

interface Loaded {
  readonly bytes: Uint8Array;
  readonly keys: readonly LoadedKey[];
  /** By `performance.now()`, which never goes back. */
  readonly readAt: number;
}

export function storeWebhookKeysIn(secrets: WebhookSecrets): WebhookKeyStore {
  return {
    read: () => secrets.find(secretName),
    createOnce: (bytes) => secrets.createOnce(secretName, bytes),
    replace: (old, next) => secrets.replace(secretName, old, next),
  };
}

/** Starts to read or create the keys without waiting. The first call that needs them waits. */
export function openWebhookKeys(options: WebhookKeyOptions): WebhookKeys {
  const { store, log, staleAfterMs = defaultStaleAfterMs, now = Date.now } = options;
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;

  async function load(): Promise<Loaded> {
    const readAt = performance.now();
    const bytes = (await store.read()) ?? (await store.createOnce(toBytes([await makeKey(now(), 0)])));
    const isSame = loaded !== null && Buffer.compare(loaded.bytes, bytes) === 0;
    loaded = { bytes, readAt, keys: isSame && loaded !== null ? loaded.keys : fromBytes(bytes) };
    return loaded;
  }

  function reload(): Promise<Loaded> {
    loading ??= load().finally(() => {
      loading = null;
    });
    return loading;
  }

  async function get(): Promise<Loaded> {
    const known = loaded;
    if (known === null) return await reload();
    if (performance.now() - known.readAt < staleAfterMs) return known;
    // While the store is down, keys that were read before are used.
    return await reload().catch((error: unknown) => {
      log.warn("The webhook keys could not be read again; the previous ones are used", { error });
      return known;
    });
  }

  async function signing(): Promise<SigningKeys> {
    const { keys } = await get();
    const time = now();
    const current = findCurrent(keys, time);
    const others = keys.filter((key) => key !== current && key.signsFrom <= time && isPublished(key, time));
    const ed25519 = [current, ...others].flatMap(({ privateEd25519 }) => privateEd25519 ?? []);
    if (current.privateRsa === null || current.privateEd25519 === null)
      throw new Error(
        "The current webhook key has no private key. Create a new one with: switchyard webhooks rotate-key --now",
      );
    return { keyId: current.keyId, rsa: current.privateRsa, ed25519 };
  }

  async function published(): Promise<readonly PublishedKey[]> {
    return list((await get()).keys);
  }

  function list(keys: readonly LoadedKey[]): readonly PublishedKey[] {
    const time = now();
    const current = findCurrent(keys, time);
    const shown = keys.filter((key) => key === current || isPublished(key, time));
    const withState = shown.map((key) => toPublished(key, key === current ? "current" : stateOf(key, time)));
    return withState.sort((one, other) => stateOrder.indexOf(one.state) - stateOrder.indexOf(other.state));
  }

  async function rotate({ isUrgent = false, dropOld = false }: RotateOptions = {}): Promise<readonly PublishedKey[]> {
    const before = await reload();
    const time = now();
    const made = await makeKey(time, isUrgent || dropOld ? 0 : signsAfterMs);
    const current = findCurrent(before.keys, time);
    const publishedUntil = made.signs_from + publishedAfterMs;
    const kept = dropOld
      ? []
      : before.keys
          // A key that has not signed yet is dropped, because it never will.
          .filter((key) => key.signsFrom <= time && (key === current || isPublished(key, time)))
          .map((key) =>
            key === current ? { ...key.kept, published_until: publishedUntil } : withoutPrivate(key.kept),
          );
    return await replace(before, [made, ...kept]);
  }

  async function dropOld(): Promise<readonly PublishedKey[]> {
    const before = await reload();
    const time = now();
    const current = findCurrent(before.keys, time);
    const kept = before.keys.filter((key) => key === current || key.signsFrom > time);
    return await replace(
      before,
      kept.map((key) => key.kept),
    );
  }

  async function replace(before: Loaded, keys: readonly StoredKey[]): Promise<readonly PublishedKey[]> {
    const next = toBytes(keys);
    if (!(await store.replace(before.bytes, next)))
      throw new Error("Another process changed the webhook keys at the same time. Nothing was changed; try again.");
    loaded = { bytes: next, keys: fromBytes(next), readAt: performance.now() };
    return list(loaded.keys);
  }

  // Later calls try again and get the error.
  reload().catch((error: unknown) => log.warn("The webhook keys could not be read yet", { error }));
  return { signing, published, rotate, dropOld };
}

/** RFC 7517. `whpk` is the format of Ed25519 keys in the libraries of Standard Webhooks. */
export function toKeySet(keys: readonly PublishedKey[]): { readonly keys: readonly Record<string, unknown>[] } {
  const use = "sig";
  return {
    keys: keys.flatMap(({ keyId, rsa, ed25519KeyId, ed25519 }) => [
      { ...rsa.export({ format: "jwk" }), kid: keyId, alg: "RS256", use },
      {
        ...ed25519.export({ format: "jwk" }),
        kid: ed25519KeyId,
        alg: "EdDSA",
        use,
        whpk: toStandardPublicKey(ed25519),
      },
    ]),
  };
}

export function toPem(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}

export function toStandardPublicKey(key: KeyObject): string {
  const { x = "" } = key.export({ format: "jwk" });
  return `whpk_${Buffer.from(x, "base64url").toString("base64")}`;
}

/** RFC 7638: the digest of the members that define the key, in this order. */
function toThumbprint(key: KeyObject): string {
  const { kty, n, e, crv, x } = key.export({ format: "jwk" });
  const members = kty === "RSA" ? { e, kty, n } : { crv, kty, x };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}

const stateOrder: readonly PublishedKey["state"][] = ["current", "next", "old"];

function stateOf(key: LoadedKey, time: number): PublishedKey["state"] {
  return key.signsFrom > time ? "next" : "old";
}

function isPublished({ publishedUntil }: LoadedKey, time: number): boolean {
  return publishedUntil === null || publishedUntil > time;
}

/** The newest key that may sign. If the clock was set back, there may be none; then the oldest key signs. */
function findCurrent(keys: readonly LoadedKey[], time: number): LoadedKey {
  const byAge = keys.toSorted((one, other) => other.signsFrom - one.signsFrom);
  const current = byAge.find((key) => key.signsFrom <= time) ?? byAge.at(-1);
  if (current === undefined) throw new Error("The store holds no webhook key");
  return current;
}

async function makeKey(time: number, afterMs: number): Promise<StoredKey> {
  const [rsa, ed25519] = await Promise.all([generate("rsa", { modulusLength }), generate("ed25519", {})]);
  return {
    created_at: time,
    signs_from: time + afterMs,
    published_until: null,
    rsa: toStoredPair(rsa),
    ed25519: toStoredPair(ed25519),
  };
}

function toStoredPair({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): StoredPair {
  return { public: toPem(publicKey), private: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

function withoutPrivate(key: StoredKey): StoredKey {
  return { ...key, rsa: { ...key.rsa, private: null }, ed25519: { ...key.ed25519, private: null } };
}

function toBytes(keys: readonly StoredKey[]): Uint8Array {
  const kept: StoredKeys = { version: 1, keys };
  return new TextEncoder().encode(JSON.stringify(kept));
}

function fromBytes(bytes: Uint8Array): readonly LoadedKey[] {
  const { version, keys } = JSON.parse(new TextDecoder().decode(bytes)) as StoredKeys;
  if (version !== 1)
    throw new Error("A newer version of Switchyard wrote the webhook keys. Start that version or a newer one.");
  return keys.map(toLoaded);
}

function toLoaded(kept: StoredKey): LoadedKey {
  const rsa = createPublicKey(kept.rsa.public);
  const ed25519 = createPublicKey(kept.ed25519.public);
  return {
    kept,
    keyId: toThumbprint(rsa),
    rsa,
    privateRsa: kept.rsa.private === null ? null : createPrivateKey(kept.rsa.private),
    ed25519KeyId: toThumbprint(ed25519),
    ed25519,
    privateEd25519: kept.ed25519.private === null ? null : createPrivateKey(kept.ed25519.private),
    createdAt: kept.created_at,
    signsFrom: kept.signs_from,
    publishedUntil: kept.published_until,
  };
}

function toPublished(key: LoadedKey, state: PublishedKey["state"]): PublishedKey {
  const { keyId, rsa, ed25519KeyId, ed25519, createdAt, signsFrom, publishedUntil } = key;
  return { state, keyId, rsa, ed25519KeyId, ed25519, createdAt, signsFrom, publishedUntil };
}
