// The HTTP/1.1 client for providers, on Bun's sockets: it pauses a socket while the caller does not read, and reports when a connection is
// established (docs/decisions/0007-http-client.md compares it with fetch). Bun's sockets verify certificates and host names.

import { BodyReader, HttpSyntaxError } from "../lib/http-body.ts";
import { HeadReader, type ResponseHead } from "../lib/http-response.ts";
import type { OutgoingProxy, ProxyExemption } from "../lib/outgoing-proxy.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { openTunnel } from "./proxy-tunnel.ts";
import { loadSocketCalls, type SocketCalls } from "./socket-calls.ts";

/** The server of a connection. */
export interface Origin {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** One request and its response. The caller takes the body piece by piece; when the buffer fills up, the socket is paused. */
export interface Exchange {
  readonly isConnected: boolean;
  /** At least one byte of the request was written, so the provider may execute it. */
  readonly wasSent: boolean;
  /** How long it took to connect; 0 for a reused connection. */
  readonly connectMs: number;
  /** 0 before the head has arrived. */
  readonly status: number;
  header(name: string): string | null;
  /** Resolves when the head has arrived. */
  open(): Promise<void>;
  /**
   * The next piece of the body, null at its end, undefined when none has arrived yet. A piece of an event stream is valid only until
   * the next call, which releases its memory: the garbage collector would let the memory grow much further.
   */
  take(): Uint8Array | null | undefined;
  /** Resolves when `take` may return something, or throws because the response was cut off or the exchange was aborted. */
  wait(): Promise<void>;
  /** Discards the remaining body as it arrives, so that the connection can be reused. */
  release(): void;
  /** Ends the exchange and its connection at once. */
  abort(): void;
}

/** The code is that of the system or of TLS, `BAD_RESPONSE`, `ABORTED`, or begins with `PROXY_`. */
export class HttpError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "HttpError";
    this.code = code;
  }
}

// The socket is paused when this much waits for a slow caller, and resumed when all of it has been taken.
const pauseAtBytes = 65_536;
// Providers close idle connections after a minute or more. Closing them first avoids most requests on a connection that is being closed.
const idleMs = 30_000;
const lingerMs = 1_000;
const sweepEveryMs = 1_000;
// Connections are closed this long before the time that the server announces: a later request could cross the server's FIN.
const closeEarlyMs = 1_000;

/** The proxy for TLS connections. Plain HTTP is for the operator's own servers and never uses it. */
export interface ProxyRule {
  readonly proxy: OutgoingProxy;
  readonly isExempt: ProxyExemption;
}

type Socket = Bun.Socket<Connection>;

export class HttpClient implements Watched {
  index = -1;
  readonly #ticker: Ticker;
  readonly #proxyRule: ProxyRule | null;
  readonly #socketCalls = loadSocketCalls();
  readonly #idle = new Map<Origin, Connection[]>();
  /** Connections with a small receive window serve streams only: a large response would be slow. */
  readonly #idleNarrow = new Map<Origin, Connection[]>();
  readonly #lingering = new Set<Connection>();
  #returned: Connection[] = [];
  #sweepAt = 0;

  constructor(ticker: Ticker, proxyRule: ProxyRule | null = null) {
    this.#ticker = ticker;
    this.#proxyRule = proxyRule;
    ticker.watch(this);
  }

  /**
   * `head` is everything before the content length; `body` is text, sent as UTF-8, or bytes. The request is sent once: a connection
   * that fails after the first written byte fails the exchange. Connections that were idle for more than `maxIdleMs` are not reused.
   */
  send(origin: Origin, head: string, body: string | Uint8Array, isStream = false, maxIdleMs = idleMs): Exchange {
    const exchange = new SocketExchange(this, origin, isStream);
    const message =
      typeof body === "string"
        ? `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
        : Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body]);
    const idle = this.#takeIdle(origin, this.#isNarrow(exchange), maxIdleMs);
    if (idle === undefined) this.connect(exchange, message);
    else idle.begin(exchange, message);
    return exchange;
  }

  /** The most recently used connection that, as far as the kernel knows, the server has not closed. */
  #takeIdle(origin: Origin, isNarrow: boolean, maxIdleMs: number): Connection | undefined {
    const pool = this.#poolOf(isNarrow).get(origin);
    for (let idle = pool?.pop(); idle !== undefined; idle = pool?.pop()) {
      const { now } = this.#ticker;
      if (now < idle.idleUntil && now - idle.idleSince <= maxIdleMs && !idle.hasInput(this.#socketCalls)) return idle;
      idle.close();
    }
    return undefined;
  }

  /** Opens a new connection for this exchange. */
  connect(exchange: SocketExchange, message: string | Buffer): void {
    const connection = new Connection(this, exchange.origin, this.#isNarrow(exchange));
    connection.begin(exchange, message);
    const { hostname, port, isTls } = exchange.origin;
    const rule = this.#proxyRule;
    if (rule !== null && isTls && !rule.isExempt(hostname, port)) {
      const { proxy } = rule;
      const onConnected = (socket: { terminate(): void }) => connection.opened(socket);
      const onFailed = (error: unknown) => connection.lose(error);
      openTunnel({ proxy, hostname, port, data: connection, handlers, onConnected, onFailed });
      return;
    }
    Bun.connect<Connection>({
      hostname,
      port,
      data: connection,
      socket: handlers,
      ...(isTls ? { tls: { serverName: hostname } } : {}),
    }).catch((error) => connection.lose(error));
  }

  narrow(socket: Socket): void {
    const fd = fdOf(socket);
    if (fd !== undefined) this.#socketCalls?.limitReceiveBuffer(fd);
  }

  #isNarrow(exchange: SocketExchange): boolean {
    return exchange.isStream && this.#socketCalls !== null;
  }

  #poolOf(isNarrow: boolean): Map<Origin, Connection[]> {
    return isNarrow ? this.#idleNarrow : this.#idle;
  }

  /** Pools the connection in the next event-loop turn: by then a FIN right after the response has been reported. */
  keep(connection: Connection, keptMs: number): void {
    connection.idleSince = this.#ticker.now;
    connection.idleUntil = connection.idleSince + keptMs;
    if (this.#returned.length === 0) setImmediate(() => this.#keepReturned());
    this.#returned.push(connection);
  }

  #keepReturned(): void {
    const returned = this.#returned;
    this.#returned = [];
    for (const connection of returned) if (connection.isIdle) this.#pool(connection);
  }

  #pool(connection: Connection): void {
    const pool = this.#poolOf(connection.isNarrow);
    const idle = pool.get(connection.origin);
    if (idle === undefined) pool.set(connection.origin, [connection]);
    else idle.push(connection);
  }

  linger(connection: Connection): void {
    connection.idleSince = this.#ticker.now;
    this.#lingering.add(connection);
  }

  forget(connection: Connection): void {
    this.#lingering.delete(connection);
    const idle = this.#poolOf(connection.isNarrow).get(connection.origin);
    const index = idle?.indexOf(connection) ?? -1;
    if (index >= 0) idle?.splice(index, 1);
  }

  check(now: number): void {
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + sweepEveryMs;
    for (const connection of this.#listIdle()) if (now >= connection.idleUntil) connection.close();
    for (const connection of [...this.#lingering]) if (now - connection.idleSince > lingerMs) connection.close();
  }

  close(): void {
    this.#ticker.forget(this);
    for (const connection of [...this.#listIdle(), ...this.#lingering, ...this.#returned]) connection.close();
  }

  #listIdle(): Connection[] {
    return [...this.#idle.values(), ...this.#idleNarrow.values()].flat();
  }
}

class SocketExchange implements Exchange {
  readonly origin: Origin;
  /** Whether the caller requested a stream. */
  readonly isStream: boolean;
  isConnected = false;
  wasSent = false;
  connectMs = 0;
  readonly #client: HttpClient;
  #connection: Connection | null = null;
  #head: ResponseHead | null = null;
  #body: BodyReader | null = null;
  /** Received and not yet parsed. */
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #isComplete = false;
  #isReleased = false;
  #isEventStream = false;
  #failure: HttpError | null = null;
  /** The connection was lost after the head. It is a failure only if the bytes that were received before do not complete the body. */
  #loss: HttpError | null = null;
  #waiter: PromiseWithResolvers<void> | null = null;

  constructor(client: HttpClient, origin: Origin, isStream: boolean) {
    this.#client = client;
    this.origin = origin;
    this.isStream = isStream;
  }

  get status(): number {
    return this.#head?.status ?? 0;
  }

  get hasHead(): boolean {
    return this.#head !== null;
  }

  header(name: string): string | null {
    return this.#head?.header(name) ?? null;
  }

  open(): Promise<void> {
    if (this.#head !== null) return Promise.resolve();
    return this.#failure === null ? this.wait() : Promise.reject(this.#failure);
  }

  take(): Uint8Array | null | undefined {
    if (this.#failure !== null) throw this.#failure;
    const body = this.#body;
    if (body === null) return undefined;
    try {
      for (;;) {
        const piece = body.next();
        if (body.isComplete && !this.#isComplete) this.#complete(body);
        if (piece !== undefined) return piece;
        if (body.isComplete) return null;
        // After a release, the piece that was taken last may still have to be written.
        if (this.#isEventStream && !this.#isReleased) body.free();
        const bytes = this.#received.shift();
        if (bytes === undefined) {
          if (this.#isComplete) return null;
          if (this.#loss !== null) throw this.#loss;
          this.#connection?.resume();
          return undefined;
        }
        body.feed(bytes);
        this.#receivedBytes -= bytes.length;
      }
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      throw this.#breakOff(error);
    }
  }

  wait(): Promise<void> {
    if (this.#isComplete || this.#failure !== null || this.#loss !== null) return Promise.resolve();
    this.#waiter ??= Promise.withResolvers<void>();
    return this.#waiter.promise;
  }

  release(): void {
    if (this.#connection === null) return;
    this.#isReleased = true;
    this.#client.linger(this.#connection);
    this.#discard();
  }

  abort(): void {
    if (this.#isComplete || this.#failure !== null) return;
    const connection = this.#connection;
    this.fail(new HttpError("ABORTED", "The call was aborted"));
    connection?.close();
  }

  attach(connection: Connection): void {
    this.#connection = connection;
  }

  takeHead(head: ResponseHead): void {
    this.#head = head;
    this.#body = new BodyReader(head.framing);
    this.#isEventStream = this.isStream && head.status < 300 && isEventStream(head);
    if (this.#body.isComplete) this.#complete(this.#body);
    this.#wake();
  }

  takeBytes(bytes: Buffer): void {
    if (this.#isComplete) {
      this.#connection?.close();
      return;
    }
    this.#received.push(bytes);
    this.#receivedBytes += bytes.length;
    if (this.#isReleased) {
      this.#discard();
      return;
    }
    if (this.#receivedBytes > pauseAtBytes) this.#connection?.pause();
    this.#wake();
  }

  /** The server has closed its side. True when that is how the body ends. */
  takeEnd(): boolean {
    if (this.#body?.endsWithConnection !== true) return false;
    this.#isComplete = true;
    this.#connection = null;
    this.#wake();
    return true;
  }

  /** The connection was lost. */
  lose(loss: HttpError): void {
    if (this.#head === null) {
      this.fail(loss);
      return;
    }
    if (this.#isComplete || this.#failure !== null) return;
    this.#loss = loss;
    this.#connection = null;
    this.#wake();
  }

  fail(failure: HttpError): void {
    if (this.#isComplete || this.#failure !== null) return;
    this.#failure = failure;
    this.#connection = null;
    const waiter = this.#waiter;
    this.#waiter = null;
    // Only `open` rejects; after the head, `take` throws.
    if (this.#head === null) waiter?.reject(failure);
    else waiter?.resolve();
  }

  /** Repeats the send on a new connection. Nothing was written to the previous one, so the request is still sent once. */
  moveOn(message: string | Buffer): void {
    this.#connection = null;
    this.#client.connect(this, message);
  }

  #complete(body: BodyReader): void {
    this.#isComplete = true;
    const connection = this.#connection;
    this.#connection = null;
    // Bytes after the body belong to no response, so the connection is not reused.
    const mayKeep = this.#head?.mayKeepConnection === true && !body.hasSurplus && this.#received.length === 0;
    connection?.finish(mayKeep ? keptMsOf(this.#head) : 0);
  }

  #discard(): void {
    try {
      while (this.take()) {
        // discarded
      }
    } catch {
      // The discarded part is malformed, and the connection has been closed.
    }
  }

  #breakOff(error: HttpSyntaxError): HttpError {
    const connection = this.#connection;
    const failure = new HttpError("BAD_RESPONSE", error.message);
    this.fail(failure);
    connection?.close();
    return failure;
  }

  #wake(): void {
    const waiter = this.#waiter;
    if (waiter === null) return;
    this.#waiter = null;
    waiter.resolve();
  }
}

function isEventStream(head: ResponseHead): boolean {
  return head.header("content-type")?.toLowerCase().startsWith("text/event-stream") === true;
}

/** How long a connection may be idle: less than the time that the server announces in `Keep-Alive: timeout=5`. */
function keptMsOf(head: ResponseHead | null): number {
  const stated = head?.header("keep-alive");
  const seconds = stated ? /\btimeout=(\d{1,6})/i.exec(stated)?.[1] : undefined;
  return seconds === undefined ? idleMs : Math.min(idleMs, Number(seconds) * 1_000 - closeEarlyMs);
}

function fdOf(socket: Socket): number | undefined {
  // Bun's types do not declare it.
  return (socket as Socket & { readonly fd?: number }).fd;
}

class Connection {
  readonly origin: Origin;
  readonly isNarrow: boolean;
  idleSince = 0;
  idleUntil = 0;
  readonly #client: HttpClient;
  #socket: Socket | null = null;
  /** The connection before its TLS handshake is complete. */
  #opened: { terminate(): void } | null = null;
  #exchange: SocketExchange | null = null;
  #message: string | Buffer | null = null;
  /** A string until part of it is written: the socket encodes it without a copy. */
  #unsent: string | Buffer | null = null;
  readonly #heads = new HeadReader();
  readonly #startedAt = performance.now();
  #isReused = false;
  #isPaused = false;
  #isClosed = false;

  constructor(client: HttpClient, origin: Origin, isNarrow: boolean) {
    this.#client = client;
    this.origin = origin;
    this.isNarrow = isNarrow;
  }

  get isIdle(): boolean {
    return !this.#isClosed && this.#exchange === null;
  }

  begin(exchange: SocketExchange, message: string | Buffer): void {
    this.#exchange = exchange;
    this.#message = message;
    this.#unsent = message;
    exchange.attach(this);
    if (this.#socket === null) return;
    this.#isReused = true;
    exchange.isConnected = true;
    this.flush();
  }

  /** TCP is connected, and TLS is not established: the socket cannot be used yet, but must be closed if the call is aborted. */
  opened(socket: { terminate(): void }): void {
    if (this.#isClosed) socket.terminate();
    else this.#opened = socket;
  }

  /** The connection is established and, with TLS, the certificate has been verified. */
  ready(socket: Socket): void {
    if (this.#isClosed) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    if (this.isNarrow) this.#client.narrow(socket);
    if (this.#exchange !== null) {
      this.#exchange.isConnected = true;
      this.#exchange.connectMs = performance.now() - this.#startedAt;
    }
    this.flush();
  }

  flush(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const unsent = this.#unsent;
    const written = this.#socket.write(unsent);
    if (written > 0 && this.#exchange !== null) this.#exchange.wasSent = true;
    const length = typeof unsent === "string" ? Buffer.byteLength(unsent) : unsent.length;
    if (written >= length) this.#unsent = null;
    // A view: the bytes are not copied again after each partial write.
    else this.#unsent = (typeof unsent === "string" ? Buffer.from(unsent) : unsent).subarray(Math.max(0, written));
  }

  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    // No request is running: a late response, or a message about why the server closes. Neither belongs to the next request.
    if (exchange === null) {
      this.close();
      return;
    }
    if (exchange.hasHead) {
      exchange.takeBytes(bytes);
      return;
    }
    this.#receiveHead(bytes, exchange);
  }

  /** Apart from `receive`, which runs for every chunk of a stream and should stay small. */
  #receiveHead(bytes: Buffer, exchange: SocketExchange): void {
    try {
      const found = this.#heads.read(bytes);
      if (found === null) return;
      exchange.takeHead(found.head);
      if (found.rest.length > 0) exchange.takeBytes(found.rest);
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      exchange.fail(new HttpError("BAD_RESPONSE", error.message));
      this.close();
    }
  }

  /** The response is complete. If it arrived before the whole request was sent, the connection cannot be reused. */
  finish(keptMs: number): void {
    const wasSent = this.#unsent === null;
    this.#exchange = null;
    this.#message = null;
    this.#client.forget(this);
    if (keptMs <= 0 || !wasSent) {
      this.close();
      return;
    }
    this.resume();
    this.#client.keep(this, keptMs);
  }

  /** The server has closed its side. */
  end(): void {
    if (this.#exchange?.takeEnd() === true) this.close();
    else this.lose(null);
  }

  /** The connection was lost, or could not be established. */
  lose(cause: unknown): void {
    const exchange = this.#exchange;
    const message = this.#message;
    this.close();
    if (exchange === null) return;
    // A reused connection that did not take the first byte: the server has seen nothing of this request.
    if (this.#isReused && message !== null && !exchange.wasSent) {
      exchange.moveOn(message);
      return;
    }
    const code = (cause as { code?: unknown } | null | undefined)?.code;
    exchange.lose(new HttpError(typeof code === "string" ? code : "ECONNRESET", "The connection was lost", cause));
  }

  /** Whether the kernel has input that the event loop has not reported: a FIN, or bytes that belong to no request. */
  hasInput(calls: SocketCalls | null): boolean {
    const fd = calls === null || this.#socket === null ? undefined : fdOf(this.#socket);
    return fd !== undefined && calls?.hasInput(fd) === true;
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket?.resume();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange = null;
    this.#client.forget(this);
    (this.#socket ?? this.#opened)?.terminate();
  }
}

/** Shared by all sockets; the state of a connection is the socket's `data`. */
const handlers: Bun.SocketHandler<Connection> = {
  open(socket) {
    if (socket.data.origin.isTls) socket.data.opened(socket);
    else socket.data.ready(socket);
  },
  handshake(socket, success, error) {
    if (success && !error) socket.data.ready(socket);
    else socket.data.lose(error ?? { code: "ERR_TLS_HANDSHAKE" });
  },
  data: (socket, bytes) => socket.data.receive(bytes),
  drain: (socket) => socket.data.flush(),
  end: (socket) => socket.data.end(),
  error: (socket, error) => socket.data.lose(error),
  close: (socket, error) => socket.data.lose(error),
  connectError: (socket, error) => socket.data.lose(error),
};
