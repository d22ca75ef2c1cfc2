// Idle connections for the next request to the same origin. The caller resolves and checks the addresses again for each request.

import type { Socket } from "node:net";

export interface Connection {
  readonly socket: Socket;
  readonly address: string;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

interface Kept {
  readonly origin: string;
  readonly connection: Connection;
  /** Stops watching the connection. */
  release(): void;
}

// Most receivers close idle connections after five seconds.
const defaultLongestIdleMs = 4_000;
// The certificate was verified when the connection was made; it should not stay trusted for ever.
const longestLifeMs = 60_000;
// The default number of concurrent deliveries to one host.
const maxPerOrigin = 32;
const maxTotal = 256;

/** Waits until the event loop has polled the sockets once, which reports a FIN that had already arrived. */
async function untilReported(): Promise<void> {
  // The first immediate runs in the current turn, before the next poll.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function createKeptConnections({ longestIdleMs = defaultLongestIdleMs } = {}) {
  // In the order of insertion: the oldest is first.
  const all = new Set<Kept>();

  function drop(kept: Kept): void {
    kept.release();
    kept.connection.socket.destroy();
  }

  /** Closes the connection when the limits are reached. */
  function keep(origin: string, connection: Connection): void {
    const { socket, openedAt } = connection;
    const ofOrigin = [...all].filter((other) => other.origin === origin).length;
    const isOld = performance.now() - openedAt > longestLifeMs;
    if (socket.destroyed || isOld || ofOrigin >= maxPerOrigin) {
      socket.destroy();
      return;
    }
    const end = () => drop(kept);
    const timer = setTimeout(end, longestIdleMs);
    // Unrequested bytes would be taken for the next response.
    const events = ["data", "end", "error", "close"] as const;
    for (const event of events) socket.on(event, end);
    // An idle connection must not keep the process alive.
    timer.unref();
    socket.unref();
    const kept: Kept = {
      origin,
      connection,
      release() {
        all.delete(kept);
        clearTimeout(timer);
        for (const event of events) socket.off(event, end);
      },
    };
    all.add(kept);
    const [oldest] = all;
    if (all.size > maxTotal && oldest !== undefined) drop(oldest);
  }

  /**
   * A connection to one of these addresses that, as far as can be known, the server has not closed. It is no longer idle and belongs to
   * the caller, who must treat a request as sent once it is written.
   */
  async function take(origin: string, addresses: readonly string[]): Promise<Connection | null> {
    for (;;) {
      // The most recently used connection is the least likely to be closed.
      const kept = [...all].findLast(
        (other) => other.origin === origin && addresses.includes(other.connection.address),
      );
      if (kept === undefined) return null;
      // Removed before the wait, so that two requests never get the same connection.
      all.delete(kept);
      const { socket } = kept.connection;
      socket.ref();
      await untilReported();
      kept.release();
      if (!socket.destroyed) return kept.connection;
    }
  }

  function close(): void {
    for (const kept of [...all]) drop(kept);
  }

  return { take, keep, close };
}
