// Ids of responses. One that was not stored carries a mark that only this gateway can make, and only for its owner: asked for
// later, it can be told from an id that never existed without anything being kept. To everyone else both kinds look alike.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface ResponseIds {
  issue(owner: string, kind: "stored" | "not-stored"): string;
  /** False for every other id: stored, foreign, forged, of another shape. */
  isOwnUnstored(id: string, owner: string): boolean;
}

const responseIdPattern = /^resp_[0-9a-f]{48}$/;

const prefix = "resp_";
const idBytes = 24;
// 80 bits: nobody guesses a mark, and 112 random bits remain so that ids do not meet.
const markBytes = 10;
const leastSecretBytes = 32;

export function createResponseIds(secret: Uint8Array): ResponseIds {
  if (secret.length < leastSecretBytes) throw new Error(`The secret of ids needs at least ${leastSecretBytes} bytes`);

  // The words in front keep marks apart from whatever else is made with the same secret; what follows them has a fixed
  // length before the owner, so that no two pairs read the same.
  const markOf = (random: Uint8Array, owner: string) =>
    createHmac("sha256", secret)
      .update("response-not-stored\0")
      .update(random)
      .update(owner)
      .digest()
      .subarray(0, markBytes);

  return {
    issue(owner, kind) {
      if (kind === "stored") return prefix + randomBytes(idBytes).toString("hex");
      const random = randomBytes(idBytes - markBytes);
      return prefix + Buffer.concat([random, markOf(random, owner)]).toString("hex");
    },
    isOwnUnstored(id, owner) {
      if (!responseIdPattern.test(id)) return false;
      const bytes = Buffer.from(id.slice(prefix.length), "hex");
      const random = bytes.subarray(0, -markBytes);
      return timingSafeEqual(bytes.subarray(-markBytes), markOf(random, owner));
    },
  };
}
