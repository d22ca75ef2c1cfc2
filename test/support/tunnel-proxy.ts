// An outgoing proxy that connects to the requested address, or to another one: so a test has a server on port 443, or with a public name,
// on this machine.

import { connect } from "node:net";
import { createListeners, type Listener } from "./listeners.ts";

export interface TunnelProxy extends Listener {
  /** The heads of what it was asked for. */
  readonly heads: readonly string[];
  stop(): void;
}

export interface TunnelProxyOptions {
  readonly toPort?: (address: string, port: number) => number;
  readonly toHost?: (host: string) => string;
  /** Answers 407 to a request without these credentials. */
  readonly authorization?: string;
}

export async function startTunnelProxy(options: TunnelProxyOptions = {}): Promise<TunnelProxy> {
  const { toPort = (_address, port) => port, toHost = (host) => host, authorization } = options;
  const { listen, closeAll } = createListeners();
  const heads: string[] = [];
  const listener = await listen((socket) => {
    socket.once("data", (bytes: Buffer) => {
      const head = bytes.toString();
      heads.push(head);
      if (authorization !== undefined && !head.includes(`\r\nproxy-authorization: ${authorization}\r\n`)) {
        socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 2\r\n\r\nno");
        return;
      }
      const [, host = "", port = ""] = /^CONNECT \[?([^\s\]]+?)\]?:(\d+) HTTP\/1\.1\r\n/.exec(head) ?? [];
      const onward = connect({ host: toHost(host), port: toPort(host, Number(port)) }, () => {
        socket.write("HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      onward.on("error", () => socket.destroy());
      socket.on("close", () => onward.destroy());
    });
  });
  return { ...listener, heads, stop: closeAll };
}
