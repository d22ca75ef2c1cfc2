// Clients that send one request after the other until they are stopped, and note every answer that is not a success.

import { chatPath, hello } from "./chat.ts";
import { readChatStream } from "./events.ts";
import { openConnection, type RawConnection, type RawResponse, requestBytes } from "./raw-http.ts";

export interface SteadyLoad {
  readonly failures: readonly string[];
  /** Complete answers so far. */
  plain(): number;
  streams(): number;
  /** Requests that were sent again because the server closed an idle connection at the same moment and answered nothing. */
  resent(): number;
  stop(): Promise<void>;
}

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  /** A model whose stream takes some time, so that streams end at every moment of a restart. */
  readonly streamModel: string;
  /** Clients that keep their connection, that open one for each request, and that read streams on kept connections. */
  readonly kept?: number;
  readonly opening?: number;
  readonly streaming?: number;
  /** The pause of a client between two requests. */
  readonly pauseMs?: number;
}

export function startSteadyLoad(options: LoadOptions): SteadyLoad {
  const { url, key, streamModel, kept = 8, opening = 6, streaming = 8, pauseMs = 5 } = options;
  const failures: string[] = [];
  const counts = { plain: 0, streams: 0, resent: 0 };
  const startedAt = performance.now();
  let isRunning = true;

  function note(kind: string, connection: string, { status, body, complete }: RawResponse): void {
    const at = ((performance.now() - startedAt) / 1_000).toFixed(2);
    const text = body.toString().slice(-200);
    failures.push(`${at} s: ${status} for a ${kind} on a ${connection} connection, complete: ${complete}: ${text}`);
  }

  async function client(kind: "plain" | "streams", keeps: boolean): Promise<void> {
    const model = kind === "streams" ? { model: streamModel, stream: true } : {};
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const request = requestBytes({ path: chatPath, headers, body: JSON.stringify({ ...hello, ...model }) });
    let connection: RawConnection | null = null;
    while (isRunning) {
      try {
        const isReused: boolean = connection?.isClosed() === false;
        const current: RawConnection = isReused && connection !== null ? connection : await openConnection(url);
        current.send(request);
        const response = await current.receive({ withinMs: 60_000 });
        if (response.status === 0 && response.body.length === 0 && isReused) {
          // The server closed the idle connection while the request was on its way. HTTP clients send it again.
          counts.resent += 1;
          connection = null;
          continue;
        }
        if (isGood(kind, response)) counts[kind] += 1;
        else note(kind, isReused ? "kept" : "new", response);
        const mayStay = keeps && response.status !== 0 && response.headers["connection"]?.toLowerCase() !== "close";
        connection = mayStay ? current : null;
        if (!mayStay) current.leave();
      } catch (error) {
        failures.push(`${((performance.now() - startedAt) / 1_000).toFixed(2)} s: ${error}`);
        connection = null;
      }
      await Bun.sleep(pauseMs);
    }
    connection?.leave();
  }

  const clients = Promise.all([
    ...Array.from({ length: kept }, () => client("plain", true)),
    ...Array.from({ length: opening }, () => client("plain", false)),
    ...Array.from({ length: streaming }, () => client("streams", true)),
  ]);
  return {
    failures,
    plain: () => counts.plain,
    streams: () => counts.streams,
    resent: () => counts.resent,
    async stop() {
      isRunning = false;
      await clients;
    },
  };
}

function isGood(kind: "plain" | "streams", { status, complete, body }: RawResponse): boolean {
  if (status !== 200 || !complete) return false;
  if (kind === "plain") return true;
  const { done, errors } = readChatStream(body.toString());
  return done && errors.length === 0;
}
