// The JSON protocol that Google's services share: the codes of errors, and long-running operations.

import { lookUp } from "../../lib/look-up.ts";
import type { JsonObject } from "../dialect.ts";
import { asNumber, asObject, asText, at } from "../lenient.ts";
import { type NextRequest, TaskFailure, type TaskRequest } from "../task.ts";

/** The HTTP statuses of codes inside an answer: https://cloud.google.com/apis/design/errors#handling_errors */
const statuses = { 3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 11: 400, 13: 500, 14: 503, 16: 401 };

export function throwIfFailed(part: JsonObject): void {
  const code = asNumber(at(part, "error", "code"));
  if (code === null || code === 0) return;
  const status = lookUp<number>(statuses, String(code)) ?? 502;
  throw new TaskFailure(status, asText(at(part, "error", "message")) ?? `code ${code}`);
}

/** Google answers 400 to an invalid API key. */
export function readGoogleRefusal(status: number, body: JsonObject): number | undefined {
  return status === 400 && /API key/i.test(asText(at(body, "error", "message")) ?? "") ? 401 : undefined;
}

/** The next poll for an operation, or null when it is done. Throws the error of a failed operation. */
export function pollOperation(json: unknown, version: string, { service, state }: TaskRequest): NextRequest | null {
  if (at(json, "done") === true) {
    throwIfFailed(asObject(json));
    return null;
  }
  const name = asText(at(json, "name"));
  if (name === null || !/^[\w./-]+$/.test(name)) throw new TypeError("the answer does not name its operation");
  return { method: "GET", path: `/${version}/${name}`, state, ...(service && { service }), waitMs: "growing" };
}

/** `12.500s` */
export function toSeconds(value: unknown): number | null {
  return asNumber(asText(value)?.replace(/s$/, ""));
}
