// The switch from one configuration to the next, as a serving process sees it. Requests that arrive at a process whose configuration is not
// the active one are answered by a process whose configuration is: connections that clients keep open end at the old processes for a while.

import { existsSync } from "node:fs";
import { GatewayError } from "../errors.ts";
import { ActiveGeneration, type HandoverAddress, handoverSocket } from "../lib/handover.ts";

/** Holds the client's address. It is read only from requests that another process of the gateway sent. */
export const clientAddressHeader = "x-switchyard-client-address";

/** The listeners of a process, each of which continues at the same one of another process. */
export type ListenerName = "public" | "admin" | "metrics";

/** The switch, for one listener. */
export interface ListenerHandover {
  readonly isActive: boolean;
  /** Where this process takes requests that others received. */
  readonly socketPath: string;
  /** Waits while the configuration of this process is not active yet. */
  settle(): Promise<void>;
  /** The answer of a process whose configuration is active. */
  pass(request: Request, clientAddress: string): Promise<Response>;
}

// Bodies up to this size are sent with their length, as the client sent them.
const maxWholeBytes = 1_048_576;
const connectionHeaders = [
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
];

export class Handover {
  readonly #address: HandoverAddress;
  readonly #active: ActiveGeneration;
  readonly #settled = Promise.withResolvers<void>();

  constructor(address: HandoverAddress) {
    this.#address = address;
    this.#active = ActiveGeneration.open(address.folder);
    if (this.isActive) this.settle();
  }

  get isActive(): boolean {
    return this.#active.number === this.#address.generation;
  }

  /** The configuration of this process has become active, or never will. */
  settle(): void {
    this.#settled.resolve();
  }

  forListener(name: ListenerName): ListenerHandover {
    const handover = this;
    return {
      get isActive() {
        return handover.isActive;
      },
      socketPath: handoverSocket(this.#address, name),
      settle: () => this.#settled.promise,
      pass: (request, clientAddress) => this.#pass(request, clientAddress, name),
    };
  }

  async #pass(request: Request, clientAddress: string, name: ListenerName): Promise<Response> {
    const headers = new Headers(request.headers);
    for (const header of connectionHeaders) headers.delete(header);
    headers.set(clientAddressHeader, clientAddress);
    const body = await readBody(request);
    for (const socketPath of this.#listSockets(name)) {
      try {
        return await send(request, { socketPath, headers, body });
      } catch (error) {
        // The process has ended, or is being restarted. A body that is a stream cannot be sent again.
        if (request.signal.aborted || body instanceof ReadableStream || !isRefused(error)) throw error;
      }
    }
    throw new GatewayError("draining", "This process is shutting down; connect again.");
  }

  /** The sockets of all processes that serve the active configuration, in any order. */
  #listSockets(name: ListenerName): string[] {
    const { number: generation, processes } = this.#active;
    const first = Math.floor(Math.random() * processes);
    return Array.from({ length: processes }, (_, offset) =>
      handoverSocket({ ...this.#address, generation, index: (first + offset) % processes }, name),
    ).filter((path) => existsSync(path));
  }
}

type Body = ReadableStream<Uint8Array> | Blob | null;

async function readBody(request: Request): Promise<Body> {
  const { body, headers } = request;
  if (body === null) return null;
  const length = headers.get("content-length");
  return length !== null && Number(length) <= maxWholeBytes ? await request.blob() : body;
}

interface Target {
  readonly socketPath: string;
  readonly headers: Headers;
  readonly body: Body;
}

async function send(request: Request, { socketPath, headers, body }: Target): Promise<Response> {
  const { method, url, signal } = request;
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  const response = await fetch(`http://gateway${url.slice(start)}`, {
    unix: socketPath,
    method,
    headers,
    body,
    signal,
    redirect: "manual",
    decompress: false,
    keepalive: false,
    // The other process has timeouts of its own.
    timeout: false,
    proxy: false,
  });
  const answered = new Headers(response.headers);
  for (const header of [...connectionHeaders, "date"]) answered.delete(header);
  // The client's next request reaches a process of the active configuration directly.
  answered.set("connection", "close");
  const { status } = response;
  const length = response.headers.get("content-length");
  const isWhole = length !== null && Number(length) <= maxWholeBytes;
  return new Response(isWhole ? await response.blob() : response.body, { status, headers: answered });
}

function isRefused(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return code === "ConnectionRefused" || code === "FailedToOpenSocket" || code === "ENOENT" || code === "ECONNREFUSED";
}
