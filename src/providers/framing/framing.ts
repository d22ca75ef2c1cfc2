// The contract of a framing: how a stream of bytes is split into events.

import { isObject } from "../../lib/lenient-json.ts";
import type { JsonObject, ProviderEvent } from "../dialect.ts";

export interface Framing {
  /** The events that this piece completes. Throws a FramingError. */
  push(piece: Uint8Array): readonly FramedEvent[];
  /** Whether there is an incomplete event. */
  readonly isMidEvent: boolean;
  /** The provider closed the stream: returns a last event that needs no end marker. */
  end(): readonly FramedEvent[];
}

/** `isDone`: the marker `[DONE]`, which is not JSON. */
export interface FramedEvent extends ProviderEvent {
  readonly isDone?: true;
}

/** The bytes do not have this framing, or an event is larger than allowed. */
export class FramingError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "FramingError";
  }
}

/** The pieces of an incomplete event. They are joined only at its end, because joining at every piece would take quadratic time. */
export class PieceBuffer {
  length = 0;
  readonly #maxBytes: number;
  #pieces: Uint8Array[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.length += piece.length;
    if (this.length > this.#maxBytes) throw new FramingError("an event is larger than allowed");
  }

  /** Empties the buffer; the result ends with `last`. */
  takeWith(last: Uint8Array): Uint8Array {
    if (this.length === 0 && last.length <= this.#maxBytes) return last;
    this.push(last);
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.length = 0;
    return bytes;
  }

  some(isWanted: (byte: number) => boolean): boolean {
    return this.#pieces.some((piece) => piece.some(isWanted));
  }
}

export function parseEvent(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new FramingError("an event is not JSON", { cause });
  }
  if (!isObject(value)) throw new FramingError("an event is not a JSON object");
  return value;
}
