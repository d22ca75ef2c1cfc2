// The contract of a backend that stores the bytes of files by id: a folder or S3.

export interface ByteStore {
  /** Moves a complete file from the disk into the store. When it resolves, the bytes are durable and `path` no longer exists. */
  moveIn(path: string, id: string): Promise<void>;
  read(id: string): Promise<Uint8Array>;
  /** Rejects when the store does not begin to send the bytes. */
  stream(id: string, range?: ByteRange): Promise<ReadableStream<Uint8Array>>;
  /** Does nothing when there is no such file. */
  remove(id: string): Promise<void>;
  /** The ids that begin with these two hexadecimal digits and have not changed since `before` (epoch milliseconds). */
  listOld(shard: string, before: number): Promise<string[]>;
  /** Which database this backend belongs to; null when that was never written. */
  readStoreId(): Promise<string | null>;
  writeStoreId(id: string): Promise<void>;
}

/** `start` is included, `end` is not. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export const shards: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function shardOf(id: string): string {
  return id.slice(0, 2);
}

export const fileIdPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where a backend stores a file: `<shard>/<id>`. The check keeps every other text out of the backend's paths. */
export function toStoredPath(id: string): string {
  if (!fileIdPattern.test(id)) throw new TypeError(`'${id}' is not the id of a file, which is a UUID`);
  return `${shardOf(id)}/${id}`;
}

/**
 * Releases memory at once instead of at the next garbage collection: a body has many pieces, of up to a megabyte each. A view of a larger
 * buffer is not released.
 */
export function releaseBuffer(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) (bytes.buffer as ArrayBuffer).transfer(0);
}
