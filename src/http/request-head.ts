// The head of a request: checks that Bun's parser does not make, and the parts of the URL.

import { GatewayError } from "../errors.ts";

const maxHeaders = 100;
const hostForm = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
// Hosts that were found to be valid: clients send the same few, and parsing a host costs more than a look-up.
const validHosts = new Set<string>();
const maxValidHosts = 1_000;
// An unread body up to this size is read and discarded, so that the connection can be used for the next request.
const maxDiscardedBytes = 65_536;

export function checkHead({ headers }: Request): void {
  const host = headers.get("host");
  if (host !== null && !validHosts.has(host)) checkHost(host);
  if (headers.count > maxHeaders)
    throw new GatewayError("too_many_headers", `A request may have at most ${maxHeaders} headers.`);
  const expect = headers.get("expect");
  if (expect !== null && expect.toLowerCase() !== "100-continue")
    throw new GatewayError("expectation_failed", "Only `Expect: 100-continue` is supported.");
}

/** Two Host headers arrive as one, joined by a comma, which no host contains. */
function checkHost(host: string): void {
  if (!isValidHost(host))
    throw new GatewayError("malformed_request", "The Host header is not valid.", { headers: { connection: "close" } });
  if (validHosts.size >= maxValidHosts) validHosts.clear();
  validHosts.add(host);
}

export function isValidHost(host: string): boolean {
  return hostForm.test(host) && URL.canParse(`http://${host}`);
}

/** Whether the unread body is too long to be read and discarded. */
export function hasLongBody({ headers, bodyUsed }: Request): boolean {
  if (bodyUsed) return false;
  return headers.has("transfer-encoding") || Number(headers.get("content-length")) > maxDiscardedBytes;
}

/** Percent-encoding stays: the router decodes each segment, so that an encoded slash stays inside its segment. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  // `CONNECT host:port` has no path.
  if (start < 0)
    throw new GatewayError("malformed_request", "The request target has no path.", {
      headers: { connection: "close" },
    });
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

export function queryOf(url: string): URLSearchParams {
  const query = url.indexOf("?");
  return new URLSearchParams(query < 0 ? "" : url.slice(query + 1));
}

/** Whether the caller asked which decisions were made for the call. */
export function wantsMetadata(headers: Headers): boolean {
  return headers.get("x-switchyard-metadata") === "true";
}

/**
 * Removes the spaces and tabs around a header's value, and nothing else. `String.trim` also removes non-breaking spaces and line
 * separators, so two parsers could read different values from the same header.
 */
export function trimSpaces(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
