/** Copies the pieces of a body into one buffer: a million tiny pieces are not a million objects. */
export class GrowingBuffer {
  readonly #maxBytes: number;
  #held: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** False when the piece exceeds the limit; the part that fits is kept. */
  append(piece: Uint8Array): boolean {
    const fitting = piece.subarray(0, this.#maxBytes - this.#length);
    const needed = this.#length + fitting.length;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.min(Math.max(needed, this.#held.length * 2), this.#maxBytes));
      larger.set(this.#held.subarray(0, this.#length));
      this.#held = larger;
    }
    this.#held.set(fitting, this.#length);
    this.#length = needed;
    return fitting.length === piece.length;
  }

  bytes(): Buffer {
    return this.#held.subarray(0, this.#length);
  }
}
