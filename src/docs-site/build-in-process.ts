// Builds and compresses the site in a process of its own: both take a second of processor time, for which no request should wait, and memory
// that a serving process would keep.

import { join } from "node:path";
import { endsWithin } from "../lib/deadline.ts";
import type { OpenApiDocument } from "./openapi.ts";
import type { SiteFile, SiteOptions } from "./site.ts";

/** A file of the site as it is kept in memory: a fifth of its text. */
export interface CompressedFile extends Pick<SiteFile, "path" | "contentType"> {
  readonly gzip: Uint8Array<ArrayBuffer>;
  /** Of the text, for entity tags. */
  readonly digest: string;
}

// Many times what it takes, because the machine may be busy.
const timeoutMs = 180_000;

export async function buildSiteInProcess(openApi: OpenApiDocument): Promise<readonly CompressedFile[]> {
  let files: readonly CompressedFile[] | null = null;
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "./build-process.ts")], {
    // Nothing of the gateway's environment, which has secrets.
    env: {},
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    serialization: "advanced",
    ipc(message: readonly CompressedFile[]) {
      files = message;
    },
  });
  const errors = new Response(child.stderr).text();
  child.send({ root: join(import.meta.dir, "../.."), openApi, target: "gateway" } satisfies SiteOptions);
  if (!(await endsWithin(child.exited, timeoutMs))) child.kill("SIGKILL");
  await child.exited;
  if (files === null)
    throw new Error(`The documentation cannot be built: ${(await errors).trim() || "it took too long"}`);
  return files;
}
