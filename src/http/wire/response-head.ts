// The head of an answer.

import type { Reply } from "../reply.ts";

const phrases: Readonly<Record<number, string>> = {
  101: "Switching Protocols",
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  206: "Partial Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  422: "Unprocessable Content",
  424: "Failed Dependency",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

// A line break in a value would be the beginning of another header.
const value = /^[\t\x20-\x7e]*$/;
// Of whom the length says something about another answer.
const withoutLength: ReadonlySet<number> = new Set([101, 204, 304]);

/** Head and empty line. `length` is null where the reply says it itself, or the end of the connection is that of the body. */
export function toResponseHead(
  { status, headers }: Reply,
  connection: string | null,
  length: number | "chunked" | null,
  date: string,
): string {
  let lines = "";
  for (const name in headers) {
    const text = headers[name] ?? "";
    if (!value.test(text)) throw new TypeError(`the header ${name} holds what no header may hold`);
    if (name !== "connection") lines += `${name}: ${text}\r\n`;
  }
  if (connection !== null) lines += `connection: ${connection}\r\n`;
  if (length === "chunked") lines += "transfer-encoding: chunked\r\n";
  else if (length !== null && headers["content-length"] === undefined && !withoutLength.has(status))
    lines += `content-length: ${length}\r\n`;
  lines += `date: ${date}\r\n`;
  return `HTTP/1.1 ${status} ${phrases[status] ?? ""}\r\n${lines}\r\n`;
}
