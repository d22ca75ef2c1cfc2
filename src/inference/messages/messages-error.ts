// Errors in the Messages format: https://platform.claude.com/docs/en/api/errors

import type { z } from "zod";
import type { messagesError } from "../../contract/messages.ts";
import { toEventFrame } from "./messages-stream.ts";

export type MessagesError = z.infer<typeof messagesError>;

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The format has no 422: its clients expect status 400 for a request that does not match the schema. */
export function toMessagesStatus(status: number): number {
  return status === 422 ? 400 : status;
}

/**
 * For statuses without a type of their own, the documentation names one type for 4xx and one for 5xx. A provider's error keeps its type,
 * because clients wait for an overloaded provider and shorten a request that is too large.
 */
export function toMessagesErrorType(status: number, providerStatus = status): string {
  return types[providerStatus] ?? types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

export function toMessagesError(
  status: number,
  message: string,
  requestId: string | null,
  providerStatus = status,
): MessagesError {
  const type = toMessagesErrorType(status, providerStatus);
  return { type: "error", error: { type, message }, request_id: requestId };
}

/** The last event of a broken stream. Clients ignore an event without a name, so this is the whole frame. */
export function toMessagesErrorEvent(
  type: string,
  message: string,
  metadata: Record<string, unknown> | null = null,
): string {
  return toEventFrame("error", { error: { type, message }, ...(metadata !== null && { switchyard: metadata }) });
}

/**
 * A conversation that the provider stores (`thread`) would belong to the operator's key, readable by every caller that names it. Clients that
 * receive this answer send the whole conversation instead.
 */
export function toThreadRefusal(requestId: string): MessagesError {
  const message = "Threads are not stored here: send the whole conversation without `thread`.";
  const details = { error_code: "thread_unsupported_request" };
  return { type: "error", error: { type: toMessagesErrorType(400), message, details }, request_id: requestId };
}
