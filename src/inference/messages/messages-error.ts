// Errors in the words of the Messages format: https://platform.claude.com/docs/en/api/errors

import { toEventFrame } from "./messages-stream.ts";

export interface MessagesError {
  readonly type: "error";
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  readonly request_id: string | null;
}

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The format has no 422: its clients expect a request that does not fit the schema to be refused with 400. */
export function toMessagesStatus(status: number): number {
  return status === 422 ? 400 : status;
}

/** Statuses without a type of their own: the documentation has one for the other 4xx, and one for what went wrong inside. */
export function toMessagesErrorType(status: number): string {
  return types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}

export function toMessagesError(status: number, message: string, requestId: string | null): MessagesError {
  return { type: "error", error: { type: toMessagesErrorType(status), message }, request_id: requestId };
}

/** The last event of a stream that breaks off. Clients pass by an event without a name, so it is the whole frame. */
export function toMessagesErrorEvent(type: string, message: string): string {
  return toEventFrame("error", { error: { type, message } });
}

/**
 * A conversation that the provider keeps (`thread`) would be kept under the operator's key, for whoever names it, at the one
 * provider that has it. Clients that are told so in these words send the whole conversation instead.
 */
export function toThreadRefusal(requestId: string): MessagesError {
  const message = "Threads are not kept here: send the whole conversation without `thread`.";
  const details = { error_code: "thread_unsupported_request" };
  return { type: "error", error: { type: toMessagesErrorType(400), message, details }, request_id: requestId };
}
