// One call of a provider: four clocks, abort in every window, limits, and the provider's failures turned into our errors.
// It reads bytes; what they mean is the dialect's business.

import { type ErrorCode, GatewayError } from "../errors.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import type { Deployment, Provider } from "./configure.ts";
import type { ErrorInAnswer, JsonObject } from "./dialect.ts";
import { readErrorRules } from "./error-rules.ts";
import type { Exchange, HttpClient } from "./http-client.ts";
import { TransportExchange } from "./transport-exchange.ts";

export interface Clocks {
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** The caller's side of a call, which a request is. */
export interface Connection {
  readonly signal: AbortSignal;
}

export interface CallOptions {
  readonly provider: Provider;
  readonly deployment: Deployment;
  /** POST when absent. */
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body: string;
  /** What the deployment's own headers do not say, as lines. */
  readonly headerLines?: string;
  readonly wantsStream: boolean;
  /** Its signal says when the caller has left. It is asked for only with a tick, and of calls that take their time. */
  readonly connection: Connection;
  /** Fires when the gateway goes down and can wait no longer. */
  readonly shutdownSignal: AbortSignal;
  readonly clocks: Clocks;
  /** By when the whole request has to be over, other attempts included, in the milliseconds of `performance.now()`. */
  readonly deadline: number;
  readonly ticker: Ticker;
  readonly http: HttpClient;
}

/** The caller left: there is nobody to answer. */
export class CallerLeft extends Error {
  constructor() {
    super("the caller left");
    this.name = "CallerLeft";
  }
}

const maxAnswerBytes = 64 * 1_048_576;
const maxErrorBytes = 65_536;
// Making a signal is work, and most answers of one piece are over by then.
const leastAgeMs = 50;
const never = Number.POSITIVE_INFINITY;
const decoder = new TextDecoder();

/** One call of a provider, from the first byte sent to the last byte read. */
export class ProviderCall implements Watched {
  index = -1;
  readonly provider: Provider;
  readonly startedAt = performance.now();
  readonly #options: CallOptions;
  readonly #exchange: Exchange;
  /** When the clocks run out. */
  #connectAt: number;
  #waitAt: number;
  readonly #totalAt: number;
  /** From when on it is asked whether the caller is still there. */
  readonly #askAt: number;
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
    this.#askAt = this.startedAt + leastAgeMs;
    this.#exchange = send(options);
    options.ticker.watch(this);
  }

  /** Waits for a head that says success. Any other answer is thrown as our error. */
  async open(): Promise<void> {
    try {
      await this.#exchange.open();
    } catch (error) {
      throw this.#failure ?? this.#describeSendFailure(error);
    }
    const { status } = this.#exchange;
    if (status < 200 || status > 299) throw await this.#readRefusal(status);
  }

  get connectMs(): number {
    return this.#exchange.connectMs;
  }

  get contentType(): string {
    return this.#exchange.header("content-type") ?? "";
  }

  /** The whole body of an answer that is not a stream: at once where it came together with its head, as most do. */
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

  /** The next bytes, null at the end that the provider meant, undefined when they have to be waited for. A cut is an error. */
  take(): Uint8Array | null | undefined {
    if (this.#failure !== null) throw this.#failure;
    try {
      return this.#exchange.take();
    } catch (error) {
      throw this.#failure ?? this.#describeCut(error);
    }
  }

  /** Until `take` has something. Silence counts only here, not while the caller takes its time to read. */
  async wait(): Promise<void> {
    this.#waitAt = this.#options.ticker.now + this.#waitMs;
    try {
      await this.#exchange.wait();
    } catch (error) {
      throw this.#failure ?? this.#describeCut(error);
    }
    this.#waitAt = never;
  }

  /** After the first event the idle clock runs instead of the first-byte clock. */
  beginIdleClock(): void {
    this.#waitMs = this.#options.clocks.idleTimeoutMs;
    this.#hasBegun = true;
  }

  /** The four clocks, and whether the caller is still there: asked with every tick, which costs less than to be told. */
  check(now: number): void {
    const { connection, shutdownSignal, clocks } = this.#options;
    if (now >= this.#askAt && connection.signal.aborted) this.#fail(new CallerLeft());
    else if (shutdownSignal.aborted)
      this.#fail(new GatewayError("draining", "The gateway went down before the answer was complete."));
    else if (now >= this.#totalAt)
      this.#fail(this.#unanswered("provider_timeout", `did not finish within ${clocks.totalTimeoutMs} ms`));
    else if (now >= this.#waitAt) this.#fail(this.#unanswered("provider_timeout", this.#describeSilence()));
    else if (now >= this.#connectAt) {
      this.#connectAt = never;
      if (!this.#exchange.isConnected)
        this.#fail(this.#error("provider_timeout", `did not accept a connection within ${clocks.connectTimeoutMs} ms`));
    }
  }

  /** The answer is complete: what may still come of it is let through, so that the connection can be used again. */
  finish(): void {
    this.#options.ticker.forget(this);
    this.#exchange.release();
  }

  /** Gives the call up, and closes its connection. */
  abandon(): void {
    this.#options.ticker.forget(this);
    this.#exchange.abort();
  }

  /** `pieces`: what has been taken already. */
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
      // The status alone says enough.
    }
    this.abandon();
    return toRefusal(this.provider, status, this.#exchange.header("retry-after"), text);
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

  #describeSendFailure(error: unknown): GatewayError {
    return describeSendFailure(this.provider.name, this.#exchange.wasSent, error);
  }

  #describeCut(error: unknown): GatewayError {
    return describeCut(this.provider.name, error);
  }

  #unanswered(code: ErrorCode, what: string): GatewayError {
    return describeUnanswered(this.provider.name, this.#exchange.wasSent, { code, what });
  }

  #error(code: ErrorCode, what: string): GatewayError {
    return new GatewayError(code, `The provider '${this.provider.name}' ${what}.`);
  }
}

/** No answer began: the connection failed before the request was written, or behind it. */
export function describeSendFailure(name: string, wasSent: boolean, cause: unknown): GatewayError {
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
export function describeCut(name: string, cause: unknown): GatewayError {
  if (codeOf(cause) === "BAD_RESPONSE")
    return describeUnanswered(name, true, { code: "provider_bad_response", what: "sent a broken answer", cause });
  const what = "closed the connection before its answer was complete";
  return describeUnanswered(name, true, { code: "provider_disconnected", what, cause });
}

/** A failure without a whole answer. Once the request was written, it may have been executed, and the error says so. */
export function describeUnanswered(
  name: string,
  wasSent: boolean,
  { code, what, cause }: { readonly code: ErrorCode; readonly what: string; readonly cause?: unknown },
): GatewayError {
  const message = `The provider '${name}' ${what}.`;
  if (!wasSent) return new GatewayError(code, message, { cause });
  return new GatewayError(code, `${message} It may have executed the request.`, { cause, mayHaveExecuted: true });
}

function send(options: CallOptions): Exchange {
  const { provider, deployment, method = "POST", path, headerLines = "", body, wantsStream, http } = options;
  const { transport } = provider.row;
  if (transport !== undefined)
    return new TransportExchange(transport, `${deployment.baseUrl}${path}`, { method, body });
  const accept = `accept: ${wantsStream ? "text/event-stream" : "application/json"}\r\n`;
  const ownLines = headerLines.startsWith("accept:") ? headerLines : `${headerLines}${accept}`;
  const head = `${method} ${deployment.basePath}${path} HTTP/1.1\r\n${deployment.headerLines}${ownLines}`;
  return http.send(deployment.origin, head, body, wantsStream);
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}

/** A provider's refusal as ours: gaps between its statuses and ours are closed here, and only here. */
export function toRefusal(
  provider: Provider,
  plainStatus: number,
  retryAfterHeader: string | null,
  body: string,
): GatewayError {
  return toRefusalOf(provider, readRefusal(provider, plainStatus, retryAfterHeader, body), body);
}

/** The row of the provider, or its dialect, may know better than the status what a refusal means. */
function readRefusal(provider: Provider, status: number, retryAfterHeader: string | null, body: string): Refused {
  const read = provider.dialect?.chat?.readRefusal;
  const value = read === undefined ? null : parseObject(body);
  const known = read === undefined || value === null ? {} : read(status, value);
  const declared = readErrorRules(provider.row.errors, status, body);
  return {
    status: declared ?? known.status ?? status,
    retryAfter: readRetryAfter(retryAfterHeader) ?? known.retryAfterSeconds ?? null,
  };
}

interface Refused {
  readonly status: number;
  readonly retryAfter: number | null;
}

/** An error of ours for the status that a refusal really means. `body` is the vendor's text. */
export function toRefusalOf(provider: Provider, { status, retryAfter }: Refused, body: string): GatewayError {
  const name = `The provider '${provider.name}'`;
  const said = () => {
    const message = scrub(provider, readErrorMessage(body));
    return message === "" ? "." : `: ${message}`;
  };
  if (status === 401 || status === 403 || status === 402)
    return new GatewayError("provider_auth_failed", `${name} refused the gateway's credentials (status ${status}).`);
  if (status === 404)
    return new GatewayError("model_not_found", `${name} does not know this model${said()}`, { param: "model" });
  if (status === 408) return new GatewayError("provider_timeout", `${name} took too long (status 408).`);
  if (status === 429)
    return new GatewayError("provider_rate_limited", `${name} limits the rate of requests${said()}`, {
      retryAfter: retryAfter ?? 1,
    });
  if (status >= 400 && status < 500 && status !== 409)
    return new GatewayError("provider_rejected_request", `${name} rejected the request${said()}`);
  if (status >= 500 || status === 409)
    return new GatewayError("provider_error", `${name} failed with status ${status}${said()}`, {
      ...(retryAfter === null ? {} : { retryAfter }),
    });
  return new GatewayError("provider_bad_response", `${name} answered with status ${status}.`);
}

/** The sentence in an error body, in any of the shapes that vendors use. */
export function readErrorMessage(body: string): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // An HTML page of some proxy says nothing to a caller.
    return body.trimStart().startsWith("<") ? "" : body.trim();
  }
  return findMessage(value) ?? "";
}

// Vendors nest the sentence four levels deep at most; the vendor decides how deep an answer is.
const deepestMessage = 16;

function findMessage(value: unknown, depth = 0): string | null {
  if (typeof value === "string") return value;
  if (depth > deepestMessage) return null;
  if (Array.isArray(value)) return value.length > 0 ? findMessage(value[0], depth + 1) : null;
  if (typeof value !== "object" || value === null) return null;
  const members = value as Record<string, unknown>;
  for (const name of ["error", "message", "msg", "detail", "errors", "title"]) {
    const found = members[name] === undefined ? null : findMessage(members[name], depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Some vendors answer errors as a list with one object. */
function parseObject(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body);
    const found: unknown = Array.isArray(value) ? value[0] : value;
    return typeof found === "object" && found !== null ? (found as JsonObject) : null;
  } catch {
    return null;
  }
}

/** A failure that a dialect found inside an answer. */
export function toFailureInAnswer(provider: Provider, failure: ErrorInAnswer): GatewayError {
  if (failure.status === null) return toErrorInAnswer(provider, failure.message);
  return toRefusalOf(provider, { status: failure.status, retryAfter: null }, JSON.stringify(failure.message));
}

/** Some providers fail with status 200 and an error object. */
export function toErrorInAnswer(provider: Provider, error: unknown): GatewayError {
  const message = scrub(provider, findMessage(error) ?? "");
  return new GatewayError("provider_error", `The provider '${provider.name}' failed${message ? `: ${message}` : "."}`);
}

const longestMessage = 1_000;
const likelySecret = /\b(?:sk|pk|key|gsk|xai|nvapi|hf|csk|Bearer)[-_ ][A-Za-z0-9_*.-]{6,}/g;

/** Some vendors quote the key that they refuse. */
function scrub(provider: Provider, message: string): string {
  let clean = message;
  for (const secret of provider.secrets) if (secret.length > 3) clean = clean.replaceAll(secret, "[hidden]");
  return clean.replace(likelySecret, "[hidden]").slice(0, longestMessage);
}

export function readRetryAfter(header: string | null): number | null {
  if (header === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds), 86_400) : null;
}
