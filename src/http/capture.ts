// Hands a request and its answer to the captured requests. Without `SWITCHYARD_CAPTURE_CONTENT` there is no capture, and nothing of this runs.

import type { Caller } from "../access/caller.ts";
import { once } from "../lib/once.ts";
import type { Captures } from "../usage/captures.ts";
import type { BodyStream, BodyWriter, Reply } from "./reply.ts";

// A stream repeats much in each of its events, so it is read beyond what is stored.
const maxStreamBytes = 1_048_576;
// Of all streams of this process.
const maxOpenBytes = 64 * 1_048_576;

/** A request that is answered (exchange.ts). */
interface CapturedExchange {
  readonly request: Request;
  readonly requestId: string;
  readonly caller: Caller | null;
  readonly trace: { readonly path: string };
  readonly bodyText: string | null;
}

export class Capture {
  readonly #captures: Pick<Captures, "add" | "take">;
  #openBytes = 0;

  constructor(captures: Pick<Captures, "add" | "take">) {
    this.#captures = captures;
  }

  /** As much of a body as is read: a stream may be open for hours, and would keep all of it. */
  take(text: string): string {
    return this.#captures.take(text);
  }

  /** The answer is complete. */
  record(exchange: CapturedExchange, { status, headers, body }: Reply, streamed: StreamCopy | null = null): void {
    const { caller, request, trace } = exchange;
    if (caller === null || caller.kind === "management" || request.method !== "POST") return;
    this.#captures.add({
      ...{ requestId: exchange.requestId, time: Date.now(), keyId: caller.keyId, team: caller.team },
      ...{ method: request.method, path: trace.path, requestText: exchange.bodyText, status },
      requestHeaders: Object.fromEntries(request.headers),
      answerHeaders: headers,
      answer: streamed === null ? (typeof body === "string" ? body : null) : streamed.read(),
      isAnswerCut: streamed?.isCut ?? false,
    });
  }

  /** The same stream, which is recorded when it has ended. */
  watch(exchange: CapturedExchange, answered: Reply, body: BodyStream): BodyStream {
    const copy = new StreamCopy((bytes) => {
      if (this.#openBytes + bytes > maxOpenBytes) return false;
      this.#openBytes += bytes;
      return true;
    });
    const end = once(() => {
      this.#openBytes -= copy.bytes;
      this.record(exchange, answered, copy);
    });
    return {
      writeTo: (writer) => body.writeTo(copy.of(writer)).finally(end),
      abandon() {
        body.abandon();
        end();
      },
    };
  }
}

/** What was written to a caller, up to a size. */
class StreamCopy {
  readonly #mayTake: (bytes: number) => boolean;
  readonly #pieces: Uint8Array[] = [];
  bytes = 0;
  isCut = false;

  constructor(mayTake: (bytes: number) => boolean) {
    this.#mayTake = mayTake;
  }

  of(writer: BodyWriter): BodyWriter {
    const copy = this;
    return {
      get isStalled() {
        return writer.isStalled;
      },
      write(pieces) {
        for (const piece of pieces) copy.#take(piece);
        return writer.write(pieces);
      },
    };
  }

  read(): Uint8Array {
    return Buffer.concat(this.#pieces);
  }

  #take(piece: Uint8Array): void {
    if (this.isCut || this.bytes + piece.length > maxStreamBytes || !this.#mayTake(piece.length)) {
      this.isCut = true;
      return;
    }
    this.bytes += piece.length;
    // Copied: the writer may use its memory again.
    this.#pieces.push(piece.slice());
  }
}
