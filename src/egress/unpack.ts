// An answer that comes packed though it was asked for plain. Its size is what it unpacks to: a small answer must not become a large one.

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { EgressError } from "./egress-error.ts";

const unpackers = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["deflate", promisify(inflate)],
  ["br", promisify(brotliDecompress)],
]);
// What is worth sending hardly ever shrinks to a hundredth; what does is a bomb.
const largestRatio = 100;
const chunkSize = 65_536;

/** The plain bytes of a body, `encoding` being what its header says. They are at most `maxBytes`, or it is refused. */
export async function unpack(body: Buffer, encoding: string | null, maxBytes: number): Promise<Buffer> {
  const name = (encoding ?? "identity").trim().toLowerCase();
  if (name === "identity" || body.length === 0) return body;
  const unpacker = unpackers.get(name);
  if (unpacker === undefined)
    throw new EgressError("bad_response", "The server's answer is packed in a way that was not asked for");
  const maxOutputLength = Math.min(maxBytes, body.length * largestRatio);
  try {
    return await unpacker(body, { maxOutputLength, chunkSize });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE")
      throw new EgressError("too_large", "The server's answer unpacks to more than is permitted", { cause });
    throw new EgressError("bad_response", "The server's answer cannot be unpacked", { cause });
  }
}
