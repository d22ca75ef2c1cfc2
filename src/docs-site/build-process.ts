// The process of build-in-process.ts. It ends when it has sent the files, or with a message on standard error.

import { setPriority } from "node:os";
import type { CompressedFile } from "./build-in-process.ts";
import { buildSite, type SiteFile, type SiteOptions } from "./site.ts";

const niceness = 15;

process.on("message", async (options: SiteOptions) => {
  try {
    setPriority(niceness);
  } catch {
    // Some containers forbid it. The process then competes with the serving ones.
  }
  const files = (await buildSite(options)).map(compress);
  process.send?.(files, () => process.disconnect?.());
});

function compress({ path, contentType, text }: SiteFile): CompressedFile {
  const digest = new Bun.CryptoHasher("sha256").update(text).digest("base64url");
  return { path, contentType, gzip: Bun.gzipSync(text), digest };
}
