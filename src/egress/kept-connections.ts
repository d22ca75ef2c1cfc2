// Connections that stay open for the next request to the same place. Which place that is, is the caller's to check again each time.

import type { Socket } from "node:net";

export interface Connection {
  readonly socket: Socket;
  /** What was dialled. */
  readonly address: string;
  /** By `performance.now()`. */
  readonly openedAt: number;
}

export interface KeptConnections {
  /**
   * One that leads to one of these addresses, and that its server has not closed, as far as it can be known: a request that is written to
   * it counts as sent. It is the taker's then.
   */
  take(origin: string, addresses: readonly string[]): Promise<Connection | null>;
  /** Closes it where there is no room. */
  keep(origin: string, connection: Connection): void;
  close(): void;
}

interface Kept {
  readonly origin: string;
  readonly connection: Connection;
  /** Stops watching it. */
  release(): void;
}

// Receivers close after a few seconds, most of them after five.
const longestIdleMs = 4_000;
// A certificate was good when the connection was made: that should not hold forever.
const longestLifeMs = 60_000;
// As many as are delivered to one host at once, unless the operator says otherwise.
const mostPerOrigin = 32;
const mostAltogether = 256;

/** The event loop has read from the network once: a FIN that had arrived before has been reported by then. */
async function untilReported(): Promise<void> {
  // The first immediate runs in the current turn, before the next poll of the sockets.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

export function createKeptConnections(): KeptConnections {
  // The oldest first.
  const all = new Set<Kept>();

  function drop(kept: Kept): void {
    kept.release();
    kept.connection.socket.destroy();
  }

  function keep(origin: string, connection: Connection): void {
    const { socket, openedAt } = connection;
    const ofOrigin = [...all].filter((other) => other.origin === origin).length;
    const isOld = performance.now() - openedAt > longestLifeMs;
    if (socket.destroyed || isOld || ofOrigin >= mostPerOrigin) {
      socket.destroy();
      return;
    }
    const end = () => drop(kept);
    const timer = setTimeout(end, longestIdleMs);
    // What the other side says unasked would be taken for the next answer.
    const events = ["data", "end", "error", "close"] as const;
    for (const event of events) socket.on(event, end);
    // Nobody waits for it: it must not hold up the end of the process.
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
    if (all.size > mostAltogether && oldest !== undefined) drop(oldest);
  }

  async function take(origin: string, addresses: readonly string[]): Promise<Connection | null> {
    for (;;) {
      // The one used last is the least likely to be closed by now.
      const kept = [...all].findLast(
        (other) => other.origin === origin && addresses.includes(other.connection.address),
      );
      if (kept === undefined) return null;
      // Taken out of the list before the wait, so that two requests never get the same connection.
      all.delete(kept);
      const { socket } = kept.connection;
      socket.ref();
      await untilReported();
      kept.release();
      if (!socket.destroyed) return kept.connection;
    }
  }

  return {
    take,
    keep,
    close() {
      for (const kept of [...all]) drop(kept);
    },
  };
}
