// What the vendor's errors mean. They come as `{error: {code, message, status, details}}`, or as a list with one of these.

import { ErrorInAnswer, type JsonObject, type Refusal } from "../../dialect.ts";
import { asText, finiteNumber, objectOrNull, objectsIn } from "../../lenient.ts";

// What a named status would have been over HTTP, for errors that name no number.
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

/** A single object, also where it came in a list. */
export function unwrap(answer: JsonObject): JsonObject {
  return (Array.isArray(answer) ? objectOrNull(answer[0]) : objectOrNull(answer)) ?? {};
}

export function throwErrorIn(answer: JsonObject): void {
  const error = objectOrNull(answer["error"]);
  if (error === null) return;
  const named = asText(error["status"]) ?? "";
  const status = finiteNumber(error["code"]) ?? (Object.hasOwn(statuses, named) ? statuses[named] : undefined) ?? null;
  throw new ErrorInAnswer(asText(error["message"]) ?? named, correctStatus(status, error));
}

export function readGeminiRefusal(status: number, body: JsonObject): Refusal {
  const error = objectOrNull(unwrap(body)["error"]);
  if (error === null) return {};
  const correct = correctStatus(status, error);
  const delay = retryDelay(error);
  return {
    ...(correct === null || correct === status ? {} : { status: correct }),
    ...(delay === null ? {} : { retryAfterSeconds: delay }),
  };
}

/** A bad key and a country that is not served come as bad requests, and the vendor's own cancelling as the caller's. */
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
