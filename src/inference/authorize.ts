// The header lines of a request, with credentials that are made for it where the provider wants such.

import type { Deployment } from "../providers/configure.ts";

interface Request {
  readonly path: string;
  readonly body: string;
  readonly headerLines: string;
}

export function authorize(deployment: Deployment, { path, body, headerLines }: Request): string | Promise<string> {
  const { authorizer, host, basePath } = deployment;
  if (authorizer === null) return headerLines;
  const made = authorizer.authorize({
    method: "POST",
    host,
    path: `${basePath}${path}`,
    body,
    headers: { "content-type": "application/json" },
  });
  const toLines = (headers: Readonly<Record<string, string>>) => {
    let lines = headerLines;
    for (const [name, value] of Object.entries(headers)) lines += `${name}: ${value}\r\n`;
    return lines;
  };
  return made instanceof Promise ? made.then(toLines) : toLines(made);
}
