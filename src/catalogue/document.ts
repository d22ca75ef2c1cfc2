// An answer that is created once and sent many times: its bytes and their strong entity tag.

export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** With quotes, as in the `ETag` header. */
  readonly entityTag: string;
}

export const jsonType = "application/json";

export function createDocument(text: string, contentType: string): Document {
  const bytes = new TextEncoder().encode(text);
  // 128 bits are enough, because only versions of the same address are compared.
  const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("base64url").slice(0, 22);
  return { bytes, contentType, entityTag: `"${digest}"` };
}

export function createJsonDocument(value: unknown): Document {
  return createDocument(JSON.stringify(value), jsonType);
}
