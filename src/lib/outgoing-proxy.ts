// An outgoing HTTP proxy, `http://[user:password@]host[:port]`, and the CONNECT exchange that opens a tunnel through it.

import { isIP } from "node:net";
import { createAddressRanges } from "./addresses.ts";
import { HttpSyntaxError } from "./http-body.ts";
import { HeadReader } from "./http-response.ts";
import { decodePercent } from "./percent-decoding.ts";

export interface OutgoingProxy {
  readonly host: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`; null when the address has no credentials. */
  readonly authorization: string | null;
}

const defaultPort = 80;
const maxHeadBytes = 16_384;

/** The error does not quote the address, which may contain a password. */
export function readProxy(text: string): OutgoingProxy {
  const url = URL.parse(text.trim());
  if (url === null || url.protocol !== "http:" || url.pathname !== "/" || url.search !== "" || url.hash !== "")
    throw new Error("should be an address such as http://user:password@proxy.example:3128");
  const [user, password] = [decodePercent(url.username), decodePercent(url.password)];
  if (user === null || password === null)
    throw new Error("has a '%' that begins no valid escape in its user or password; write % as %25");
  const hasCredentials = user !== "" || password !== "";
  return {
    host: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port === "" ? defaultPort : Number(url.port),
    authorization: hasCredentials ? `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` : null,
  };
}

/** Everything in a proxy's address that must not appear in a log. */
export function secretsOfProxy(text: string): string[] {
  const url = URL.parse(text.trim());
  if (url === null || url.password === "") return [];
  const credentials = readProxy(text).authorization?.replace("Basic ", "") ?? "";
  return [url.password, decodePercent(url.password) ?? "", credentials];
}

/** Whether a host is reached without the proxy: loopback always, and the hosts of `NO_PROXY`. */
export type ProxyExemption = (host: string, port: number) => boolean;

const loopback = createAddressRanges(["127.0.0.0/8", "::1"]);

/** Each entry is `*`, a host name (which includes its subdomains), an address or a CIDR; names and addresses may have a port. */
export function createProxyExemption(entries: readonly string[]): ProxyExemption {
  const rules = entries.map((entry) => entry.trim().toLowerCase()).filter((entry) => entry !== "");
  const exemptions = [isLoopback, ...rules.map(toExemption)];
  return (host, port) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    return exemptions.some((isExempt) => isExempt(name, port));
  };
}

function isLoopback(host: string): boolean {
  return loopback.has(host) || host === "localhost" || host.endsWith(".localhost");
}

function toExemption(entry: string): ProxyExemption {
  if (entry === "*") return () => true;
  const range = toRange(entry);
  if (range !== null) return (host) => range.has(host);
  const [, written = "", statedPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const name = written.replace(/^\[(.*)\]$/, "$1").replace(/^\*?\./, "");
  return (host, port) =>
    (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`))) &&
    (statedPort === undefined || Number(statedPort) === port);
}

function toRange(entry: string): ReturnType<typeof createAddressRanges> | null {
  try {
    return createAddressRanges([entry]);
  } catch {
    return null; // a name, or an address with a port
  }
}

/** The proxy's answer was not an open tunnel. The code is for messages: `PROXY_407`, `PROXY_BAD_RESPONSE`. */
export class ProxyError extends Error {
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ProxyError";
    this.code = `PROXY_${code}`;
  }
}

/** One CONNECT: send `message`, then pass received bytes to `isOpenedBy`. */
export class TunnelRequest {
  readonly message: string;
  readonly #heads = new HeadReader({ maxHeadBytes });

  constructor({ authorization }: OutgoingProxy, host: string, port: number) {
    const target = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
    const credentials = authorization === null ? "" : `proxy-authorization: ${authorization}\r\n`;
    this.message = `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${credentials}\r\n`;
  }

  /** False while the proxy's answer is incomplete; throws a ProxyError when the answer is not an open tunnel. */
  isOpenedBy(bytes: Buffer): boolean {
    const found = this.#read(bytes);
    if (found === null) return false;
    const { head, rest } = found;
    if (head.status > 299) throw new ProxyError(String(head.status), `The proxy answered with status ${head.status}`);
    // The server behind the tunnel does not send first, so these bytes are not from it.
    if (rest.length > 0) throw new ProxyError("BAD_RESPONSE", "The proxy sent more than the head of its answer");
    return true;
  }

  #read(bytes: Buffer): ReturnType<HeadReader["read"]> {
    try {
      return this.#heads.read(bytes);
    } catch (error) {
      if (!(error instanceof HttpSyntaxError)) throw error;
      throw new ProxyError("BAD_RESPONSE", `The proxy's answer is not usable: ${error.message}`);
    }
  }
}
