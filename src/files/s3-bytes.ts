// Bytes in an S3 bucket, or in a service with the same protocol: `<prefix>xx/<id>`.

import { rm } from "node:fs/promises";
import { untilAborted, withDeadline } from "../lib/deadline.ts";
import { type ByteStore, fileIdPattern, releaseBuffer, shardOf } from "./byte-store.ts";
import { fileStoreUnavailable } from "./file-errors.ts";

export interface S3Settings {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region?: string;
  /** `https://…`; default: AWS in the region. */
  readonly endpoint?: string;
  /** The bucket is part of the host name. */
  readonly virtualHostedStyle?: boolean;
  /** Prefix of every key: `files/`. */
  readonly prefix: string;
}

const callDeadlineMs = 30_000;
const uploadDeadlineMs = 600_000;
const keysAtOnce = 1_000;
// The smallest part that S3 accepts. One at a time, because each part in flight is held in memory.
const partBytes = 5 * 1_048_576;
const partsAtOnce = 1;
const retries = 3;

export function createS3Bytes(settings: S3Settings): ByteStore {
  const { prefix, ...credentials } = settings;
  const client = new Bun.S3Client(credentials);
  const storeIdKey = `${prefix}store-id`;
  const keyOf = (id: string) => {
    if (!fileIdPattern.test(id)) throw new TypeError("the id of a file is a UUID");
    return `${prefix}${shardOf(id)}/${id}`;
  };

  return {
    async take(path, id) {
      await answered(send(path, client.file(keyOf(id))), uploadDeadlineMs);
      await rm(path, { force: true });
    },
    read: (id) => answered(client.file(keyOf(id)).bytes(), uploadDeadlineMs),
    stream(id, range) {
      const file = client.file(keyOf(id));
      return (range === undefined ? file : file.slice(range.start, range.end)).stream();
    },
    remove: (id) => answered(client.delete(keyOf(id)).catch(fineWhenAbsent), callDeadlineMs),
    async listOld(shard, before) {
      const folder = `${prefix}${shard}/`;
      const old: string[] = [];
      let startAfter = "";
      for (;;) {
        const page = await answered(
          client.list({ prefix: folder, maxKeys: keysAtOnce, ...(startAfter !== "" && { startAfter }) }),
          callDeadlineMs,
        );
        const objects = page.contents ?? [];
        for (const { key, lastModified } of objects) {
          const id = key.slice(folder.length);
          if (fileIdPattern.test(id) && Date.parse(lastModified ?? "") < before) old.push(id);
        }
        const last = objects.at(-1);
        if (page.isTruncated !== true || last === undefined) return old;
        startAfter = last.key;
      }
    },
    async readStoreId() {
      const text = await answered(client.file(storeIdKey).text().catch(fineWhenAbsent), callDeadlineMs);
      return text ?? null;
    },
    async writeStoreId(id) {
      await answered(client.write(storeIdKey, id), callDeadlineMs);
    },
  };
}

async function send(path: string, target: Bun.S3File): Promise<void> {
  const writer = target.writer({ partSize: partBytes, queueSize: partsAtOnce, retry: retries });
  try {
    for await (const piece of Bun.file(path).stream()) {
      writer.write(piece);
      await writer.flush();
      releaseBuffer(piece);
    }
    await writer.end();
  } catch (error) {
    // Aborts a multipart upload, so that no part stays in the bucket.
    await Promise.resolve(writer.end(error instanceof Error ? error : new Error(String(error)))).catch(() => {});
    throw error;
  }
}

/** Reports every failure as an outage of the store, and a call without an answer as well: the client has no timeout. */
async function answered<T>(call: Promise<T>, timeoutMs: number): Promise<T> {
  const reason = () => new Error(`no answer within ${timeoutMs} ms`);
  try {
    return await withDeadline({ timeoutMs, reason }, (signal) => untilAborted(call, signal));
  } catch (cause) {
    throw fileStoreUnavailable(cause);
  }
}

function fineWhenAbsent(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "NoSuchKey") return undefined;
  throw error;
}
