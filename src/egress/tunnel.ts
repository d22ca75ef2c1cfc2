// The way through an outgoing proxy. It is told addresses that were checked, never a name that it would look up once more.

import { isIP, type Socket } from "node:net";
import type { OutgoingProxy } from "../lib/outgoing-proxy.ts";

const longestHead = 16_384;

/** Asks the proxy at the other end of `socket` for a way to an address; resolves when the way stands. */
export function openTunnel(socket: Socket, proxy: OutgoingProxy, address: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const target = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  let received = "";

  function receive(bytes: Buffer): void {
    received += bytes.toString("latin1");
    const end = received.indexOf("\r\n\r\n");
    if (end < 0 && received.length <= longestHead) return;
    stop();
    const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(received) ?? [];
    if (status?.startsWith("2") !== true) reject(new Error(`The proxy answered with ${status ?? "nonsense"}`));
    // Nobody speaks before they are asked on the way that was opened: it is not what we think it is.
    else if (end < 0 || end + 4 < received.length) reject(new Error("The proxy answered with more than a head"));
    else resolve();
  }
  const lose = () => {
    stop();
    reject(new Error("The proxy closed the connection"));
  };
  function stop(): void {
    socket.off("data", receive);
    socket.off("end", lose);
    socket.off("close", lose);
  }

  socket.on("data", receive);
  socket.on("end", lose);
  socket.on("close", lose);
  const credentials = proxy.authorization === null ? "" : `proxy-authorization: ${proxy.authorization}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${credentials}\r\n`);
  return promise;
}
