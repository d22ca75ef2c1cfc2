// One line for each request: refused and failed ones as warnings with their cause, others as information. A request that reached a
// provider and was answered has its line from the attempt, so that a plain chat completion is written once.

import { errorCatalogue, GatewayError, ValidationError } from "../errors.ts";
import type { Log } from "../log.ts";
import { CallerLeft } from "../providers/call.ts";

export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** Of the request; its query, which may hold a signature, is cut off. */
  readonly url: string;
  readonly keyId: string | null;
  readonly status: number;
  readonly startedAt: number;
}

const longestPath = 200;
const longestMessage = 500;

/** `isProbe`: load balancers ask every few seconds. */
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
  return url.slice(start, query < 0 ? undefined : query).slice(0, longestPath);
}

function describeError(error: unknown) {
  if (error instanceof CallerLeft) return { code: "caller_left" };
  if (error instanceof ValidationError) {
    const [{ loc, msg, type }] = error.problems;
    return { code: type, reason: `${loc.join(".")}: ${msg}`.slice(0, longestMessage) };
  }
  if (!(error instanceof GatewayError)) return { code: "internal_error", type: errorCatalogue.internal_error.type };
  const { code, message, cause } = error;
  return {
    code,
    reason: message.slice(0, longestMessage),
    cause: cause instanceof Error ? `${codeOf(cause)}${cause.message}`.slice(0, longestMessage) : undefined,
  };
}

function codeOf(error: Error): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? `${code}: ` : "";
}
