// The open WebSockets of this process, and how many each key has.

import { GatewayError } from "../errors.ts";
import type { SocketConnection } from "./socket.ts";

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
    if (count >= this.#maxPerKey)
      throw new GatewayError(
        "rate_limit_exceeded",
        `This key may have ${this.#maxPerKey} open WebSockets; close one.`,
        {
          retryAfter: 1,
        },
      );
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
