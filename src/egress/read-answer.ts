// Reads one response from a connection, up to a limit of bytes.

import type { Socket } from "node:net";
import { BodyReader, HttpSyntaxError } from "../lib/http-body.ts";
import { HeadReader, type ResponseHead } from "../lib/http-response.ts";
import type { Downloads } from "./download-budget.ts";
import { EgressError } from "./egress-error.ts";

export interface ReadOptions {
  readonly maxBytes: number;
  /** The beginning of the body is enough: the body may be cut off, slow or too long. */
  readonly isExcerpt: boolean;
  readonly signal: AbortSignal;
  /** Counts the body while it arrives. The bytes of a failed download are removed again. */
  readonly downloads?: Downloads | undefined;
  /** Timeouts until the first bytes, and then between two pieces. Without them only the signal ends a silence. */
  readonly firstByteTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
}

export interface Answer {
  readonly head: ResponseHead;
  readonly body: Buffer;
  /** The response is complete, no bytes follow it, and the server keeps the connection open. */
  readonly mayReuseConnection: boolean;
}

const maxInterimResponses = 8;
const excerptMs = 1_000;

/** Reads the response to the request that was written to `socket`. The caller closes or reuses the socket. */
export function readAnswer(socket: Socket, options: ReadOptions): Promise<Answer> {
  const { maxBytes, isExcerpt, signal, downloads } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  // Copies the pieces into one buffer: a million tiny pieces are not a million objects.
  const body = new Bun.ArrayBufferSink();
  let bodyBytes = 0;
  let countedBytes = 0;
  const heads = new HeadReader({ maxInterimResponses });
  let head: ResponseHead | null = null;
  let reader: BodyReader | null = null;
  let excerptTimer: ReturnType<typeof setTimeout> | undefined;
  let silenceTimer = startSilence(options.firstByteTimeoutMs);
  let hasBegun = false;

  function finish(): void {
    stop();
    if (head === null) return;
    const isWhole = reader?.isComplete === true && !reader.hasSurplus;
    resolve({ head, body: takeBytes(), mayReuseConnection: isWhole && head.mayKeepConnection });
  }

  function fail(error: unknown): void {
    stop();
    if (isExcerpt && head !== null) resolve({ head, body: takeBytes(), mayReuseConnection: false });
    else {
      downloads?.remove(countedBytes);
      reject(error);
    }
  }

  function takeBytes(): Buffer {
    return Buffer.from(body.end() as ArrayBuffer);
  }

  function stop(): void {
    clearTimeout(excerptTimer);
    clearTimeout(silenceTimer);
    socket.off("data", receive);
    socket.off("end", end);
    socket.off("error", lose);
    socket.off("close", lose);
    signal.removeEventListener("abort", abort);
  }

  function takeHead(bytes: Buffer): void {
    const found = heads.read(bytes);
    if (found === null) return;
    head = found.head;
    const { framing } = head;
    reader = new BodyReader(framing);
    if (isExcerpt) excerptTimer = setTimeout(finish, excerptMs);
    else if (framing.kind === "length" && framing.length > maxBytes) throw tooLarge(maxBytes);
    takeBody(reader, found.rest);
  }

  function takeBody(reader: BodyReader, bytes: Buffer): void {
    reader.feed(bytes);
    for (let piece = reader.next(); piece !== undefined; piece = reader.next()) {
      const kept = piece.subarray(0, maxBytes - bodyBytes);
      downloads?.add(kept.length);
      countedBytes += kept.length;
      body.write(kept);
      bodyBytes += piece.length;
      if (bodyBytes > maxBytes) throw tooLarge(maxBytes);
    }
    if (reader.isComplete) finish();
  }

  function startSilence(timeoutMs: number | undefined): ReturnType<typeof setTimeout> | undefined {
    if (timeoutMs === undefined) return undefined;
    const end = () => fail(new EgressError("timeout", `The server sent nothing for ${timeoutMs} ms`));
    return setTimeout(end, timeoutMs);
  }

  function endSilence(): void {
    if (hasBegun) {
      silenceTimer?.refresh();
      return;
    }
    hasBegun = true;
    clearTimeout(silenceTimer);
    silenceTimer = startSilence(options.idleTimeoutMs);
  }

  function receive(bytes: Buffer): void {
    endSilence();
    try {
      if (reader === null) takeHead(bytes);
      else takeBody(reader, bytes);
    } catch (error) {
      fail(error instanceof HttpSyntaxError ? badResponse(error.message) : error);
    }
  }

  function end(): void {
    if (reader?.endsWithConnection === true) finish();
    else fail(new EgressError("bad_response", "The server's answer was cut off"));
  }

  function lose(cause?: unknown): void {
    fail(new EgressError("unreachable", "The connection to the server was lost", { cause }));
  }

  const abort = () => fail(signal.reason);

  socket.on("data", receive);
  socket.on("end", end);
  socket.on("error", lose);
  socket.on("close", lose);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  // A reused connection may have been closed in this moment.
  else if (socket.destroyed) lose();
  return promise;
}

function badResponse(reason: string): EgressError {
  return new EgressError("bad_response", `The server's answer is not usable: ${reason}`);
}

function tooLarge(maxBytes: number): EgressError {
  return new EgressError("too_large", `The server's answer is larger than ${maxBytes} bytes`);
}
