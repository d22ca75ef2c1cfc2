// An answer that is created once and sent many times: its bytes and their strong entity tag.

import { once } from "../lib/once.ts";

export interface Document {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
  /** With quotes, as in the `ETag` header. */
  readonly entityTag: string;
  /** Absent: the bytes are not compressed. */
  readonly contentEncoding?: string;
  /** With gzip. Absent: the document is small, or is created for one answer. */
  readonly compress?: () => Uint8Array<ArrayBuffer>;
}

// Below this size, compression saves no packet.
const compressFromBytes = 8_192;

export const jsonType = "application/json";

export function createDocument(text: string, contentType: string): Document {
  const bytes = new TextEncoder().encode(text);
  return {
    bytes,
    contentType,
    entityTag: toEntityTag(new Bun.CryptoHasher("sha256").update(bytes).digest("base64url")),
  };
}

/** `suffix`: the content coding, because each form of a document has a tag of its own. */
export function toEntityTag(digest: string, suffix = ""): string {
  // 128 bits are enough, because only versions of the same address are compared.
  return `"${digest.slice(0, 22)}${suffix}"`;
}

/** For a document that is kept: it is compressed once, when the first client asks for it. */
export function withCompression(document: Document): Document {
  if (document.bytes.length < compressFromBytes) return document;
  return { ...document, compress: once(() => Bun.gzipSync(document.bytes)) };
}

export function createJsonDocument(value: unknown): Document {
  return createDocument(JSON.stringify(value), jsonType);
}
