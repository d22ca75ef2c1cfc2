// Takes connections in and keeps count of what runs on them.

import { Roster } from "../../lib/roster.ts";
import type { Ticker, Watched } from "../../lib/ticker.ts";
import { type ConnectionClocks, type ConnectionOwner, HttpConnection } from "./connection.ts";
import { HttpDate } from "./http-date.ts";

interface ListenOptions extends Pick<ConnectionOwner, "answer" | "refuse"> {
  readonly host: string;
  readonly port: number;
  readonly ticker: Ticker;
  readonly clocks?: Partial<ConnectionClocks> | undefined;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections; resolves when nothing runs any more. */
  stop(): Promise<void>;
  /** Closes all that is open. */
  stopNow(): void;
}

const usualClocks: ConnectionClocks = {
  idleMs: 120_000,
  headMs: 20_000,
  stalledReaderMs: 240_000,
  lingerMs: 3_000,
};
const checkEveryMs = 1_000;
// Several processes listen side by side. Bun's types do not name it.
const sharedPort = { reusePort: true };

export function listen({ host, port, ticker, clocks, answer, refuse }: ListenOptions): Listener {
  const connections = new Roster<HttpConnection>();
  const idle = Promise.withResolvers<void>();
  let running = 0;
  let isStopping = false;
  let checkAt = 0;

  const owner: ConnectionOwner = {
    date: new HttpDate(),
    clocks: { ...usualClocks, ...clocks },
    answer,
    refuse,
    began() {
      running += 1;
    },
    ended() {
      running -= 1;
      if (isStopping && running === 0) idle.resolve();
    },
    closed: (connection) => connections.remove(connection),
  };
  const sweep: Watched = {
    place: -1,
    check(now) {
      if (now < checkAt) return;
      checkAt = now + checkEveryMs;
      connections.forEach((connection) => void connection.check(now));
    },
  };

  const listener = Bun.listen<HttpConnection>({
    hostname: host,
    port,
    ...sharedPort,
    socket: {
      open(socket) {
        socket.data = new HttpConnection(owner, socket);
        connections.add(socket.data);
      },
      data: (socket, bytes) => socket.data.receive(bytes),
      drain: (socket) => socket.data.flush(),
      end: (socket) => socket.data.lose(),
      close: (socket) => socket.data.lose(),
      error(socket, error) {
        // Of the system's errors the end of the connection tells enough.
        if (!("code" in error)) refuse(error);
        socket.data.terminate();
      },
    },
  });
  ticker.watch(sweep);

  return {
    port: listener.port,
    stop() {
      isStopping = true;
      listener.stop();
      connections.forEach((connection) => void connection.endWhenIdle());
      if (running === 0) idle.resolve();
      return idle.promise;
    },
    stopNow() {
      listener.stop(true);
      ticker.forget(sweep);
      connections.forEach((connection) => void connection.terminate());
    },
  };
}
