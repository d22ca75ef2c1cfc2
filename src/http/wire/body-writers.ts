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
    const bytes = toChunks(pieces);
    return this.#outgoing.write(bytes, bytes.length) ? undefined : this.#outgoing.drained();
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
// The size in hexadecimal digits, and two line breaks.
const mostFramingBytes = 12;

function toChunks(pieces: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += piece.length + mostFramingBytes;
  const chunks = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    // An empty chunk would be the end.
    if (piece.length === 0) continue;
    at += chunks.write(`${piece.length.toString(16)}\r\n`, at, "latin1");
    chunks.set(piece, at);
    at += piece.length;
    at += chunks.write("\r\n", at, "latin1");
  }
  return chunks.subarray(0, at);
}
