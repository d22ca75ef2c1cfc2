// The only client for addresses that callers choose: image and file URLs, webhooks. It resolves a name once, checks every address of the
// answer, and dials a checked address (docs/decisions/0010-egress.md).

import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { createAddressRanges, isHostName, isPublicAddress, mayBePublicHost } from "../lib/addresses.ts";
import { untilAborted, withDeadline } from "../lib/deadline.ts";
import { readProxy, secretsOfProxy } from "../lib/outgoing-proxy.ts";
import type { Log } from "../log.ts";
import { type EgressProtocol, portOf, readCallerUrl } from "./caller-url.ts";
import { dial } from "./dial.ts";
import { DownloadBudget, type Downloads } from "./download-budget.ts";
import { EgressError } from "./egress-error.ts";
import { type Connection, createKeptConnections } from "./kept-connections.ts";
import { createLookup, type Lookup } from "./lookup.ts";
import { type Answer, readAnswer } from "./read-answer.ts";
import { unpack } from "./unpack.ts";

export interface EgressSettings {
  /** CIDRs that may be dialled although they are not public. */
  readonly allow: readonly string[];
  /** Name servers, as `address[:port]`; an empty list uses the system's. */
  readonly dnsServers?: readonly string[];
  /** `http://[user:password@]host:port` of an outgoing proxy. The operator chose its address, so it is not checked. */
  readonly proxy?: string | null;
  /** Replaces both resolvers. */
  readonly lookup?: Lookup;
  /** How long a connection is kept for the next request. Default: 4 seconds. */
  readonly longestIdleMs?: number;
  /** Memory for the files that requests name by their address, of all keys together. Default: no limit. */
  readonly maxDownloadBytes?: number;
  readonly log: Log;
}

export interface EgressRequest {
  /** Default: POST with a body, GET without one. */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Limit of the response body, compressed and decompressed. */
  readonly maxBytes: number;
  /** Timeout of the whole request, redirects included. */
  readonly timeoutMs: number;
  /** Timeout of lookup and connect, for each hop. */
  readonly connectTimeoutMs: number;
  /** Timeouts until the first bytes of the answer, and then between two pieces of it, for each hop. Default: only `timeoutMs`. */
  readonly firstByteTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  /** Default: https only. */
  readonly protocols?: readonly EgressProtocol[];
  /** How many redirects are followed. Default: none; a request with a body is never redirected. */
  readonly redirects?: "refuse" | number;
  /** Only the status matters: the body is read for at most a second, and may be cut off or longer than `maxBytes`. */
  readonly isExcerpt?: boolean;
  /** Reuses an idle connection, and keeps the connection for the next request. */
  readonly keepAlive?: boolean;
  /** Called before the request is written: from then on the server may have received it. Called once, and again for each redirect. */
  readonly onSent?: () => void;
  /** Counts the body of the answer until the request of the caller ends. Absent: the body is not a file that a caller named. */
  readonly downloads?: Downloads;
  readonly signal?: AbortSignal;
}

export interface EgressAnswer {
  readonly status: number;
  /** `name` is in lower case. */
  readonly header: (name: string) => string | null;
  readonly body: Buffer;
  readonly finalUrl: string;
}

export type Egress = ReturnType<typeof createEgress>;

export interface EgressVerdict {
  /** The address is allowed by the operator's setting, not because it is public. */
  readonly isExempt: boolean;
}

export interface EgressCheck {
  readonly timeoutMs: number;
  readonly protocols?: readonly EgressProtocol[];
  readonly signal?: AbortSignal;
}

interface Hop {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

const httpsOnly: readonly EgressProtocol[] = ["https:"];
// All addresses of a name are checked; only the first ones are tried.
const maxAddressesTried = 4;
const longestLoggedHost = 256;
const ownAddressesMs = 1_000;
const headerName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
// Headers that a redirect may take to another origin; any other header could be meant for the first origin only.
const headersForAllOrigins: ReadonlySet<string> = new Set(["accept", "user-agent"]);

export function createEgress({ allow, dnsServers = [], proxy = null, log, ...more }: EgressSettings) {
  const allowed = createAddressRanges(allow);
  const lookup = more.lookup ?? createLookup(dnsServers);
  const outgoingProxy = proxy === null ? null : readProxy(proxy);
  if (proxy !== null) for (const secret of secretsOfProxy(proxy)) log.hide(secret);
  const connections = createKeptConnections(more);
  const budget = new DownloadBudget(more.maxDownloadBytes ?? Number.POSITIVE_INFINITY);
  const isOwnAddress = createOwnAddresses();

  /** Throws an EgressError, or the signal's reason. No status throws, except a redirect that is not followed. */
  function fetchGuarded(text: string, request: EgressRequest): Promise<EgressAnswer> {
    return inTime(request.timeoutMs, request.signal, (signal) => follow(text, request, signal));
  }

  async function follow(text: string, request: EgressRequest, signal: AbortSignal): Promise<EgressAnswer> {
    const protocols = request.protocols ?? httpsOnly;
    const maxRedirects = typeof request.redirects === "number" && request.body === undefined ? request.redirects : 0;
    let hop: Hop = { url: readCallerUrl(text, protocols), headers: request.headers ?? {} };
    for (let redirects = 0; ; redirects++) {
      const { head, body } = await visit(hop, request, signal);
      const { status } = head;
      if (!redirectStatuses.has(status)) {
        const isPlain = request.isExcerpt === true || status < 200 || status > 299;
        const encoding = isPlain ? null : head.header("content-encoding");
        const unpacked = await untilAborted(unpack(body, encoding, request), signal);
        return { status, header: head.header, body: unpacked, finalUrl: hop.url.href };
      }
      if (maxRedirects === 0)
        throw new EgressError("redirect_refused", "The server's answer is a redirect", { status });
      if (redirects >= maxRedirects)
        throw new EgressError("too_many_redirects", "The server redirects too often", { status });
      request.downloads?.remove(body.length);
      hop = nextHop(hop, head.header("location") ?? "", protocols);
    }
  }

  async function visit(hop: Hop, request: EgressRequest, signal: AbortSignal): Promise<Answer> {
    const startedAt = performance.now();
    const addresses = await inTime(request.connectTimeoutMs, signal, (inner) => findAddresses(hop.url, inner));
    const leftMs = request.connectTimeoutMs - (performance.now() - startedAt);
    const kept = request.keepAlive === true ? await connections.take(hop.url.origin, addresses) : null;
    const connection =
      kept ?? (await inTime(leftMs, signal, (inner) => connectToOne(addresses, hop.url, leftMs, inner)));
    return await exchange(connection, hop, request, signal);
  }

  async function exchange(
    connection: Connection,
    hop: Hop,
    request: EgressRequest,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { socket } = connection;
    let mayKeep = false;
    try {
      let isSent = false;
      request.onSent?.();
      socket.write(toMessage(hop, request), () => {
        isSent = true;
      });
      const { maxBytes, isExcerpt = false, firstByteTimeoutMs, idleTimeoutMs, downloads } = request;
      const timeouts = { firstByteTimeoutMs, idleTimeoutMs };
      const answer = await readAnswer(socket, { maxBytes, isExcerpt, signal, downloads, ...timeouts });
      // When the response arrives before the whole request was sent, the rest of the request is still on the connection.
      mayKeep = request.keepAlive === true && answer.mayReuseConnection && isSent;
      return answer;
    } finally {
      if (mayKeep) connections.keep(hop.url.origin, connection);
      else socket.destroy();
    }
  }

  /** Resolves and checks the address without connecting. */
  function check(text: string, { timeoutMs, protocols = httpsOnly, signal }: EgressCheck): Promise<EgressVerdict> {
    return inTime(timeoutMs, signal, async (inner) => {
      const addresses = await findAddresses(readCallerUrl(text, protocols), inner);
      return { isExempt: addresses.every((address) => allowed.has(address)) };
    });
  }

  /** All addresses of the URL's host. Throws if one of them must not be dialled. */
  async function findAddresses(url: URL, signal: AbortSignal): Promise<readonly string[]> {
    if (signal.aborted) throw signal.reason;
    const host = hostOf(url);
    if (isIP(host) !== 0) {
      if (!mayDial(host)) throw refuse(host, "its address is not public");
      return [host];
    }
    // A local name has a private address: unless some are exempt, it is not even looked up.
    const isLocal = !mayBePublicHost(host);
    if (!isHostName(host) || (isLocal && allowed.isEmpty)) throw refuse(host, "its name is local");
    const addresses = await untilAborted(lookup(host), signal).catch((cause: unknown) => {
      if (signal.aborted) throw signal.reason;
      if (isLocal) throw refuse(host, "its name is local");
      throw unreachable(cause);
    });
    const refused = addresses.find((address) => !mayDial(address));
    if (refused !== undefined) throw refuse(host, `its address ${refused} is not public`);
    if (addresses.length === 0) throw unreachable(new Error("the name has no address"));
    return addresses;
  }

  /** Connects to the first address that accepts, in the order of the lookup. The addresses share the timeout equally. */
  async function connectToOne(
    addresses: readonly string[],
    url: URL,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Connection> {
    const tried = addresses.slice(0, maxAddressesTried);
    const host = hostOf(url);
    const serverName = isIP(host) === 0 ? host.replace(/\.$/, "") : null;
    const destination = { port: portOf(url), isTls: url.protocol === "https:", serverName, proxy: outgoingProxy };
    let failure: unknown;
    for (const address of tried) {
      try {
        const socket = await inTime(timeoutMs / tried.length, signal, (own) => dial({ ...destination, address }, own));
        return { socket, address, openedAt: performance.now() };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        failure = error;
      }
    }
    throw failure instanceof EgressError ? failure : unreachable(failure);
  }

  function mayDial(address: string): boolean {
    return allowed.has(address) || (isPublicAddress(address) && !isOwnAddress(address));
  }

  function refuse(host: string, reason: string): EgressError {
    log.info("egress refused", { host: host.slice(0, longestLoggedHost), reason });
    return new EgressError("url_not_allowed", "The URL should name a public host");
  }

  return {
    fetch: fetchGuarded,
    check,
    /** Counts the files that one request of the key names. The request disposes of it when it ends. */
    openDownloads: (keyId: string): Downloads => budget.open(keyId),
    /** Closes idle connections. */
    close: connections.close,
  };
}

/** A public address of this machine bypasses its firewall. Listing the addresses is expensive and they rarely change, so they are cached. */
function createOwnAddresses(): (address: string) => boolean {
  let own = new BlockList();
  let readAt = Number.NEGATIVE_INFINITY;
  return (address) => {
    if (performance.now() - readAt > ownAddressesMs) {
      readAt = performance.now();
      own = new BlockList();
      for (const one of Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []))
        own.addAddress(one.address, one.family === "IPv4" ? "ipv4" : "ipv6");
    }
    return own.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
  };
}

function inTime<Value>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const reason = (fired: AbortSignal | null) =>
    fired?.reason ?? new EgressError("timeout", "The server did not answer in time");
  return withDeadline({ timeoutMs, signals: [outer], reason }, work);
}

function toMessage(
  { url, headers }: Hop,
  { body, method = body === undefined ? "GET" : "POST", keepAlive = false }: EgressRequest,
): Buffer {
  const content = typeof body === "string" ? Buffer.from(body) : (body ?? Buffer.alloc(0));
  const all: Record<string, string> = {
    accept: "*/*",
    "user-agent": "Switchyard/1",
    ...lowerCased(headers),
    host: url.host,
    "accept-encoding": "identity",
    connection: keepAlive ? "keep-alive" : "close",
  };
  if (method === "POST" || body !== undefined) all["content-length"] = String(content.length);
  let lines = "";
  for (const [name, value] of Object.entries(all)) {
    // A line break would begin another header, or another request.
    if (!headerName.test(name) || !headerValue.test(value)) throw new TypeError(`'${name}' is not a header`);
    lines += `${name}: ${value}\r\n`;
  }
  const head = `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${lines}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

function nextHop({ url, headers }: Hop, location: string, protocols: readonly EgressProtocol[]): Hop {
  // Never from https to http, even where http is allowed.
  const allowedProtocols = url.protocol === "https:" ? httpsOnly : protocols;
  const next = readCallerUrl(location, allowedProtocols, url);
  if (next.origin === url.origin) return { url: next, headers };
  const kept = Object.entries(lowerCased(headers)).filter(([name]) => headersForAllOrigins.has(name));
  return { url: next, headers: Object.fromEntries(kept) };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function unreachable(cause: unknown): EgressError {
  return new EgressError("unreachable", "The server could not be reached", { cause });
}

function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}
