// Ids of responses. The id of a response that was not stored contains a signature for its owner. When the owner asks for the response later,
// the gateway can distinguish it from an id that never existed, without a stored record. To other callers both kinds look the same.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface ResponseIds {
  issue(owner: string, kind: "stored" | "not-stored"): string;
  /** False for every other id: stored, of another owner, forged or malformed. */
  isOwnUnstored(id: string, owner: string): boolean;
}

const pattern = /^resp_[0-9a-f]{48}$/;
const prefix = "resp_";
const idBytes = 24;
// 80 bits cannot be guessed, and the remaining 112 random bits prevent collisions.
const signatureBytes = 10;
const minSecretBytes = 32;

export function createResponseIds(secret: Uint8Array): ResponseIds {
  if (secret.length < minSecretBytes) throw new Error(`The secret of ids needs at least ${minSecretBytes} bytes`);

  // The prefix keeps these signatures apart from other uses of the same secret. The random bytes have a fixed length, so no two pairs of
  // bytes and owner are concatenated to the same value.
  const signatureOf = (random: Uint8Array, owner: string) =>
    createHmac("sha256", secret)
      .update("response-not-stored\0")
      .update(random)
      .update(owner)
      .digest()
      .subarray(0, signatureBytes);

  return {
    issue(owner, kind) {
      if (kind === "stored") return prefix + randomBytes(idBytes).toString("hex");
      const random = randomBytes(idBytes - signatureBytes);
      return prefix + Buffer.concat([random, signatureOf(random, owner)]).toString("hex");
    },
    isOwnUnstored(id, owner) {
      if (!pattern.test(id)) return false;
      const bytes = Buffer.from(id.slice(prefix.length), "hex");
      const random = bytes.subarray(0, -signatureBytes);
      return timingSafeEqual(bytes.subarray(-signatureBytes), signatureOf(random, owner));
    },
  };
}
