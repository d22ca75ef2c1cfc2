// A connection to one address that was checked before. With TLS it stands when the certificate was found good for the name.

import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

interface Destination {
  /** An IP literal: nothing is looked up here. */
  readonly address: string;
  readonly port: number;
  readonly isTls: boolean;
  /** The name that the certificate has to carry; null when it is the address itself. */
  readonly serverName: string | null;
}

/** Rejects with the signal's reason when that fires first; the socket is closed then, in whatever state it is. */
export function dial({ address, port, isTls, serverName }: Destination, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = isTls
    ? connectTls({
        host: address,
        port,
        ALPNProtocols: ["http/1.1"],
        minVersion: "TLSv1.2",
        ...(serverName === null ? {} : { servername: serverName }),
      })
    : connect({ host: address, port });

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
  socket.once(isTls ? "secureConnect" : "connect", give);
  // Both stay for the socket's whole life: an error without a listener would end the process.
  socket.on("error", lose);
  socket.on("close", () => lose());
  return promise;
}
