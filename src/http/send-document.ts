// Sends a document from memory, or 304 to a client that has it already.

import { z } from "zod";
import type { Document } from "../catalogue/document.ts";
import { acceptsEncoding } from "./accept-encoding.ts";
import { type Reply, reply } from "./reply.ts";
import type { Answer, Call } from "./route.ts";

export function sendDocument(
  { request }: Pick<Call, "request">,
  document: Document,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const { entityTag, compress, contentType, contentEncoding } = document;
  const isCompressed = compress !== undefined && acceptsEncoding(request.headers.get("accept-encoding"), "gzip");
  const shared = {
    // A strong tag names the same bytes.
    etag: isCompressed ? `W/${entityTag}` : entityTag,
    // no-cache: a client may store it, and asks before each use whether it is still valid.
    "cache-control": "no-cache",
    ...headers,
    ...(compress !== undefined && {
      vary: headers["vary"] === undefined ? "accept-encoding" : `${headers["vary"]}, accept-encoding`,
    }),
  };
  if (matchesEntityTag(request.headers.get("if-none-match"), entityTag)) {
    return reply(null, { status: 304, headers: shared });
  }
  if (isCompressed)
    return reply(compress(), { headers: { ...shared, "content-type": contentType, "content-encoding": "gzip" } });
  const encoding = contentEncoding === undefined ? {} : { "content-encoding": contentEncoding };
  return reply(document.bytes, { headers: { ...shared, "content-type": contentType, ...encoding } });
}

/** The header and the answers of a route that sends a document. */
export const documentHeaders = z.object({
  "if-none-match": z
    .string()
    .optional()
    .describe("Entity tags of stored copies. If one of them is still valid, the answer is 304 without a body."),
});

export function documentAnswers(answer: Pick<Answer, "description" | "schema" | "contentType">): readonly Answer[] {
  const headers = ["etag", "cache-control"] as const;
  return [
    { status: 200, headers, ...answer },
    { status: 304, headers, description: "The client's copy is still valid." },
  ];
}

const listedTag = /(?:W\/)?("[^"]*")/g;

/** `If-None-Match` compares weakly: a `W/` prefix on either side does not matter (RFC 9110, 13.1.2). */
export function matchesEntityTag(header: string | null, entityTag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [, listed] of header.matchAll(listedTag)) if (listed === entityTag) return true;
  return false;
}
