// The HTTP server: takes every request, checks it in a fixed order (framing, path, method, key, drain and limits, body), and gives it
// to its endpoint. Whatever is thrown becomes an answer in error-reply.ts.

import type { Caller } from "../access/caller.ts";
import type { Limits, RunningRequest } from "../access/limits.ts";
import { LongBodies, longBodyBytes } from "../access/long-bodies.ts";
import { GatewayError } from "../errors.ts";
import { Trace } from "../inference/trace.ts";
import type { AddressRanges } from "../lib/addresses.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import { logRefusal, logRequest, type RequestRecord } from "./access-log.ts";
import type { Authenticator } from "./authenticate.ts";
import { CountedStream } from "./counted-stream.ts";
import { lastResortReply, toErrorReply } from "./error-reply.ts";
import { KeylessBudget } from "./keyless-budget.ts";
import type { LoadWatch } from "./load-watch.ts";
import { OpenSockets } from "./open-sockets.ts";
import { type BodyLimits, type JsonBody, readJsonBody } from "./read-body.ts";
import { isStream, type Reply, reply } from "./reply.ts";
import { checkHead, hasLongBody, originOf, pathOf, queryOf } from "./request-head.ts";
import type { Call, Route } from "./route.ts";
import { createRouter, type Match, spellingsOf } from "./router.ts";
import { SocketConnection, type SocketRoute } from "./socket.ts";
import { toResponse } from "./to-response.ts";
import { wantsMetadata } from "./wants-metadata.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  readonly authenticator: Authenticator;
  readonly limits: Limits;
  readonly bodyLimits: BodyLimits;
  readonly socketLimits?: SocketLimits;
  /** Of these addresses, `X-Forwarded-Proto` is believed. */
  readonly trustedProxies?: AddressRanges;
  readonly timeouts?: Partial<ConnectionTimeouts>;
  readonly ticker: Ticker;
  readonly loadWatch: LoadWatch;
  readonly log: Log;
}

/** Memory that unfinished messages can take: at most their product, for each key. */
interface SocketLimits {
  readonly maxWebSocketsPerKey: number;
  readonly maxWebSocketMessageBytes: number;
}

/** In seconds, at most 255; Bun checks them every four seconds. */
export interface ConnectionTimeouts {
  /** Between the requests of a connection, and until a request without a body is answered. Bun bounds a request's head by itself. */
  readonly idle: number;
  /** Of a client that reads nothing of a stream. A stream that is read writes at least its heartbeats. */
  readonly stalledReader: number;
}

export interface Server {
  readonly port: number;
  /** From now on every answer closes its connection, so that clients reconnect to another process without losing a request. */
  beginDrain(): void;
  /** Accepts no new connections; resolves when the running requests have completed. */
  stop(): Promise<void>;
  /** Ends the requests that are still running. */
  stopNow(): void;
}

type BunServer = Bun.Server<SocketConnection>;

const noSocketLimits: SocketLimits = {
  maxWebSocketsPerKey: Number.POSITIVE_INFINITY,
  maxWebSocketMessageBytes: Number.POSITIVE_INFINITY,
};
const usualTimeouts: ConnectionTimeouts = { idle: 120, stalledReader: 240 };
// The routes check their own limits, and answer in both error forms; Bun's limit must not refuse a body before that.
const serverMaxBodyBytes = 2 ** 31 - 1;
const keptRequestId = /^[A-Za-z0-9._-]{1,128}$/;

export function startServer(options: ServerOptions): Server {
  const { log, ticker, bodyLimits } = options;
  const router = createRouter(options.routes);
  const sockets = new Map((options.sockets ?? []).flatMap((route) => spellingsOf(route).map((path) => [path, route])));
  const { maxWebSocketsPerKey, maxWebSocketMessageBytes } = options.socketLimits ?? noSocketLimits;
  const keyless = new KeylessBudget();
  const longBodies = new LongBodies();
  const openSockets = new OpenSockets(maxWebSocketsPerKey);
  const timeouts = { ...usualTimeouts, ...options.timeouts };
  let draining = false;

  /** `path`: the path of the route table that Bun found; null for an unknown path. */
  async function answer(request: Request, server: BunServer, path: string | null): Promise<Response | undefined> {
    const { headers } = request;
    const requestId = chooseRequestId(headers);
    const trace = new Trace(performance.now(), options.loadWatch.lagMs);
    let answered: Reply;
    let isPrivate = true;
    let errors: Route["errors"];
    let caller: Caller | null = null;
    let running: RunningRequest | null = null;
    try {
      checkHead(request);
      if (request.method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket") {
        const socketRoute = sockets.get(path ?? "");
        if (socketRoute !== undefined) {
          await upgrade(request, server, socketRoute, requestId);
          logRequest(log, toRecord(101), false);
          return undefined;
        }
      }
      const found = findRoute(request, path);
      if ("allow" in found) {
        logRequest(log, toRecord(204), false);
        return finish(reply(null, { status: 204, headers: { allow: found.allow } }), false);
      }
      const { route, params } = found;
      trace.path = found.path;
      isPrivate = route.key !== "none";
      errors = route.errors;
      const admitted = isPrivate ? admit(request, route, server) : null;
      // Skip the await when the caller is known: it would cost an event-loop turn.
      caller = admitted instanceof Promise ? await admitted : admitted;
      if (caller !== null) running = options.limits.begin(caller);
      else await (route.isProbe === true ? keyless.spendInTurn() : keyless.spend());
      trace.authorizedAt = performance.now();
      // The timeouts of the body and of the call decide from here on.
      if (route.body !== undefined) server.timeout(request, 0);
      const readsBody = route.body === "json" || (route.body === "optional-json" && request.body !== null);
      const turn = readsBody && caller !== null ? waitForTurn(request, caller) : undefined;
      if (turn !== undefined) await turn;
      const body = readsBody ? await readJsonBody(request, bodyLimits, ticker) : null;
      if (body !== null && caller !== null && body.text.length >= longBodyBytes && !headers.has("content-length"))
        longBodies.charge(caller.keyId, body.text.length, performance.now());
      // Before a provider is paid for a stream that would be refused.
      if (body !== null && asksForStream(body.value)) running?.beginStream();
      trace.readAt = performance.now();
      const result = await route.run(new IncomingCall({ request, requestId, params, caller, body, trace }, findOrigin));
      if (route.body !== undefined) server.timeout(request, timeouts.idle);
      if (trace.attempts.length === 0) logRequest(log, toRecord(replyStatus(result)), route.isProbe === true);
      // Built at once: merging two sets of headers costs more.
      if (typeof result === "string") {
        running?.end();
        return new Response(result, { headers: common(isPrivate, "application/json") });
      }
      answered = running === null ? result : count(result, running, request);
      if (isStream(answered.body)) {
        server.timeout(request, timeouts.stalledReader);
        // Bun neither reads nor cancels the stream of a client that has left.
        if (request.signal.aborted) answered.body.abandon();
      }
    } catch (error) {
      running?.end();
      if (isPrivate && caller === null) await keyless.spend();
      server.timeout(request, timeouts.idle);
      const metadata = wantsMetadata(headers) ? trace.toMetadata(requestId) : null;
      answered = toErrorReply(error, { requestId, log, form: errors ?? "usual", metadata });
      logRefusal(log, toRecord(answered.status), error);
      // Without this header, Bun would read the rest of the body only to discard it.
      if (hasLongBody(request)) answered = { ...answered, headers: { ...answered.headers, connection: "close" } };
    }
    return finish(answered, isPrivate);

    function toRecord(status: number): RequestRecord {
      const { method, url } = request;
      return { requestId, method, url, keyId: caller?.keyId ?? null, status, startedAt: trace.startedAt };
    }

    function finish(made: Reply, mustNotBeStored: boolean): Response {
      const complete = { ...made, headers: { ...made.headers, ...common(mustNotBeStored) } };
      if (!isStream(made.body)) return toResponse(complete, ignore);
      if (request.method !== "HEAD")
        return toResponse(complete, (error) => log.error("a stream broke off", { request_id: requestId, error }));
      made.body.abandon();
      return toResponse({ ...complete, body: null }, ignore);
    }

    /** The headers of every answer. */
    function common(mustNotBeStored: boolean, contentType?: string): Record<string, string> {
      const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
      headers["x-request-id"] = requestId;
      headers["x-content-type-options"] = "nosniff";
      headers["server-timing"] = trace.toServerTiming(performance.now());
      // Where clients of that format look for it.
      if (errors === "messages") headers["request-id"] = requestId;
      const { length } = trace.attempts;
      if (length > 0) headers["x-switchyard-attempts"] = String(length);
      if (trace.dropped.length > 0) headers["x-switchyard-dropped-params"] = toHeaderList(trace.dropped);
      if (mustNotBeStored) headers["cache-control"] = "no-store";
      if (draining) headers["connection"] = "close";
      return headers;
    }
  }

  /** Skips the await where a body is short, or the key is alone: it would cost an event-loop turn. */
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
  function findRoute(request: Request, path: string | null): Match | { readonly allow: string } {
    if (path !== null && !path.includes("{")) return router.find(request.method, path);
    const found = router.find(request.method, pathOf(request.url));
    if (path === null || ("route" in found && found.path !== path))
      throw new GatewayError("malformed_request", "Send the path without dot segments and backslashes.");
    return found;
  }

  async function upgrade(
    request: Request,
    server: BunServer,
    route: SocketRoute,
    requestId: string,
  ): Promise<undefined> {
    const authorization = request.headers.get("authorization");
    const address = findAddress(request, server);
    // Asked again with every message, because a key may be revoked while its connection is open. Limits count messages, not
    // connections.
    const identify = async () => {
      const caller = await options.authenticator.authenticate(authorization, () => address);
      checkKind(caller, { key: "inference" });
      return caller;
    };
    const caller = await identify();
    if (draining) throw new GatewayError("draining", "The gateway is shutting down; connect again.");
    const data = new SocketConnection(route, requestId, caller, identify);
    openSockets.add(data);
    if (server.upgrade(request, { data, headers: { "x-request-id": requestId } })) return;
    openSockets.remove(data);
    throw new GatewayError("malformed_request", "The request to open a WebSocket is not valid.", {
      headers: { "sec-websocket-version": "13" },
    });
  }

  function admit(request: Request, route: Pick<Route, "key" | "errors">, server: BunServer): Caller | Promise<Caller> {
    const { headers } = request;
    const authorization = headers.get("authorization") ?? (route.errors === "messages" ? keyHeader(headers) : null);
    const found = options.authenticator.authenticate(authorization, () => findAddress(request, server));
    return found instanceof Promise ? found.then((caller) => checkCaller(caller, route)) : checkCaller(found, route);
  }

  function checkCaller(caller: Caller, route: Pick<Route, "key">): Caller {
    checkKind(caller, route);
    return caller;
  }

  function checkKind(caller: Caller, route: Pick<Route, "key">): void {
    if ((caller.kind === "management") !== (route.key === "management"))
      throw new GatewayError("insufficient_scope", `This route needs a key of kind ${route.key}.`);
    options.loadWatch.refuseWhenOverloaded();
  }

  function findOrigin(request: Request): string {
    const { trustedProxies } = options;
    const isTrusted = trustedProxies?.isEmpty === false && trustedProxies.has(findAddress(request, server));
    return originOf(request, isTrusted);
  }

  const server = Bun.serve<SocketConnection>({
    hostname: options.host,
    port: options.port,
    reusePort: true,
    // Otherwise Bun prints errors of streams to stderr, among the lines of the log.
    development: false,
    idleTimeout: timeouts.idle,
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
      idleTimeout: usualTimeouts.idle,
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
  return {
    port: server.port ?? options.port,
    beginDrain() {
      draining = true;
      openSockets.beginDrain();
    },
    stop: () => server.stop(),
    stopNow: () => void server.stop(true),
  };
}

class IncomingCall implements Call {
  readonly request: Request;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly body: JsonBody | null;
  readonly trace: Trace;
  readonly #findOrigin: (request: Request) => string;

  constructor(parts: Omit<Call, "method" | "query" | "origin">, findOrigin: (request: Request) => string) {
    this.request = parts.request;
    this.requestId = parts.requestId;
    this.params = parts.params;
    this.caller = parts.caller;
    this.body = parts.body;
    this.trace = parts.trace;
    this.#findOrigin = findOrigin;
  }

  get method(): Call["method"] {
    return this.request.method as Call["method"];
  }

  get query(): URLSearchParams {
    return queryOf(this.request.url);
  }

  get origin(): string {
    return this.#findOrigin(this.request);
  }
}

function replyStatus(result: Reply | string): number {
  return typeof result === "string" ? 200 : result.status;
}

function asksForStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && "stream" in body && body.stream === true;
}

/** A whole answer has ended its request; a streamed one ends it when the stream has ended. */
function count(answered: Reply, running: RunningRequest, request: Request): Reply {
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
  return { ...answered, body: new CountedStream(body, running, request.signal) };
}

function chooseRequestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && keptRequestId.test(given) ? given : crypto.randomUUID();
}

function findAddress(request: Request, server: BunServer): string {
  return server.requestIP(request)?.address ?? "";
}

/** Clients of Anthropic's format send their key in this header. */
function keyHeader(headers: Headers): string | null {
  const key = headers.get("x-api-key");
  return key === null ? null : `Bearer ${key}`;
}

/** Names of members that a caller chose; a name that a header cannot hold is left out. */
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
