// Reads a stream of JSON objects, one per line. A line is decoded only when it is complete, because a piece may end within a character.

import type { ProviderEvent } from "../dialect.ts";
import { type Framing, PieceBuffer, parseEvent } from "./framing.ts";

const maxLineBytes = 8 * 1_048_576;
const newline = 0x0a;
const noBytes = new Uint8Array(0);

export class JsonLineDecoder implements Framing {
  readonly #decoder = new TextDecoder();
  readonly #line = new PieceBuffer(maxLineBytes);

  get isMidEvent(): boolean {
    return this.#line.some((byte) => byte > 0x20);
  }

  push(piece: Uint8Array): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    let start = 0;
    for (let end = piece.indexOf(newline); end >= 0; end = piece.indexOf(newline, start)) {
      this.#complete(piece.subarray(start, end), events);
      start = end + 1;
    }
    if (start < piece.length) this.#line.push(start === 0 ? piece : piece.subarray(start));
    return events;
  }

  /** The last line needs no newline. */
  end(): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    if (this.isMidEvent) this.#complete(noBytes, events);
    return events;
  }

  #complete(rest: Uint8Array, events: ProviderEvent[]): void {
    const text = this.#decoder.decode(this.#line.takeWith(rest)).trim();
    if (text !== "") events.push({ name: "", value: parseEvent(text) });
  }
}
