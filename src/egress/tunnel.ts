// A tunnel through an outgoing proxy. The proxy gets an address that was checked, never a name, which it would look up again.

import type { Socket } from "node:net";
import { type OutgoingProxy, TunnelRequest } from "../lib/outgoing-proxy.ts";

/** Asks the proxy at the other end of `socket` for a tunnel to an address; resolves when it is open. */
export function openTunnel(socket: Socket, proxy: OutgoingProxy, address: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const request = new TunnelRequest(proxy, address, port);

  function receive(bytes: Buffer): void {
    try {
      if (request.isOpenedBy(bytes)) resolve();
    } catch (error) {
      reject(error);
    }
  }
  const lose = () => reject(new Error("The proxy closed the connection"));

  socket.on("data", receive);
  socket.on("end", lose);
  socket.on("close", lose);
  socket.write(request.message);
  return promise.finally(() => {
    socket.off("data", receive);
    socket.off("end", lose);
    socket.off("close", lose);
  });
}
