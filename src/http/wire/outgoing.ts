// What is written to a caller. What the system does not take at once waits here, and nothing is added to it without need.

interface Sink {
  /** How many bytes were taken; less than all when the other side does not read. */
  write(data: string | Uint8Array, offset?: number, length?: number): number;
}

export class Outgoing {
  readonly #sink: Sink;
  #unsent: Uint8Array[] = [];
  #drained: PromiseWithResolvers<void> | null = null;
  #isClosed = false;
  /** When something last went out, or began to wait. */
  #movedAt = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  /** The other side does not read. */
  get isStalled(): boolean {
    return this.#unsent.length > 0;
  }

  get unsentBytes(): number {
    return this.#unsent.reduce((total, { length }) => total + length, 0);
  }

  /** Whether nothing of what waits has gone out since then. */
  isStalledSince(time: number): boolean {
    return this.isStalled && this.#movedAt < time;
  }

  /** False when some of it has to wait. `length` is that of the bytes, for whoever knows it. */
  write(data: string | Uint8Array, length = Buffer.byteLength(data)): boolean {
    if (this.#isClosed || length === 0) return true;
    const written = this.isStalled ? 0 : Math.max(0, this.#sink.write(data));
    if (written >= length) return true;
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    return this.#keep(bytes.subarray(written));
  }

  /** The first bytes of a buffer that is used for something else afterwards. */
  writeCopy(buffer: Buffer, length: number): boolean {
    if (this.#isClosed || length === 0) return true;
    const written = this.isStalled ? 0 : Math.max(0, this.#sink.write(buffer, 0, length));
    return written >= length || this.#keep(Buffer.from(buffer.subarray(written, length)));
  }

  /** Resolves when nothing waits, or the connection is gone. */
  drained(): Promise<void> {
    if (!this.isStalled) return Promise.resolve();
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  /** The system takes more. */
  flush(): void {
    for (let [next] = this.#unsent; next !== undefined; [next] = this.#unsent) {
      const written = Math.max(0, this.#sink.write(next));
      if (written > 0) this.#movedAt = performance.now();
      if (written < next.length) {
        this.#unsent[0] = next.subarray(written);
        return;
      }
      this.#unsent.shift();
    }
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#unsent = [];
    this.#wake();
  }

  #keep(bytes: Uint8Array): false {
    if (!this.isStalled) this.#movedAt = performance.now();
    this.#unsent.push(bytes);
    return false;
  }

  #wake(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.resolve();
  }
}
