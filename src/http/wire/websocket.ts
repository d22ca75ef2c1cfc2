// A connection that has changed to WebSocket messages (RFC 6455).

import type { Outgoing } from "./outgoing.ts";
import {
  toCloseFrame,
  toPingFrame,
  toPongFrame,
  toTextFrame,
  WebSocketError,
  type WebSocketEvent,
  WebSocketReader,
} from "./websocket-frames.ts";

/** Who the messages are for. */
export interface WebSocketEvents {
  received(text: string): void;
  /** A message that is no text. */
  receivedBinary(): void;
  wasDrained(): void;
  closed(): void;
}

interface WebSocketLimits {
  readonly maxMessageBytes: number;
  /** Whoever says nothing for so long is asked whether it is still there, and given up after as long again. */
  readonly silenceMs?: number;
}

const usualSilenceMs = 60_000;
const mostUnsentBytes = 16_777_216;
const normalClosure = 1_000;
const noCodeGiven = 1_005;

export class WebSocketWire {
  readonly #outgoing: Outgoing;
  readonly #reader: WebSocketReader;
  readonly #events: WebSocketEvents;
  readonly #endConnection: () => void;
  readonly #silenceMs: number;
  #heardAt = performance.now();
  #isAsked = false;
  #isClosed = false;

  constructor(outgoing: Outgoing, limits: WebSocketLimits, events: WebSocketEvents, endConnection: () => void) {
    this.#outgoing = outgoing;
    this.#reader = new WebSocketReader(limits.maxMessageBytes);
    this.#silenceMs = limits.silenceMs ?? usualSilenceMs;
    this.#events = events;
    this.#endConnection = endConnection;
  }

  /** False when the other side does not read: more should wait. */
  send(text: string): boolean {
    if (this.#isClosed || this.#outgoing.write(toTextFrame(text))) return true;
    // Whoever asks and asks and never reads would fill our memory.
    if (this.#outgoing.unsentBytes > mostUnsentBytes) this.#endConnection();
    return false;
  }

  /** Says goodbye and ends the connection. */
  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#outgoing.write(toCloseFrame(code, reason));
    this.#endConnection();
  }

  receive(bytes: Buffer): void {
    this.#heardAt = performance.now();
    this.#isAsked = false;
    this.#reader.feed(bytes);
    try {
      for (let event = this.#reader.next(); event !== undefined && !this.#isClosed; event = this.#reader.next())
        this.#take(event);
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.close(error.closeCode, error.message);
    }
  }

  check(now: number): void {
    const silentMs = now - this.#heardAt;
    if (silentMs > 2 * this.#silenceMs) this.#endConnection();
    else if (silentMs > this.#silenceMs && !this.#isAsked) {
      this.#isAsked = true;
      this.#outgoing.write(toPingFrame());
    }
  }

  wasDrained(): void {
    this.#events.wasDrained();
  }

  /** The connection is gone, or going. */
  closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events.closed();
  }

  #take(event: WebSocketEvent): void {
    switch (event.kind) {
      case "text":
        this.#events.received(event.text);
        return;
      case "binary":
        this.#events.receivedBinary();
        return;
      case "ping":
        // Whoever asks without reading the answers does not need all of them.
        if (!this.#outgoing.isStalled) this.#outgoing.write(toPongFrame(event.payload));
        return;
      case "close":
        this.close(event.code === noCodeGiven ? normalClosure : event.code, "");
        return;
      case "pong":
    }
  }
}
