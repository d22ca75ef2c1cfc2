// Recognizes addresses on which this gateway listens. A provider there would be the gateway itself.

import { createAddressRanges } from "../lib/addresses.ts";

export interface Listeners {
  readonly host: string;
  /** 0: not known yet. */
  readonly port: number;
  readonly adminPort: number | null;
  readonly metricsPort: number | null;
}

const loopback = createAddressRanges(["127.0.0.0/8", "::1"]);
const unspecified = createAddressRanges(["0.0.0.0", "::"]);

export function isOwnAddress({ host, port, adminPort, metricsPort }: Listeners, url: URL): boolean {
  const calledPort = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (![port, adminPort, metricsPort].includes(calledPort)) return false;
  const called = url.hostname.replace(/^\[|\]$/g, "");
  if (called === host) return true;
  // A server on one loopback address leaves the same port of the others free.
  return isThisMachine(host) && isThisMachine(called) && !(loopback.has(host) && loopback.has(called));
}

function isThisMachine(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || loopback.has(name) || unspecified.has(name);
}
