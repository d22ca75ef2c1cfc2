// Writes one line for each request: warnings with their cause for refused and failed requests, otherwise information. A request that a
// provider answered is logged by its attempt, so that a plain chat completion has one line.

import { errorCatalogue, GatewayError, ValidationError } from "../errors.ts";
import type { Log } from "../log.ts";
import { CallerLeft } from "../providers/call.ts";

export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** The query is cut off before it is logged, because it may hold a signature. */
  readonly url: string;
  readonly keyId: string | null;
  readonly status: number;
  readonly startedAt: number;
}

const maxPathLength = 200;
const maxMessageLength = 500;

export function logRequest(log: Log, record: RequestRecord, isProbe: boolean): void {
  if (isProbe) log.debug("request", toFields(record));
  else log.info("request", toFields(record));
}

export function logRefusal(log: Log, record: RequestRecord, error: unknown): void {
  const fields = { ...toFields(record), ...describeError(error) };
  if (error instanceof CallerLeft) log.info("request", fields);
  else log.warn("request", fields);
}

function toFields({ requestId, method, url, keyId, status, startedAt }: RequestRecord) {
  return {
    request_id: requestId,
    key: keyId ?? undefined,
    method: method.slice(0, 16),
    path: toPath(url),
    status,
    ms: Math.round(performance.now() - startedAt),
  };
}

function toPath(url: string): string {
  const start = url.startsWith("/") ? 0 : Math.max(0, url.indexOf("/", url.indexOf("://") + 3));
  const query = url.indexOf("?", start);
  return url.slice(start, query < 0 ? undefined : query).slice(0, maxPathLength);
}

function describeError(error: unknown) {
  if (error instanceof CallerLeft) return { code: "caller_left" };
  if (error instanceof ValidationError) {
    const [{ loc, msg, type }] = error.problems;
    return { code: type, reason: `${loc.join(".")}: ${msg}`.slice(0, maxMessageLength) };
  }
  if (!(error instanceof GatewayError)) return { code: "internal_error", type: errorCatalogue.internal_error.type };
  const { code, message, cause } = error;
  return {
    code,
    reason: message.slice(0, maxMessageLength),
    cause: cause instanceof Error ? `${codeOf(cause)}${cause.message}`.slice(0, maxMessageLength) : undefined,
  };
}

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? `${code}: ` : "";
}
