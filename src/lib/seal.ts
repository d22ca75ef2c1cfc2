// Sealing: what is kept at rest can be read with the key alone, and only in the place that it was sealed for.
//
// An envelope is: version (1 byte), form (1 byte), key id (8), nonce (24), what was sealed, tag (16). The first half of the
// nonce makes a key for this envelope alone and the second half is AES-GCM's own nonce, since 96 random bits under one key
// would be too few for a gateway that seals for years.
//
// Long content is compressed first. The length of an envelope then tells how well its content compresses; that is a leak only
// where somebody mixes text of their own with a secret and watches the length, again and again. Nobody watches lengths at rest.

import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";

/** Where an envelope belongs, such as a table, a column, an id and an owner. The same words are needed to open it. */
export type SealPlace = readonly string[];

export interface Sealer {
  seal(content: Uint8Array, place: SealPlace): Promise<Buffer>;
  /** Fails with a `SealError`. */
  open(envelope: Uint8Array, place: SealPlace): Promise<Buffer>;
  /** Whether the key that seals now has sealed it, by the id in its head: an older one cannot be left out of the settings before. */
  isSealedWithFirst(envelope: Uint8Array): boolean;
}

/**
 * `unknown_key`: sealed with a key that is not among ours. `damaged`: changed since, or moved to another place.
 * `unknown_form`: no envelope, or one of a newer version.
 */
export class SealError extends Error {
  readonly reason: "unknown_key" | "damaged" | "unknown_form";

  constructor(reason: SealError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SealError";
    this.reason = reason;
  }
}

const version = 1;
const forms = { plain: 0, zstd: 1 };
const cipher = "aes-256-gcm";
const keyBytes = 32;
const keyIdEnd = 10;
const nonceEnd = 34;
const halfNonceBytes = 12;
const tagBytes = 16;
const compressFrom = 1024;
// Some 0.3 ms of compression; more than that would hold other requests up and goes to another thread.
const elsewhereFrom = 32 * 1024;

/** The first key seals, all of them open: a new key goes to the front, and an old one stays until its envelopes are gone. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error("Sealing needs a key");
  const keysById = new Map(keys.map((key) => [keyIdOf(key).toString("hex"), key]));
  const firstId = keyIdOf(first);

  return {
    async seal(content, place) {
      const packed = await compress(content);
      const nonce = randomBytes(nonceEnd - keyIdEnd);
      const head = Buffer.concat([Buffer.of(version, packed.form), firstId, nonce]);
      const key = keyOf(first, nonce);
      const sealing = createCipheriv(cipher, key, nonce.subarray(halfNonceBytes), { authTagLength: tagBytes });
      sealing.setAAD(Buffer.concat([head, placeBytes(place)]));
      return Buffer.concat([head, sealing.update(packed.bytes), sealing.final(), sealing.getAuthTag()]);
    },

    isSealedWithFirst: (envelope) => Buffer.compare(envelope.subarray(2, keyIdEnd), firstId) === 0,

    async open(envelope, place) {
      const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength);
      const form = bytes[1];
      if (bytes.length < nonceEnd + tagBytes || bytes[0] !== version || (form !== forms.plain && form !== forms.zstd))
        throw new SealError("unknown_form", "What was sealed is not in a form that this version knows");
      const master = keysById.get(bytes.subarray(2, keyIdEnd).toString("hex"));
      if (master === undefined)
        throw new SealError("unknown_key", "What was sealed needs a key that is not among the sealing keys");
      const nonce = bytes.subarray(keyIdEnd, nonceEnd);
      const opening = createDecipheriv(cipher, keyOf(master, nonce), nonce.subarray(halfNonceBytes), {
        authTagLength: tagBytes,
      });
      opening.setAAD(Buffer.concat([bytes.subarray(0, nonceEnd), placeBytes(place)]));
      opening.setAuthTag(bytes.subarray(-tagBytes));
      const content = finish(opening, bytes.subarray(nonceEnd, -tagBytes));
      return form === forms.plain ? content : await decompress(content);
    },
  };
}

/** `text` holds one key or several, separated by commas or spaces, each 32 bytes in base64 or hexadecimal. */
export function parseSealingKeys(text: string): Buffer[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new Error(`should hold a key: ${howToMake}`);
  const keys = words.map((word, index) => {
    const key = readKey(word);
    // The text itself is a secret and not repeated.
    if (key === null) throw new Error(`key ${index + 1} is not 32 bytes in base64 or hexadecimal: ${howToMake}`);
    if (new Set(key).size === 1) throw new Error(`key ${index + 1} is one byte over and over: ${howToMake}`);
    return key;
  });
  if (new Set(keys.map((key) => key.toString("hex"))).size < keys.length) throw new Error("holds the same key twice");
  return keys;
}

const howToMake = "`openssl rand -base64 32` makes one";

function readKey(word: string): Buffer | null {
  if (/^[0-9a-fA-F]{64}$/.test(word)) return Buffer.from(word, "hex");
  // 43 characters and perhaps the padding, in either alphabet of base64. The last one holds two bits that must be 0.
  if (/^[A-Za-z0-9+/_-]{42}[AEIMQUYcgkosw048]=?$/.test(word)) return Buffer.from(word, "base64");
  return null;
}

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

function placeBytes(place: SealPlace): Buffer {
  // JSON, because its quotes and commas keep ["ab", "c"] and ["a", "bc"] apart.
  return Buffer.from(JSON.stringify(place));
}

function finish(opening: ReturnType<typeof createDecipheriv>, sealed: Buffer): Buffer {
  try {
    return Buffer.concat([opening.update(sealed), opening.final()]);
  } catch (cause) {
    throw new SealError("damaged", "What was sealed was changed since, or belongs somewhere else", { cause });
  }
}

async function compress(content: Uint8Array): Promise<{ form: number; bytes: Uint8Array }> {
  if (content.length < compressFrom) return { form: forms.plain, bytes: content };
  const bytes = content.length < elsewhereFrom ? Bun.zstdCompressSync(content) : await Bun.zstdCompress(content);
  return bytes.length < content.length ? { form: forms.zstd, bytes } : { form: forms.plain, bytes: content };
}

async function decompress(content: Buffer): Promise<Buffer> {
  return content.length < elsewhereFrom ? Bun.zstdDecompressSync(content) : await Bun.zstdDecompress(content);
}
