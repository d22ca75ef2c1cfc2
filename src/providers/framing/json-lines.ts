// Reads a stream of JSON objects, one a line, that arrives in arbitrary pieces. A line is decoded only when it is whole, so
// that a character whose bytes are in two pieces is never torn.

import type { JsonObject, ProviderEvent } from "../dialect.ts";

/** The bytes are not JSON lines, or a line is larger than allowed. */
export class JsonLineError extends Error {}

const maxLineBytes = 8 * 1_048_576;
const newline = 0x0a;

export class JsonLineDecoder {
  readonly #decoder = new TextDecoder();
  /** Pieces of a line that has not ended, joined only when it ends: joining at every piece would be quadratic. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;

  /** Whether bytes are waiting for the rest of their line. */
  get isMidEvent(): boolean {
    return this.#pieces.some((piece) => piece.some((byte) => byte > 0x20));
  }

  /** The events that are complete with this piece. */
  push(piece: Uint8Array): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      this.#complete(piece.subarray(start, end), events);
      start = end + 1;
    }
    if (start < piece.length) this.#keep(start === 0 ? piece : piece.subarray(start));
    return events;
  }

  /** The stream has ended as its sender meant: a last line needs no newline. */
  end(): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    if (this.isMidEvent) this.#complete(new Uint8Array(0), events);
    return events;
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > maxLineBytes) throw new JsonLineError("a line is larger than allowed");
  }

  #complete(rest: Uint8Array, events: ProviderEvent[]): void {
    let line = rest;
    if (this.#pieceBytes > 0) {
      line = Buffer.concat([...this.#pieces, rest]);
      this.#pieces = [];
      this.#pieceBytes = 0;
    }
    if (line.length > maxLineBytes) throw new JsonLineError("a line is larger than allowed");
    const text = this.#decoder.decode(line).trim();
    if (text !== "") events.push({ name: "", value: parseLine(text) });
  }
}

function parseLine(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JsonLineError("a line is not JSON", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new JsonLineError("a line is not a JSON object");
  return value as JsonObject;
}
