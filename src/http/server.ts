// The HTTP server: the listeners of a process, what their requests share, and how they are drained and stopped.

import { rmSync } from "node:fs";
import type { Limits } from "../access/limits.ts";
import { LongBodies } from "../access/long-bodies.ts";
import type { Sessions } from "../access/sessions.ts";
import type { Refusal } from "../inference/report.ts";
import { type AddressRanges, createAddressRanges } from "../lib/addresses.ts";
import type { Ticker } from "../lib/ticker.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Tracing } from "../tracing/span.ts";
import type { Admission } from "./admission.ts";
import { createCallerCheck } from "./admit-caller.ts";
import { type ConnectionTimeouts, createRequestHandler } from "./answer-request.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Capture } from "./capture.ts";
import type { Cors } from "./cors.ts";
import { Drain } from "./drain.ts";
import { lastResortReply } from "./error-reply.ts";
import { originOf } from "./forwarded.ts";
import { clientAddressHeader, type ListenerHandover } from "./handover.ts";
import type { HostCheck } from "./host-check.ts";
import type { BodyLimits } from "./read-body.ts";
import type { ServedRoute } from "./route.ts";
import { createRouter, toBunPath } from "./router.ts";
import { type BunServer, OpenSockets, type SocketConnection, type SocketRoute } from "./socket.ts";
import { createSocketUpgrade } from "./socket-upgrade.ts";
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
  /** Absent or null: the content of requests is not captured. */
  readonly capture?: Capture | null;
  readonly log: Log;
}

/** Their product bounds the memory of unfinished messages of one key. */
interface SocketLimits {
  readonly maxWebSocketsPerKey: number;
  readonly maxWebSocketMessageBytes: number;
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
const noAddresses = createAddressRanges([]);

export function startServer(options: ServerOptions): Server {
  const { authenticator, admission, bodyLimits, handover, ticker, limits, log } = options;
  const { cors = null, checkHost = null, tls = null, tracing = null, trustedProxies = noAddresses } = options;
  const { maxWebSocketsPerKey, maxWebSocketMessageBytes } = options.socketLimits ?? noSocketLimits;
  const { onRefused, metrics, sessions, publicUrl = null, capture = null } = options;
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const router = createRouter(options.routes);
  const drain = new Drain();
  const openSockets = new OpenSockets(maxWebSocketsPerKey);
  const longBodies = new LongBodies();
  const socketRoutes = options.sockets ?? [];
  const answerRequest = createRequestHandler({
    context: { limits, admission, drain, trustedProxies, cors, onRefused, metrics, capture, log },
    router,
    sockets: createSocketUpgrade({ socketRoutes, authenticator, admission, longBodies, openSockets, drain, handover }),
    admitCaller: createCallerCheck({ authenticator, sessions, findBaseUrl }),
    findPeer,
    findBaseUrl,
    ...{ checkHost, bodyLimits, longBodies, timeouts, ticker, handover, tracing },
  });

  function findPeer(request: Request, server: BunServer): string {
    if (server === passedServer) return request.headers.get(clientAddressHeader) ?? "";
    return server.requestIP(request)?.address ?? "";
  }

  function findBaseUrl(request: Request, peer: string): string {
    if (publicUrl !== null) return publicUrl;
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
          (request: Request, server: BunServer) => answerRequest(request, server, path),
        ]),
      ),
      fetch: (request, server) => answerRequest(request, server, null),
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
      drain.begin();
      openSockets.beginDrain();
    },
    untilAnnounced: (lingerMs) => drain.untilAnnounced(lingerMs),
    async stop() {
      await Promise.all([server.stop(), passedServer?.stop()]);
    },
    stopNow() {
      void server.stop(true);
      void passedServer?.stop(true);
    },
  };
}

function ignore(): void {}
