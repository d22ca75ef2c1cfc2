// Protects management on this machine against DNS rebinding: a page whose name resolves to 127.0.0.1 can make the operator's browser send
// requests to a gateway that listens on loopback. Such a request has the name of the page in its Host header.

import { GatewayError } from "../errors.ts";
import type { AddressRanges } from "../lib/addresses.ts";
import { createAddressRanges } from "../lib/addresses.ts";

const loopback = createAddressRanges(["127.0.0.0/8", "::1/128"]);

export type HostCheck = (request: Request, peer: string) => void;

interface HostCheckOptions {
  /** The address on which the gateway listens. */
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustedProxies: AddressRanges;
}

/** Null where the address on which the gateway listens is not a loopback address: clients then use names that the gateway cannot know. */
export function createHostCheck({ host, publicUrl, trustedProxies }: HostCheckOptions): HostCheck | null {
  if (!isLoopback(host)) return null;
  const publicName = publicUrl === null ? null : (URL.parse(publicUrl)?.hostname ?? null);
  return (request, peer) => {
    const name = URL.parse(request.url)?.hostname ?? "";
    // Without a Host header there is no browser.
    if (name === "" || isLoopback(name) || name === publicName) return;
    if (!trustedProxies.isEmpty && trustedProxies.has(peer)) return;
    throw new GatewayError(
      "host_not_allowed",
      `The host '${name.slice(0, 100)}' is not that of this gateway. Use localhost or 127.0.0.1, or set SWITCHYARD_PUBLIC_URL, or SWITCHYARD_TRUSTED_PROXIES for a proxy.`,
    );
  };
}

function isLoopback(host: string): boolean {
  const name = host.startsWith("[") ? host.slice(1, -1) : host;
  return name === "localhost" || name.endsWith(".localhost") || loopback.has(name);
}
