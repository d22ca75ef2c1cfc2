// Authenticated encryption of stored data. A sealed value can be opened only with the key and with the same context.
//
// An envelope consists of: version (1 byte), form (1 byte), key id (8), nonce (24), ciphertext, tag (16). The first half of the nonce derives
// a key for this envelope, and the second half is the nonce of AES-GCM: 96 random bits under one key would be too few for a gateway that
// encrypts for years.
//
// Long content is compressed before it is encrypted, so the length of an envelope reveals how well its content compresses. That would help an
// attacker who can mix text with a secret and observe the length repeatedly, but stored lengths are not observable.

import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { zstdDecompress, zstdDecompressSync } from "node:zlib";

/** Identifies the row, such as table, column, id and owner, so that an envelope cannot be opened in another row. */
export type SealContext = readonly string[];

export interface Sealer {
  seal(content: Uint8Array, context: SealContext): Promise<Buffer>;
  /** Throws a `SealError`, also if the content has more than `maxBytes`: an envelope of a few kilobytes can hold many megabytes. */
  open(envelope: Uint8Array, context: SealContext, maxBytes: number): Promise<Buffer>;
  /** Whether the current key sealed the envelope. An older key must stay configured until all its envelopes are sealed again. */
  isSealedWithFirst(envelope: Uint8Array): boolean;
}

/**
 * `unknown_key`: sealed with a key that is not configured. `damaged`: changed after it was sealed, or opened with another context.
 * `unknown_form`: not an envelope, or an envelope of a newer version. `too_large`: the content has more bytes than the caller accepts.
 */
export class SealError extends Error {
  readonly reason: "unknown_key" | "damaged" | "unknown_form" | "too_large";

  constructor(reason: SealError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SealError";
    this.reason = reason;
  }
}

const version = 1;
const forms = { plain: 0, zstd: 1 };
const cipher = "aes-256-gcm";
const keyIdEnd = 10;
const nonceEnd = 34;
const halfNonceBytes = 12;
const tagBytes = 16;
// Takes about 0.3 ms. Longer content is compressed and decompressed on another thread, so that it does not block other requests.
const otherThreadFrom = 32 * 1024;

/** The first key seals, and all keys open: put a new key first, and keep the old one until no envelope needs it. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error("Sealing needs a key");
  const keysById = new Map(keys.map((key) => [keyIdOf(key).toString("hex"), key]));
  const firstId = keyIdOf(first);

  return {
    async seal(content, context) {
      const packed = await compress(content);
      const nonce = randomBytes(nonceEnd - keyIdEnd);
      const head = Buffer.concat([Buffer.of(version, packed.form), firstId, nonce]);
      const key = keyOf(first, nonce);
      const sealing = createCipheriv(cipher, key, nonce.subarray(halfNonceBytes), { authTagLength: tagBytes });
      sealing.setAAD(Buffer.concat([head, toBytes(context)]));
      return Buffer.concat([head, sealing.update(packed.bytes), sealing.final(), sealing.getAuthTag()]);
    },

    isSealedWithFirst: (envelope) => Buffer.compare(envelope.subarray(2, keyIdEnd), firstId) === 0,

    async open(envelope, context, maxBytes) {
      const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
      const form = bytes[1];
      if (bytes.length < nonceEnd + tagBytes || bytes[0] !== version || (form !== forms.plain && form !== forms.zstd))
        throw new SealError("unknown_form", "The sealed value has a form that this version does not know");
      const master = keysById.get(bytes.subarray(2, keyIdEnd).toString("hex"));
      if (master === undefined)
        throw new SealError("unknown_key", "The sealed value was encrypted with a key that is not configured");
      // Compressed content is shorter than the content.
      if (bytes.length - nonceEnd - tagBytes > maxBytes) throw tooLarge(maxBytes);
      const nonce = bytes.subarray(keyIdEnd, nonceEnd);
      const opening = createDecipheriv(cipher, keyOf(master, nonce), nonce.subarray(halfNonceBytes), {
        authTagLength: tagBytes,
      });
      opening.setAAD(Buffer.concat([bytes.subarray(0, nonceEnd), toBytes(context)]));
      opening.setAuthTag(bytes.subarray(-tagBytes));
      const content = finish(opening, bytes.subarray(nonceEnd, -tagBytes));
      return form === forms.plain ? content : await decompress(content, maxBytes);
    },
  };
}

const howToMake = "`openssl rand -base64 32` makes one";

/** `text` holds one key or several, separated by commas or spaces, each 32 bytes in base64 or hexadecimal. */
export function parseSealingKeys(text: string): Buffer[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new Error(`should hold a key: ${howToMake}`);
  const keys = words.map((word, index) => {
    const key = readKey(word);
    // The text is a secret, so the message does not repeat it.
    if (key === null) throw new Error(`key ${index + 1} is not 32 bytes in base64 or hexadecimal: ${howToMake}`);
    if (new Set(key).size === 1) throw new Error(`key ${index + 1} repeats one byte: ${howToMake}`);
    return key;
  });
  if (new Set(keys.map((key) => key.toString("hex"))).size < keys.length) throw new Error("holds the same key twice");
  return keys;
}

function readKey(word: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(word)) return Buffer.from(word, "hex");
  // 43 characters with or without padding, in either alphabet of base64. The last character has two bits that must be 0.
  if (/^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(word)) return Buffer.from(word, "base64");
  return null;
}

const keyBytes = 32;

function keyIdOf(key: Buffer): Buffer {
  if (key.length !== keyBytes) throw new Error(`A sealing key has ${keyBytes} bytes, not ${key.length}`);
  return createHash("sha256")
    .update("switchyard sealing key id\0")
    .update(key)
    .digest()
    .subarray(0, keyIdEnd - 2);
}

function keyOf(master: Buffer, nonce: Buffer): Buffer {
  return createHmac("sha256", master).update("switchyard seal\0").update(nonce.subarray(0, halfNonceBytes)).digest();
}

function toBytes(context: SealContext): Buffer {
  // JSON, because its quotes and commas keep ["ab", "c"] and ["a", "bc"] apart.
  return Buffer.from(JSON.stringify(context));
}

function finish(opening: ReturnType<typeof createDecipheriv>, sealed: Buffer): Buffer {
  try {
    return Buffer.concat([opening.update(sealed), opening.final()]);
  } catch (cause) {
    throw new SealError("damaged", "The sealed value was changed, or belongs to another row", { cause });
  }
}

const compressFrom = 1024;

async function compress(content: Uint8Array): Promise<{ form: number; bytes: Uint8Array }> {
  if (content.length < compressFrom) return { form: forms.plain, bytes: content };
  const bytes = content.length < otherThreadFrom ? Bun.zstdCompressSync(content) : await Bun.zstdCompress(content);
  return bytes.length < content.length ? { form: forms.zstd, bytes } : { form: forms.plain, bytes: content };
}

const decompressOnOtherThread = promisify(zstdDecompress);
const chunkSize = 65_536;

async function decompress(content: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    // A few kilobytes can hold many megabytes, so this attempt ends at the length that may block the thread.
    if (content.length < otherThreadFrom)
      return zstdDecompressSync(content, { maxOutputLength: Math.min(maxBytes, otherThreadFrom) });
  } catch (error) {
    if (!exceedsLimit(error)) throw error;
  }
  try {
    return await decompressOnOtherThread(content, { maxOutputLength: maxBytes, chunkSize });
  } catch (error) {
    throw exceedsLimit(error) ? tooLarge(maxBytes) : error;
  }
}

function exceedsLimit(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
}

function tooLarge(maxBytes: number): SealError {
  return new SealError("too_large", `The sealed value has more than ${maxBytes} bytes`);
}
