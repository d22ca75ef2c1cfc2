// The answer of a route, before it becomes a `Response`.

export interface Reply {
  readonly status: number;
  /** Names in lower case. The server adds Content-Length and Date. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bun itself sends the `ReadableStream` of a file, with its length. */
  readonly body: string | Uint8Array | BodyStream | ReadableStream<Uint8Array> | null;
}

/** A body that is written piece by piece. */
export interface BodyStream {
  /** Writes the whole body. When it throws, the connection is cut, so that no client takes a part for the whole. */
  writeTo(writer: BodyWriter): Promise<void>;
  /** The client has left. */
  abandon(): void;
}

export interface BodyWriter {
  /** The client is not reading. */
  readonly isStalled: boolean;
  /** One chunk for each piece. A promise when the client reads too slowly: it resolves when more can be written, or the client has left. */
  write(pieces: readonly Uint8Array[]): Promise<void> | undefined;
}

interface ReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export function reply(body: Reply["body"], { status = 200, headers = {} }: ReplyOptions = {}): Reply {
  return { status, headers, body };
}

export function replyJson(value: unknown, { status = 200, headers = {} }: ReplyOptions = {}): Reply {
  return { status, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(value) };
}

export function isStream(body: Reply["body"]): body is BodyStream {
  return typeof body === "object" && body !== null && "writeTo" in body;
}
