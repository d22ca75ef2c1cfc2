// A listener on loopback that nobody has a reason to call: whoever does was led inside.

import { createServer, type Server } from "node:net";

export interface Canary {
  readonly server: Server;
  readonly port: number;
  readonly hits: () => number;
}

/** Rejects when another program listens on the port. */
export async function startCanary(port = 0): Promise<Canary> {
  let hits = 0;
  const server = createServer((socket) => {
    hits += 1;
    socket.destroy();
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, "127.0.0.1", listening.resolve);
  await listening.promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the canary has no port");
  return { server, port: address.port, hits: () => hits };
}
