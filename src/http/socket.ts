// WebSockets: a path at which a connection stays open and messages go both ways. The door's checks are made once, when it opens.

import type { Caller } from "../access/caller.ts";
import type { WebSocketEvents, WebSocketWire } from "./wire/websocket.ts";

export interface SocketRoute {
  readonly path: string;
  readonly open: (socket: Socket) => SocketSession;
}

/** What a session may do with its connection. */
export interface Socket {
  /** Who it was when it was asked last. */
  readonly caller: Caller;
  /** Asks again: a key may have been revoked, or changed, since the connection was opened. Throws when it may not call. */
  identify(): Promise<Caller>;
  readonly requestId: string;
  /** Fires when the other side has gone. */
  readonly signal: AbortSignal;
  /** False: the other side does not read; wait for `drained`. */
  send(text: string): boolean;
  /** Resolves when what was sent has left. */
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

export interface SocketSession {
  /** Never throws: what goes wrong is told over the connection. */
  receive(text: string): void;
  /** The gateway goes down: what runs may end, and then the connection. */
  drain(): void;
}

/** One open connection, between the wire and the session. */
export class SocketConnection implements Socket, WebSocketEvents {
  caller: Caller;
  readonly requestId: string;
  readonly #controller = new AbortController();
  #wire: WebSocketWire | null = null;
  #session: SocketSession | null = null;
  #drained: PromiseWithResolvers<void> | null = null;
  readonly #open: SocketRoute["open"];
  readonly #identify: () => Promise<Caller>;
  readonly #onClose: () => void;

  constructor(
    route: SocketRoute,
    requestId: string,
    caller: Caller,
    identify: () => Promise<Caller>,
    onClose: () => void,
  ) {
    this.#open = route.open;
    this.requestId = requestId;
    this.caller = caller;
    this.#identify = identify;
    this.#onClose = onClose;
  }

  async identify(): Promise<Caller> {
    this.caller = await this.#identify();
    return this.caller;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  send(text: string): boolean {
    return this.#wire?.send(text) ?? true;
  }

  drained(): Promise<void> {
    if (this.#wire === null) return Promise.resolve();
    this.#drained ??= Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  close(code: number, reason: string): void {
    this.#wire?.close(code, reason);
  }

  opened(wire: WebSocketWire): void {
    this.#wire = wire;
    this.#session = this.#open(this);
  }

  received(text: string): void {
    this.#session?.receive(text);
  }

  receivedBinary(): void {
    this.close(1003, "Messages are text.");
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
    this.#wire = null;
    this.#onClose();
  }
}
