// Decompresses responses of servers that ignore `accept-encoding: identity`. The size limit applies to the decompressed body.

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Downloads } from "./download-budget.ts";
import { EgressError } from "./egress-error.ts";

const unpackers = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);
// Real content hardly ever compresses to a hundredth; a decompression bomb does.
const largestRatio = 100;
const chunkSize = 65_536;

interface UnpackOptions {
  readonly maxBytes: number;
  /** Counts the decompressed body instead of the compressed one. */
  readonly downloads?: Downloads | undefined;
}

/** The decompressed body; throws when it has more than `maxBytes`. `encoding` is the Content-Encoding header. */
export async function unpack(body: Buffer, encoding: string | null, options: UnpackOptions): Promise<Buffer> {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "identity" || body.length === 0) return body;
  const unpacker = unpackers.get(name);
  if (unpacker === undefined)
    throw new EgressError("bad_response", "The server's answer has a content encoding that is not supported");
  const { maxBytes, downloads } = options;
  const maxOutputLength = Math.min(maxBytes, body.length * largestRatio);
  // The length is known only at the end, so the largest is counted meanwhile.
  downloads?.add(maxOutputLength);
  let unusedBytes = maxOutputLength;
  try {
    const unpacked = await unpacker(body, { maxOutputLength, chunkSize });
    unusedBytes += body.length - unpacked.length;
    return unpacked;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE")
      throw new EgressError("too_large", "The server's answer is larger than allowed when it is decompressed", {
        cause,
      });
    throw new EgressError("bad_response", "The server's answer cannot be decompressed", { cause });
  } finally {
    downloads?.remove(unusedBytes);
  }
}
