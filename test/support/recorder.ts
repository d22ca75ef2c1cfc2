// Between a client and the gateway: passes everything on as it comes, and keeps what was asked and answered.

export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly contentType: string;
  readonly answer: string;
}

export interface Recorder {
  readonly url: string;
  /** In the order in which their answers were complete; answers that a client did not wait for are left out. */
  readonly exchanges: readonly Exchange[];
  stop(): Promise<void>;
}

export function startRecorder(target: string, toPath: (path: string) => string = (path) => path): Recorder {
  const exchanges: Exchange[] = [];
  const running = new Set<Promise<void>>();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch: pass });

  async function pass(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const path = toPath(pathname) + search;
    const body = await request.text();
    const headers = new Headers(request.headers);
    headers.delete("host");
    const response = await fetch(target + path, {
      method: request.method,
      headers,
      signal: request.signal,
      decompress: false,
      ...(body === "" ? {} : { body }),
    });
    const [passed, own] = response.body?.tee() ?? [null, null];
    const keeping = keep(own, {
      method: request.method,
      path,
      body,
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
    });
    running.add(keeping);
    void keeping.finally(() => running.delete(keeping));
    return new Response(passed, { status: response.status, headers: response.headers });
  }

  async function keep(own: ReadableStream<Uint8Array> | null, asked: Omit<Exchange, "answer">): Promise<void> {
    try {
      exchanges.push({ ...asked, answer: own === null ? "" : await new Response(own).text() });
    } catch {
      // The client has left.
    }
  }

  return {
    url: server.url.origin,
    exchanges,
    async stop() {
      await server.stop(true);
      await Promise.all(running);
    },
  };
}
