// An answer that is made once and sent many times: its bytes and the strong entity tag over them.

export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** Quoted, as it travels in `ETag`. */
  readonly entityTag: string;
}

export const jsonType = "application/json";

export function createDocument(text: string, contentType: string): Document {
  const bytes = new TextEncoder().encode(text);
  // 128 bits are plenty: a collision would have to be between two versions of one address.
  const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("base64url").slice(0, 22);
  return { bytes, contentType, entityTag: `"${digest}"` };
}

export function createJsonDocument(value: unknown): Document {
  return createDocument(JSON.stringify(value), jsonType);
}
