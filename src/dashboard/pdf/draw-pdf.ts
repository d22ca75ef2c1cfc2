// Draws the pages of a PDF file as pictures, in a worker.

import type { WorkerMessage } from "./pdf-worker.ts";

// A hostile file may keep the worker busy forever.
const timeoutMs = 30_000;

interface DrawOptions {
  /** Called for each page, in order. */
  readonly onPage: (png: Blob) => void;
  /** Stops the worker. */
  readonly signal: AbortSignal;
}

/** Draws the first pages. Never rejects: a file that cannot be read has no pages, and a damaged or slow one has those that were drawn before. */
export async function drawPdf(file: Blob, { onPage, signal }: DrawOptions): Promise<void> {
  // Reading fails if the file was changed or deleted after the user had chosen it.
  const bytes = await file.arrayBuffer().catch(() => null);
  if (bytes === null || signal.aborted) return;
  const path = document.querySelector<HTMLMetaElement>("meta[name=pdf-worker]")?.content;
  if (path === undefined) return;
  const worker = new Worker(path, { type: "module" });
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  signal.addEventListener("abort", () => resolve(), { once: true });
  worker.onerror = () => resolve();
  worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
    if (data.kind !== "page") resolve();
    else if (!signal.aborted) onPage(data.page.png);
  };
  worker.postMessage(bytes, [bytes]);
  await promise;
  clearTimeout(timer);
  worker.terminate();
}
