// A server on loopback that counts the request heads that it receives and ends connections at a chosen moment. With TLS it is a webhook
// receiver whose certificate is for the names of tests.

import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { tlsFilesOf } from "./tls-receiver.ts";

/** What happens to requests. All but `none` and `FIN before reuse` leave a request without a whole answer. */
export const connectionFaults = [
  "none",
  "FIN before reuse",
  "FIN instead of an answer",
  "RST after the head",
  "RST after the body",
  "RST inside the answer",
  "hang",
] as const;
export type ConnectionFault = (typeof connectionFaults)[number];

export interface CountingServer {
  readonly port: number;
  /** Request heads since the last `count`, whatever became of them: all, or those for a path. */
  heads(path?: string): number;
  /** Starts to count anew. What a request meets from now on. */
  count(fault: ConnectionFault): void;
  stop(): void;
}

export interface CountingServerOptions {
  /** A good answer: what becomes JSON, or the text of an event stream. */
  readonly answer: (path: string, body: string) => unknown;
  readonly isTls?: boolean;
}

export async function startCountingServer({ answer, isTls = false }: CountingServerOptions): Promise<CountingServer> {
  const sockets = new Set<Socket>();
  let fault: ConnectionFault = "none";
  let paths: string[] = [];

  function accept(socket: Socket): void {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let received: Buffer = Buffer.alloc(0);
    let isCounted = false;
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = received.toString("latin1", 0, end);
      const path = head.split(" ")[1] ?? "/";
      if (!isCounted) paths.push(path);
      isCounted = true;
      if (fault === "RST after the head") return void socket.resetAndDestroy();
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      const body = received.toString("utf8", end + 4, end + 4 + length);
      received = received.subarray(end + 4 + length);
      isCounted = false;
      respond(socket, answer(path, body));
    });
  }

  function respond(socket: Socket, good: unknown): void {
    const isStream = typeof good === "string";
    const body = isStream ? good : JSON.stringify(good);
    const type = isStream ? "text/event-stream" : "application/json";
    const text = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    switch (fault) {
      case "none":
        return void socket.write(text);
      case "FIN before reuse":
        // Behind the answer, so that it arrives while the connection is idle.
        return void socket.end(text);
      case "FIN instead of an answer":
        return void socket.end();
      case "RST inside the answer":
        return void socket.write(text.slice(0, -body.length / 2), () => setTimeout(() => socket.resetAndDestroy(), 20));
      case "RST after the head":
      case "RST after the body":
        return void socket.resetAndDestroy();
      case "hang":
        return;
    }
  }

  const { certificate, key } = tlsFilesOf(false);
  const server = isTls
    ? createTlsServer({ cert: readFileSync(certificate), key: readFileSync(key) }, accept)
    : createServer({ noDelay: true }, accept);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return {
    port: bound.port,
    heads: (path) => (path === undefined ? paths : paths.filter((one) => one === path)).length,
    count(next) {
      fault = next;
      paths = [];
    },
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
