// The gateway's own secrets, sealed at rest with SWITCHYARD_ENCRYPTION_KEY: the private keys of webhooks, and what signs ids and addresses.
// A copy of the store alone then neither forges a webhook nor an address.

import { randomBytes } from "node:crypto";
import { SettingError } from "../errors.ts";
import { createSealer, parseSealingKeys, SealError, type Sealer } from "../lib/seal.ts";
import type { SecretStore } from "./stores.ts";

const setting = "SWITCHYARD_ENCRYPTION_KEY";
/** What sealed values begin with. No secret does: they are random bytes, or JSON. */
const mark = Buffer.from("sealed\0");

/**
 * The secrets as they are, whatever form they are stored in. With a key, those that lie in the clear, or were sealed with an older key, are
 * sealed with the first one at once. Throws a SettingError when a secret is sealed and cannot be opened: it is never made anew.
 */
export async function openSecrets(store: SecretStore, encryptionKey: string | null): Promise<SecretStore> {
  const sealer = encryptionKey === null ? null : createSealer(parseSealingKeys(encryptionKey));

  async function seal(name: string, value: Uint8Array): Promise<Uint8Array> {
    return sealer === null ? value : Buffer.concat([mark, await sealer.seal(value, placeOf(name))]);
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
    // Another process that seals it at the same moment has done the same.
    await store.replace(name, stored, await seal(name, value));
  }

  return {
    ...store,
    find,
    createOnce,
    async getOrCreate(name, bytes) {
      const value = (await find(name)) ?? (await createOnce(name, randomBytes(bytes)));
      if (value.length !== bytes) throw new Error(`The secret ${name} has ${value.length} bytes, not ${bytes}`);
      return value;
    },
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
    return await sealer.open(stored.subarray(mark.length), placeOf(name));
  } catch (cause) {
    const why =
      cause instanceof SealError && cause.reason === "unknown_key"
        ? `was encrypted with a key that ${setting} does not hold. Add the key that was used before, behind the new one: NEW,OLD.`
        : `cannot be decrypted: ${cause instanceof Error ? cause.message : String(cause)}. Restore the table 'secrets' from a backup.`;
    throw new SettingError(setting, `The secret '${name}' in the store ${why}`, { cause });
  }
}

function isSealed(stored: Uint8Array): boolean {
  return Buffer.compare(stored.subarray(0, mark.length), mark) === 0;
}

function isSealedWithFirst(sealer: Sealer, stored: Uint8Array): boolean {
  return isSealed(stored) && sealer.isSealedWithFirst(stored.subarray(mark.length));
}

function placeOf(name: string): readonly string[] {
  return ["secrets", name];
}
