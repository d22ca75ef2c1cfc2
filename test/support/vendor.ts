// A mock vendor: a real server on loopback that speaks the chat format over plain TCP, so that it can stop, reset,
// stall or talk nonsense at any byte. What it does is scripted by a queue, by the model's name, or by a function.

import { createServer, type Server, type Socket } from "node:net";
import { answer, completion, type Script, type Step, stream, type Usage, usualUsage } from "./answers.ts";
import { waitFor } from "./wait.ts";

export interface VendorRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Exactly the bytes that arrived. */
  readonly body: Buffer;
  /** The `model` member of the body, or "" when there is none. */
  readonly model: string;
  readonly receivedAt: number;
  /** Which of the vendor's connections it came on, counted from 1. */
  readonly connection: number;
  /** When the peer closed the connection before the script was through; null when it did not. */
  leftAt: number | null;
  /** When the last step was done; null while the script runs, or when the peer left first. */
  finishedAt: number | null;
}

export type Behaviour = Script | ((request: VendorRequest) => Script);

export interface Vendor {
  readonly port: number;
  /** Address and version prefix, as a provider's `base_url`. */
  readonly url: string;
  readonly requests: VendorRequest[];
  readonly openConnections: () => number;
  /** What the next request gets, whatever its model. Several calls queue up. */
  next(behaviour: Behaviour): void;
  /** What requests for this model get. */
  on(model: string, behaviour: Behaviour): void;
  /** Forgets requests, queue and models. */
  clear(): void;
  /** The newest request; throws when there is none. */
  last(): VendorRequest;
  waitFor(what: string, condition: (requests: readonly VendorRequest[]) => boolean, withinMs?: number): Promise<void>;
  /** Nobody listens on the port while `work` runs. */
  whileRefusing<Result>(work: () => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

export async function startVendor(fallback: Behaviour = echo): Promise<Vendor> {
  const requests: VendorRequest[] = [];
  const sockets = new Set<Socket>();
  const queue: Behaviour[] = [];
  const models = new Map<string, Behaviour>();
  let connections = 0;

  function accept(socket: Socket): void {
    connections += 1;
    sockets.add(socket);
    serveConnection(socket, connections, (request) => {
      requests.push(request);
      const behaviour = queue.shift() ?? models.get(request.model) ?? fallback;
      return typeof behaviour === "function" ? behaviour(request) : behaviour;
    });
    socket.on("close", () => sockets.delete(socket));
  }

  let server = await listen(0, accept);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mock vendor has no port");
  const { port } = address;

  async function closeServer(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    openConnections: () => sockets.size,
    next: (behaviour) => void queue.push(behaviour),
    on: (model, behaviour) => void models.set(model, behaviour),
    clear() {
      requests.length = 0;
      queue.length = 0;
      models.clear();
    },
    last() {
      const request = requests.at(-1);
      if (request === undefined) throw new Error("no request has reached the vendor");
      return request;
    },
    async waitFor(what, condition, withinMs = 60_000) {
      await waitFor(what, () => condition(requests), { withinMs });
    },
    async whileRefusing(work) {
      await closeServer();
      try {
        return await work();
      } finally {
        server = await listen(port, accept);
      }
    },
    stop: closeServer,
  };
}

function listen(port: number, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ noDelay: true }, accept);
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", backlog: 4_096 }, () => resolve(server));
  });
}

/** A healthy vendor: repeats the last message, as JSON or as a stream, with usage where it was asked for. */
export function echo(request: VendorRequest): Script {
  if (!request.path.endsWith("/chat/completions")) return answer(404, { error: { message: "no such path" } });
  const body = parseBody(request.body);
  const said = lastContent(body).slice(0, 1_000);
  if (body?.["stream"] !== true) return answer(200, completion(said));
  const options = body["stream_options"];
  const asked = typeof options === "object" && options !== null && "include_usage" in options && options.include_usage;
  const usage: Usage | null = asked === true ? usualUsage : null;
  return stream(said.match(/.{1,8}/gs) ?? [], { usage });
}

function lastContent(body: Record<string, unknown> | null): string {
  const messages = body?.["messages"];
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null;
  if (typeof last !== "object" || last === null || !("content" in last)) return "";
  return typeof last.content === "string" ? last.content : JSON.stringify(last.content);
}

function parseBody(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function modelOf(body: Buffer): string {
  const model = parseBody(body)?.["model"];
  return typeof model === "string" ? model : "";
}

function serveConnection(socket: Socket, connection: number, behave: (request: VendorRequest) => Script): void {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let neededBytes = 0;
  let current: VendorRequest | null = null;

  socket.on("data", (bytes: Buffer) => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
    if (current === null && waitingBytes >= neededBytes) take();
  });
  // A reset arrives as an error and then as a close, and the close is enough.
  socket.on("error", () => {});
  socket.on("end", left);
  socket.on("close", left);

  function left(): void {
    if (current !== null && current.finishedAt === null) current.leftAt ??= performance.now();
  }

  function take(): void {
    const bytes = Buffer.concat(waiting);
    const parsed = readRequest(bytes);
    waiting.length = 0;
    if (typeof parsed === "number") {
      waiting.push(bytes);
      neededBytes = parsed;
      return;
    }
    if (parsed.rest.length > 0) waiting.push(parsed.rest);
    waitingBytes = parsed.rest.length;
    neededBytes = 0;
    const { method, path, headers, body } = parsed;
    const received = {
      model: modelOf(body),
      receivedAt: performance.now(),
      connection,
      leftAt: null,
      finishedAt: null,
    };
    current = { method, path, headers, body, ...received };
    void run(current);
  }

  async function run(request: VendorRequest): Promise<void> {
    for (const step of behave(request)) {
      if (socket.destroyed || request.leftAt !== null) return;
      if (step.do === "fin" || step.do === "rst") {
        request.finishedAt = performance.now();
        if (step.do === "fin") socket.end();
        else socket.resetAndDestroy();
        return;
      }
      await perform(socket, step);
    }
    if (request.leftAt !== null) return;
    request.finishedAt = performance.now();
    current = null;
    if (waitingBytes > 0) take();
  }
}

async function perform(socket: Socket, step: Step): Promise<void> {
  switch (step.do) {
    case "write":
      return writeAll(socket, step.bytes);
    case "wait":
      return Bun.sleep(step.ms);
    case "until":
      await Promise.race([step.ready, untilClosed(socket)]);
      return;
    case "flood":
      for (let count = 0; count < step.times && !socket.destroyed; count += 1) await writeAll(socket, step.unit);
      return;
    case "hang":
      return untilClosed(socket);
    case "fin":
    case "rst":
      return;
    default:
      step satisfies never;
  }
}

async function writeAll(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const goOn = () => resolve();
  socket.once("drain", goOn);
  socket.once("close", goOn);
  await promise;
  socket.off("drain", goOn);
  socket.off("close", goOn);
}

async function untilClosed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

interface ParsedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly rest: Buffer;
}

/** The first request in the bytes, or how many bytes there must be before another look is worthwhile. */
function readRequest(bytes: Buffer): ParsedRequest | number {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return bytes.length + 1;
  const [requestLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const [method = "", path = ""] = requestLine.split(" ");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const bodyStart = headEnd + 4;
  if (headers["transfer-encoding"] === "chunked") {
    const chunked = readChunked(bytes, bodyStart);
    if (chunked === null) return bytes.length + 1;
    return { method, path, headers, body: chunked.body, rest: bytes.subarray(chunked.end) };
  }
  const bodyEnd = bodyStart + Number(headers["content-length"] ?? 0);
  if (bytes.length < bodyEnd) return bodyEnd;
  return { method, path, headers, body: bytes.subarray(bodyStart, bodyEnd), rest: bytes.subarray(bodyEnd) };
}

/** A complete chunked body that starts at `start`; null while its end has not arrived. */
export function readChunked(bytes: Buffer, start: number): { body: Buffer; end: number } | null {
  const pieces: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const dataStart = lineEnd + 2;
    if (bytes.length < dataStart + size + 2) return null;
    if (size === 0) return { body: Buffer.concat(pieces), end: dataStart + 2 };
    pieces.push(bytes.subarray(dataStart, dataStart + size));
    at = dataStart + size + 2;
  }
}
