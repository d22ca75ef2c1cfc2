// The header lines of a request, with credentials that are computed for it where the provider requires them.

import type { CallOptions } from "./call.ts";
import type { Address } from "./deployment.ts";

/** A promise only when the credentials have to be waited for. */
export function authorizeRequest(
  { authorizer, host, basePath }: Address,
  { method = "POST", path, body, headerLines = "" }: Pick<CallOptions, "method" | "path" | "body" | "headerLines">,
): string | Promise<string> {
  if (authorizer === null) return headerLines;
  const made = authorizer.authorize({
    method,
    host,
    path: `${basePath}${path}`,
    body,
    headers: { "content-type": "application/json" },
  });
  const toLines = (headers: Readonly<Record<string, string>>) => `${headerLines}${toHeaderLines(headers)}`;
  return made instanceof Promise ? made.then(toLines) : toLines(made);
}

export function toHeaderLines(headers: Readonly<Record<string, string>> = {}): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers)) lines += `${name}: ${value}\r\n`;
  return lines;
}
