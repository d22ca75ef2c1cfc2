// Reads JSON objects that follow one another with anything but braces between them, such as the elements of a list whose end
// has not come yet, from a stream that arrives in arbitrary pieces.

import type { JsonObject, ProviderEvent } from "../dialect.ts";

/** The bytes are not JSON, or an object is larger than allowed. */
export class JsonValueError extends Error {}

const maxValueBytes = 8 * 1_048_576;
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

export class JsonValueDecoder {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  /** Pieces of an object that has not ended, joined only when it ends. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #openBraces = 0;
  #openLists = 0;
  #isInText = false;
  #isEscaped = false;

  /** Whether an object, or the list around the objects, has not ended. */
  get isMidEvent(): boolean {
    return this.#openBraces > 0 || this.#openLists > 0;
  }

  /** The objects that are complete with this piece. */
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
        events.push({ name: "", value: this.#complete(piece.subarray(start, at + 1)) });
        start = -1;
      }
    }
    if (start >= 0) this.#keep(piece.subarray(start));
    return events;
  }

  #keep(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#pieceBytes += piece.length;
    if (this.#pieceBytes > maxValueBytes) throw new JsonValueError("an object is larger than allowed");
  }

  #complete(rest: Uint8Array): JsonObject {
    this.#keep(rest);
    const bytes = this.#pieces.length === 1 ? rest : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#pieceBytes = 0;
    try {
      return JSON.parse(this.#decoder.decode(bytes)) as JsonObject;
    } catch (error) {
      throw new JsonValueError("an object is not JSON", { cause: error });
    }
  }
}
