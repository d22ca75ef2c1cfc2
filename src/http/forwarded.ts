// What a proxy in front of the gateway states about the client: X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host. They count only when
// the connection comes from a trusted proxy, because any client can send them.

import { isIP } from "node:net";
import { GatewayError } from "../errors.ts";
import type { AddressRanges } from "../lib/addresses.ts";
import { isValidHost } from "./request-head.ts";

/** The address of the client: of those in X-Forwarded-For the last one that is not a trusted proxy. Each proxy appends the one that it saw. */
export function findClient(peer: string, headers: Headers, trusted: AddressRanges): string {
  let client = withoutMapping(peer);
  if (trusted.isEmpty || !trusted.has(client)) return client;
  const forwarded = headers.get("x-forwarded-for");
  for (const hop of forwarded?.split(",").reverse() ?? []) {
    const address = readAddress(hop.trim());
    if (address === null) break;
    client = address;
    if (!trusted.has(client)) break;
  }
  return client;
}

/** Scheme, host and port at which the client reached the gateway. */
export function originOf(request: Request, scheme: "http" | "https", isFromTrustedProxy: boolean): string {
  const { headers, url } = request;
  const host = (isFromTrustedProxy ? readHost(headers) : null) ?? URL.parse(url)?.host;
  // Without a Host header, which HTTP/1.0 permits, `request.url` is the path alone.
  if (host === undefined) throw new GatewayError("malformed_request", "This request needs a Host header.");
  return `${(isFromTrustedProxy ? readScheme(headers) : null) ?? scheme}://${host}`;
}

function readScheme(headers: Headers): string | null {
  const scheme = lastOf(headers.get("x-forwarded-proto"))?.toLowerCase();
  return scheme === "https" || scheme === "http" ? scheme : null;
}

function readHost(headers: Headers): string | null {
  const host = lastOf(headers.get("x-forwarded-host"));
  return host !== null && isValidHost(host) ? host : null;
}

/** Of several values, the proxy in front of the gateway added the last one. */
function lastOf(values: string | null): string | null {
  return values?.split(",").at(-1)?.trim() ?? null;
}

/** With or without a port; an IPv6 address with a port has brackets. Null for anything else, such as `unknown`. */
function readAddress(text: string): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d[\d.]*))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = withoutMapping(bracketed ?? dotted ?? text);
  return isIP(address) === 0 ? null : address;
}

/** A socket that listens on `::` shows the address of an IPv4 client as `::ffff:192.0.2.1`. */
function withoutMapping(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
