// The door: takes every request in, checks it in a fixed order (framing, path, method, key, drain and limits, body), and
// gives it to its endpoint. Whatever is thrown becomes an answer in error-reply.ts.

import type { Caller } from "../access/caller.ts";
import type { Limits } from "../access/limits.ts";
import { GatewayError } from "../errors.ts";
import { Trace } from "../inference/trace.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import type { Authenticator } from "./authenticate.ts";
import { toErrorReply } from "./error-reply.ts";
import type { LoadWatch } from "./load-watch.ts";
import { type BodyLimits, type JsonBody, readJsonBody } from "./read-body.ts";
import { type Reply, reply } from "./reply.ts";
import type { Call, Route } from "./route.ts";
import { createRouter, spellingsOf } from "./router.ts";
import { SocketConnection, type SocketRoute } from "./socket.ts";
import { wantsMetadata } from "./wants-metadata.ts";
import type { ConnectionClocks, Takeover } from "./wire/connection.ts";
import type { IncomingRequest } from "./wire/incoming-request.ts";
import { listen } from "./wire/listen.ts";
import type { RequestHeaders } from "./wire/request-head.ts";
import { WebSocketWire } from "./wire/websocket.ts";
import { isWebSocketKey, toAcceptKey } from "./wire/websocket-frames.ts";

export interface ServerOptions {
  readonly host: string;
  readonly port: number;
  readonly routes: readonly Route[];
  readonly sockets?: readonly SocketRoute[];
  readonly authenticator: Authenticator;
  readonly limits: Limits;
  readonly bodyLimits: BodyLimits;
  readonly ticker: Ticker;
  readonly clocks?: Partial<ConnectionClocks>;
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

const keptRequestId = /^[A-Za-z0-9._-]{1,128}$/;

export function startServer(options: ServerOptions): Server {
  const router = createRouter(options.routes);
  const sockets = new Map((options.sockets ?? []).flatMap((route) => spellingsOf(route).map((path) => [path, route])));
  const connections = new Set<SocketConnection>();
  let draining = false;

  async function answer(request: IncomingRequest): Promise<Reply | Takeover> {
    const { headers } = request;
    const requestId = chooseRequestId(headers);
    const trace = new Trace(performance.now(), options.loadWatch.lagMs);
    let answered: Reply;
    let isPrivate = true;
    let errors: Route["errors"];
    try {
      checkExpectation(headers);
      const path = pathOf(request.head.target);
      if (request.method === "GET" && headers.get("upgrade")?.toLowerCase() === "websocket") {
        const route = sockets.get(path);
        if (route !== undefined) return await upgrade(request, route, requestId);
      }
      const found = router.find(request.method, path);
      if ("allow" in found) return finish(reply(null, { status: 204, headers: { allow: found.allow } }), false);
      const { route, params } = found;
      isPrivate = route.key !== "none";
      errors = route.errors;
      const admitted = isPrivate ? admit(request, route) : null;
      // Not awaited when it is there: a turn of the event loop for nothing.
      const caller = admitted instanceof Promise ? await admitted : admitted;
      trace.authorizedAt = performance.now();
      const readsBody = route.body === "json" || (route.body === "optional-json" && !request.body.isComplete);
      const read = readsBody ? readJsonBody(request, options.bodyLimits, options.ticker) : null;
      const body = read instanceof Promise ? await read : read;
      trace.readAt = performance.now();
      const result = await route.run(new IncomingCall(request, requestId, params, caller, body, trace));
      // Made at once: to put headers together costs more.
      if (typeof result === "string")
        return { status: 200, headers: common(isPrivate, "application/json"), body: result };
      answered = result;
    } catch (error) {
      const metadata = wantsMetadata(headers) ? trace.toMetadata(requestId) : null;
      answered = toErrorReply(error, { requestId, log: options.log, form: errors ?? "usual", metadata });
    }
    return finish(answered, isPrivate);

    function finish(made: Reply, mustNotBeStored: boolean): Reply {
      return { ...made, headers: { ...made.headers, ...common(mustNotBeStored) } };
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

  async function upgrade(request: IncomingRequest, route: SocketRoute, requestId: string): Promise<Takeover> {
    const { headers } = request;
    const authorization = readAuthorization(headers);
    const address = request.findAddress();
    // Asked again with every message, because a key may be revoked while its connection stays. Counted are the messages: to
    // connect is not yet to ask for something.
    const identify = async () => {
      const caller = await options.authenticator.authenticate(authorization, () => address);
      checkKind(caller, { key: "inference" });
      return caller;
    };
    const caller = await identify();
    if (draining) throw new GatewayError("draining", "The gateway is going down; connect again.");
    const key = headers.get("sec-websocket-key") ?? "";
    if (!isWebSocketKey(key) || headers.get("sec-websocket-version") !== "13" || !request.head.isNew)
      throw new GatewayError("malformed_request", "The request to open a WebSocket is not valid.", {
        headers: { "sec-websocket-version": "13" },
      });
    const limits = { maxMessageBytes: options.bodyLimits.maxBodyBytes };
    return {
      headers: { upgrade: "websocket", "sec-websocket-accept": toAcceptKey(key), "x-request-id": requestId },
      open(outgoing, close) {
        const connection = new SocketConnection(route, requestId, caller, identify, () =>
          connections.delete(connection),
        );
        const wire = new WebSocketWire(outgoing, limits, connection, close);
        connections.add(connection);
        connection.opened(wire);
        return wire;
      },
    };
  }

  function admit(request: IncomingRequest, route: Pick<Route, "key" | "errors">): Caller | Promise<Caller> {
    const { headers } = request;
    const authorization = readAuthorization(headers) ?? (route.errors === "messages" ? keyHeader(headers) : null);
    const found = options.authenticator.authenticate(authorization, request.findAddress);
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

  /** What is no request has neither a path nor an id. */
  function refuse(error: unknown): Reply {
    const requestId = crypto.randomUUID();
    const refused = toErrorReply(error, { requestId, log: options.log, form: "usual", metadata: null });
    const headers = { ...refused.headers, "x-request-id": requestId, "x-content-type-options": "nosniff" };
    return { ...refused, headers };
  }

  const { host, port, ticker, clocks } = options;
  const listener = listen({ host, port, ticker, clocks, answer, refuse });
  return {
    port: listener.port,
    beginDrain() {
      draining = true;
      for (const connection of connections) connection.beginDrain();
    },
    stop: listener.stop,
    stopNow: listener.stopNow,
  };
}

function chooseRequestId(headers: RequestHeaders): string {
  const given = headers.get("x-request-id");
  return given !== null && keptRequestId.test(given) ? given : crypto.randomUUID();
}

class IncomingCall implements Call {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller | null;
  readonly body: JsonBody | null;
  readonly trace: Trace;

  constructor(
    request: IncomingRequest,
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
    return queryOf(this.request.head.target);
  }
}

/** Clients of Anthropic's format send their key so. */
function keyHeader(headers: RequestHeaders): string | null {
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

/** Two headers of this name are read differently by different readers: whoever stands before us may have checked the other one. */
function readAuthorization(headers: RequestHeaders): string | null {
  if (headers.isRepeated("authorization"))
    throw new GatewayError("ambiguous_credentials", "Send one Authorization header.");
  return headers.get("authorization");
}

function checkExpectation(headers: RequestHeaders): void {
  const expect = headers.get("expect");
  if (expect !== null && expect.toLowerCase() !== "100-continue")
    throw new GatewayError("expectation_failed", "The only expectation that is met is 100-continue.");
}

function pathOf(target: string): string {
  const start = target.startsWith("/") ? 0 : target.indexOf("/", target.indexOf("://") + 3);
  if (start < 0) return "/";
  const query = target.indexOf("?", start);
  return query < 0 ? target.slice(start) : target.slice(start, query);
}

function queryOf(target: string): URLSearchParams {
  const query = target.indexOf("?");
  return new URLSearchParams(query < 0 ? "" : target.slice(query + 1));
}
