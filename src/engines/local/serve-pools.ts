// Offers pools to other processes over a Unix socket.

import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import type { InputFile } from "../engine.ts";
import { toFailure } from "./failure.ts";
import type { AnswerText } from "./local-engine.ts";
import type { Pool } from "./pool.ts";
import type { AnswerHead, EngineHead, FileHead, JobHead, PoolName } from "./socket-messages.ts";
import { MessageReader, sendMessage } from "./socket-messages.ts";

export interface PoolServer {
  /** Resolves when the server should end: after some time without a job, or because its socket was deleted. */
  readonly idle: Promise<void>;
  /** Stops accepting jobs. Resolves when all running jobs have ended. */
  close(): Promise<void>;
}

const checkEveryMs = 1_000;

/** `socketPath` must be in a folder that only this user can enter: who can connect can use the engines. */
export async function servePools(
  pools: Readonly<Record<PoolName, Pick<Pool, "runToText" | "state">>>,
  { socketPath, idleMs }: { readonly socketPath: string; readonly idleMs: number },
): Promise<PoolServer> {
  const connections = new Set<Socket>();
  const idle = Promise.withResolvers<void>();
  let idleSince = performance.now();
  const server = createServer((socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
    // Its end is handled by "close".
    socket.on("error", () => {});
    serveJob(pools, socket);
  });
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
  // A process that was killed leaves its socket behind.
  await rm(socketPath, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  const timer = setInterval(() => {
    const now = performance.now();
    const hasWorkers = Object.values(pools).some((pool) =>
      Object.values(pool.state()).some(({ workers }) => workers > 0),
    );
    if (connections.size > 0 || hasWorkers) idleSince = now;
    // Some systems delete old temporary files.
    if (now - idleSince >= idleMs || (connections.size === 0 && !existsSync(socketPath))) idle.resolve();
  }, checkEveryMs);
  timer.unref();

  return {
    idle: idle.promise,
    close() {
      clearInterval(timer);
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function serveJob(pools: Readonly<Record<PoolName, Pick<Pool, "runToText">>>, socket: Socket): void {
  const left = new AbortController();
  const reader = new MessageReader<JobHead | FileHead>();
  const reads = new Map<string, PromiseWithResolvers<Uint8Array>>();
  socket.on("close", () => {
    left.abort();
    for (const { reject } of reads.values()) reject(new Error("The connection was closed."));
  });
  socket.on("data", (piece: Buffer) => {
    for (const { head, parts } of reader.push(piece)) {
      if ("file" in head) reads.get(head.file)?.resolve(parts[0] ?? new Uint8Array());
      else void perform(head);
    }
  });

  async function perform(head: JobHead): Promise<void> {
    const { pool, timeoutMs, files, ...job } = head;
    try {
      const answer = await pools[pool].runToText({
        ...job,
        files: Object.fromEntries(
          Object.entries(files).map(([member, file]) => [member, { ...file, read: () => read(member) }]),
        ),
        signal: left.signal,
        deadline: performance.now() + timeoutMs,
        onProgress: (progress) => send({ progress }),
      });
      sendAnswer(answer);
    } catch (error) {
      send({ failure: toFailure(error) });
    }
    socket.end();
  }

  function read(member: string): ReturnType<InputFile["read"]> {
    const bytes = Promise.withResolvers<Uint8Array>();
    reads.set(member, bytes);
    send({ read: member });
    return bytes.promise;
  }

  function sendAnswer({ binaries = [], outputJson, ...answer }: AnswerText): void {
    const head: AnswerHead = { ...answer, binaries: binaries.map(({ bytes: _, ...binary }) => binary) };
    send({ answer: head }, [Buffer.from(outputJson), ...binaries.map(({ bytes }) => bytes)]);
  }

  function send(head: EngineHead, parts?: readonly Uint8Array[]): void {
    if (!socket.destroyed) sendMessage(socket, head, parts);
  }
}
