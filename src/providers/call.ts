// One call of a provider: four timeouts, abort in every phase, size limits, and the provider's failures turned into our errors.
// It reads bytes; the dialect or the task interprets them.

import { type ErrorCode, GatewayError } from "../errors.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import type { CallTicket } from "./call-ticket.ts";
import type { Provider } from "./configure.ts";
import type { Address } from "./deployment.ts";
import type { Exchange, HttpClient } from "./http-client.ts";
import { toRefusal } from "./refusal.ts";
import { TransportExchange } from "./transport-exchange.ts";

export interface Clocks {
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** The caller's side of a call. */
export interface Connection {
  readonly signal: AbortSignal;
}

export interface CallOptions {
  /** Whoever sends the call accounts for it. */
  readonly ticket: CallTicket;
  readonly provider: Provider;
  /** Of a deployment, or of one of its services. */
  readonly address: Address;
  /** POST when absent. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body: string | Uint8Array;
  /** Header lines beside those of the address. */
  readonly headerLines?: string;
  /** The whole head, instead of `method`, `path` and all header lines. */
  readonly head?: string;
  readonly wantsStream: boolean;
  /** Its signal is checked only at ticks, and only for longer calls. */
  readonly connection: Connection;
  /** Aborted when the gateway shuts down and cannot wait any longer. */
  readonly shutdownSignal: AbortSignal;
  readonly clocks: Clocks;
  /** The end of the whole request with all its attempts, in milliseconds of `performance.now()`. */
  readonly deadline: number;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  /** Connections that were idle for longer are not reused. Absent: any idle connection is. */
  readonly maxIdleMs?: number;
  /** Statuses other than 2xx that are not failures. */
  readonly goodStatuses?: readonly number[];
  /** Reads the answer of any other status; `toRefusal` when absent. */
  readonly toRefusal?: (provider: Provider, status: number, retryAfter: string | null, body: string) => GatewayError;
}

/** The caller left: no one is waiting for the answer. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
    this.name = "CallerLeft";
  }
}

const maxAnswerBytes = 64 * 1_048_576;
const maxErrorBytes = 65_536;
// Creating a signal costs time, and most answers that are not streamed end earlier.
const minAgeMs = 50;
const never = Number.POSITIVE_INFINITY;
const decoder = new TextDecoder();

/** One call of a provider, from the first byte sent to the last byte read. */
export class ProviderCall implements Watched {
  index = -1;
  readonly provider: Provider;
  readonly startedAt = performance.now();
  readonly #options: CallOptions;
  readonly #exchange: Exchange;
  /** When the timeouts expire. */
  #connectAt: number;
  #waitAt: number;
  readonly #totalAt: number;
  /** From this time on, ticks check whether the caller has left. */
  readonly #checkCallerAt: number;
  #waitMs: number;
  #hasBegun = false;
  #failure: Error | null = null;

  /** Sends the request at once. */
  constructor(options: CallOptions) {
    this.#options = options;
    this.provider = options.provider;
    const { connectTimeoutMs, firstByteTimeoutMs } = options.clocks;
    this.#connectAt = this.startedAt + connectTimeoutMs;
    this.#waitMs = firstByteTimeoutMs;
    this.#waitAt = this.startedAt + firstByteTimeoutMs;
    this.#totalAt = options.deadline;
    this.#checkCallerAt = this.startedAt + minAgeMs;
    options.ticket.use();
    this.#exchange = send(options);
    options.ticker.watch(this);
  }

  /** Waits for a successful head. Any other answer is thrown as an error of the catalogue. */
  async open(): Promise<void> {
    try {
      await this.#exchange.open();
    } catch (error) {
      throw this.#failure ?? describeSendFailure(this.provider.name, this.#exchange.wasSent, error);
    }
    const { status } = this.#exchange;
    if ((status < 200 || status > 299) && !this.#options.goodStatuses?.includes(status))
      throw await this.#readRefusal(status);
  }

  get status(): number {
    return this.#exchange.status;
  }

  /** `name` in lower case. */
  header(name: string): string | null {
    return this.#exchange.header(name);
  }

  get connectMs(): number {
    return this.#exchange.connectMs;
  }

  get contentType(): string {
    return this.#exchange.header("content-type") ?? "";
  }

  /** The whole body of an answer that is not streamed; without a promise if it arrived with its head, as most do. */
  readWhole(): string | Promise<string> {
    const piece = this.take();
    if (piece === null) return "";
    const pieces = piece === undefined ? [] : [piece];
    if (piece !== undefined && piece.length <= maxAnswerBytes) {
      const next = this.take();
      if (next === null) return decoder.decode(piece);
      if (next !== undefined) pieces.push(next);
    }
    return this.#read(maxAnswerBytes, "refuse", pieces).then((bytes) => decoder.decode(bytes));
  }

  readBytes(): Promise<Uint8Array> {
    return this.#read(maxAnswerBytes, "refuse");
  }

  /** The next bytes, null at a complete end, undefined if none have arrived. An incomplete end is an error. */
  take(): Uint8Array | null | undefined {
    this.pauseTimeout();
    if (this.#failure !== null) throw this.#failure;
    try {
      return this.#exchange.take();
    } catch (error) {
      throw this.#failure ?? describeCut(this.provider.name, error);
    }
  }

  /**
   * Resolves when `take` has something or fails; never rejects. The timeout runs from here to the next `take` or `pauseTimeout`, not while a
   * slow caller reads. Not async, because every chunk of a stream waits here.
   */
  wait(): Promise<void> {
    this.#waitAt = this.#options.ticker.now + this.#waitMs;
    return this.#exchange.wait();
  }

  /** Until the next `wait`, nothing waits for the provider. */
  pauseTimeout(): void {
    this.#waitAt = never;
  }

  /** After the first event, the idle timeout replaces the first-byte timeout. */
  beginIdleClock(): void {
    this.#waitMs = this.#options.clocks.idleTimeoutMs;
    this.#hasBegun = true;
  }

  /** Checks the four timeouts and the caller. Polling at every tick costs less than a listener. */
  check(now: number): void {
    const { connection, shutdownSignal, clocks } = this.#options;
    if (shutdownSignal.aborted)
      this.#fail(new GatewayError("draining", "The gateway shut down before the answer was complete."));
    else if (now >= this.#totalAt)
      this.#fail(this.#unanswered("provider_timeout", "did not finish within the time of the request"));
    else if (now >= this.#checkCallerAt && connection.signal.aborted) this.#fail(new CallerLeft());
    else if (now >= this.#waitAt) this.#fail(this.#unanswered("provider_timeout", this.#describeSilence()));
    else if (now >= this.#connectAt) {
      this.#connectAt = never;
      if (!this.#exchange.isConnected)
        this.#fail(this.#error("provider_timeout", `did not accept a connection within ${clocks.connectTimeoutMs} ms`));
    }
  }

  /** The answer is complete. The rest is discarded, so that the connection can be reused. */
  finish(): void {
    this.#options.ticker.forget(this);
    this.#exchange.release();
  }

  /** Closes the connection. */
  abandon(): void {
    this.#options.ticker.forget(this);
    this.#exchange.abort();
  }

  /** `pieces`: those that have been taken already. */
  async #read(maxBytes: number, whenLarger: "refuse" | "cut", pieces: Uint8Array[] = []): Promise<Uint8Array> {
    let length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    for (;;) {
      if (length > maxBytes && whenLarger === "refuse")
        throw this.#error("provider_bad_response", `answered with more than ${maxBytes} bytes`);
      if (length > maxBytes) break;
      const piece = this.take();
      if (piece === undefined) {
        await this.wait();
        continue;
      }
      if (piece === null) break;
      length += piece.length;
      pieces.push(piece);
    }
    return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
  }

  async #readRefusal(status: number): Promise<GatewayError> {
    let text = "";
    try {
      text = decoder.decode(await this.#read(maxErrorBytes, "cut"));
    } catch (error) {
      if (error instanceof CallerLeft) throw error;
      // The status is enough.
    }
    this.abandon();
    const read = this.#options.toRefusal ?? toRefusal;
    return read(this.provider, status, this.#exchange.header("retry-after"), text);
  }

  #fail(failure: Error): void {
    if (this.#failure !== null) return;
    this.#failure = failure;
    this.abandon();
  }

  #describeSilence(): string {
    if (this.#hasBegun) return `sent nothing for ${this.#waitMs} ms in the middle of its answer`;
    return `sent nothing within ${this.#waitMs} ms`;
  }

  #unanswered(code: ErrorCode, what: string): GatewayError {
    return describeUnanswered(this.provider.name, this.#exchange.wasSent, { code, what });
  }

  #error(code: ErrorCode, what: string): GatewayError {
    return new GatewayError(code, `The provider '${this.provider.name}' ${what}.`);
  }
}

/** The connection failed before an answer began. */
function describeSendFailure(name: string, wasSent: boolean, cause: unknown): GatewayError {
  const code = codeOf(cause);
  if (code === "BAD_RESPONSE") {
    const what = "answered with something that is not HTTP";
    return describeUnanswered(name, wasSent, { code: "provider_bad_response", what, cause });
  }
  const what = wasSent
    ? `closed the connection without an answer (${code || "connection lost"})`
    : `could not be reached (${code || "connection failed"})`;
  return describeUnanswered(name, wasSent, { code: "provider_unreachable", what, cause });
}

/** An answer began and did not complete. */
function describeCut(name: string, cause: unknown): GatewayError {
  if (codeOf(cause) === "BAD_RESPONSE")
    return describeUnanswered(name, true, { code: "provider_bad_response", what: "sent a broken answer", cause });
  const what = "closed the connection before its answer was complete";
  return describeUnanswered(name, true, { code: "provider_disconnected", what, cause });
}

/** Once the request was written, the provider may have executed it, and the error says so. */
function describeUnanswered(
  name: string,
  wasSent: boolean,
  { code, what, cause }: { readonly code: ErrorCode; readonly what: string; readonly cause?: unknown },
): GatewayError {
  const message = `The provider '${name}' ${what}.`;
  if (!wasSent) return new GatewayError(code, message, { cause });
  return new GatewayError(code, `${message} It may have executed the request.`, { cause, mayHaveExecuted: true });
}

function send(options: CallOptions): Exchange {
  const { provider, address, method = "POST", path, headerLines = "", body, wantsStream, http, maxIdleMs } = options;
  const { transport } = provider.row;
  if (transport !== undefined) return new TransportExchange(transport, `${address.baseUrl}${path}`, { method, body });
  const { headerLines: ticketLines } = options.ticket;
  if (options.head !== undefined)
    return http.send(address.origin, `${options.head}${ticketLines}`, body, wantsStream, maxIdleMs);
  const accept = `accept: ${wantsStream ? "text/event-stream" : "application/json"}\r\n`;
  const ownLines = headerLines.startsWith("accept:") ? headerLines : `${headerLines}${accept}`;
  const head = `${method} ${address.basePath}${path} HTTP/1.1\r\n${address.headerLines}${ownLines}${ticketLines}`;
  return http.send(address.origin, head, body, wantsStream, maxIdleMs);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}
