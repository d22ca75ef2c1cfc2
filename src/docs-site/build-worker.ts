// The thread of build-in-thread.ts.

import { setPriority } from "node:os";
import type { BuildReport } from "./build-in-thread.ts";
import { buildSite, type SiteOptions } from "./site.ts";

declare const self: Worker;

const niceness = 15;

try {
  // On Linux this changes the calling thread only: the event loop of the process has precedence over it.
  setPriority(niceness);
} catch {
  // Some containers forbid it. The thread then competes with the event loop.
}

self.onmessage = async ({ data }: MessageEvent<SiteOptions>) => {
  self.postMessage(await build(data));
};

async function build(options: SiteOptions): Promise<BuildReport> {
  try {
    return { files: await buildSite(options) };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
