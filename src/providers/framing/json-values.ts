// Reads JSON objects that are separated by anything but braces, such as the elements of an incomplete list.

import type { ProviderEvent } from "../dialect.ts";
import { type Framing, FramingError, PieceBuffer, parseEvent } from "./framing.ts";

const maxValueBytes = 8 * 1_048_576;
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

export class JsonValueDecoder implements Framing {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #object = new PieceBuffer(maxValueBytes);
  #openBraces = 0;
  #openLists = 0;
  #isInText = false;
  #isEscaped = false;

  /** Whether an object, or the list around the objects, is incomplete. */
  get isMidEvent(): boolean {
    return this.#openBraces > 0 || this.#openLists > 0;
  }

  push(piece: Uint8Array): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    let start = this.#openBraces > 0 ? 0 : -1;
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number;
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isInText = false;
      } else if (byte === openBrace) {
        if (this.#openBraces === 0) start = at;
        this.#openBraces++;
      } else if (this.#openBraces === 0) {
        if (byte === openBracket) this.#openLists++;
        else if (byte === closeBracket) this.#openLists--;
      } else if (byte === quote) this.#isInText = true;
      else if (byte === closeBrace) {
        this.#openBraces--;
        if (this.#openBraces > 0) continue;
        events.push(this.#complete(piece.subarray(start, at + 1)));
        start = -1;
      }
    }
    if (start >= 0) this.#object.push(piece.subarray(start));
    return events;
  }

  end(): ProviderEvent[] {
    return [];
  }

  #complete(rest: Uint8Array): ProviderEvent {
    const bytes = this.#object.takeWith(rest);
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch (cause) {
      throw new FramingError("an event is not UTF-8", { cause });
    }
    return { name: "", value: parseEvent(text) };
  }
}
