// Draws the pages of a PDF file, in a worker: a damaged or hostile file can neither block the page nor reach it. A worker has no policy but
// that of its own file, so the page itself needs no permission for WebAssembly.

import { PDFiumLibrary } from "@hyzyla/pdfium";
// @ts-expect-error: the bundler replaces this import by the path of the file; the package has no types for it.
import wasmPath from "@hyzyla/pdfium/pdfium.wasm" with { type: "file" };

export interface DrawnPage {
  readonly png: Blob;
}

export type WorkerMessage =
  | { readonly kind: "page"; readonly page: DrawnPage }
  | { readonly kind: "end" }
  | { readonly kind: "failed" };

const maxPages = 20;
const shownWidth = 1_000;
/** Pages may be far higher than wide. */
const maxPixels = 6_000_000;

// The types of a page and of a worker cannot be used in one program.
const scope = globalThis as unknown as {
  onmessage: (event: MessageEvent<ArrayBuffer>) => void;
  postMessage(message: WorkerMessage): void;
};

scope.onmessage = ({ data }) => {
  draw(new Uint8Array(data)).then(
    () => scope.postMessage({ kind: "end" }),
    () => scope.postMessage({ kind: "failed" }),
  );
};

async function draw(bytes: Uint8Array): Promise<void> {
  const library = await PDFiumLibrary.init({ wasmUrl: new URL(wasmPath, import.meta.url).href });
  const document = await library.loadDocument(bytes);
  const count = Math.min(maxPages, document.getPageCount());
  for (let index = 0; index < count; index += 1) {
    const page = document.getPage(index);
    const { originalWidth, originalHeight } = page.getOriginalSize();
    const scale = Math.min(shownWidth / originalWidth, Math.sqrt(maxPixels / (originalWidth * originalHeight)));
    const { width, height, data } = await page.render({ scale, render: "bitmap" });
    scope.postMessage({ kind: "page", page: { png: await toPng(data, width, height) } });
  }
}

function toPng(pixels: Uint8Array, width: number, height: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("no canvas");
  context.putImageData(new ImageData(new Uint8ClampedArray(pixels), width, height), 0, 0);
  return canvas.convertToBlob({ type: "image/png" });
}
