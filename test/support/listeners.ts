// Servers that speak bytes: they count who connects, and say what a test tells them to.

import { createServer, type Socket } from "node:net";

export interface Listener {
  readonly port: number;
  readonly url: string;
  /** All connections there have been, and those that are open. */
  readonly count: () => number;
  readonly open: () => number;
}

export interface Listeners {
  listen(onConnection: (socket: Socket) => void, address?: string, port?: number): Promise<Listener>;
  /** Answers the beginning of a request with these bytes, and ends the connection or not. */
  answerWith(bytes: string | Uint8Array, thenEnd?: boolean): Promise<Listener>;
  /** What closes each of them, in the order of their beginning. */
  readonly closers: (() => void)[];
  closeAll(): void;
}

/** For one test file, which closes them after each test. */
export function createListeners(): Listeners {
  const closers: (() => void)[] = [];

  async function listen(onConnection: (socket: Socket) => void, address = "127.0.0.1", port = 0): Promise<Listener> {
    const sockets = new Set<Socket>();
    let count = 0;
    const server = createServer((socket) => {
      count += 1;
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    closers.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const bound = server.address();
    if (bound === null || typeof bound === "string") throw new Error("no port");
    return { port: bound.port, url: `http://${address}:${bound.port}`, count: () => count, open: () => sockets.size };
  }

  function answerWith(bytes: string | Uint8Array, thenEnd = true): Promise<Listener> {
    return listen((socket) => {
      socket.once("data", () => {
        socket.write(bytes);
        if (thenEnd) socket.end();
      });
    });
  }

  return {
    listen,
    answerWith,
    closers,
    closeAll() {
      for (const close of closers.splice(0)) close();
    },
  };
}
