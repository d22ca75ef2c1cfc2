// The door: takes every request in, checks it in a fixed order (framing, path, method, key, drain and limits, body), and
// gives it to its endpoint. Whatever is thrown becomes an answer in error-response.ts.

import type { Caller } from "../access/caller.ts";
import type { Limits } from "../access/limits.ts";
import { GatewayError } from "../errors.ts";
import { Trace } from "../inference/trace.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import type { Authenticator } from "./authenticate.ts";
import { toErrorResponse } from "./error-response.ts";
import { eventStreamType } from "./event-stream.ts";
import type { LoadWatch } from "./load-watch.ts";
import { type BodyLimits, type JsonBody, readJsonBody } from "./read-body.ts";
import type { Call, Route } from "./route.ts";
import { createRouter } from "./router.ts";
import { SocketConnection, type SocketRoute } from "./socket.ts";
import { wantsMetadata } from "./wants-metadata.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  readonly authenticator: Authenticator;
  readonly limits: Limits;
  readonly bodyLimits: BodyLimits;
  readonly ticker: Ticker;
  readonly loadWatch: LoadWatch;
  readonly log: Log;
}

export interface Server {
  readonly port: number;
  /** From now on every answer asks its connection to be closed, so that callers go elsewhere without losing anything. */
  beginDrain(): void;
  /** Takes no new connections; resolves when the running requests have ended. */
  stop(): Promise<void>;
  /** Ends what is still running. */
  stopNow(): void;
}

// Ours are checked first, with an answer of our own; the parser's limit only has to be out of the way.
const parserMaxBodyBytes = 2 ** 31 - 1;
// Between requests of a kept connection. While a request runs, its own clocks decide.
const idleConnectionSeconds = 120;
// A stream writes at least its heartbeat; a caller who has not read anything for so long is gone.
const stalledReaderSeconds = 240;
const maxHeaders = 100;
const hostHeader = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const keptRequestId = /^[A-Za-z0-9._-]{1,128}$/;

export function startServer(options: ServerOptions): Server {
  const router = createRouter(options.routes);
  const sockets = new Map((options.sockets ?? []).map((route) => [route.path, route]));
  const connections = new Set<SocketConnection>();
  let draining = false;

  async function answer(
    request: Request,
    server: Bun.Server<SocketConnection>,
    knownPath?: string,
  ): Promise<Response | undefined> {
    const requestId = chooseRequestId(request.headers);
    const trace = new Trace(performance.now(), options.loadWatch.lagMs);
    let response: Response;
    let isPrivate = true;
    let errors: Route["errors"];
    try {
      checkFraming(request.headers);
      if (request.method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket") {
        const route = sockets.get(knownPath ?? pathOf(request.url));
        if (route !== undefined) return await upgrade(request, server, route, requestId);
      }
      const found = router.find(request.method, knownPath ?? pathOf(request.url));
      if ("allow" in found) return finish(new Response(null, { status: 204, headers: { allow: found.allow } }), false);
      const { route, params } = found;
      isPrivate = route.key !== "none";
      errors = route.errors;
      const admitted = isPrivate ? admit(request, route, server) : null;
      // Not awaited when it is there: a turn of the event loop for nothing.
      const caller = admitted instanceof Promise ? await admitted : admitted;
      trace.authorizedAt = performance.now();
      if (route.body !== undefined) server.timeout(request, 0);
      const readsBody = route.body === "json" || (route.body === "optional-json" && request.body !== null);
      const body = readsBody ? await readJsonBody(request, options.bodyLimits, options.ticker) : null;
      trace.readAt = performance.now();
      const call = new IncomingCall(request, requestId, params, caller, body, trace);
      const result = await route.run(call);
      // Made at once: to set headers one by one costs more.
      if (typeof result === "string") return new Response(result, { headers: common(isPrivate, "application/json") });
      response = result;
      if (response.headers.get("content-type") === eventStreamType) server.timeout(request, stalledReaderSeconds);
    } catch (error) {
      const metadata = wantsMetadata(request.headers) ? trace.toMetadata(requestId) : null;
      response = toErrorResponse(error, { requestId, log: options.log, form: errors ?? "usual", metadata });
    }
    return finish(response, isPrivate);

    function finish(made: Response, mustNotBeStored: boolean): Response {
      for (const [name, value] of Object.entries(common(mustNotBeStored))) made.headers.set(name, value);
      return made;
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

  async function upgrade(
    request: Request,
    server: Bun.Server<SocketConnection>,
    route: SocketRoute,
    requestId: string,
  ): Promise<undefined> {
    const authorization = request.headers.get("authorization");
    const address = server.requestIP(request)?.address ?? "";
    // Asked again with every message, because a key may be revoked while its connection stays. Counted are the messages: to
    // connect is not yet to ask for something.
    const identify = async () => {
      const caller = await options.authenticator.authenticate(authorization, () => address);
      checkKind(caller, { key: "inference" });
      return caller;
    };
    const caller = await identify();
    if (draining) throw new GatewayError("draining", "The gateway is going down; connect again.");
    const data = new SocketConnection(route, requestId, caller, identify);
    if (!server.upgrade(request, { data, headers: { "x-request-id": requestId } }))
      throw new GatewayError("malformed_request", "The request to open a WebSocket is not valid.");
  }

  function admit(
    request: Request,
    route: Pick<Route, "key" | "errors">,
    server: Bun.Server<SocketConnection>,
  ): Caller | Promise<Caller> {
    const address = () => server.requestIP(request)?.address ?? "";
    const { headers } = request;
    const authorization = headers.get("authorization") ?? (route.errors === "messages" ? keyHeader(headers) : null);
    const found = options.authenticator.authenticate(authorization, address);
    return found instanceof Promise ? found.then((caller) => checkLimits(caller, route)) : checkLimits(found, route);
  }

  function checkLimits(caller: Caller, route: Pick<Route, "key">): Caller {
    checkKind(caller, route);
    options.limits.admit(caller);
    return caller;
  }

  function checkKind(caller: Caller, route: Pick<Route, "key">): void {
    if ((caller.kind === "management") !== (route.key === "management"))
      throw new GatewayError("insufficient_scope", `This route needs a key of kind ${route.key}.`);
    options.loadWatch.refuseWhenOverloaded();
  }

  const server = Bun.serve<SocketConnection>({
    hostname: options.host,
    port: options.port,
    reusePort: true,
    idleTimeout: idleConnectionSeconds,
    maxRequestBodySize: parserMaxBodyBytes,
    // The parser finds a fixed path without making a string of the address first.
    routes: Object.fromEntries(
      router.fixedPaths.map((path) => [
        path,
        (request: Request, server: Bun.Server<SocketConnection>) => answer(request, server, path),
      ]),
    ),
    fetch: (request, server) => answer(request, server),
    websocket: {
      maxPayloadLength: options.bodyLimits.maxBodyBytes,
      idleTimeout: idleConnectionSeconds,
      sendPings: true,
      open(socket) {
        connections.add(socket.data);
        socket.data.opened(socket);
      },
      message: (socket, message) => socket.data.received(message),
      drain: (socket) => socket.data.wasDrained(),
      close(socket) {
        connections.delete(socket.data);
        socket.data.closed();
      },
    },
    error: (error) =>
      toErrorResponse(error, { requestId: crypto.randomUUID(), log: options.log, form: "usual", metadata: null }),
  });
  return {
    port: server.port ?? options.port,
    beginDrain() {
      draining = true;
      for (const connection of connections) connection.beginDrain();
    },
    stop: () => server.stop(),
    stopNow: () => void server.stop(true),
  };
}

function chooseRequestId(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && keptRequestId.test(given) ? given : crypto.randomUUID();
}

class IncomingCall implements Call {
  readonly request: Request;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly body: JsonBody | null;
  readonly trace: Trace;

  constructor(
    request: Request,
    requestId: string,
    params: Readonly<Record<string, string>>,
    caller: Caller | null,
    body: JsonBody | null,
    trace: Trace,
  ) {
    this.request = request;
    this.requestId = requestId;
    this.params = params;
    this.caller = caller;
    this.body = body;
    this.trace = trace;
  }

  get method(): Call["method"] {
    return this.request.method as Call["method"];
  }

  get query(): URLSearchParams {
    return queryOf(this.request.url);
  }
}

/** Clients of Anthropic's format send their key so. */
function keyHeader(headers: Headers): string | null {
  const key = headers.get("x-api-key");
  return key === null ? null : `Bearer ${key}`;
}

/** Names of members that a caller chose: what a header cannot hold is left out. */
function toHeaderList(names: readonly string[]): string {
  return names
    .filter((name) => /^[\w.$-]{1,64}$/.test(name))
    .slice(0, 50)
    .join(", ");
}

/** What the parser lets through and we do not. */
function checkFraming(headers: Headers): void {
  const host = headers.get("host");
  // Two Host headers arrive joined by a comma, which the pattern refuses.
  if (host !== null && !hostHeader.test(host))
    throw new GatewayError("malformed_request", "The Host header is not valid.", { headers: { connection: "close" } });
  if (headers.count > maxHeaders)
    throw new GatewayError("too_many_headers", `A request may have at most ${maxHeaders} headers.`);
  const expect = headers.get("expect");
  if (expect !== null && expect.toLowerCase() !== "100-continue")
    throw new GatewayError("expectation_failed", "The only expectation that is met is 100-continue.");
}

/** The path as it came: percent-encoding is the router's matter, so that an encoded slash stays inside its segment. */
function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

function queryOf(url: string): URLSearchParams {
  const query = url.indexOf("?");
  return new URLSearchParams(query < 0 ? "" : url.slice(query + 1));
}
