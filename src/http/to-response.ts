// Turns a reply into the response that Bun.serve writes.

import { type BodyStream, type BodyWriter, isStream, type Reply } from "./reply.ts";

// The type of `Response` excludes bytes in shared memory, which answers never have.
type ResponseContent = ConstructorParameters<typeof Response>[0];

/** `onBroken` receives the error of a stream that failed after its headers were sent. */
export function toResponse({ status, headers, body }: Reply, onBroken: (error: unknown) => void): Response {
  const content = isStream(body) ? toReadableStream(body, onBroken) : (body as ResponseContent);
  return new Response(content, { status, headers });
}

/**
 * A direct stream: what is written and flushed is sent at once, as a chunk of its own. An error rejects `pull`, and Bun then cuts the
 * connection without the last chunk, so that no client takes a part for the whole.
 */
function toReadableStream(body: BodyStream, onBroken: (error: unknown) => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    type: "direct",
    async pull(controller: DirectController) {
      try {
        await body.writeTo(new DirectWriter(controller));
      } catch (error) {
        onBroken(error);
        throw error;
      }
      await controller.close();
    },
    cancel() {
      try {
        body.abandon();
      } catch (error) {
        onBroken(error);
      }
    },
  });
}

interface DirectController {
  write(bytes: Uint8Array): unknown;
  /** Resolves when the client has read enough for more to be written, or has left. */
  flush(wait: true): number | Promise<number>;
  close(): unknown;
}

class DirectWriter implements BodyWriter {
  readonly #controller: DirectController;
  #waiting = 0;

  constructor(controller: DirectController) {
    this.#controller = controller;
  }

  get isStalled(): boolean {
    return this.#waiting > 0;
  }

  write(pieces: readonly Uint8Array[]): Promise<void> | undefined {
    for (let index = 0; index < pieces.length; index++) {
      const piece = pieces[index];
      // An empty chunk would end the body.
      if (piece === undefined || piece.length === 0) continue;
      this.#controller.write(piece);
      const flushed = this.#controller.flush(true);
      if (typeof flushed !== "number") return this.#wait(flushed, pieces.slice(index + 1));
    }
    return undefined;
  }

  async #wait(flushed: Promise<number>, rest: readonly Uint8Array[]): Promise<void> {
    this.#waiting += 1;
    try {
      await flushed;
    } finally {
      this.#waiting -= 1;
    }
    if (rest.length > 0) await this.write(rest);
  }
}
