// The keys that callbacks are signed with: an RSA pair for X-Service-Signature and an Ed25519 pair for the Standard Webhooks headers, made at
// the first start and kept in the store, the same for every process and replica.
//
// A new pair is published before it signs. A receiver that answers 4xx to a signature it cannot check yet would lose that callback, so every
// process has to show the new key, and every receiver's copy of the list has to be out of date, before the first use.

import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { Log } from "../log.ts";

/** Where the keys are kept: one value for all processes. */
export interface WebhookKeyStore {
  read(): Promise<Uint8Array | null>;
  /** What is kept from then on: these bytes, or those of whoever was first. */
  createOnce(bytes: Uint8Array): Promise<Uint8Array>;
  /** False: it is not `old` any more, and was not changed. */
  replace(old: Uint8Array, next: Uint8Array): Promise<boolean>;
}

/** The secrets of the storage, as far as they are needed here. */
export interface WebhookSecrets {
  find(name: string): Promise<Uint8Array | null>;
  createOnce(name: string, value: Uint8Array): Promise<Uint8Array>;
  replace(name: string, old: Uint8Array, next: Uint8Array): Promise<boolean>;
}

export interface WebhookKeys {
  /** What signs now. */
  signing(): Promise<SigningKeys>;
  /** The current key first, then the one that will sign next, then those of the past. */
  published(): Promise<readonly PublishedKey[]>;
  /** Makes a new pair. */
  rotate(how?: RotateOptions): Promise<readonly PublishedKey[]>;
  /** Publishes no key of the past any more. */
  dropOld(): Promise<readonly PublishedKey[]>;
}

export interface SigningKeys {
  /** `kid` of the RSA key. */
  readonly keyId: string;
  readonly rsa: KeyObject;
  /** The current key, then the one before it while that is still published: receivers that know only one of them are served too. */
  readonly ed25519: readonly KeyObject[];
}

export interface PublishedKey {
  readonly state: "current" | "next" | "old";
  readonly keyId: string;
  readonly rsa: KeyObject;
  readonly ed25519KeyId: string;
  readonly ed25519: KeyObject;
  /** Epoch milliseconds, as the others. */
  readonly createdAt: number;
  readonly signsFrom: number;
  /** Null: until it is rotated. */
  readonly publishedUntil: number | null;
}

export interface RotateOptions {
  /** Signs at once: for a key that nobody may use any more. */
  readonly isUrgent?: boolean;
  readonly dropOld?: boolean;
}

export interface WebhookKeyOptions {
  readonly store: WebhookKeyStore;
  readonly log: Log;
  /** How long a process may go on with what it has read. */
  readonly staleAfterMs?: number;
  readonly now?: () => number;
}

/** How old the answers with public keys may become in a receiver's or a proxy's memory. */
export const publishedKeysMaxAgeSeconds = 60;
/** A new key signs this long after it was made. */
export const signsAfterMs = 120_000;
/** An old key is published this long after another one began to sign. */
export const publishedAfterMs = 30 * 86_400_000;

const secretName = "webhook-keys";
const defaultStaleAfterMs = 10_000;
const modulusLength = 3072;
const generate = promisify(generateKeyPair);

/** A pair of each kind, as it is kept. */
interface KeptKey {
  readonly created_at: number;
  readonly signs_from: number;
  readonly published_until: number | null;
  readonly rsa: KeptPair;
  readonly ed25519: KeptPair;
}

/** PEM. Without the private half it can only be published. */
interface KeptPair {
  readonly public: string;
  readonly private: string | null;
}

interface KeptKeys {
  readonly version: 1;
  readonly keys: readonly KeptKey[];
}

interface LoadedKey extends Omit<PublishedKey, "state"> {
  readonly kept: KeptKey;
  readonly privateRsa: KeyObject | null;
  readonly privateEd25519: KeyObject | null;
}

interface Loaded {
  readonly bytes: Uint8Array;
  readonly keys: readonly LoadedKey[];
  /** By the clock that never goes back. */
  readonly readAt: number;
}

export function storeWebhookKeysIn(secrets: WebhookSecrets): WebhookKeyStore {
  return {
    read: () => secrets.find(secretName),
    createOnce: (bytes) => secrets.createOnce(secretName, bytes),
    replace: (old, next) => secrets.replace(secretName, old, next),
  };
}

/** Begins to read the keys, or to make them, and waits for nothing: whoever needs them first waits. */
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
    // A store that is away stops nobody who has keys already.
    return await reload().catch((error: unknown) => {
      log.warn("the webhook keys could not be read again; those read before are used", { error });
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
        "The current webhook key has no private half: switchyard webhooks rotate-key --now makes another",
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
          // One that was to sign next has signed nothing, and will not.
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

  async function replace(before: Loaded, keys: readonly KeptKey[]): Promise<readonly PublishedKey[]> {
    const next = toBytes(keys);
    if (!(await store.replace(before.bytes, next)))
      throw new Error(
        "The webhook keys were changed by somebody else at the same moment. Nothing was done; try again.",
      );
    loaded = { bytes: next, keys: fromBytes(next), readAt: performance.now() };
    return list(loaded.keys);
  }

  // Whoever asks later tries again and is told.
  reload().catch((error: unknown) => log.warn("the webhook keys could not be read yet", { error }));
  return { signing, published, rotate, dropOld };
}

/** RFC 7517. `whpk` is the form in which Standard Webhooks' libraries take an Ed25519 key. */
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

/** RFC 7638: the digest of the members that make the key, in this order. */
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

/** The newest that may sign. A clock that was set back leaves none: then the oldest does. */
function findCurrent(keys: readonly LoadedKey[], time: number): LoadedKey {
  const byAge = keys.toSorted((one, other) => other.signsFrom - one.signsFrom);
  const current = byAge.find((key) => key.signsFrom <= time) ?? byAge.at(-1);
  if (current === undefined) throw new Error("The store holds no webhook key");
  return current;
}

async function makeKey(time: number, afterMs: number): Promise<KeptKey> {
  const [rsa, ed25519] = await Promise.all([generate("rsa", { modulusLength }), generate("ed25519", {})]);
  return {
    created_at: time,
    signs_from: time + afterMs,
    published_until: null,
    rsa: toKeptPair(rsa),
    ed25519: toKeptPair(ed25519),
  };
}

function toKeptPair({ publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject }): KeptPair {
  return { public: toPem(publicKey), private: privateKey.export({ format: "pem", type: "pkcs8" }).toString() };
}

function withoutPrivate(key: KeptKey): KeptKey {
  return { ...key, rsa: { ...key.rsa, private: null }, ed25519: { ...key.ed25519, private: null } };
}

function toBytes(keys: readonly KeptKey[]): Uint8Array {
  const kept: KeptKeys = { version: 1, keys };
  return new TextEncoder().encode(JSON.stringify(kept));
}

function fromBytes(bytes: Uint8Array): readonly LoadedKey[] {
  const { version, keys } = JSON.parse(new TextDecoder().decode(bytes)) as KeptKeys;
  if (version !== 1) throw new Error("The webhook keys were written by a newer version of Switchyard");
  return keys.map(toLoaded);
}

function toLoaded(kept: KeptKey): LoadedKey {
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
