// Builds the site in a thread that ends afterwards: rendering takes a second of processor time, which no request should wait for.

import { join } from "node:path";
import type { OpenApiDocument } from "./openapi.ts";
import type { SiteFile, SiteOptions } from "./site.ts";

export type BuildReport = { readonly files: readonly SiteFile[] } | { readonly error: string };

const timeoutMs = 60_000;

export async function buildSiteInThread(openApi: OpenApiDocument): Promise<readonly SiteFile[]> {
  const root = join(import.meta.dir, "../..");
  const thread = new Worker(new URL("./build-worker.ts", import.meta.url).href);
  thread.unref();
  const { promise, resolve, reject } = Promise.withResolvers<readonly SiteFile[]>();
  const timer = setTimeout(() => reject(new Error("The documentation was not built in time.")), timeoutMs);
  thread.onmessage = ({ data }: MessageEvent<BuildReport>) => {
    if ("files" in data) resolve(data.files);
    else reject(new Error(`The documentation cannot be built: ${data.error}`));
  };
  thread.onerror = ({ message }) => reject(new Error(`The documentation cannot be built: ${message}`));
  thread.postMessage({ root, openApi, target: "gateway" } satisfies SiteOptions);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    thread.terminate();
  }
}
