// The meaning of the vendor's errors: `{error: {code, message, status, details}}`, or a list with one of these.

import { lookUp } from "../../../lib/look-up.ts";
import { ErrorInAnswer, type JsonObject, type Refusal } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";
import { present } from "../completion.ts";

// HTTP statuses of errors that have a name and no number.
const statuses: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNKNOWN: 500,
  UNAVAILABLE: 503,
  CANCELLED: 503,
  DEADLINE_EXCEEDED: 504,
};

/** The object itself, or the first object of a list. */
export function unwrap(answer: JsonObject): JsonObject {
  return (Array.isArray(answer) ? objectOrNull(answer[0]) : objectOrNull(answer)) ?? {};
}

export function throwErrorIn(answer: JsonObject): void {
  const error = objectOrNull(answer["error"]);
  if (error === null) return;
  const named = asText(error["status"]) ?? "";
  const status = finiteNumber(error["code"]) ?? lookUp(statuses, named) ?? null;
  throw new ErrorInAnswer(asText(error["message"]) ?? named, correctStatus(status, error));
}

export function readGeminiRefusal(status: number, body: JsonObject): Refusal {
  const error = objectOrNull(unwrap(body)["error"]);
  if (error === null) return {};
  const correct = correctStatus(status, error);
  return present({ status: correct === status ? null : correct, retryAfterSeconds: retryDelay(error) });
}

/** The vendor reports an invalid key and an unsupported country with 400, and its own cancellation with 499. */
function correctStatus(status: number | null, error: JsonObject): number | null {
  if (status === 499) return 503;
  if (status !== 400) return status;
  const reasons = details(error, "ErrorInfo").map((detail) => detail["reason"]);
  if (reasons.includes("API_KEY_INVALID") || /^API key (?:not valid|expired)/.test(String(error["message"])))
    return 401;
  return error["status"] === "FAILED_PRECONDITION" ? 403 : status;
}

/** "34.4s" */
function retryDelay(error: JsonObject): number | null {
  for (const detail of details(error, "RetryInfo")) {
    const found = /^(\d+(?:\.\d+)?)s$/.exec(String(detail["retryDelay"]));
    if (found !== null) return Math.ceil(Number(found[1]));
  }
  return null;
}

function details(error: JsonObject, type: string): JsonObject[] {
  return objectsIn(error["details"]).filter((detail) => String(detail["@type"]).endsWith(`google.rpc.${type}`));
}
