// The pages of a PDF file as pictures, drawn by a worker.

import type { WorkerMessage } from "./pdf-worker.ts";

const limitMs = 30_000;

interface Drawing {
  readonly onPage: (png: Blob) => void;
  /** Ends the worker. */
  readonly signal: AbortSignal;
}

/** A file that cannot be drawn has no pages, or only those before the damage. */
export async function drawPdf(file: Blob, { onPage, signal }: Drawing): Promise<void> {
  const bytes = await file.arrayBuffer();
  const path = document.querySelector<HTMLMetaElement>("meta[name=pdf-worker]")?.content;
  if (path === undefined || signal.aborted) return;
  const worker = new Worker(path, { type: "module" });
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
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
