// One request and its answer: who sent it, the headers that every answer has, and what is logged and counted when it has ended.

import type { Caller } from "../access/caller.ts";
import type { Limits } from "../access/limits.ts";
import { type Refusal, toOutcome, toRefusal } from "../inference/report.ts";
import { Trace } from "../inference/trace.ts";
import type { AddressRanges } from "../lib/addresses.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { CallerLeft } from "../providers/call.ts";
import { logAnswer, logRefusal, type RequestRecord } from "./access-log.ts";
import type { Admission } from "./admission.ts";
import type { Capture } from "./capture.ts";
import type { Cors } from "./cors.ts";
import { afterEnd } from "./counted-stream.ts";
import type { Drain } from "./drain.ts";
import { toErrorReply, toOverloadedText } from "./error-reply.ts";
import { findClient } from "./forwarded.ts";
import { isStream, type Reply } from "./reply.ts";
import { hasLongBody, wantsMetadata } from "./request-head.ts";
import { endRequestSpan } from "./request-span.ts";
import type { ServedRoute } from "./route.ts";
import { toResponse } from "./to-response.ts";

/** What the requests of a listener share. */
export interface ExchangeContext {
  readonly limits: Limits;
  readonly admission: Admission;
  readonly drain: Drain;
  readonly trustedProxies: AddressRanges;
  readonly cors: Cors | null;
  readonly onRefused: ((refusal: Refusal) => void) | undefined;
  readonly metrics: Pick<Metrics, "request"> | undefined;
  /** Null: the content of requests is not captured. */
  readonly capture: Capture | null;
  readonly log: Log;
}

const refusalHeaders = new Headers({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});
const validRequestId = /^[A-Za-z0-9._-]{1,128}$/;

export class Exchange {
  readonly request: Request;
  readonly requestId: string;
  readonly trace: Trace;
  /** The address of the other end of the connection. */
  readonly peer: string;
  /** The address of the client, which may be behind a proxy. */
  readonly client: string;
  caller: Caller | null = null;
  isPrivate = true;
  isProbe = false;
  isForOperators = false;
  /** The JSON that was sent, where it is captured. */
  bodyText: string | null = null;
  errorFormat: ServedRoute["errorFormat"] = undefined;
  #errorCode: string | null = null;
  #failure: unknown = null;
  readonly #context: ExchangeContext;

  constructor(context: ExchangeContext, request: Request, peer: string) {
    const startedAt = performance.now();
    this.#context = context;
    this.request = request;
    this.requestId = chooseRequestId(request.headers);
    this.trace = new Trace(startedAt, context.admission.waitedMs(startedAt));
    this.trace.hasRequestLine = true;
    this.peer = peer;
    this.client = findClient(peer, request.headers, context.trustedProxies);
  }

  /** The connection has become a WebSocket. */
  switchProtocols(): void {
    logAnswer(this.#context.log, this.#toRecord(101), false);
  }

  /** The answer to an error. */
  fail(error: unknown, isBodyLong: boolean): Reply {
    const { request, requestId, trace, errorFormat } = this;
    const { log, onRefused } = this.#context;
    this.#errorCode = toOutcome(error);
    this.#failure = error;
    const metadata = wantsMetadata(request.headers) ? trace.toMetadata(requestId) : null;
    const answered = toErrorReply(error, { requestId, log, format: errorFormat ?? "usual", metadata });
    if (this.isPrivate && trace.path !== "" && trace.calls === 0 && !(error instanceof CallerLeft))
      onRefused?.(toRefusal(error, this));
    // Without this header, Bun would read the rest of the body only to discard it.
    return isBodyLong ? { ...answered, headers: { ...answered.headers, connection: "close" } } : answered;
  }

  /** The answer to one of many refused requests: it has to cost as little as possible. */
  refuseAtOnce(): Response {
    const { request, requestId, trace, errorFormat, caller } = this;
    const { admission, limits, drain, onRefused } = this.#context;
    const body = toOverloadedText(errorFormat ?? "usual", requestId);
    const response = new Response(body, { status: 503, headers: refusalHeaders });
    response.headers.set("x-request-id", requestId);
    response.headers.set("retry-after", String(admission.chooseRetryAfter()));
    response.headers.set("server-timing", `queue;dur=${Math.round(trace.queueMs)}`);
    if (errorFormat === "messages") response.headers.set("request-id", requestId);
    if (caller !== null && caller.rules.length > 0) {
      const limitHeaders: Record<string, string> = {};
      limits.addHeaders(limitHeaders, caller, trace);
      for (const [name, value] of Object.entries(limitHeaders)) response.headers.set(name, value);
    }
    this.#addCors(response);
    if (drain.isDraining || hasLongBody(request)) response.headers.set("connection", "close");
    this.#errorCode = "overloaded";
    this.#count(503);
    const outcome = "overloaded";
    const refused = { requestId, caller, endpoint: trace.path, status: 503, outcome, reason: "", target: null };
    onRefused?.({ ...refused, durationMs: performance.now() - trace.startedAt });
    return response;
  }

  /** Builds the headers of a plain answer in one step: merging two sets costs more. */
  finishJson(text: string): Response {
    this.#end(200);
    const headers = this.#toHeaders("application/json");
    this.#context.capture?.record(this, { status: 200, headers, body: text });
    return this.#addCors(new Response(text, { headers }));
  }

  finish(made: Reply): Response {
    const complete = { ...made, headers: { ...made.headers, ...this.#toHeaders() } };
    const { capture } = this.#context;
    if (!isStream(made.body)) {
      this.#end(made.status);
      capture?.record(this, complete);
      return this.#addCors(toResponse(complete, ignore));
    }
    const onError = (error: unknown) =>
      this.#context.log.error("a stream broke off", { request_id: this.requestId, error });
    const { method, signal } = this.request;
    if (method !== "HEAD" && !signal.aborted) {
      const onEnd = this.#context.drain.noteStream(signal);
      // Bun neither reads nor cancels a stream that it has not begun to send when the client leaves.
      if (this.trace.hasDownloads) signal.addEventListener("abort", () => this.trace.end(), { once: true });
      const sent = capture === null ? made.body : capture.watch(this, complete, made.body);
      const body = afterEnd(sent, () => {
        this.#end(made.status);
        onEnd();
      });
      return this.#addCors(toResponse({ ...complete, body }, onError));
    }
    // Not left to Bun: it need not read or cancel the stream of a client that has left.
    try {
      made.body.abandon();
    } catch (error) {
      onError(error);
    }
    this.#end(made.status);
    capture?.record(this, complete);
    return this.#addCors(toResponse({ ...complete, body: null }, ignore));
  }

  #addCors(response: Response): Response {
    this.#context.cors?.addHeaders(response.headers, this.request.headers.get("origin"), this.isForOperators);
    return response;
  }

  /** The headers of every answer. */
  #toHeaders(contentType?: string): Record<string, string> {
    const { trace, requestId, caller } = this;
    const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
    headers["x-request-id"] = requestId;
    headers["x-content-type-options"] = "nosniff";
    headers["server-timing"] = trace.toServerTiming(performance.now());
    // Clients of the Messages format look for the id here.
    if (this.errorFormat === "messages") headers["request-id"] = requestId;
    const sent = trace.countSent();
    if (sent > 0) headers["x-switchyard-attempts"] = String(sent);
    if (trace.dropped.length > 0) headers["x-switchyard-dropped-params"] = toHeaderList(trace.dropped);
    if (this.isPrivate) headers["cache-control"] = "no-store";
    if (caller !== null) this.#context.limits.addHeaders(headers, caller, trace);
    if (this.#context.drain.isDraining) headers["connection"] = "close";
    return headers;
  }

  /** Called once, when the answer is complete. */
  #end(status: number): void {
    this.trace.end();
    this.#count(status);
    const { log } = this.#context;
    if (this.#errorCode === null) logAnswer(log, this.#toRecord(status), this.isProbe);
    else logRefusal(log, this.#toRecord(status), this.#failure);
  }

  /** The path of a request without a route is not a label: callers choose it. */
  #count(status: number): void {
    const { trace, caller } = this;
    const errorCode = this.#errorCode;
    this.#context.metrics?.request(trace.path || "unknown", status, errorCode, performance.now() - trace.startedAt);
    if (trace.span !== null) endRequestSpan(trace.span, { status, errorCode, caller, trace });
  }

  #toRecord(status: number): RequestRecord {
    const { requestId, caller, client, trace } = this;
    const { method, url } = this.request;
    return { requestId, method, url, keyId: caller?.keyId ?? null, client, status, trace };
  }
}

function chooseRequestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  // Ids that begin with the time are close together in the index of the ledger.
  return given !== null && validRequestId.test(given) ? given : Bun.randomUUIDv7();
}

/** The caller chose these names; a name that a header cannot hold is left out. */
function toHeaderList(names: readonly string[]): string {
  return names
    .filter((name) => /^[\w.$-]{1,64}$/.test(name))
    .slice(0, 50)
    .join(", ");
}

function ignore(): void {}
