// What the vendor's services have in common: the codes of their failures.

import type { JsonObject } from "../dialect.ts";
import { asNumber, asText, at } from "../lenient.ts";
import { TaskFailure } from "../task.ts";

/** Codes of failures that stand inside an answer: https://cloud.google.com/apis/design/errors#handling_errors */
const statuses: Readonly<Record<number, number>> = {
  3: 400,
  4: 504,
  5: 404,
  7: 403,
  8: 429,
  9: 400,
  11: 400,
  13: 500,
  14: 503,
  16: 401,
};

export function throwIfFailed(part: JsonObject): void {
  const code = asNumber(at(part, "error", "code"));
  if (code === null || code === 0) return;
  throw new TaskFailure(statuses[code] ?? 502, asText(at(part, "error", "message")) ?? `code ${code}`);
}

/** A key that is not valid is a bad request here. */
export function readGoogleRefusal(status: number, body: JsonObject): number | undefined {
  return status === 400 && /API key/i.test(asText(at(body, "error", "message")) ?? "") ? 401 : undefined;
}
