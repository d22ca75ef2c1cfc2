// A body of unknown or of announced length, piece by piece.

import type { BodyWriter } from "../reply.ts";
import type { Outgoing } from "./outgoing.ts";

export interface StreamWriter extends BodyWriter {
  /** False when it is not the body that was announced. */
  end(): boolean;
}

/** Each piece is a chunk; those of one call go out together. */
export class ChunkedWriter implements StreamWriter {
  readonly #outgoing: Outgoing;

  constructor(outgoing: Outgoing) {
    this.#outgoing = outgoing;
  }

  get isStalled(): boolean {
    return this.#outgoing.isStalled;
  }

  write(pieces: readonly Uint8Array[]): Promise<void> | undefined {
    let room = 0;
    for (const piece of pieces) room += piece.length + mostFramingBytes;
    const chunks = room <= scratch.length ? scratch : Buffer.allocUnsafe(room);
    return this.#outgoing.writeCopy(chunks, writeChunks(pieces, chunks)) ? undefined : this.#outgoing.drained();
  }

  end(): boolean {
    this.#outgoing.write("0\r\n\r\n", 5);
    return true;
  }
}

/** As it is: its end is its announced length, or that of the connection. */
export class PlainWriter implements StreamWriter {
  readonly #outgoing: Outgoing;
  readonly #announced: number | null;
  #written = 0;

  constructor(outgoing: Outgoing, announced: string | undefined) {
    this.#outgoing = outgoing;
    this.#announced = announced === undefined ? null : Number(announced);
  }

  get isStalled(): boolean {
    return this.#outgoing.isStalled;
  }

  write(pieces: readonly Uint8Array[]): Promise<void> | undefined {
    const [only = nothing] = pieces;
    const bytes = pieces.length === 1 ? only : Buffer.concat(pieces);
    this.#written += bytes.length;
    return this.#outgoing.write(bytes, bytes.length) ? undefined : this.#outgoing.drained();
  }

  end(): boolean {
    return this.#announced === null || this.#announced === this.#written;
  }
}

const nothing = Buffer.alloc(0);
// Chunks are put together here and gone when they are written: a buffer for each would cost more than all the rest.
const scratch = Buffer.allocUnsafe(65_536);
// The size in hexadecimal digits, and two line breaks.
const mostFramingBytes = 12;
const digits = Buffer.from("0123456789abcdef");
const carriageReturn = 0x0d;
const newline = 0x0a;

/** How many bytes they are as chunks. */
function writeChunks(pieces: readonly Uint8Array[], chunks: Buffer): number {
  let at = 0;
  for (const piece of pieces) {
    // An empty chunk would be the end.
    if (piece.length === 0) continue;
    let shift = 28;
    while (piece.length >>> shift === 0) shift -= 4;
    for (; shift >= 0; shift -= 4) chunks[at++] = digits[(piece.length >>> shift) & 15] ?? 0;
    chunks[at++] = carriageReturn;
    chunks[at++] = newline;
    chunks.set(piece, at);
    at += piece.length;
    chunks[at++] = carriageReturn;
    chunks[at++] = newline;
  }
  return at;
}
