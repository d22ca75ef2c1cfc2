// Answers a request: checks it in a fixed order (head, path, method, key, load, limits, body, then the schemas and the scope of its route), and
// runs the route. Whatever is thrown becomes an answer in error-reply.ts.

import type { Caller } from "../access/caller.ts";
import type { RunningRequest } from "../access/limits.ts";
import type { LongBodies } from "../access/long-bodies.ts";
import { readTags, type Tags } from "../contract/tags.ts";
import { tagCaller } from "../inference/tag-caller.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Tracing } from "../tracing/span.ts";
import type { KeyLoad } from "./admission.ts";
import type { AdmitCaller } from "./admit-caller.ts";
import { checkCall, checkScope } from "./check-call.ts";
import { countStream } from "./counted-stream.ts";
import { overloaded } from "./error-reply.ts";
import { Exchange, type ExchangeContext } from "./exchange.ts";
import type { ListenerHandover } from "./handover.ts";
import type { HostCheck } from "./host-check.ts";
import { KeylessBudget } from "./keyless-budget.ts";
import { type BodyLimits, type JsonBody, readJsonBody } from "./read-body.ts";
import { isStream, type Reply, reply } from "./reply.ts";
import { checkHead, hasLongBody, wantsMetadata } from "./request-head.ts";
import { startRequestSpan } from "./request-span.ts";
import type { PrepareBody, ServedRoute } from "./route.ts";
import type { Router } from "./router.ts";
import type { BunServer } from "./socket.ts";
import type { SocketUpgrade } from "./socket-upgrade.ts";

interface RequestHandlerOptions {
  readonly context: ExchangeContext;
  readonly router: Router;
  readonly sockets: SocketUpgrade;
  readonly admitCaller: AdmitCaller;
  readonly checkHost: HostCheck | null;
  readonly bodyLimits: BodyLimits;
  readonly longBodies: LongBodies;
  readonly timeouts: ConnectionTimeouts;
  readonly ticker: Ticker;
  /** The address of the other end of the connection. */
  readonly findPeer: (request: Request, server: BunServer) => string;
  readonly findBaseUrl: (request: Request, peer: string) => string;
  readonly handover: ListenerHandover | undefined;
  readonly tracing: Tracing | null;
}

/** In seconds, at most 255; Bun checks them every four seconds. */
export interface ConnectionTimeouts {
  /** Between the requests of a connection, and until a request without a body is answered. Bun itself bounds the time for a head. */
  readonly idle: number;
  /** For a client that does not read its stream. A stream that is read writes at least its heartbeats. */
  readonly stalledReader: number;
}

/** Anyone can send them, and no limit of a key bounds their number. A sign-in needs about 530 bytes. */
const maxKeylessBodyBytes = 16_384;

export function createRequestHandler(options: RequestHandlerOptions) {
  const {
    context,
    router,
    sockets,
    admitCaller,
    checkHost,
    bodyLimits,
    longBodies,
    timeouts,
    ticker,
    handover,
    tracing,
  } = options;
  const { admission, limits, cors } = context;
  const keyless = new KeylessBudget();
  const keylessBodyLimits = { ...bodyLimits, maxBodyBytes: Math.min(bodyLimits.maxBodyBytes, maxKeylessBodyBytes) };

  /** `path`: the path of the route table that Bun found; null for an unknown path. The result is undefined for a WebSocket. */
  return async function answerRequest(
    request: Request,
    server: BunServer,
    path: string | null,
  ): Promise<Response | undefined> {
    const exchange = new Exchange(context, request, options.findPeer(request, server));
    const { requestId, trace, client, peer } = exchange;
    const { headers } = request;
    let answered: Reply;
    let running: RunningRequest | null = null;
    let keyLoad: KeyLoad | null = null;
    let bodyBytes = 0;
    try {
      checkHead(request);
      if (handover !== undefined && !handover.isActive) await handover.settle();
      const socketRoute = sockets.findRoute(request, path);
      if (socketRoute !== undefined) {
        trace.path = socketRoute.path;
        await sockets.upgrade(exchange, server, socketRoute);
        exchange.switchProtocols();
        return undefined;
      }
      const found = router.match(request, path);
      // Connections to this process that clients keep open outlive its configuration.
      if (handover !== undefined && !handover.isActive) return await handover.pass(request, peer);
      exchange.isForOperators = found.isForOperators;
      if (found.isForOperators) checkHost?.(request, peer);
      if ("allow" in found) {
        exchange.isPrivate = false;
        await keyless.spend();
        const { allow } = found;
        const response = exchange.finish(reply(null, { status: 204, headers: { allow } }));
        cors?.addPreflightHeaders(response.headers, request, allow);
        return response;
      }
      const { route, params } = found;
      trace.path = found.path;
      if (tracing !== null && route.isProbe !== true)
        trace.span = startRequestSpan(tracing, request, { requestId, route: found.path, startedAt: trace.startedAt });
      exchange.isPrivate = route.key !== "none";
      exchange.isProbe = route.isProbe === true;
      exchange.errorFormat = route.errorFormat;
      const admitted = exchange.isPrivate ? admitCaller(exchange, route) : null;
      // Skip the await when the caller is known: it would cost an event-loop turn.
      const caller = admitted instanceof Promise ? await admitted : admitted;
      exchange.caller = caller;
      if (caller !== null) {
        // Management must be possible under overload.
        if (caller.kind !== "management") {
          keyLoad = admission.begin(caller.keyId, trace.startedAt);
          if (keyLoad === null) {
            if (admission.noteRefusal() || wantsMetadata(headers)) throw overloaded(admission.chooseRetryAfter());
            return exchange.refuseAtOnce();
          }
        }
        const begun = limits.begin(caller);
        running = begun instanceof Promise ? await begun : begun;
      } else await (exchange.isProbe ? keyless.spendInTurn() : keyless.spend());
      trace.authorizedAt = performance.now();
      // From here on, the timeouts of the body and of the call apply.
      if (route.body !== undefined) server.timeout(request, 0);
      const readsBody = isJson(route.body) && (route.body.kind === "json" || request.body !== null);
      const declaredLength = headers.get("content-length");
      const turn = readsBody && caller !== null ? waitForTurn(declaredLength, caller) : undefined;
      if (turn !== undefined) await turn;
      let json = readsBody
        ? await readJsonBody(request, caller === null ? keylessBodyLimits : bodyLimits, ticker)
        : null;
      if (json !== null && caller !== null && declaredLength === null)
        longBodies.settle(caller.keyId, json.text.length, performance.now());
      bodyBytes = json?.text.length ?? 0;
      const tagged = caller !== null && json !== null ? tagCaller(caller, readTagsOf(route, json), trace) : caller;
      if (context.capture !== null && json !== null) exchange.bodyText = context.capture.take(json.text);
      // Before a provider is paid for a stream that would be refused.
      if (json !== null && asksForStream(json.value)) running?.beginStream();
      trace.readAt = performance.now();
      const prepare = json === null ? undefined : findPreparation(route.body, json);
      if (prepare !== undefined && tagged !== null) {
        if (route.scope !== undefined) checkScope(tagged, route.scope);
        json = await prepare(tagged, (bytes) => {
          const turn = longBodies.waitForTurn(tagged.keyId, bytes);
          bodyBytes += bytes;
          return turn;
        });
      }
      const findBaseUrl = (request: Request) => options.findBaseUrl(request, peer);
      const incoming = { request, requestId, trace, caller: tagged, params, json, address: client, findBaseUrl };
      const call = checkCall(route, incoming);
      const result = await route.run(call);
      const load = keyLoad;
      if (load !== null) admission.answered(load, bodyBytes, typeof result !== "string" && isStream(result.body));
      keyLoad = null;
      if (route.body !== undefined) server.timeout(request, timeouts.idle);
      if (typeof result === "string") {
        running?.end();
        return exchange.finishJson(result);
      }
      answered = result;
      if (!isStream(result.body)) running?.end();
      else {
        const { signal } = request;
        if (running !== null)
          answered = { ...result, body: countStream(result.body, { running, load, admission, signal }) };
        server.timeout(request, timeouts.stalledReader);
      }
    } catch (error) {
      running?.end();
      // No route was found, but the path may have a format of its own.
      if (trace.path === "" && path !== null) exchange.errorFormat = router.errorFormatOf(path);
      if (keyLoad !== null) admission.answered(keyLoad, bodyBytes, false);
      const isBodyLong = hasLongBody(request);
      if (exchange.caller === null && (exchange.isPrivate || isBodyLong)) await keyless.spend(isBodyLong);
      server.timeout(request, timeouts.idle);
      answered = exchange.fail(error, isBodyLong);
    }
    return exchange.finish(answered);
  };

  /** Undefined for a short body, and for the only key in use: an await would cost an event-loop turn. */
  function waitForTurn(declaredLength: string | null, { keyId }: Caller): Promise<void> | undefined {
    longBodies.noteRequest(keyId, performance.now());
    const declaredBytes = declaredLength === null ? null : Number(declaredLength);
    // Such a body is refused without being read, so it must not delay the next one.
    if (declaredBytes !== null && declaredBytes > bodyLimits.maxBodyBytes) return undefined;
    return longBodies.waitForTurn(keyId, declaredBytes);
  }
}

function isJson(
  body: ServedRoute["body"],
): body is Exclude<ServedRoute["body"], undefined | { readonly kind: "form" }> {
  return body !== undefined && body.kind !== "form";
}

function findPreparation(body: ServedRoute["body"], json: JsonBody): ReturnType<PrepareBody> {
  return body !== undefined && "prepare" in body ? body.prepare?.(json) : undefined;
}

/** Before the body is checked, so that a refusal is recorded with them. The tags in requests of management are those of a key or team. */
function readTagsOf({ key, body }: ServedRoute, json: JsonBody): Tags | null {
  return key === "inference" && body?.kind === "json" ? readTags(json.value) : null;
}

function asksForStream(body: unknown): boolean {
  return typeof body === "object" && body !== null && "stream" in body && body.stream === true;
}
