// A client that sees the socket: sends any bytes, reads answers one by one, knows who closed and when.

import { connect, type Socket } from "node:net";
import { readChunked } from "./vendor.ts";
import { waitFor } from "./wait.ts";

export interface RawResponse {
  /** 0 when the connection was closed without an answer. */
  readonly status: number;
  /** Lower-case names; repeated lines are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** False when the connection ended before the body's own end. */
  readonly complete: boolean;
  /** The pieces of a chunked body, as the server framed them. */
  readonly chunks: readonly Buffer[];
  /** Statuses such as 100 that came before. */
  readonly interim: readonly number[];
}

interface Receive {
  readonly withinMs?: number;
  /** The answer to a HEAD request has a length and no body. */
  readonly withoutBody?: boolean;
}

export interface RawConnection {
  send(bytes: string | Uint8Array): void;
  /** The next answer on this connection. */
  receive(options?: Receive): Promise<RawResponse>;
  /** Everything that came and was not yet taken by `receive`. */
  text(): string;
  isClosed(): boolean;
  waitForClose(withinMs?: number): Promise<void>;
  /** Closes the socket, as a client does that has lost interest. */
  leave(): void;
  reset(): void;
}

export async function openConnection(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = await dial(hostname, Number(port));
  let received: Buffer = Buffer.alloc(0);
  let closed = false;
  // Whoever waits for more is woken by data and by the end.
  let wake = () => {};

  socket.on("data", (bytes: Buffer) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    wake();
  });
  function ended(): void {
    closed = true;
    wake();
  }
  socket.on("error", ended);
  socket.on("end", ended);
  socket.on("close", ended);

  async function receive({ withinMs = 60_000, withoutBody = false }: Receive = {}): Promise<RawResponse> {
    const deadline = performance.now() + withinMs;
    const interim: number[] = [];
    for (;;) {
      const parsed = readResponse(received, closed, withoutBody);
      if (parsed !== null) {
        received = received.subarray(parsed.end);
        if (parsed.response.status >= 100 && parsed.response.status < 200) {
          interim.push(parsed.response.status);
          continue;
        }
        return { ...parsed.response, interim };
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new Error(`no whole answer within ${withinMs} ms; so far: ${received.toString("latin1")}`);
      const more = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await Promise.race([more, Bun.sleep(Math.min(leftMs, 1_000))]);
    }
  }

  return {
    // A server may refuse and close before it has read everything: that is an answer, not an accident.
    send: (bytes) => void (closed || socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes)),
    receive,
    text: () => received.toString(),
    isClosed: () => closed,
    waitForClose: async (withinMs = 60_000) =>
      void (await waitFor("the server to close the connection", () => closed, { withinMs })),
    leave: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
  };
}

interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/** The bytes of a request; a length is added where there is a body and no framing of its own. */
export function requestBytes({ method = "POST", path, headers = {}, body }: RawRequest): Buffer {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one) => `${name}: ${one}\r\n`),
  );
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has("host")) lines.unshift("host: gateway\r\n");
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const framed = names.has("content-length") || names.has("transfer-encoding");
  if (bytes !== undefined && !framed) lines.push(`content-length: ${bytes.length}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`, "latin1");
  return bytes === undefined ? head : Buffer.concat([head, bytes]);
}

function dial(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true }, () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

interface Parsed {
  readonly response: Omit<RawResponse, "interim">;
  readonly end: number;
}

/** The first answer in the bytes; null when more must come. */
function readResponse(bytes: Buffer, closed: boolean, withoutBody: boolean): Parsed | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) {
    if (!closed) return null;
    const nothing = { status: 0, headers: {}, body: bytes, complete: false, chunks: [] };
    return { response: nothing, end: bytes.length };
  }
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = readHeaders(lines);
  const start = headEnd + 4;

  function done(body: Buffer, end: number, complete: boolean, chunks: readonly Buffer[] = []): Parsed {
    return { response: { status, headers, body, complete, chunks }, end };
  }

  if (withoutBody || status < 200 || status === 204 || status === 304) return done(Buffer.alloc(0), start, true);
  if (headers["transfer-encoding"]?.toLowerCase() === "chunked") {
    const whole = readChunked(bytes, start);
    if (whole !== null) return done(whole.body, whole.end, true, splitChunks(bytes.subarray(start, whole.end)));
    if (!closed) return null;
    const pieces = splitChunks(bytes.subarray(start));
    return done(Buffer.concat(pieces), bytes.length, false, pieces);
  }
  const length = headers["content-length"];
  if (length === undefined) return closed ? done(bytes.subarray(start), bytes.length, true) : null;
  const end = start + Number(length);
  if (bytes.length >= end) return done(bytes.subarray(start, end), end, true);
  return closed ? done(bytes.subarray(start), bytes.length, false) : null;
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

/** The pieces of a chunked body, the last of them perhaps cut. */
function splitChunks(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return chunks;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!(size > 0)) return chunks;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
