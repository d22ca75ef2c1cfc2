// A streamed answer that counts as running until it is complete, has failed, or its client has left.

import type { RunningRequest } from "../access/limits.ts";
import type { BodyStream, BodyWriter } from "./reply.ts";

export class CountedStream implements BodyStream {
  readonly #body: BodyStream;
  readonly #running: RunningRequest;

  /** `left` fires when the client has left. Bun neither reads nor cancels a stream that it has not begun to send by then. */
  constructor(body: BodyStream, running: RunningRequest, left: AbortSignal) {
    this.#body = body;
    this.#running = running;
    left.addEventListener("abort", () => running.end(), { once: true });
  }

  async writeTo(writer: BodyWriter): Promise<void> {
    try {
      await this.#body.writeTo(writer);
    } finally {
      this.#running.end();
    }
  }

  abandon(): void {
    this.#running.end();
    this.#body.abandon();
  }
}
