// Encrypts the gateway's own secrets at rest with SWITCHYARD_ENCRYPTION_KEY: the private keys of webhooks and the keys that sign ids and
// addresses. A copy of the store alone is then not enough to forge a webhook or an address.

import { randomBytes } from "node:crypto";
import { messageOf, SettingError } from "../errors.ts";
import { createSealer, parseSealingKeys, SealError, type Sealer } from "../lib/seal.ts";
import type { SecretStore } from "./stores.ts";

const setting = "SWITCHYARD_ENCRYPTION_KEY";
/** The prefix of encrypted values. Secrets are JSON or random bytes and never start with it. */
const prefix = Buffer.from("sealed\0");
// Secrets are keys of at most a few kilobytes each.
const maxSecretBytes = 1_048_576;

/**
 * A store that encrypts and decrypts. Secrets that are stored in plain text or encrypted with an older key are encrypted with the first key
 * at once. Throws a SettingError if a secret cannot be decrypted; such a secret is never replaced by a new one.
 */
export async function openSecrets(store: SecretStore, encryptionKey: string | null): Promise<SecretStore> {
  const sealer = encryptionKey === null ? null : createSealer(parseSealingKeys(encryptionKey));

  async function seal(name: string, value: Uint8Array): Promise<Uint8Array> {
    return sealer === null ? value : Buffer.concat([prefix, await sealer.seal(value, contextOf(name))]);
  }

  async function find(name: string): Promise<Uint8Array | null> {
    const stored = await store.find(name);
    return stored === null ? null : await open(sealer, name, stored);
  }

  async function createOnce(name: string, value: Uint8Array): Promise<Uint8Array> {
    return await open(sealer, name, await store.createOnce(name, await seal(name, value)));
  }

  for (const name of await store.list()) {
    const stored = await store.find(name);
    if (stored === null) continue;
    const value = await open(sealer, name, stored);
    if (sealer === null || isSealedWithFirst(sealer, stored)) continue;
    // Ignore the result: if another process was faster, it has encrypted the same value.
    await store.replace(name, stored, await seal(name, value));
  }

  return {
    ...store,
    find,
    createOnce,
    async getOrCreate(name, bytes) {
      const value = (await find(name)) ?? (await createOnce(name, randomBytes(bytes)));
      if (value.length !== bytes) throw new Error(`The secret ${name} has ${value.length} bytes instead of ${bytes}`);
      return value;
    },
    async listUnder(prefix) {
      const found = await store.listUnder(prefix);
      return await Promise.all(
        found.map(async ({ name, value }) => ({ name, value: await open(sealer, name, value) })),
      );
    },
    put: async (name, value) => await store.put(name, await seal(name, value)),
    async replace(name, old, next) {
      const stored = await store.find(name);
      if (stored === null || Buffer.compare(await open(sealer, name, stored), old) !== 0) return false;
      return await store.replace(name, stored, await seal(name, next));
    },
  };
}

async function open(sealer: Sealer | null, name: string, stored: Uint8Array): Promise<Uint8Array> {
  if (!isSealed(stored)) return stored;
  if (sealer === null)
    throw new SettingError(
      setting,
      `The secret '${name}' in the store is encrypted, and ${setting} is not set. Set it to the key that was used before.`,
    );
  try {
    return await sealer.open(stored.subarray(prefix.length), contextOf(name), maxSecretBytes);
  } catch (cause) {
    const why =
      cause instanceof SealError && cause.reason === "unknown_key"
        ? `was encrypted with a key that ${setting} does not hold. Add the key that was used before, behind the new one: NEW,OLD.`
        : `cannot be decrypted: ${messageOf(cause)}. Restore the table 'secrets' from a backup.`;
    throw new SettingError(setting, `The secret '${name}' in the store ${why}`, { cause });
  }
}

function isSealed(stored: Uint8Array): boolean {
  return Buffer.compare(stored.subarray(0, prefix.length), prefix) === 0;
}

function isSealedWithFirst(sealer: Sealer, stored: Uint8Array): boolean {
  return isSealed(stored) && sealer.isSealedWithFirst(stored.subarray(prefix.length));
}

function contextOf(name: string): readonly string[] {
  return ["secrets", name];
}
