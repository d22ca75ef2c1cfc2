// What an endpoint answers, before it is HTTP.

export interface Reply {
  readonly status: number;
  /** Names in lower case. Length, date and what concerns the connection are added where it is written. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | BodyStream | null;
}

/** A body that comes bit by bit. */
export interface BodyStream {
  /** Writes all of it. When it throws the connection is cut: nothing ends as if all were well. */
  writeTo(writer: BodyWriter): Promise<void>;
  /** The caller left. */
  abandon(): void;
}

export interface BodyWriter {
  /** The caller does not read at the moment. */
  readonly isStalled: boolean;
  /** In one go. A promise when the caller does not keep up: it resolves when all has been read, or the caller has left. */
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

/** The bytes of a stream as a body. */
export function streamBytes(source: ReadableStream<Uint8Array>): BodyStream {
  const reader = source.getReader();
  return {
    async writeTo(writer) {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        await writer.write([value]);
      }
    },
    abandon: () => void reader.cancel().catch(() => {}),
  };
}
