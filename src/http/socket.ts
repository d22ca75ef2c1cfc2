// WebSockets: their connections and sessions, and how many each key has open. The server checks a request once, when it upgrades the
// connection.

import type { Caller } from "../access/caller.ts";
import { GatewayError } from "../errors.ts";
import type { ReserveBytes } from "./route.ts";

export interface SocketRoute {
  readonly path: string;
  readonly open: (socket: Socket) => SocketSession;
}

/** What a session may do with its connection. */
export interface Socket {
  /** The result of the last `identify`. */
  readonly caller: Caller;
  /** Looks the key up again: it may have been revoked or changed since the connection was opened. Throws when it may not call. */
  identify(): Promise<Caller>;
  /** Called before a message is read, with its length, and before it makes the gateway work on more bytes. */
  readonly reserve: ReserveBytes;
  readonly requestId: string;
  /** Fires when the connection has closed. */
  readonly signal: AbortSignal;
  /** False: the client does not read; wait for `drained`. */
  send(text: string): boolean;
  /** Resolves when the send buffer is empty. */
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

export interface SocketSession {
  /** Never throws: errors are sent over the connection. */
  receive(text: string): void;
  /** The gateway shuts down: a running response may complete, then the connection is closed. */
  drain(): void;
}

export type BunServer = Bun.Server<SocketConnection>;
type WebSocketOfServer = Bun.ServerWebSocket<SocketConnection>;

/** Connects Bun's WebSocket with the session. */
export class SocketConnection implements Socket {
  caller: Caller;
  /** The key that opened the connection. */
  readonly keyId: string;
  readonly requestId: string;
  readonly reserve: ReserveBytes;
  readonly #controller = new AbortController();
  #webSocket: WebSocketOfServer | null = null;
  #session: SocketSession | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  readonly #open: SocketRoute["open"];
  readonly #identify: () => Promise<Caller>;

  constructor(
    route: SocketRoute,
    requestId: string,
    { caller, identify, reserve }: Pick<Socket, "caller" | "identify" | "reserve">,
  ) {
    this.#open = route.open;
    this.requestId = requestId;
    this.reserve = reserve;
    this.caller = caller;
    this.keyId = caller.keyId;
    this.#identify = identify;
  }

  async identify(): Promise<Caller> {
    this.caller = await this.#identify();
    return this.caller;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  send(text: string): boolean {
    // -1: the message is queued and will be sent. 0: it was dropped, because the connection is closing.
    return (this.#webSocket?.send(text) ?? 0) !== -1;
  }

  drained(): Promise<void> {
    if (this.#webSocket === null) return Promise.resolve();
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  close(code: number, reason: string): void {
    this.#webSocket?.close(code, reason);
  }

  opened(webSocket: WebSocketOfServer): void {
    this.#webSocket = webSocket;
    this.#session = this.#open(this);
  }

  received(message: string | Buffer): void {
    if (typeof message === "string") this.#session?.receive(message);
    else this.close(1003, "Messages must be text.");
  }

  beginDrain(): void {
    this.#session?.drain();
  }

  wasDrained(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }

  closed(): void {
    this.#controller.abort();
    this.wasDrained();
    this.#webSocket = null;
  }
}

/** The open WebSockets of this process. */
export class OpenSockets {
  readonly #maxPerKey: number;
  readonly #connections = new Set<SocketConnection>();
  readonly #counts = new Map<string, number>();

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey;
  }

  /** Counts a connection before it is opened, so that concurrent requests cannot exceed the limit. Throws 429. */
  add(connection: SocketConnection): void {
    const count = this.#counts.get(connection.keyId) ?? 0;
    const message = `This key may have ${this.#maxPerKey} open WebSockets; close one.`;
    if (count >= this.#maxPerKey) throw new GatewayError("rate_limit_exceeded", message, { retryAfter: 1 });
    this.#counts.set(connection.keyId, count + 1);
    this.#connections.add(connection);
  }

  remove(connection: SocketConnection): void {
    if (!this.#connections.delete(connection)) return;
    const count = this.#counts.get(connection.keyId) ?? 0;
    if (count > 1) this.#counts.set(connection.keyId, count - 1);
    else this.#counts.delete(connection.keyId);
  }

  beginDrain(): void {
    for (const connection of this.#connections) connection.beginDrain();
  }
}
