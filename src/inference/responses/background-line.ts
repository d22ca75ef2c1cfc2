// The line of the ledger that has the cost of a response which ran in the background.

import type { EarlierWork } from "../attempt.ts";
import type { ResponseRecord } from "./conversation-store.ts";

/** The time is that of the creation: every request that sees the end must report the same line. */
export function toEarlierWork({
  id,
  createdAt,
  keyId,
}: Pick<ResponseRecord, "id" | "createdAt" | "keyId">): EarlierWork {
  return { line: { id: Bun.randomUUIDv5(id, lineNamespace), time: createdAt }, keyId };
}

// Any constant: it keeps these ids apart from others that are made from names.
const lineNamespace = "7f3c1d0e-52a4-4d6b-9b1f-6f0a2c9d8e41";
