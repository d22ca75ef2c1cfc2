// Turns whatever a request throws into its answer, in both forms: `error` for OpenAI clients and `detail` for FastAPI clients.

import { errorCatalogue, GatewayError, type Problem, shorten, ValidationError } from "../errors.ts";
import {
  toMessagesError,
  toMessagesErrorEvent,
  toMessagesErrorType,
  toMessagesStatus,
} from "../inference/messages/messages-error.ts";
import { toFrame } from "../lib/event-stream.ts";
import type { Log } from "../log.ts";
import { CallerLeft } from "../providers/call.ts";
import { type Reply, reply } from "./reply.ts";

// Not a status of the standard, but what proxies commonly note when the client has closed the connection.
const callerLeftStatus = 499;
const encoder = new TextEncoder();
/** Messages quote values that the caller or a provider sent. */
const maxMessageLength = 4_000;
const maxParamLength = 1_000;

interface Described {
  readonly status: number;
  readonly providerStatus?: number | undefined;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
  readonly detail: string | readonly Problem[];
}

export interface ErrorContext {
  readonly requestId: string;
  readonly log: Log;
  readonly format: "usual" | "messages";
  /** For a caller that asked which decisions were made. */
  readonly metadata: Record<string, unknown> | null;
}

export function toErrorReply(error: unknown, context: ErrorContext): Reply {
  // The client has closed the connection; the server needs an answer all the same.
  if (error instanceof CallerLeft) return reply(null, { status: callerLeftStatus });
  const { requestId, log, format, metadata } = context;
  const { status: usualStatus, providerStatus, body, headers } = describe(error, requestId, log);
  const status = format === "messages" ? toMessagesStatus(usualStatus) : usualStatus;
  const sent = format === "messages" ? toMessagesError(status, body.error.message, requestId, providerStatus) : body;
  const text = JSON.stringify(metadata === null ? sent : { ...sent, switchyard: metadata });
  return reply(text, { status, headers: { ...headers, "content-type": "application/json" } });
}

const overloadedMessage = "The gateway is overloaded; try again.";
const overloadedJson = JSON.stringify(describeKnown(new GatewayError("overloaded", overloadedMessage)).body);

export function overloaded(retryAfter: number): GatewayError {
  return new GatewayError("overloaded", overloadedMessage, { retryAfter });
}

/** The body of the same error, prepared, because a process that is overloaded sends many of them. */
export function toOverloadedText(format: ErrorContext["format"], requestId: string): string {
  const { status } = errorCatalogue.overloaded;
  return format === "messages" ? JSON.stringify(toMessagesError(status, overloadedMessage, requestId)) : overloadedJson;
}

/** For an answer that could not be built. Nothing here can fail, so the client is always answered. */
export function lastResortReply(error: unknown, requestId: string, log: Log): Reply {
  try {
    log.error("an answer could not be built", { request_id: requestId, error });
  } catch {
    // The client is answered even when the log cannot hold the error.
  }
  const message = `Something went wrong here. Request id: ${requestId}`;
  const { status, type } = errorCatalogue.internal_error;
  const body = { error: { message, type, param: null, code: "internal_error" }, detail: message };
  return reply(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json",
      "x-request-id": requestId,
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** For a stream that has begun: the error as its last event. */
export function toErrorFrame(error: unknown, { requestId, log, metadata }: Omit<ErrorContext, "format">): Uint8Array {
  const { body } = describe(error, requestId, log);
  return toFrame(JSON.stringify(metadata === null ? body : { ...body, switchyard: metadata }));
}

/** For the Responses API, whose last event has a format of its own. */
export function toErrorObject(error: unknown, requestId: string, log: Log): { code: string; message: string } {
  const { code, message } = describe(error, requestId, log).body.error;
  return { code, message };
}

export function toErrorMessage(error: unknown, requestId: string, log: Log): string {
  const { status, body } = describe(error, requestId, log);
  return JSON.stringify({ type: "error", status, ...body });
}

/** The last event of a stream in the Messages format. */
export function toMessagesErrorFrame(
  error: unknown,
  { requestId, log, metadata }: Omit<ErrorContext, "format">,
): Uint8Array {
  const { status, providerStatus, body } = describe(error, requestId, log);
  const type = toMessagesErrorType(status, providerStatus);
  return encoder.encode(toMessagesErrorEvent(type, body.error.message, metadata));
}

function describe(error: unknown, requestId: string, log: Log): Described {
  if (error instanceof ValidationError) return describeProblems(error.problems);
  if (error instanceof GatewayError) return describeKnown(error);
  log.error("unexpected error", { request_id: requestId, error });
  return describeKnown(new GatewayError("internal_error", `Something went wrong here. Request id: ${requestId}`));
}

function describeKnown({ code, message: whole, details }: GatewayError): Described {
  const message = shorten(whole, maxMessageLength);
  const entry = errorCatalogue[code];
  const headers: Record<string, string> = { ...details.headers };
  if (entry.status === 401) headers["www-authenticate"] = "Bearer";
  if (details.retryAfter !== undefined) headers["retry-after"] = String(details.retryAfter);
  else if (entry.status === 429 || entry.status === 503) headers["retry-after"] = "1";
  if (!entry.mayRetry || details.shouldRetry === false) headers["x-should-retry"] = "false";
  const param = details.param ?? null;
  return {
    status: entry.status,
    providerStatus: details.providerStatus,
    headers,
    body: { error: { message, type: entry.type, param, code }, detail: message },
  };
}

function describeProblems(problems: readonly [Problem, ...Problem[]]): Described {
  const [first, ...others] = problems;
  const param = paramOf(first);
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const message = `${param === null ? "" : `${param}: `}${first.msg}${more}`;
  return {
    status: errorCatalogue.invalid_request.status,
    headers: {},
    body: {
      error: { message, type: errorCatalogue.invalid_request.type, param, code: first.type },
      detail: problems,
    },
  };
}

/** The dotted path without its root. The location of a syntax error is an offset, and names no parameter. */
function paramOf({ loc, type }: Problem): string | null {
  if (loc.length < 2 || type === "json_invalid") return null;
  return shorten(loc.slice(1).join("."), maxParamLength);
}
