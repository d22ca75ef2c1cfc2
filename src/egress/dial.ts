// Connects to one address that has been checked. With TLS, the certificate has to be valid for the name.

import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { untilAborted } from "../lib/deadline.ts";
import { type OutgoingProxy, TunnelRequest } from "../lib/outgoing-proxy.ts";

interface Destination {
  /** An IP literal, so no name is resolved here. */
  readonly address: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The name that the certificate has to contain; null when it is the address itself. */
  readonly serverName: string | null;
  readonly proxy: OutgoingProxy | null;
}

/** Rejects with the signal's reason when the signal fires first, and closes the socket. */
export async function dial(destination: Destination, signal: AbortSignal): Promise<Socket> {
  const { address, port, isTls, serverName, proxy } = destination;
  if (proxy === null && !isTls) return whenConnected(connect({ host: address, port }), "connect", signal);
  if (proxy === null)
    return whenConnected(connectTls({ host: address, port, ...tlsFor(serverName) }), "secureConnect", signal);

  const tunnel = await whenConnected(connect({ host: proxy.host, port: proxy.port }), "connect", signal);
  try {
    await untilAborted(openTunnel(tunnel, proxy, address, port), signal);
    if (!isTls) return tunnel;
    const secured = connectTls({ socket: tunnel, host: address, ...tlsFor(serverName) });
    return await whenConnected(secured, "secureConnect", signal);
  } catch (error) {
    tunnel.destroy();
    throw error;
  }
}

function tlsFor(serverName: string | null): ConnectionOptions {
  const name = serverName === null ? {} : { servername: serverName };
  return { ALPNProtocols: ["http/1.1"], minVersion: "TLSv1.2", ...name };
}

function whenConnected(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Socket> {
  const connected = new Promise<Socket>((resolve, reject) => {
    socket.once(event, () => resolve(socket));
    // These listeners stay: an error event without a listener would end the process.
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The connection was closed")));
  });
  return untilAborted(connected, signal).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
}

/** Asks the proxy for a tunnel. The proxy gets an address that was checked, never a name, which it would look up again. */
function openTunnel(socket: Socket, proxy: OutgoingProxy, address: string, port: number): Promise<void> {
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
