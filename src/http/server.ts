// The HTTP server: takes every request, checks it in a fixed order (head, path, method, key, load, limits, body, then the schemas and the
// scope of its route), and runs the route. Whatever is thrown becomes an answer in error-reply.ts.

import { rmSync } from "node:fs";
import type { Caller } from "../access/caller.ts";
import type { Limits, RunningRequest } from "../access/limits.ts";
import { LongBodies, longBodyBytes } from "../access/long-bodies.ts";
import type { Sessions } from "../access/sessions.ts";
import { includesRole } from "../contract/roles.ts";
import { GatewayError } from "../errors.ts";
import { type Refusal, toOutcome, toRefusal } from "../inference/report.ts";
import { Trace } from "../inference/trace.ts";
import { type AddressRanges, createAddressRanges } from "../lib/addresses.ts";
import { once } from "../lib/once.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { CallerLeft } from "../providers/call.ts";
import type { Tracing } from "../tracing/span.ts";
import { logAnswer, logRefusal, type RequestRecord } from "./access-log.ts";
import type { Admission, KeyLoad, StreamLoad } from "./admission.ts";
import type { Authenticator } from "./authenticate.ts";
import { checkCall } from "./check-call.ts";
import type { Cors } from "./cors.ts";
import { lastResortReply, overloaded, toErrorReply, toOverloadedText } from "./error-reply.ts";
import { findClient, originOf } from "./forwarded.ts";
import { clientAddressHeader, type ListenerHandover } from "./handover.ts";
import type { HostCheck } from "./host-check.ts";
import { KeylessBudget } from "./keyless-budget.ts";
import { type BodyLimits, type JsonBody, readJsonBody } from "./read-body.ts";
import { type BodyStream, type BodyWriter, isStream, type Reply, reply } from "./reply.ts";
import { checkHead, hasLongBody, pathOf, wantsMetadata } from "./request-head.ts";
import { endRequestSpan, startRequestSpan } from "./request-span.ts";
import type { ServedRoute } from "./route.ts";
import { type AllowedMethods, createRouter, type Match, spellingsOf } from "./router.ts";
import { checkForgery, endedSessionCookie, isUseOfSession, readSessionCookie } from "./session-cookie.ts";
import { OpenSockets, SocketConnection, type SocketRoute } from "./socket.ts";
import { toResponse } from "./to-response.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly ServedRoute[];
  readonly sockets?: readonly SocketRoute[];
  readonly authenticator: Authenticator;
  /** Management routes accept the cookie of a session instead of a key; absent: they need a key. */
  readonly sessions?: Pick<Sessions, "authenticate">;
  readonly limits: Limits;
  readonly bodyLimits: BodyLimits;
  readonly socketLimits?: SocketLimits;
  /** Scheme, host and port at which callers reach the gateway; null: as in the request. */
  readonly publicUrl?: string | null;
  /** `X-Forwarded-*` of these addresses counts. */
  readonly trustedProxies?: AddressRanges;
  /** Null: browsers may not call the server from pages of other origins. */
  readonly cors?: Cors | null;
  /** Called for routes of operators. Null: every host is allowed. */
  readonly checkHost?: HostCheck | null;
  /** Certificate and private key in PEM form; null: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  readonly timeouts?: Partial<ConnectionTimeouts>;
  readonly ticker: Ticker;
  readonly admission: Admission;
  /** Receives the requests that were refused before a provider was called. */
  readonly onRefused?: (refusal: Refusal) => void;
  /** Absent: requests are not counted. */
  readonly metrics?: Pick<Metrics, "request">;
  /** Absent: the process serves one configuration for as long as it lives. */
  readonly handover?: ListenerHandover | undefined;
  /** Absent or null: traces are not exported. */
  readonly tracing?: Tracing | null;
  readonly log: Log;
}

/** Their product bounds the memory of unfinished messages of one key. */
interface SocketLimits {
  readonly maxWebSocketsPerKey: number;
  readonly maxWebSocketMessageBytes: number;
}

/** In seconds, at most 255; Bun checks them every four seconds. */
export interface ConnectionTimeouts {
  /** Between the requests of a connection, and until a request without a body is answered. Bun itself bounds the time for a head. */
  readonly idle: number;
  /** For a client that does not read its stream. A stream that is read writes at least its heartbeats. */
  readonly stalledReader: number;
}

export interface Server {
  readonly port: number;
  /** From now on every answer closes its connection, so that clients reconnect to another process without losing a request. */
  beginDrain(): void;
  /**
   * Resolves when no stream is open that began before the drain, and none has ended for `lingerMs`. The answers of such streams did not
   * announce that their connection closes, so a proxy may send another request on it.
   */
  untilAnnounced(lingerMs: number): Promise<void>;
  /** Accepts no new connections; resolves when the running requests have completed. */
  stop(): Promise<void>;
  /** Ends the requests that are still running. */
  stopNow(): void;
}

type BunServer = Bun.Server<SocketConnection>;

/** The other end of the connection, and the client, which may be behind a proxy. */
interface Addresses {
  readonly peer: string;
  readonly client: string;
}

type Listening =
  | { hostname: string; port: number; reusePort: true; idleTimeout: number; tls?: Bun.TLSOptions }
  | { unix: string };

// The process that passes requests on has timeouts. Bun applies the option to Unix sockets as well, which its types do not know.
const noTimeout = { idleTimeout: 0 } as object;

const noSocketLimits: SocketLimits = {
  maxWebSocketsPerKey: Number.POSITIVE_INFINITY,
  maxWebSocketMessageBytes: Number.POSITIVE_INFINITY,
};
const defaultTimeouts: ConnectionTimeouts = { idle: 120, stalledReader: 240 };
// The routes check their own limits, and answer in both error forms; Bun's limit must not refuse a body before that.
const serverMaxBodyBytes = 2 ** 31 - 1;
const lingerStepMs = 20;
const refusalHeaders = new Headers({
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});
const noAddresses = createAddressRanges([]);
const validRequestId = /^[A-Za-z0-9._-]{1,128}$/;

export function startServer(options: ServerOptions): Server {
  const { log, ticker, bodyLimits, admission, handover, cors = null, checkHost = null, tls = null } = options;
  const { tracing = null, trustedProxies = noAddresses } = options;
  const router = createRouter(options.routes);
  const sockets = new Map((options.sockets ?? []).flatMap((route) => spellingsOf(route).map((path) => [path, route])));
  const { maxWebSocketsPerKey, maxWebSocketMessageBytes } = options.socketLimits ?? noSocketLimits;
  const keyless = new KeylessBudget();
  const longBodies = new LongBodies();
  const openSockets = new OpenSockets(maxWebSocketsPerKey);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  let draining = false;
  const unannounced = { open: 0, lastEndedAt: Number.NEGATIVE_INFINITY };

  /** `path`: the path of the route table that Bun found; null for an unknown path. */
  async function answer(request: Request, server: BunServer, path: string | null): Promise<Response | undefined> {
    const { headers } = request;
    const requestId = chooseRequestId(headers);
    const startedAt = performance.now();
    const trace = new Trace(startedAt, admission.waitedMs(startedAt));
    trace.hasRequestLine = true;
    const peer = findAddress(request, server);
    const client = findClient(peer, headers, trustedProxies);
    let answered: Reply;
    let isPrivate = true;
    let isProbe = false;
    let isForOperators = false;
    let errorFormat: ServedRoute["errorFormat"];
    let caller: Caller | null = null;
    let running: RunningRequest | null = null;
    let keyLoad: KeyLoad | null = null;
    let bodyBytes = 0;
    let errorCode: string | null = null;
    let failure: unknown;
    try {
      checkHead(request);
      if (handover !== undefined && !handover.isActive) await handover.settle();
      if (request.method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket") {
        const socketRoute = sockets.get(path ?? "");
        if (socketRoute !== undefined) {
          trace.path = socketRoute.path;
          await upgrade(request, server, { route: socketRoute, requestId, client });
          logAnswer(log, toRecord(101), false);
          return undefined;
        }
      }
      const found = findRoute(request, path);
      // Connections to this process that clients keep open outlive its configuration.
      if (handover !== undefined && !handover.isActive) return await handover.pass(request, peer);
      isForOperators = found.isForOperators;
      if (isForOperators) checkHost?.(request, peer);
      if ("allow" in found) {
        isPrivate = false;
        await keyless.spend();
        const { allow } = found;
        const answered = finish(reply(null, { status: 204, headers: { allow } }), false);
        cors?.addPreflightHeaders(answered.headers, request, allow);
        return answered;
      }
      const { route, params } = found;
      trace.path = found.path;
      if (tracing !== null && route.isProbe !== true)
        trace.span = startRequestSpan(tracing, request, { requestId, route: found.path, startedAt });
      isPrivate = route.key !== "none";
      isProbe = route.isProbe === true;
      errorFormat = route.errorFormat;
      const admitted = isPrivate ? admit(request, route, { peer, client }) : null;
      // Skip the await when the caller is known: it would cost an event-loop turn.
      caller = admitted instanceof Promise ? await admitted : admitted;
      if (caller !== null) {
        // Management must be possible under overload.
        if (caller.kind !== "management") {
          keyLoad = admission.begin(caller.keyId, startedAt);
          if (keyLoad === null) {
            if (admission.noteRefusal() || wantsMetadata(headers)) throw overloaded(admission.chooseRetryAfter());
            return refuseAtOnce();
          }
        }
        const begun = options.limits.begin(caller);
        running = begun instanceof Promise ? await begun : begun;
      } else await (isProbe ? keyless.spendInTurn() : keyless.spend());
      trace.authorizedAt = performance.now();
      // From here on, the timeouts of the body and of the call apply.
      if (route.body !== undefined) server.timeout(request, 0);
      const readsBody = isJson(route.body) && (route.body.kind === "json" || request.body !== null);
      const turn = readsBody && caller !== null ? waitForTurn(request, caller) : undefined;
      if (turn !== undefined) await turn;
      let json = readsBody ? await readJsonBody(request, bodyLimits, ticker) : null;
      if (json !== null && caller !== null && json.text.length >= longBodyBytes && !headers.has("content-length"))
        longBodies.charge(caller.keyId, json.text.length, performance.now());
      bodyBytes = json?.text.length ?? 0;
      // Before a provider is paid for a stream that would be refused.
      if (json !== null && asksForStream(json.value)) running?.beginStream();
      trace.readAt = performance.now();
      const prepared = json !== null && caller !== null ? prepareBody(route.body, json, caller) : undefined;
      if (prepared !== undefined) json = await prepared;
      const findBaseUrl = (request: Request) => baseUrlOf(request, peer);
      const call = checkCall(route, { request, requestId, trace, caller, params, json, address: client, findBaseUrl });
      const result = await route.run(call);
      const answeredLoad = keyLoad;
      if (keyLoad !== null) admission.answered(keyLoad, bodyBytes, typeof result !== "string" && isStream(result.body));
      keyLoad = null;
      if (route.body !== undefined) server.timeout(request, timeouts.idle);
      // Build the headers of a plain answer in one step: merging two sets costs more.
      if (typeof result === "string") {
        running?.end();
        end(200);
        return withCors(new Response(result, { headers: common(isPrivate, "application/json") }));
      }
      answered = running === null ? result : countAsRunning(result, running, answeredLoad, request);
      if (isStream(answered.body)) {
        server.timeout(request, timeouts.stalledReader);
        // Bun neither reads nor cancels the stream of a client that has left.
        if (request.signal.aborted) answered.body.abandon();
      }
    } catch (error) {
      running?.end();
      if (keyLoad !== null) admission.answered(keyLoad, bodyBytes, false);
      errorCode = toOutcome(error);
      failure = error;
      const isBodyLong = hasLongBody(request);
      if (isPrivate && caller === null) await keyless.spend(isBodyLong);
      server.timeout(request, timeouts.idle);
      const metadata = wantsMetadata(headers) ? trace.toMetadata(requestId) : null;
      answered = toErrorReply(error, { requestId, log, format: errorFormat ?? "usual", metadata });
      if (isPrivate && trace.path !== "" && trace.calls === 0 && !(error instanceof CallerLeft))
        options.onRefused?.(toRefusal(error, { requestId, caller, trace }));
      // Without this header, Bun would read the rest of the body only to discard it.
      if (isBodyLong) answered = { ...answered, headers: { ...answered.headers, connection: "close" } };
    }
    return finish(answered, isPrivate);

    function toRecord(status: number): RequestRecord {
      const { method, url } = request;
      return { requestId, method, url, keyId: caller?.keyId ?? null, client, status, trace };
    }

    /** Called once, when the answer is complete. */
    function end(status: number): void {
      countRequest(status);
      if (errorCode === null) logAnswer(log, toRecord(status), isProbe);
      else logRefusal(log, toRecord(status), failure);
    }

    /** The path of a request without a route is not a label: callers choose it. */
    function countRequest(status: number): void {
      options.metrics?.request(trace.path || "unknown", status, errorCode, performance.now() - startedAt);
      if (trace.span !== null) endRequestSpan(trace.span, { status, errorCode, caller, trace });
    }

    /** The answer to one of many refused requests: it has to cost as little as possible. */
    function refuseAtOnce(): Response {
      const body = toOverloadedText(errorFormat ?? "usual", requestId);
      const response = new Response(body, { status: 503, headers: refusalHeaders });
      response.headers.set("x-request-id", requestId);
      response.headers.set("retry-after", String(admission.chooseRetryAfter()));
      response.headers.set("server-timing", `queue;dur=${Math.round(trace.queueMs)}`);
      if (errorFormat === "messages") response.headers.set("request-id", requestId);
      if (caller !== null && caller.rules.length > 0) {
        const limitHeaders: Record<string, string> = {};
        options.limits.addHeaders(limitHeaders, caller, trace);
        for (const [name, value] of Object.entries(limitHeaders)) response.headers.set(name, value);
      }
      cors?.addHeaders(response.headers, headers.get("origin"), isForOperators);
      if (draining || hasLongBody(request)) response.headers.set("connection", "close");
      errorCode = "overloaded";
      countRequest(503);
      const outcome = "overloaded";
      const refused = { requestId, caller, endpoint: trace.path, status: 503, outcome, reason: "", target: null };
      options.onRefused?.({ ...refused, durationMs: performance.now() - startedAt });
      return response;
    }

    function finish(made: Reply, mustNotBeStored: boolean): Response {
      const complete = { ...made, headers: { ...made.headers, ...common(mustNotBeStored) } };
      if (!isStream(made.body)) {
        end(made.status);
        return withCors(toResponse(complete, ignore));
      }
      if (request.method !== "HEAD") {
        const onEnd = draining ? () => {} : noteUnannounced(request.signal);
        const body = afterEnd(made.body, () => {
          end(made.status);
          onEnd();
        });
        const onError = (error: unknown) => log.error("a stream broke off", { request_id: requestId, error });
        return withCors(toResponse({ ...complete, body }, onError));
      }
      made.body.abandon();
      end(made.status);
      return withCors(toResponse({ ...complete, body: null }, ignore));
    }

    function withCors(response: Response): Response {
      cors?.addHeaders(response.headers, headers.get("origin"), isForOperators);
      return response;
    }

    /** The headers of every answer. */
    function common(mustNotBeStored: boolean, contentType?: string): Record<string, string> {
      const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
      headers["x-request-id"] = requestId;
      headers["x-content-type-options"] = "nosniff";
      headers["server-timing"] = trace.toServerTiming(performance.now());
      // Clients of the Messages format look for the id here.
      if (errorFormat === "messages") headers["request-id"] = requestId;
      const { length } = trace.attempts;
      if (length > 0) headers["x-switchyard-attempts"] = String(length);
      if (trace.dropped.length > 0) headers["x-switchyard-dropped-params"] = toHeaderList(trace.dropped);
      if (mustNotBeStored) headers["cache-control"] = "no-store";
      if (caller !== null) options.limits.addHeaders(headers, caller, trace);
      if (draining) headers["connection"] = "close";
      return headers;
    }
  }

  /** Counts a stream whose headers did not announce the end of its connection. Call the result when the stream has ended. */
  function noteUnannounced(signal: AbortSignal): () => void {
    unannounced.open += 1;
    const onEnd = once(() => {
      unannounced.open -= 1;
      unannounced.lastEndedAt = performance.now();
    });
    // Bun neither reads nor cancels a stream that it has not begun to send when the client leaves.
    signal.addEventListener("abort", onEnd, { once: true });
    return onEnd;
  }

  /** Undefined for a short body, and for the only key in use: an await would cost an event-loop turn. */
  function waitForTurn(request: Request, { keyId }: Caller): Promise<void> | undefined {
    const now = performance.now();
    longBodies.note(keyId, now);
    const declared = request.headers.get("content-length");
    const waitMs = longBodies.reserve(keyId, declared === null ? longBodyBytes : Number(declared), now);
    return waitMs === 0 ? undefined : Bun.sleep(waitMs);
  }

  /**
   * Bun compares the request target as it was sent with the table, but `request.url` has been normalised. Where the two lead to different
   * routes (`/x/../v3/manage/keys`, backslashes), a proxy in front may have checked another path than the one that would be served.
   */
  function findRoute(request: Request, path: string | null): Match | AllowedMethods {
    if (path !== null && !path.includes("{")) return router.find(request.method, path);
    const found = router.find(request.method, pathOf(request.url));
    if (path === null || ("route" in found && found.path !== path))
      throw new GatewayError("malformed_request", "Send the path without dot segments and backslashes.");
    return found;
  }

  /** The address of the other end of the connection. */
  function findAddress(request: Request, server: BunServer): string {
    if (server === passedServer) return request.headers.get(clientAddressHeader) ?? "";
    return server.requestIP(request)?.address ?? "";
  }

  async function upgrade(
    request: Request,
    server: BunServer,
    { route, requestId, client }: { route: SocketRoute; requestId: string; client: string },
  ): Promise<undefined> {
    const authorization = request.headers.get("authorization");
    // Repeated for every message, because a key may be revoked while its connection is open. Limits count messages, not connections.
    const identify = async () => {
      const caller = await options.authenticator.authenticate(authorization, () => client);
      checkCaller(caller, "inference");
      const load = admission.begin(caller.keyId, performance.now());
      if (load === null) {
        admission.noteRefusal();
        throw overloaded(admission.chooseRetryAfter());
      }
      admission.answered(load, 0, false);
      return caller;
    };
    const caller = await identify();
    if (draining || handover?.isActive === false)
      throw new GatewayError("draining", "The gateway is shutting down; connect again.");
    const data = new SocketConnection(route, requestId, caller, identify);
    openSockets.add(data);
    if (server.upgrade(request, { data, headers: { "x-request-id": requestId } })) return;
    openSockets.remove(data);
    throw new GatewayError("malformed_request", "The request to open a WebSocket is not valid.", {
      headers: { "sec-websocket-version": "13" },
    });
  }

  function admit(request: Request, route: ServedRoute, { peer, client }: Addresses): Caller | Promise<Caller> {
    const { headers } = request;
    const authorization =
      headers.get("authorization") ?? (route.errorFormat === "messages" ? keyHeader(headers) : null);
    if (authorization === null && route.key === "management") {
      const token = readSessionCookie(headers);
      if (token !== null) return admitSession(request, token, peer).then((caller) => checkRole(caller, route));
    }
    const found = options.authenticator.authenticate(authorization, () => client);
    return found instanceof Promise
      ? found.then((caller) => checkRole(checkCaller(caller, route.key), route))
      : checkRole(checkCaller(found, route.key), route);
  }

  async function admitSession(request: Request, token: string, peer: string): Promise<Caller> {
    if (options.sessions === undefined) throw new GatewayError("session_ended", "Sessions are not accepted here.");
    checkForgery(request, token, () => baseUrlOf(request, peer));
    try {
      return await options.sessions.authenticate(token, isUseOfSession(request.headers));
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== "session_ended") throw error;
      // The browser need not send it again.
      throw new GatewayError(error.code, error.message, { headers: { "set-cookie": endedSessionCookie } });
    }
  }

  function checkCaller(caller: Caller, key: ServedRoute["key"]): Caller {
    if ((caller.kind === "management") !== (key === "management"))
      throw new GatewayError("insufficient_scope", `This route needs a key of kind ${key}.`);
    return caller;
  }

  function checkRole(caller: Caller, { key, role = "administrator", reach = "gateway" }: ServedRoute): Caller {
    if (key !== "management") return caller;
    if (!includesRole(caller.role, role))
      throw new GatewayError("insufficient_role", `This needs the role ${role}, and you have the role ${caller.role}.`);
    if (caller.team !== null && reach === "gateway")
      throw new GatewayError("insufficient_role", "This needs a role that is not limited to a team.");
    return caller;
  }

  /** A request with a whole answer has ended; one with a streamed answer ends when the stream does. */
  function countAsRunning(answered: Reply, running: RunningRequest, load: KeyLoad | null, request: Request): Reply {
    const { body } = answered;
    if (!isStream(body)) {
      running.end();
      return answered;
    }
    try {
      running.beginStream();
    } catch (error) {
      body.abandon();
      throw error;
    }
    const streamLoad = load === null ? null : admission.beginStream(load);
    const end = () => {
      running.end();
      streamLoad?.end();
    };
    // Bun neither reads nor cancels a stream that it has not begun to send when the client leaves.
    request.signal.addEventListener("abort", end, { once: true });
    const counted: BodyStream = {
      writeTo: (writer) =>
        body.writeTo(streamLoad === null ? writer : new CountingWriter(writer, streamLoad)).finally(end),
      abandon() {
        end();
        body.abandon();
      },
    };
    return { ...answered, body: counted };
  }

  function baseUrlOf(request: Request, peer: string): string {
    const { publicUrl } = options;
    if (publicUrl !== undefined && publicUrl !== null) return publicUrl;
    return originOf(request, tls === null ? "http" : "https", !trustedProxies.isEmpty && trustedProxies.has(peer));
  }

  const listen = (where: Listening) =>
    Bun.serve<SocketConnection>({
      ...where,
      // Otherwise Bun prints errors of streams to stderr, among the lines of the log.
      development: false,
      maxRequestBodySize: serverMaxBodyBytes,
      routes: Object.fromEntries(
        router.paths.map((path) => [
          toBunPath(path),
          (request: Request, server: BunServer) => answer(request, server, path),
        ]),
      ),
      fetch: (request, server) => answer(request, server, null),
      // An answer that could not be built, such as one with a line break in a header.
      error: (error) => toResponse(lastResortReply(error, crypto.randomUUID(), log), ignore),
      websocket: {
        maxPayloadLength: Math.min(bodyLimits.maxBodyBytes, maxWebSocketMessageBytes),
        idleTimeout: defaultTimeouts.idle,
        sendPings: true,
        // A client that sends and does not read is disconnected before it fills the memory.
        backpressureLimit: 16_777_216,
        closeOnBackpressureLimit: true,
        open: (socket) => socket.data.opened(socket),
        message: (socket, message) => socket.data.received(message),
        drain: (socket) => socket.data.wasDrained(),
        close(socket) {
          openSockets.remove(socket.data);
          socket.data.closed();
        },
      },
    });
  // Before other processes can be told to send requests to it.
  // A process that was killed leaves its socket behind, and its successor listens at the same path.
  if (handover !== undefined) rmSync(handover.socketPath, { force: true });
  const passedServer = handover === undefined ? null : listen({ unix: handover.socketPath, ...noTimeout });
  const server = listen({
    ...{ hostname: options.host, port: options.port, reusePort: true, idleTimeout: timeouts.idle },
    ...(tls !== null && { tls: { cert: tls.cert, key: tls.key } }),
  });
  return {
    port: server.port ?? options.port,
    beginDrain() {
      draining = true;
      openSockets.beginDrain();
    },
    async untilAnnounced(lingerMs) {
      while (unannounced.open > 0 || performance.now() - unannounced.lastEndedAt < lingerMs)
        await Bun.sleep(lingerStepMs);
    },
    async stop() {
      await Promise.all([server.stop(), passedServer?.stop()]);
    },
    stopNow() {
      void server.stop(true);
      void passedServer?.stop(true);
    },
  };
}

function isJson(
  body: ServedRoute["body"],
): body is Exclude<ServedRoute["body"], undefined | { readonly kind: "form" }> {
  return body !== undefined && body.kind !== "form";
}

function prepareBody(body: ServedRoute["body"], json: JsonBody, caller: Caller): Promise<JsonBody> | undefined {
  return body !== undefined && "prepare" in body ? body.prepare?.(json, caller) : undefined;
}

function asksForStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && "stream" in body && body.stream === true;
}

class CountingWriter implements BodyWriter {
  readonly #writer: BodyWriter;
  readonly #load: StreamLoad;

  constructor(writer: BodyWriter, load: StreamLoad) {
    this.#writer = writer;
    this.#load = load;
  }

  get isStalled(): boolean {
    return this.#writer.isStalled;
  }

  write(pieces: readonly Uint8Array[]): Promise<void> | undefined {
    this.#load.count(pieces.length);
    return this.#writer.write(pieces);
  }
}

/** `onEnd` is called once, when the stream was written or the client has left. */
function afterEnd(body: BodyStream, onEnd: () => void): BodyStream {
  const end = once(onEnd);
  return {
    writeTo: (writer) => body.writeTo(writer).finally(end),
    abandon() {
      body.abandon();
      end();
    },
  };
}

function chooseRequestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  // Ids that begin with the time are close together in the index of the ledger.
  return given !== null && validRequestId.test(given) ? given : Bun.randomUUIDv7();
}

/** Clients of Anthropic's format send their key in this header. */
function keyHeader(headers: Headers): string | null {
  const key = headers.get("x-api-key");
  return key === null ? null : `Bearer ${key}`;
}

/** The caller chose these names; a name that a header cannot hold is left out. */
function toHeaderList(names: readonly string[]): string {
  return names
    .filter((name) => /^[\w.$-]{1,64}$/.test(name))
    .slice(0, 50)
    .join(", ");
}

/** `{name}` and `{name...}` in the syntax of Bun's router. */
function toBunPath(path: string): string {
  return path.replace(/\{(\w+)(\.\.\.)?\}/g, (_whole, name: string, rest?: string) =>
    rest === undefined ? `:${name}` : "*",
  );
}

function ignore(): void {}
