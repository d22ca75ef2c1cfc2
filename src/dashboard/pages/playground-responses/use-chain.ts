// A chain of responses, each of which continues the one before: creates them, retrieves them with those before them, and deletes them.

import { useCallback, useEffect, useRef, useState } from "react";
import type { CopiedRequest } from "../../playground/code-samples.ts";
import { readEvents } from "../../playground/events.ts";
import { fetchWithKey, prepareKey } from "../../playground/key.ts";
import { type Input, type Item, type ResponseObject, ResponseReader, textOf, toInputItems } from "./response.ts";

const path = "/v3/responses";
const showEveryMs = 60;
/** How far back a retrieved response is followed. */
const maxRetrieved = 20;

export interface Entry {
  readonly key: string;
  readonly state: "running" | "done" | "stopped" | "failed" | "deleted";
  /** Null: retrieved, and the input is not known. */
  readonly input: Input | null;
  readonly response: ResponseObject | null;
  readonly items: readonly Item[];
  readonly request: CopiedRequest;
  readonly requestId: string | null;
  readonly firstTokenMs: number | null;
  readonly totalMs: number | null;
  readonly error: unknown;
}

export interface Chain {
  readonly entries: readonly Entry[];
  readonly isRunning: boolean;
  /** Why the last retrieval or deletion failed. */
  readonly error: unknown;
  create(body: Readonly<Record<string, unknown>>, input: Input): void;
  /** Replaces the chain by this response and those before it. */
  retrieve(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  stop(): void;
  clear(): void;
}

export function useChain(): Chain {
  const [entries, setEntries] = useState<readonly Entry[]>([]);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const controller = useRef(new AbortController());
  useEffect(() => {
    controller.current = new AbortController();
    return () => controller.current.abort();
  }, []);

  const change = useCallback((key: string, changed: Partial<Entry>) => {
    setEntries((before) => before.map((entry) => (entry.key === key ? { ...entry, ...changed } : entry)));
  }, []);

  async function run(key: string, json: Readonly<Record<string, unknown>>): Promise<void> {
    const { signal } = controller.current;
    const reader = new ResponseReader();
    let start = performance.now();
    const elapsed = () => performance.now() - start;
    let firstTokenMs: number | null = null;
    let requestId: string | null = null;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const known = () => ({ response: reader.response, items: reader.items, firstTokenMs, requestId });
    setRunning(true);
    try {
      await prepareKey();
      start = performance.now();
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(json),
        signal,
      };
      const response = await fetchWithKey(path, init);
      requestId = response.headers.get("x-request-id");
      for await (const event of readEvents(response)) {
        reader.read(event, requestId);
        if (firstTokenMs === null && reader.hasBegun) firstTokenMs = elapsed();
        timer ??= setTimeout(() => {
          timer = null;
          change(key, known());
        }, showEveryMs);
      }
      clearTimeout(timer ?? undefined);
      change(key, { ...known(), totalMs: elapsed(), state: "done" });
    } catch (failure) {
      clearTimeout(timer ?? undefined);
      const ended = { ...known(), totalMs: elapsed() };
      change(key, signal.aborted ? { ...ended, state: "stopped" } : { ...ended, state: "failed", error: failure });
    } finally {
      setRunning(false);
    }
  }

  function stop(): void {
    controller.current.abort();
    controller.current = new AbortController();
  }

  const retrieve = useCallback(async (id: string): Promise<void> => {
    setError(null);
    try {
      const found: Entry[] = [];
      for (let next: string | null = id; next !== null && found.length < maxRetrieved; ) {
        const entry: Entry | null = await retrieveOne(next).catch((failure: unknown) => {
          // An earlier turn may have been deleted; the later ones can still be read.
          if (found.length === 0) throw failure;
          return null;
        });
        if (entry === null) break;
        found.unshift(entry);
        next = entry.response?.previous_response_id ?? null;
      }
      setEntries(found);
    } catch (failure) {
      setError(failure);
    }
  }, []);

  return {
    entries,
    isRunning,
    error,
    create(body, input) {
      const json = { ...body, input: toInputItems(input), stream: true };
      const key = crypto.randomUUID();
      setError(null);
      setEntries((before) => [
        // A chain is continued from any of its responses.
        ...before.slice(0, before.findIndex(({ response }) => response?.id === body["previous_response_id"]) + 1),
        {
          key,
          input,
          state: "running",
          response: null,
          items: [],
          request: { method: "POST", path, json },
          requestId: null,
          firstTokenMs: null,
          totalMs: null,
          error: null,
        },
      ]);
      void run(key, json);
    },
    retrieve,
    async remove(id) {
      setError(null);
      try {
        await fetchWithKey(`${path}/${id}`, { method: "DELETE" });
        setEntries((before) =>
          before.map((entry) => (entry.response?.id === id ? { ...entry, state: "deleted" } : entry)),
        );
      } catch (failure) {
        setError(failure);
      }
    },
    stop,
    clear() {
      stop();
      setEntries([]);
      setError(null);
    },
  };
}

async function retrieveOne(id: string): Promise<Entry> {
  const address = `${path}/${encodeURIComponent(id)}`;
  const answer = await fetchWithKey(address);
  const response = (await answer.json()) as ResponseObject;
  return {
    key: crypto.randomUUID(),
    state: "done",
    input: await retrieveInput(address),
    response,
    items: response.output,
    request: { method: "GET", path: address },
    requestId: answer.headers.get("x-request-id"),
    firstTokenMs: null,
    totalMs: null,
    error: null,
  };
}

/** The last item is what this response was asked; those before it belong to earlier responses. */
async function retrieveInput(address: string): Promise<Input | null> {
  try {
    const answer = await fetchWithKey(`${address}/input_items?order=desc&limit=1`);
    const { data } = (await answer.json()) as { readonly data: readonly Item[] };
    const [last] = data;
    if (last === undefined) return null;
    if (last["type"] === "function_call_output")
      return { kind: "results", results: [{ callId: String(last["call_id"]), output: String(last["output"]) }] };
    return { kind: "message", text: textOf(last), attachments: [] };
  } catch {
    // Not every provider lists the input.
    return null;
  }
}
