// The grammar of an HTTP/1.1 request's head, strictly: one that two readers could understand differently is refused.

import { GatewayError } from "../../errors.ts";
import type { Framing } from "../../lib/http-body.ts";
import { findHeader } from "../../lib/http-headers.ts";

/** What was said of a request before its body. Headers are looked up when they are asked for: few of them ever are. */
export interface RequestHeaders {
  /** The value of a header, its name in lower case; repeated ones joined by a comma. */
  get(name: string): string | null;
  isRepeated(name: string): boolean;
}

const form =
  /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE) (?:\/|https?:\/\/|\*)[\x21-\x7e\x80-\xff]* HTTP\/1\.[01](?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;
const hostForm = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const wholeNumber = /^\d{1,15}$/;
const maxHeaders = 100;
const noBody: Framing = { kind: "length", length: 0 };

export class RequestHead implements RequestHeaders {
  readonly method: string;
  /** As it came: percent-encoding is the router's matter, so that an encoded slash stays inside its segment. */
  readonly target: string;
  /** HTTP/1.1, which knows chunks and keeps connections unless told otherwise. */
  readonly isNew: boolean;
  readonly framing: Framing;
  readonly mayKeepConnection: boolean;
  readonly #text: string;
  readonly #lowerCase: string;

  /** `text` is the head without its last line break. Throws a GatewayError. */
  constructor(text: string) {
    if (!form.test(text)) throw malformed("It is not an HTTP/1.1 request.");
    this.#text = text;
    this.#lowerCase = text.toLowerCase();
    const lineEnd = text.indexOf("\r\n");
    const line = lineEnd < 0 ? text : text.slice(0, lineEnd);
    const space = line.indexOf(" ");
    this.method = line.slice(0, space);
    this.target = decodeTarget(line.slice(space + 1, -" HTTP/1.1".length));
    this.isNew = line.endsWith("1");
    if (countLines(text) > maxHeaders)
      throw new GatewayError("too_many_headers", `A request may have at most ${maxHeaders} headers.`);
    const host = this.get("host");
    if (host === null ? this.isNew : !hostForm.test(host)) throw malformed("The Host header is not valid.");
    this.framing = this.#readFraming();
    const connection = this.get("connection")?.toLowerCase() ?? "";
    this.mayKeepConnection = this.isNew ? !connection.includes("close") : connection.includes("keep-alive");
  }

  get(name: string): string | null {
    return findHeader(this.#text, this.#lowerCase, `\r\n${name}:`);
  }

  isRepeated(name: string): boolean {
    const start = `\r\n${name}:`;
    const first = this.#lowerCase.indexOf(start);
    return first >= 0 && this.#lowerCase.indexOf(start, first + 1) >= 0;
  }

  #readFraming(): Framing {
    const encoding = this.get("transfer-encoding");
    const declared = this.get("content-length");
    if (encoding !== null) {
      if (declared !== null) throw malformed("The body has two lengths.");
      if (!this.isNew || encoding.toLowerCase() !== "chunked") throw malformed("The transfer encoding is not known.");
      return { kind: "chunked" };
    }
    if (declared === null) return noBody;
    if (!wholeNumber.test(declared)) throw malformed("The content length is not a number.");
    return { kind: "length", length: Number(declared) };
  }
}

export function malformed(message: string): GatewayError {
  return new GatewayError("malformed_request", message, { headers: { connection: "close" } });
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Clients at a command line send what was typed: that is UTF-8, or nothing that we know. */
function decodeTarget(target: string): string {
  if (!/[\x80-\xff]/.test(target)) return target;
  try {
    return decoder.decode(Buffer.from(target, "latin1"));
  } catch {
    throw malformed("The target of the request is not valid UTF-8.");
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) lines++;
  return lines;
}
