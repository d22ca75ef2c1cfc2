// Adds the header lines of credentials that are computed for each request, or that expire.

import type { CallOptions } from "./call.ts";
import type { Address } from "./deployment.ts";

/** A promise only when the credentials are not ready yet. */
export function authorizeRequest(
  { authorizer, host, basePath }: Address,
  { method = "POST", path, body, headerLines = "" }: Pick<CallOptions, "method" | "path" | "body" | "headerLines">,
): string | Promise<string> {
  if (authorizer === null) return headerLines;
  const headers = { "content-type": "application/json" };
  const added = authorizer.authorize({ method, host, path: `${basePath}${path}`, body, headers });
  const toLines = (ready: Readonly<Record<string, string>>) => `${headerLines}${toHeaderLines(ready)}`;
  return added instanceof Promise ? added.then(toLines) : toLines(added);
}

export function toHeaderLines(headers: Readonly<Record<string, string>> = {}): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) lines += `${name}: ${value}\r\n`;
  return lines;
}
