// Sends a document that is kept in memory, or 304 to a client that has it already.

import type { Document } from "../../catalogue/document.ts";
import { matchesEntityTag } from "../../lib/entity-tag.ts";
import { type Reply, reply } from "../reply.ts";
import type { Call } from "../route.ts";

export function sendDocument(call: Call, document: Document, headers: Readonly<Record<string, string>> = {}): Reply {
  // no-cache: keep it, but ask every time whether it still holds.
  const shared = { etag: document.entityTag, "cache-control": "no-cache", ...headers };
  if (matchesEntityTag(call.request.headers.get("if-none-match"), document.entityTag)) {
    return reply(null, { status: 304, headers: shared });
  }
  return reply(document.bytes, { headers: { ...shared, "content-type": document.contentType } });
}
