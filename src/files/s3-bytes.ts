// Stores the bytes of files in an S3 bucket, or in a service with the same protocol, under the key `<prefix><shard>/<id>`.

import { rm, stat } from "node:fs/promises";
import { untilAborted, withDeadline } from "../lib/deadline.ts";
import { type ByteStore, fileIdPattern, releaseBuffer, toStoredPath } from "./byte-store.ts";
import { fileStoreUnavailable } from "./file-errors.ts";

export interface S3Settings {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region?: string;
  /** A URL. Default: the endpoint of AWS in the region. */
  readonly endpoint?: string;
  /** The beginning of every key, such as `files/`. */
  readonly prefix: string;
}

export interface S3Timeouts {
  readonly requestTimeoutMs: number;
  /** Of a whole file. A stream has no such timeout, because its reader may be slow; each of its reads has the timeout of a request. */
  readonly transferTimeoutMs: number;
}

const defaultTimeouts: S3Timeouts = { requestTimeoutMs: 30_000, transferTimeoutMs: 600_000 };
const keysPerPage = 1_000;
// The smallest part that S3 accepts.
const partBytes = 5 * 1_048_576;
// Each part in flight is held in memory.
const concurrentParts = 1;
const retriesPerPart = 3;

export function createS3Bytes(settings: S3Settings, timeouts = defaultTimeouts): ByteStore {
  const { prefix, ...clientOptions } = settings;
  const { requestTimeoutMs, transferTimeoutMs } = timeouts;
  const client = new Bun.S3Client(clientOptions);
  const storeIdKey = `${prefix}store-id`;
  const fileOf = (id: string) => client.file(`${prefix}${toStoredPath(id)}`);

  return {
    async moveIn(path, id) {
      await awaitAnswer(upload(path, fileOf(id)), transferTimeoutMs);
      await rm(path, { force: true });
    },
    read: (id) => awaitAnswer(fileOf(id).bytes(), transferTimeoutMs),
    stream(id, range) {
      const file = fileOf(id);
      const source = (range === undefined ? file : file.slice(range.start, range.end)).stream();
      return startStream(source, requestTimeoutMs);
    },
    remove: (id) => awaitAnswer(fileOf(id).delete().catch(ignoreAbsence), requestTimeoutMs),
    async listOld(shard, before) {
      const folder = `${prefix}${shard}/`;
      const old: string[] = [];
      for await (const { key, lastModified } of listObjects(client, folder, requestTimeoutMs)) {
        const id = key.slice(folder.length);
        if (fileIdPattern.test(id) && Date.parse(lastModified ?? "") < before) old.push(id);
      }
      return old;
    },
    async readStoreId() {
      const text = await awaitAnswer(client.file(storeIdKey).text().catch(ignoreAbsence), requestTimeoutMs);
      return text ?? null;
    },
    async writeStoreId(id) {
      await awaitAnswer(client.write(storeIdKey, id), requestTimeoutMs);
    },
  };
}

async function upload(path: string, target: Bun.S3File): Promise<void> {
  const writer = target.writer({ partSize: partBytes, queueSize: concurrentParts, retry: retriesPerPart });
  try {
    for await (const chunk of Bun.file(path).stream()) {
      writer.write(chunk);
      await writer.flush();
      releaseBuffer(chunk);
    }
    await writer.end();
    await checkStored(path, target);
  } catch (error) {
    // Ends the upload, so that no part stays in the bucket. Bun ignores the error and may store a truncated object. It has no row, so the sweeper
    // deletes it.
    await Promise.resolve(writer.end(error instanceof Error ? error : new Error(String(error)))).catch(() => {});
    throw error;
  }
}

/** Bun may report an upload as complete although a part of it failed, and the file is deleted after it was moved. */
async function checkStored(path: string, target: Bun.S3File): Promise<void> {
  const [{ size: stored }, { size }] = await Promise.all([target.stat(), stat(path)]);
  if (stored !== size) throw new Error(`S3 stored ${stored} of ${size} bytes`);
}

async function* listObjects(client: Bun.S3Client, prefix: string, timeoutMs: number) {
  let startAfter: string | undefined;
  do {
    const page = await awaitAnswer(
      client.list({ prefix, maxKeys: keysPerPage, ...(startAfter !== undefined && { startAfter }) }),
      timeoutMs,
    );
    const objects = page.contents ?? [];
    yield* objects;
    startAfter = page.isTruncated === true ? objects.at(-1)?.key : undefined;
  } while (startAfter !== undefined);
}

/** Waits for the first bytes, so that a failure can still be answered with an error. Later, the stream fails when S3 stops sending. */
async function startStream(source: ReadableStream<Uint8Array>, timeoutMs: number): Promise<ReadableStream<Uint8Array>> {
  const reader = source.getReader();
  async function read() {
    try {
      return await awaitAnswer(reader.read(), timeoutMs);
    } catch (error) {
      reader.cancel(error).catch(() => {});
      throw error;
    }
  }
  let first: Awaited<ReturnType<typeof read>> | null = await read();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = first ?? (await read());
        first = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Adds a timeout, which the client does not have, and reports every failure as an outage of the store. */
async function awaitAnswer<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  const reason = () => new Error(`S3 did not answer within ${timeoutMs} ms`);
  try {
    return await withDeadline({ timeoutMs, reason }, (signal) => untilAborted(answer, signal));
  } catch (cause) {
    throw fileStoreUnavailable(cause);
  }
}

function ignoreAbsence(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "NoSuchKey") return undefined;
  throw error;
}
