// Checks the form of a URL that a caller chose, before its name is looked up.

import { EgressError } from "./egress-error.ts";

export type EgressProtocol = "https:" | "http:";

// URL parsers disagree about these characters, so the same URL could name different hosts.
const ambiguous = /[\x00-\x20\x7f\\]/;
const lowestFreePort = 1_024;
// Ports above the reserved ones of services that are not web servers, or whose protocol an HTTP request could be mistaken for.
const otherServices: ReadonlySet<number> = new Set([
  1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672,
  5900, 5984, 6000, 6379, 6380, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 10080, 10250, 11211, 27017,
]);

/** Throws `url_not_allowed` with the reason. `base` resolves a relative URL. */
export function readCallerUrl(text: string, protocols: readonly EgressProtocol[], base?: URL): URL {
  const url = ambiguous.test(text) ? null : URL.parse(text, base?.href);
  if (url === null) throw notAllowed("The URL is not valid");
  if (!protocols.some((protocol) => protocol === url.protocol))
    throw notAllowed(`The URL should begin with ${protocols.map((protocol) => `${protocol}//`).join(" or ")}`);
  if (url.username !== "" || url.password !== "") throw notAllowed("The URL should not hold credentials");
  if (!mayUsePort(url)) throw notAllowed("The URL should not name this port");
  return url;
}

export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Of the reserved ports only the scheme's default is allowed, for which `port` is empty. */
function mayUsePort({ port }: URL): boolean {
  return port === "" || (Number(port) >= lowestFreePort && !otherServices.has(Number(port)));
}

function notAllowed(message: string): EgressError {
  return new EgressError("url_not_allowed", message);
}
