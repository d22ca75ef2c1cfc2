// HTTP/1.1 to providers, over Bun's sockets on our own event loop: a socket can be paused while the caller does not read, and
// it is known when a connection stands (docs/decisions/0007-http-client.md has the comparison with fetch). TLS, certificates and names are checked by Bun's sockets.

import { BodyReader, HttpSyntaxError } from "../lib/http-body.ts";
import { HeadReader, type ResponseHead } from "../lib/http-response.ts";
import type { OutgoingProxy, ProxyExemption } from "../lib/outgoing-proxy.ts";
import type { Ticker, Watched } from "../lib/ticker.ts";
import { loadNarrowWindow } from "./narrow-window.ts";
import { loadPeekSocket } from "./peek-socket.ts";
import { openTunnel } from "./proxy-tunnel.ts";

/** Where a connection goes. */
export interface Origin {
  readonly hostname: string;
  readonly port: number;
  readonly isTls: boolean;
}

/** One request and its answer. Pieces of the body are taken when they are wanted; a queue that fills holds the provider back. */
export interface Exchange {
  readonly isConnected: boolean;
  /** At least one byte of the request was written: from then on the provider may execute it. */
  readonly wasSent: boolean;
  /** How long the connection took to stand; 0 for one that stood already. */
  readonly connectMs: number;
  /** 0 until the head is there. */
  readonly status: number;
  header(name: string): string | null;
  /** Resolves when the head is there. */
  open(): Promise<void>;
  /**
   * The next piece of the body, null at its end, undefined when it has to be waited for. The pieces of an event stream are good
   * only until this is called again: their memory is given back at once, because the collector would let it grow by far.
   */
  take(): Uint8Array | null | undefined;
  /** Resolves when `take` has something to give; rejects when the answer was cut or given up. */
  wait(): Promise<void>;
  /** The rest of the body is not wanted: lets it come, so that the connection can be used again. */
  release(): void;
  /** Ends it at once, in whatever state it is. */
  abort(): void;
}

/** What went wrong on the way. The code is the system's, or `BAD_RESPONSE` or `ABORTED`. */
export class HttpError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "HttpError";
    this.code = code;
  }
}

// What may wait for a caller who reads slowly, before the provider is held back. It goes on when all of that has been taken.
const pauseAtBytes = 65_536;
// Providers close idle connections after a minute or more; ours are closed first, so that few are closed while being used.
const idleMs = 30_000;
const lingerMs = 1_000;
const sweepEveryMs = 1_000;
// A connection is given up this long before the server says that it closes it: a request would cross the server's FIN on the way.
const closeEarlyMs = 1_000;

/** The proxy for TLS connections. Plain HTTP is for the operator's own servers and never goes through it. */
export interface ProxyRule {
  readonly proxy: OutgoingProxy;
  readonly isExempt: ProxyExemption;
}

type Socket = Bun.Socket<Connection>;

export class HttpClient implements Watched {
  index = -1;
  readonly #ticker: Ticker;
  readonly #proxyRule: ProxyRule | null;
  readonly #narrowWindow = loadNarrowWindow();
  readonly #peekSocket = loadPeekSocket();
  readonly #idle = new Map<Origin, Connection[]>();
  /** Those with a narrow window are for streams alone: a long answer in one piece would be slow over them. */
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
   * `head` is everything up to the content length; `body` is text, sent as UTF-8, or bytes. It is sent once: a connection that fails
   * after the first written byte fails the exchange. Only connections that were idle for at most `maxIdleMs` are used again.
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

  /** The connection that was used last and that the server has not closed, as far as the kernel knows. */
  #takeIdle(origin: Origin, isNarrow: boolean, maxIdleMs: number): Connection | undefined {
    const pool = this.#poolOf(isNarrow).get(origin);
    for (let idle = pool?.pop(); idle !== undefined; idle = pool?.pop()) {
      const { now } = this.#ticker;
      if (now < idle.idleUntil && now - idle.idleSince <= maxIdleMs && !idle.hasInput(this.#peekSocket)) return idle;
      idle.close();
    }
    return undefined;
  }

  /** A connection of its own for this exchange. */
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
    if (fd !== undefined) this.#narrowWindow?.(fd);
  }

  #isNarrow(exchange: SocketExchange): boolean {
    return exchange.isStream && this.#narrowWindow !== null;
  }

  #poolOf(isNarrow: boolean): Map<Origin, Connection[]> {
    return isNarrow ? this.#idleNarrow : this.#idle;
  }

  /** Kept from the next turn on: a server that closed right behind its answer has been heard by then. */
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
  /** Whether the answer was asked for as a stream. */
  readonly isStream: boolean;
  isConnected = false;
  wasSent = false;
  connectMs = 0;
  readonly #client: HttpClient;
  #connection: Connection | null = null;
  #head: ResponseHead | null = null;
  #body: BodyReader | null = null;
  /** Received and not yet looked at. */
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #isComplete = false;
  #isReleased = false;
  #isEventStream = false;
  #failure: HttpError | null = null;
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

  /** Nothing else can be waited for before the head. */
  open(): Promise<void> {
    return this.#head === null ? this.wait() : Promise.resolve();
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
        // What was taken last may still have to be written when the rest is let go.
        if (this.#isEventStream && !this.#isReleased) body.free();
        const bytes = this.#received.shift();
        if (bytes === undefined) {
          if (this.#isComplete) return null;
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
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#isComplete) return Promise.resolve();
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
    this.fail(new HttpError("ABORTED", "The call was given up"));
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

  /** The other side has ended its half. True when that is the proper end of the body. */
  takeEnd(): boolean {
    if (this.#body?.endsWithConnection !== true) return false;
    this.#isComplete = true;
    this.#connection = null;
    this.#wake();
    return true;
  }

  fail(failure: HttpError): void {
    if (this.#isComplete || this.#failure !== null) return;
    this.#failure = failure;
    this.#connection = null;
    const waiter = this.#waiter;
    this.#waiter = null;
    waiter?.reject(failure);
  }

  /** Moves to a new connection. Nothing was written to the one before, so this is the first send. */
  moveOn(message: string | Buffer): void {
    this.#connection = null;
    this.#client.connect(this, message);
  }

  #complete(body: BodyReader): void {
    this.#isComplete = true;
    const connection = this.#connection;
    this.#connection = null;
    // Bytes behind the end belong to nobody: such a connection is not used again.
    const mayKeep = this.#head?.mayKeepConnection === true && !body.hasSurplus && this.#received.length === 0;
    connection?.finish(mayKeep ? keptMsOf(this.#head) : 0);
  }

  #discard(): void {
    try {
      while (this.take()) {
        // not wanted
      }
    } catch {
      // broken behind the part that was wanted: its connection is closed
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

/** For how long a connection may be idle: less than the server says in `Keep-Alive: timeout=5`, if it says so. */
function keptMsOf(head: ResponseHead | null): number {
  const stated = head?.header("keep-alive");
  const seconds = stated ? /\btimeout=(\d{1,6})/i.exec(stated)?.[1] : undefined;
  return seconds === undefined ? idleMs : Math.min(idleMs, Number(seconds) * 1_000 - closeEarlyMs);
}

function fdOf(socket: Socket): number | undefined {
  // Bun's types do not name it.
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
  /** Text while nothing of it is on its way: the socket writes it without a copy of ours. */
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

  /** TCP is connected, and TLS is not established: the socket cannot be used yet, but has to be closed if the call is given up. */
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
    // Bytes are not copied again with every part that goes.
    else this.#unsent = (typeof unsent === "string" ? Buffer.from(unsent) : unsent).subarray(Math.max(0, written));
  }

  receive(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked: a late answer, or a server that says why it closes. Neither belongs to the next request.
    if (exchange === null) {
      this.close();
      return;
    }
    if (exchange.hasHead) {
      exchange.takeBytes(bytes);
      return;
    }
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

  /** The answer is there. A request that was answered before it was sent leaves a connection that cannot be used again. */
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

  /** The other side has ended its half. */
  end(): void {
    if (this.#exchange?.takeEnd() === true) this.close();
    else this.lose(null);
  }

  /** The connection broke, or was not established. */
  lose(cause: unknown): void {
    const exchange = this.#exchange;
    const message = this.#message;
    this.close();
    if (exchange === null) return;
    // It was closed before it was used again and refused the first byte: the server has seen nothing of this request.
    if (this.#isReused && message !== null && !exchange.wasSent) {
      exchange.moveOn(message);
      return;
    }
    const code = (cause as { code?: unknown } | null | undefined)?.code;
    exchange.fail(new HttpError(typeof code === "string" ? code : "ECONNRESET", "The connection was lost", cause));
  }

  /** Whether the kernel has something that the event loop has not reported: a FIN, or bytes that belong to no request. */
  hasInput(peek: ((fd: number) => boolean) | null): boolean {
    const fd = peek === null || this.#socket === null ? undefined : fdOf(this.#socket);
    return fd !== undefined && peek?.(fd) === true;
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

/** One object for all sockets: what belongs to a connection is in its `data`. */
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
