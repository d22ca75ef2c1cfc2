// The contract of a place that keeps the bytes of files, by id.

export interface ByteStore {
  /** Takes a finished file from the disk. When it resolves the bytes are safe; the file is no longer at `path`. */
  take(path: string, id: string): Promise<void>;
  read(id: string): Promise<Uint8Array>;
  stream(id: string, range?: ByteRange): ReadableStream<Uint8Array>;
  /** One that is not there is fine. */
  remove(id: string): Promise<void>;
  /** The ids that begin with these two hexadecimal digits and have not changed since `before` (epoch milliseconds). */
  listOld(shard: string, before: number): Promise<string[]>;
  /** A note that says whose place it is; null when there is none. */
  readMark(): Promise<string | null>;
  writeMark(text: string): Promise<void>;
}

/** From `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export const shards: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function shardOf(id: string): string {
  return id.slice(0, 2);
}

export const fileIdPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
