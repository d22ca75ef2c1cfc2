// One connection of a caller: requests one after the other, each answered before the next is looked at.

import { GatewayError } from "../../errors.ts";
import type { Listed } from "../../lib/roster.ts";
import type { BodyStream, Reply } from "../reply.ts";
import { ChunkedWriter, PlainWriter, type StreamWriter } from "./body-writers.ts";
import type { HttpDate } from "./http-date.ts";
import { type BodySource, IncomingBody } from "./incoming-body.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { Outgoing } from "./outgoing.ts";
import { malformed, RequestHead } from "./request-head.ts";
import { toResponseHead } from "./response-head.ts";
import type { WebSocketWire } from "./websocket.ts";

/** What a connection is part of. */
export interface ConnectionOwner {
  readonly date: HttpDate;
  readonly clocks: ConnectionClocks;
  /** Never rejects. */
  answer(request: IncomingRequest): Promise<Reply | Takeover>;
  /** What is no request at all. */
  refuse(error: unknown): Reply;
  began(): void;
  ended(): void;
  closed(connection: HttpConnection): void;
}

/** The connection changes to WebSocket messages. */
export interface Takeover {
  readonly headers: Readonly<Record<string, string>>;
  readonly open: (outgoing: Outgoing, close: () => void) => WebSocketWire;
}

type Socket = Bun.Socket<HttpConnection>;

const nothing = Buffer.alloc(0);
const carriageReturn = 0x0d;
const newline = 0x0a;
const maxHeadBytes = 16_384;
// Requests that come before the last one is answered wait; whoever sends more than this of them is not read any further.
const mostWaitingBytes = 65_536;
// A head and a body of this size go out together: to copy them is less work than to write twice.
const mostJoinedBytes = 65_536;

export interface ConnectionClocks {
  /** Between requests. While one runs, its own clocks decide. */
  readonly idleMs: number;
  /** For a head to come whole, once it has begun. */
  readonly headMs: number;
  /** A stream writes at least its heartbeat; a caller who has not read anything for so long is gone. */
  readonly stalledReaderMs: number;
  /** Behind the last answer the other side is listened to a while: to close while it sends would take the answer from it. */
  readonly lingerMs: number;
}

/** `waiting`: for the first byte of a request. `closing`: the last answer is written, or about to be. */
type State = "waiting" | "head" | "busy" | "skipping" | "closing" | "socket" | "closed";

export class HttpConnection implements Listed, BodySource {
  place = -1;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #outgoing: Outgoing;
  #state: State = "waiting";
  #received: Buffer = nothing;
  #searchedBytes = 0;
  #deadline: number;
  #isPaused = false;
  #isShut = false;
  #request: IncomingRequest | null = null;
  /** What is left of a body that nobody wanted. */
  #skipped: IncomingBody | null = null;
  #stream: BodyStream | null = null;
  #webSocket: WebSocketWire | null = null;

  constructor(owner: ConnectionOwner, socket: Socket) {
    this.#owner = owner;
    this.#socket = socket;
    this.#outgoing = new Outgoing(socket);
    this.#deadline = performance.now() + owner.clocks.idleMs;
  }

  /** Whether a request runs, or a WebSocket is open. */
  get isBusy(): boolean {
    return this.#state === "busy" || this.#state === "socket";
  }

  receive(bytes: Buffer): void {
    switch (this.#state) {
      case "waiting":
      case "head":
        this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
        this.#readRequests();
        return;
      case "busy":
        if (this.#request?.body.isComplete === false) this.#request.body.receive(bytes);
        else this.#keepForLater(bytes);
        return;
      case "skipping":
        this.#skip(bytes);
        return;
      case "socket":
        this.#webSocket?.receive(bytes);
        return;
      default: // Nobody waits for it any more.
    }
  }

  flush(): void {
    this.#outgoing.flush();
    if (this.#outgoing.isStalled) return;
    if (this.#state === "closing") this.#shutDown();
    else this.#webSocket?.wasDrained();
  }

  /** The clocks. */
  check(now: number): void {
    if (this.#outgoing.isStalledSince(now - this.#owner.clocks.stalledReaderMs)) this.terminate();
    else if (this.#state === "socket") this.#webSocket?.check(now);
    else if (this.#state !== "busy" && !this.#outgoing.isStalled && now > this.#deadline) this.#expire();
  }

  /** Nothing was asked, and nothing more will be answered. */
  endWhenIdle(): void {
    if (this.#state === "waiting") this.#close();
  }

  /** The other side is gone. */
  lose(): void {
    if (this.#state === "closed") return;
    const wasBusy = this.isBusy;
    this.#state = "closed";
    this.#outgoing.close();
    this.#request?.leave();
    this.#request = null;
    this.#stream?.abandon();
    this.#stream = null;
    this.#webSocket?.closed();
    this.#webSocket = null;
    this.#skipped = null;
    this.#received = nothing;
    if (wasBusy) this.#owner.ended();
    this.#owner.closed(this);
  }

  /** At once, in whatever state it is. */
  terminate(): void {
    this.#socket.terminate();
    this.lose();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  sendContinue(): void {
    this.#outgoing.write("HTTP/1.1 100 Continue\r\n\r\n");
  }

  #keepForLater(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    if (this.#received.length > mostWaitingBytes) this.pause();
  }

  #readRequests(): void {
    try {
      const head = this.#readHead();
      if (head !== null) this.#begin(head);
    } catch (error) {
      this.#write(this.#owner.refuse(error), null);
    }
  }

  /** Null when it has not come whole. */
  #readHead(): RequestHead | null {
    if (this.#searchedBytes === 0) this.#received = withoutEmptyLines(this.#received);
    const bytes = this.#received;
    if (bytes.length === 0) return null;
    if (this.#state === "waiting") {
      this.#state = "head";
      this.#deadline = performance.now() + this.#owner.clocks.headMs;
    }
    const end = bytes.indexOf("\r\n\r\n", this.#searchedBytes);
    if (end > maxHeadBytes || (end < 0 && bytes.length > maxHeadBytes))
      throw new GatewayError("headers_too_large", `The head of a request may hold at most ${maxHeadBytes} bytes.`);
    if (end < 0) {
      if (!mayBecomeHead(bytes)) throw malformed("It is not an HTTP/1.1 request.");
      this.#searchedBytes = Math.max(0, bytes.length - 3);
      return null;
    }
    this.#searchedBytes = 0;
    const head = new RequestHead(bytes.toString("latin1", 0, end));
    this.#received = bytes.subarray(end + 4);
    return head;
  }

  #begin(head: RequestHead): void {
    const mustInvite = head.isNew && head.get("expect")?.toLowerCase() === "100-continue";
    const body = new IncomingBody(this, head.framing, this.#received, mustInvite);
    this.#received = nothing;
    const request = new IncomingRequest(head, body, () => this.#socket.remoteAddress ?? "");
    this.#request = request;
    this.#state = "busy";
    this.#owner.began();
    void this.#answer(request);
  }

  async #answer(request: IncomingRequest): Promise<void> {
    const reply = await this.#owner.answer(request);
    try {
      // The caller has left, and with it all that belonged to the request.
      if (this.#request !== request) abandon(reply);
      else if ("open" in reply) this.#takeOver(reply, request);
      else this.#write(reply, request);
    } catch (error) {
      const refusal = this.#owner.refuse(error);
      abandon(reply);
      // It is a head that cannot be written, as a rule; then nothing has been.
      if (this.#request === request) this.#write(refusal, request);
      else this.terminate();
    }
  }

  /** `request` is null when there was none that could be read. */
  #write(reply: Reply, request: IncomingRequest | null): void {
    const mayKeep =
      request?.head.mayKeepConnection === true && reply.headers["connection"] !== "close" && request.body.skip();
    const isNew = request?.head.isNew ?? true;
    const connection = mayKeep ? (isNew ? null : "keep-alive") : "close";
    const isHead = request?.method === "HEAD";
    const { body } = reply;
    if (isStream(body)) {
      const declared = reply.headers["content-length"];
      const isChunked = isNew && declared === undefined;
      this.#outgoing.write(this.#toHead(reply, connection, isChunked ? "chunked" : null));
      const writer = isChunked ? new ChunkedWriter(this.#outgoing) : new PlainWriter(this.#outgoing, declared);
      if (!isHead) void this.#writeStream(body, writer, mayKeep && (isChunked || declared !== undefined));
      else {
        body.abandon();
        this.#finish(mayKeep);
      }
      return;
    }
    const length = body === null ? 0 : Buffer.byteLength(body);
    const head = this.#toHead(reply, connection, length);
    if (body === null || isHead) this.#outgoing.write(head, head.length);
    else if (typeof body === "string") this.#outgoing.write(head + body, head.length + length);
    else if (length <= mostJoinedBytes) this.#outgoing.write(Buffer.concat([Buffer.from(head), body]));
    else {
      this.#outgoing.write(head, head.length);
      this.#outgoing.write(body, length);
    }
    this.#finish(mayKeep);
  }

  #toHead(reply: Reply, connection: string | null, length: number | "chunked" | null): string {
    return toResponseHead(reply, connection, length, this.#owner.date.now());
  }

  async #writeStream(stream: BodyStream, writer: StreamWriter, mayKeep: boolean): Promise<void> {
    this.#stream = stream;
    let isWhole = true;
    try {
      await stream.writeTo(writer);
    } catch {
      isWhole = false;
    }
    if (this.#stream !== stream) return;
    this.#stream = null;
    if (isWhole && writer.end()) this.#finish(mayKeep);
    // Without its end, so that nobody takes it for the whole.
    else this.terminate();
  }

  #takeOver({ headers, open }: Takeover, { body }: IncomingRequest): void {
    this.#outgoing.write(this.#toHead({ status: 101, headers, body: null }, "Upgrade", null));
    this.#state = "socket";
    this.#request = null;
    this.#webSocket = open(this.#outgoing, () => this.#endSocket());
    this.#webSocket.receive(Buffer.concat([body.takeSurplus(), this.#received]));
    this.#received = nothing;
  }

  #endSocket(): void {
    const socket = this.#webSocket;
    if (socket === null) return;
    this.#webSocket = null;
    socket.closed();
    this.#finish(false);
  }

  /** The answer is written. */
  #finish(mayKeep: boolean): void {
    const body = this.#request?.body;
    const wasBusy = this.isBusy;
    this.#request = null;
    if (!mayKeep || body === undefined || body.hasFailed) this.#close();
    else if (body.isComplete) this.#waitForNext(body);
    else {
      this.#state = "skipping";
      this.#skipped = body;
      this.#deadline = performance.now() + this.#owner.clocks.headMs;
    }
    if (wasBusy) this.#owner.ended();
  }

  #skip(bytes: Buffer): void {
    const body = this.#skipped;
    if (body === null) return;
    body.receive(bytes);
    if (body.hasFailed) this.terminate();
    if (!body.isComplete) return;
    this.#skipped = null;
    this.#waitForNext(body);
  }

  #waitForNext(body: IncomingBody): void {
    this.#state = "waiting";
    this.#deadline = performance.now() + this.#owner.clocks.idleMs;
    const surplus = body.takeSurplus();
    if (surplus.length > 0) this.#received = Buffer.concat([surplus, this.#received]);
    this.resume();
    if (this.#received.length > 0) this.#readRequests();
  }

  #close(): void {
    this.#state = "closing";
    this.resume();
    if (!this.#outgoing.isStalled) this.#shutDown();
  }

  #shutDown(): void {
    if (this.#isShut) return;
    this.#isShut = true;
    this.#deadline = performance.now() + this.#owner.clocks.lingerMs;
    this.#socket.shutdown();
  }

  #expire(): void {
    if (this.#state === "head") this.#write(this.#owner.refuse(tookTooLong()), null);
    else if (this.#state === "waiting") this.#close();
    else this.terminate();
  }
}

function abandon(reply: Reply | Takeover): void {
  if ("body" in reply && isStream(reply.body)) reply.body.abandon();
}

function isStream(body: Reply["body"]): body is BodyStream {
  return body !== null && typeof body === "object" && "writeTo" in body;
}

/** Old clients send one behind a body. */
function withoutEmptyLines(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes[start] === carriageReturn && bytes[start + 1] === newline) start += 2;
  return start === 0 ? bytes : bytes.subarray(start);
}

/** Whether it makes sense to wait for the rest: TLS, for one, does not begin with a letter, and lines end with two characters. */
function mayBecomeHead(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  return /^[A-Z\r]/.test(text) && !/[^\r]\n/.test(text);
}

function tookTooLong(): GatewayError {
  return new GatewayError("request_timeout", "The head of the request took too long to arrive.", {
    headers: { connection: "close" },
  });
}
