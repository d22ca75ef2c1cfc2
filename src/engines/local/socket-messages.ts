// Messages between the engine process and the processes that use it, over a Unix socket. A message is the length of its head, the head as
// JSON, and the bytes whose lengths the head lists.

import type { Socket } from "node:net";
import type { BinaryResult, InputFile } from "../engine.ts";
import type { Failure } from "./failure.ts";
import type { AnswerText, Lane } from "./local-engine.ts";
import type { Job } from "./pool.ts";

/** Requests and jobs have workers of their own, so that a request never waits for a job. */
export type PoolName = "requests" | "jobs";

/** The first message of a connection, which carries one job. Closing the connection cancels the job. */
export interface JobHead extends Pick<Job, "task" | "model" | "input" | "owner" | "timeLimit"> {
  readonly pool: PoolName;
  readonly lane: Lane;
  /** The time until the deadline: the clocks of two processes differ. */
  readonly timeoutMs: number;
  /** Their bytes are sent on request, when a worker is free. */
  readonly files: Readonly<Record<string, Omit<InputFile, "read">>>;
}

/** The answer to `read`: the bytes of one file. */
export interface FileHead {
  readonly file: string;
}

/** What the engine process sends: any number of progress reports and requests for files, then one answer or failure. */
export type EngineHead =
  | { readonly progress: number }
  | { readonly read: string }
  | { readonly answer: AnswerHead }
  | { readonly failure: Failure };

/** The output as JSON and the bytes of the binaries follow the head, in this order. */
export type AnswerHead = Omit<AnswerText, "outputJson" | "binaries"> & {
  readonly binaries: readonly Omit<BinaryResult, "bytes">[];
};

export interface Message<Head> {
  readonly head: Head;
  readonly parts: readonly Uint8Array[];
}

interface Envelope {
  readonly head: unknown;
  readonly lengths: readonly number[];
}

const prefixBytes = 4;

export function sendMessage<Head>(socket: Socket, head: Head, parts: readonly Uint8Array[] = []): void {
  const envelope: Envelope = { head, lengths: parts.map((part) => part.length) };
  const json = Buffer.from(JSON.stringify(envelope));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(json.length);
  for (const bytes of [prefix, json, ...parts]) socket.write(bytes);
}

/** Reads messages from pieces of any size. Pieces are joined only when a part is complete, because joining each one takes quadratic time. */
export class MessageReader<Head> {
  #pieces: Buffer[] = [];
  #length = 0;
  #headLength: number | null = null;
  #envelope: Envelope | null = null;
  #parts: Buffer[] = [];

  /** The messages that this piece completes. */
  push(piece: Buffer): Message<Head>[] {
    this.#pieces.push(piece);
    this.#length += piece.length;
    const messages: Message<Head>[] = [];
    for (let message = this.#next(); message !== null; message = this.#next()) messages.push(message);
    return messages;
  }

  #next(): Message<Head> | null {
    this.#headLength ??= this.#take(prefixBytes)?.readUInt32BE() ?? null;
    if (this.#headLength === null) return null;
    if (this.#envelope === null) {
      const json = this.#take(this.#headLength);
      if (json === null) return null;
      // The cast is safe, because only sendMessage writes to the socket.
      this.#envelope = JSON.parse(json.toString()) as Envelope;
    }
    const { head, lengths } = this.#envelope;
    for (let index = this.#parts.length; index < lengths.length; index++) {
      const part = this.#take(lengths[index] ?? 0);
      if (part === null) return null;
      this.#parts.push(part);
    }
    const message = { head: head as Head, parts: this.#parts };
    this.#headLength = null;
    this.#envelope = null;
    this.#parts = [];
    return message;
  }

  /** Null if fewer bytes have arrived. */
  #take(count: number): Buffer | null {
    if (this.#length < count) return null;
    const joined = Buffer.concat(this.#pieces);
    const rest = joined.subarray(count);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
    return joined.subarray(0, count);
  }
}
