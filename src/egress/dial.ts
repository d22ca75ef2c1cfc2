// A connection to one address that was checked before. With TLS it stands when the certificate was found good for the name.

import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { untilAborted } from "../lib/deadline.ts";
import type { OutgoingProxy } from "../lib/outgoing-proxy.ts";
import { openTunnel } from "./tunnel.ts";

interface Destination {
  /** An IP literal: nothing is looked up here. */
  readonly address: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The name that the certificate has to carry; null when it is the address itself. */
  readonly serverName: string | null;
  readonly proxy: OutgoingProxy | null;
}

/** Rejects with the signal's reason when that fires first; the socket is closed then, in whatever state it is. */
export async function dial(destination: Destination, signal: AbortSignal): Promise<Socket> {
  const { address, port, isTls, serverName, proxy } = destination;
  if (proxy === null && !isTls) return whenStanding(connect({ host: address, port }), "connect", signal);
  if (proxy === null)
    return whenStanding(connectTls({ host: address, port, ...tlsFor(serverName) }), "secureConnect", signal);

  const way = await whenStanding(connect({ host: proxy.host, port: proxy.port }), "connect", signal);
  try {
    await untilAborted(openTunnel(way, proxy, address, port), signal);
    if (!isTls) return way;
    const secured = connectTls({ socket: way, host: address, ...tlsFor(serverName) });
    return await whenStanding(secured, "secureConnect", signal);
  } catch (error) {
    way.destroy();
    throw error;
  }
}

function tlsFor(serverName: string | null): ConnectionOptions {
  const name = serverName === null ? {} : { servername: serverName };
  return { ALPNProtocols: ["http/1.1"], minVersion: "TLSv1.2", ...name };
}

function whenStanding(socket: Socket, event: "connect" | "secureConnect", signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();

  function give(): void {
    signal.removeEventListener("abort", abort);
    resolve(socket);
  }
  function lose(error?: unknown): void {
    signal.removeEventListener("abort", abort);
    socket.destroy();
    reject(error ?? new Error("The connection was closed"));
  }
  const abort = () => lose(signal.reason);

  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  socket.once(event, give);
  // Both stay for the socket's whole life: an error without a listener would end the process.
  socket.on("error", lose);
  socket.on("close", () => lose());
  return promise;
}
