// A TLS connection to a provider through an outgoing proxy. TLS begins inside the tunnel, so the proxy sees the host name and no content.

import { type OutgoingProxy, ProxyError, TunnelRequest } from "../lib/outgoing-proxy.ts";

interface TunnelOptions<Data> {
  readonly proxy: OutgoingProxy;
  readonly hostname: string;
  readonly port: number;
  /** For the TLS socket, as for a direct connection. */
  readonly data: Data;
  readonly handlers: Bun.SocketHandler<Data>;
  /** Gets the connection to the proxy, which has to be terminated when the tunnel is no longer needed. */
  readonly onConnected: (socket: { terminate(): void }) => void;
  readonly onFailed: (error: unknown) => void;
}

export function openTunnel<Data>(options: TunnelOptions<Data>): void {
  const { proxy, hostname, port, data, handlers, onConnected, onFailed } = options;
  const request = new TunnelRequest(proxy, hostname, port);
  let isOpen = false;
  const fail = (error?: unknown) => {
    if (!isOpen) onFailed(toProxyError(error));
  };
  Bun.connect({
    hostname: proxy.host,
    port: proxy.port,
    socket: {
      open(socket) {
        onConnected(socket);
        socket.write(request.message);
      },
      data(socket, bytes) {
        // Encrypted bytes, which the TLS socket receives as well.
        if (isOpen) return;
        try {
          if (!request.isOpenedBy(bytes)) return;
        } catch (error) {
          fail(error);
          return;
        }
        isOpen = true;
        socket.upgradeTLS({ data, tls: { serverName: hostname }, socket: handlers });
      },
      end: () => fail(),
      close: () => fail(),
      error: (_socket, error) => fail(error),
      connectError: (_socket, error) => fail(error),
    },
  }).catch(fail);
}

function toProxyError(error: unknown): ProxyError {
  if (error instanceof ProxyError) return error;
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return new ProxyError(typeof code === "string" ? code : "ECONNRESET", "The connection to the proxy was lost", error);
}
