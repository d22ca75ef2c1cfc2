// As tls-receiver.ts, for what no HTTP server does by itself: bytes that lie, drip or never end, and old versions of TLS.

import { readFileSync } from "node:fs";
import { createServer, type TLSSocket } from "node:tls";
import { tlsFilesOf } from "./tls-receiver.ts";

export interface ReceivedRequest {
  readonly path: string;
  readonly head: string;
  readonly body: Buffer;
}

export interface RawTlsReceiver {
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** How many have connected and agreed on TLS. */
  connections(): number;
  stop(): void;
}

export interface RawTlsReceiverOptions {
  readonly address: string;
  /** Writes the answer. */
  readonly answer: (request: ReceivedRequest, socket: TLSSocket) => void;
  /** With a certificate that nobody vouches for. */
  readonly isStrange?: boolean;
  readonly maxVersion?: "TLSv1" | "TLSv1.2";
}

export async function startRawTlsReceiver(options: RawTlsReceiverOptions): Promise<RawTlsReceiver> {
  const { address, answer, isStrange = false, maxVersion } = options;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<TLSSocket>();
  const { certificate, key } = tlsFilesOf(isStrange);
  let connections = 0;
  const server = createServer(
    {
      cert: readFileSync(certificate),
      key: readFileSync(key),
      ...(maxVersion !== undefined && { maxVersion, minVersion: "TLSv1" as const }),
    },
    (socket) => {
      connections += 1;
      sockets.add(socket);
      let received: Buffer = Buffer.alloc(0);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      socket.on("data", (bytes: Buffer) => {
        received = Buffer.concat([received, bytes]);
        const request = readRequest(received);
        if (request === null) return;
        received = Buffer.alloc(0);
        requests.push(request);
        answer(request, socket);
      });
    },
  );
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("no port");
  return {
    port: bound.port,
    requests,
    connections: () => connections,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Null until it has come whole. */
function readRequest(bytes: Buffer): ReceivedRequest | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const head = bytes.toString("latin1", 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const body = bytes.subarray(end + 4);
  return body.length < length ? null : { path: head.split(" ")[1] ?? "", head, body: Buffer.from(body) };
}

/** A whole answer with a length. */
export function toAnswer(status: number, body = "", headers: Readonly<Record<string, string | number>> = {}): string {
  const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body) });
  return `HTTP/1.1 ${status} X\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`;
}
