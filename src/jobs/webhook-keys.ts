// The keys that sign webhooks: an RSA pair for X-Service-Signature and an Ed25519 pair for Standard Webhooks. They are created at the first
// start and stored, so that all processes and replicas share them.
//
// A new pair is published before it signs. Otherwise a receiver that does not know the key yet would answer 4xx and lose the webhook. So all
// processes must publish the key, and the receivers' cached copies of the list must have expired, before the key is used.

import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Log } from "../log.ts";
import type { SecretStore } from "../storage/stores.ts";

export type WebhookKeys = ReturnType<typeof openWebhookKeys>;

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

export interface WebhookKeyOptions {
  readonly secrets: Pick<SecretStore, "find" | "createOnce" | "replace">;
  readonly log: Log;
  /** How long a process uses the keys before it reads them again. */
  readonly staleAfterMs?: number;
  readonly now?: () => number;
  /** Milliseconds of a clock that never goes back; it decides when keys are read again. */
  readonly monotonicNow?: () => number;
  /** Tests pass pairs that exist, because generating one takes up to seconds. */
  readonly createRsaPair?: () => Promise<KeyPair>;
}

export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
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

interface LoadedKey extends Omit<PublishedKey, "state"> {
  readonly stored: StoredKey;
  readonly privateRsa: KeyObject | null;
  readonly privateEd25519: KeyObject | null;
}

interface Loaded {
  readonly bytes: Uint8Array;
  readonly keys: readonly LoadedKey[];
  /** By `monotonicNow`. */
  readonly readAt: number;
}

/** Starts to read or create the keys without waiting. The first call that needs them waits. */
export function openWebhookKeys(options: WebhookKeyOptions) {
  const {
    secrets,
    log,
    staleAfterMs = defaultStaleAfterMs,
    now = Date.now,
    monotonicNow = () => performance.now(),
    createRsaPair = () => generate("rsa", { modulusLength }),
  } = options;
  let loaded: Loaded | null = null;
  let loading: Promise<Loaded> | null = null;

  async function load(): Promise<Loaded> {
    const readAt = monotonicNow();
    const found = await secrets.find(secretName);
    const bytes = found ?? (await secrets.createOnce(secretName, toBytes([await makeKey(createRsaPair, now(), 0)])));
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
    if (monotonicNow() - known.readAt < staleAfterMs) return known;
    // While the store is down, keys that were read before are used.
    return await reload().catch((error: unknown) => {
      log.warn("The webhook keys could not be read again; the previous ones are used", { error });
      return known;
    });
  }

  /** The current key, then the next one, then the old ones. */
  function list(keys: readonly LoadedKey[]): readonly PublishedKey[] {
    const time = now();
    const current = findCurrent(keys, time);
    const shown = keys.filter((key) => key === current || isPublished(key, time));
    const withState = shown.map(({ stored: _, privateRsa: __, privateEd25519: ___, ...key }): PublishedKey => {
      const isNext = key.signsFrom > time;
      return { ...key, state: key.keyId === current.keyId ? "current" : isNext ? "next" : "old" };
    });
    return withState.sort((one, other) => stateOrder.indexOf(one.state) - stateOrder.indexOf(other.state));
  }

  async function replace(before: Loaded, keys: readonly StoredKey[]): Promise<readonly PublishedKey[]> {
    const next = toBytes(keys);
    if (!(await secrets.replace(secretName, before.bytes, next)))
      throw new Error("Another process changed the webhook keys at the same time. Nothing was changed; try again.");
    loaded = { bytes: next, keys: fromBytes(next), readAt: monotonicNow() };
    return list(loaded.keys);
  }

  // Later calls try again and get the error.
  reload().catch((error: unknown) => log.warn("The webhook keys could not be read yet", { error }));
  return {
    /** The keys that sign now. */
    async signing(): Promise<SigningKeys> {
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
    },

    published: async (): Promise<readonly PublishedKey[]> => list((await get()).keys),

    /** Creates a new pair. `isUrgent`: it signs at once, for use after a key was compromised. `dropOld` implies that. */
    async rotate({ isUrgent = false, dropOld = false } = {}): Promise<readonly PublishedKey[]> {
      const before = await reload();
      const time = now();
      const added = await makeKey(createRsaPair, time, isUrgent || dropOld ? 0 : signsAfterMs);
      const current = findCurrent(before.keys, time);
      const published_until = added.signs_from + publishedAfterMs;
      // A key that has not signed yet is dropped, because it never will.
      const published = before.keys.filter(
        (key) => key.signsFrom <= time && (key === current || isPublished(key, time)),
      );
      const old = published.map((key) =>
        key === current ? { ...key.stored, published_until } : withoutPrivate(key.stored),
      );
      return await replace(before, [added, ...(dropOld ? [] : old)]);
    },

    /** Stops publishing the old keys. */
    async dropOld(): Promise<readonly PublishedKey[]> {
      const before = await reload();
      const time = now();
      const current = findCurrent(before.keys, time);
      const remaining = before.keys.filter((key) => key === current || key.signsFrom > time);
      return await replace(
        before,
        remaining.map(({ stored }) => stored),
      );
    },
  };
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

async function makeKey(createRsaPair: () => Promise<KeyPair>, time: number, afterMs: number): Promise<StoredKey> {
  const [rsa, ed25519] = await Promise.all([createRsaPair(), generate("ed25519", {})]);
  return {
    created_at: time,
    signs_from: time + afterMs,
    published_until: null,
    rsa: toStoredPair(rsa),
    ed25519: toStoredPair(ed25519),
  };
}

function toStoredPair({ publicKey, privateKey }: KeyPair): StoredPair {
  return { public: toPem(publicKey), private: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

function withoutPrivate(key: StoredKey): StoredKey {
  return { ...key, rsa: { ...key.rsa, private: null }, ed25519: { ...key.ed25519, private: null } };
}

function toBytes(keys: readonly StoredKey[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: 1, keys }));
}

function fromBytes(bytes: Uint8Array): readonly LoadedKey[] {
  const { version, keys } = JSON.parse(new TextDecoder().decode(bytes)) as { version: number; keys: StoredKey[] };
  if (version !== 1)
    throw new Error("A newer version of Switchyard wrote the webhook keys. Start that version or a newer one.");
  return keys.map(toLoaded);
}

function toLoaded(stored: StoredKey): LoadedKey {
  const rsa = createPublicKey(stored.rsa.public);
  const ed25519 = createPublicKey(stored.ed25519.public);
  return {
    stored,
    keyId: toThumbprint(rsa),
    rsa,
    privateRsa: toPrivateKey(stored.rsa),
    ed25519KeyId: toThumbprint(ed25519),
    ed25519,
    privateEd25519: toPrivateKey(stored.ed25519),
    createdAt: stored.created_at,
    signsFrom: stored.signs_from,
    publishedUntil: stored.published_until,
  };
}

function toPrivateKey(pair: StoredPair): KeyObject | null {
  return pair.private === null ? null : createPrivateKey(pair.private);
}
