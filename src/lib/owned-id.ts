// Ids that a provider issued for one caller, signed by this gateway for the caller and the provider's deployment. When a caller sends such an
// id, its signature proves that the caller received it, without a stored record.

import { createHmac, timingSafeEqual } from "node:crypto";

/** An id of one deployment means nothing, or something else, at another. */
export interface IdScope {
  readonly owner: string;
  readonly deployment: string;
}

export interface OwnedIds {
  sign(id: string, scope: IdScope): string;
  /** The provider's id, or null if the id was not signed for this owner and deployment. */
  verify(signedId: string, scope: IdScope): string | null;
  /** Whether the id has the form of a signed one. The signature is not verified. */
  isSigned(id: string): boolean;
}

const signedPattern = /^(.+)_sy([0-9a-f]{20})$/s;
// Longer than the ids of any provider. Verifying takes time in proportion to the length.
const maxLength = 1_024;

export function createOwnedIds(secret: Uint8Array): OwnedIds {
  // JSON, because its quotes and commas keep ["ab", "c"] and ["a", "bc"] apart.
  const signatureOf = (id: string, { owner, deployment }: IdScope) =>
    createHmac("sha256", secret)
      .update(`owned-id\0${JSON.stringify([owner, deployment, id])}`)
      .digest("hex")
      .slice(0, 20);
  return {
    sign: (id, scope) => `${id}_sy${signatureOf(id, scope)}`,
    isSigned: (id) => id.length <= maxLength && signedPattern.test(id),
    verify(signedId, scope) {
      if (signedId.length > maxLength) return null;
      const [, id, signature] = signedPattern.exec(signedId) ?? [];
      if (id === undefined || signature === undefined) return null;
      return timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(id, scope))) ? id : null;
    },
  };
}
