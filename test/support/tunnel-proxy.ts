// An outgoing proxy that connects where it is told to, as proxies do, or to another port of the same address: so that a test has a server on
// port 443 without the right to bind it.

import { connect } from "node:net";
import { createListeners, type Listener } from "./listeners.ts";

export interface TunnelProxy extends Listener {
  /** The heads of what it was asked for. */
  readonly heads: readonly string[];
  stop(): void;
}

export type ToPort = (address: string, port: number) => number;

export async function startTunnelProxy(toPort: ToPort = (_address, port) => port): Promise<TunnelProxy> {
  const { listen, closeAll } = createListeners();
  const heads: string[] = [];
  const listener = await listen((socket) => {
    socket.once("data", (bytes: Buffer) => {
      const head = bytes.toString();
      heads.push(head);
      const [, host = "", port = ""] = /^CONNECT \[?([^\s\]]+?)\]?:(\d+) HTTP\/1\.1\r\n/.exec(head) ?? [];
      const onward = connect({ host, port: toPort(host, Number(port)) }, () => {
        socket.write("HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n");
        socket.pipe(onward).pipe(socket);
      });
      onward.on("error", () => socket.destroy());
      socket.on("close", () => onward.destroy());
    });
  });
  return { ...listener, heads, stop: closeAll };
}
