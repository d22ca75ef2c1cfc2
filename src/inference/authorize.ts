// The header lines of a request, with credentials that are computed for it where the provider requires them.

import type { CallOptions } from "../providers/call.ts";
import type { Deployment } from "../providers/configure.ts";

export function authorize(
  deployment: Deployment,
  { method = "POST", path, body, headerLines = "" }: Pick<CallOptions, "method" | "path" | "body" | "headerLines">,
): string | Promise<string> {
  const { authorizer, host, basePath } = deployment;
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

export function toHeaderLines(headers: Readonly<Record<string, string>> | undefined): string {
  let lines = "";
  for (const [name, value] of Object.entries(headers ?? {})) lines += `${name}: ${value}\r\n`;
  return lines;
}
