// Writes one line for each request: warnings with their cause for refused and failed requests, otherwise information. The line of a request
// that providers answered states what they reported.

import { describeCause, errorCatalogue, GatewayError, shorten, ValidationError } from "../errors.ts";
import type { Trace } from "../inference/trace.ts";
import type { Log } from "../log.ts";
import { CallerLeft } from "../providers/call.ts";

export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** The query is cut off before it is logged, because it may hold a signature. */
  readonly url: string;
  readonly keyId: string | null;
  /** The client's address. */
  readonly client: string;
  readonly status: number;
  readonly trace: Trace;
}

const maxPathLength = 200;
const maxMessageLength = 500;

export function logAnswer(log: Log, record: RequestRecord, isProbe: boolean): void {
  const outcome = record.trace.reported?.outcome ?? "completed";
  // The stream of a provider can fail after the gateway has begun to answer.
  if (outcome !== "completed" && outcome !== "caller_left") log.warn("request", toFields(record));
  else if (isProbe) log.debug("request", toFields(record));
  else log.info("request", toFields(record));
}

export function logRefusal(log: Log, record: RequestRecord, error: unknown): void {
  const fields = { ...toFields(record), ...describeError(error) };
  if (error instanceof CallerLeft) log.info("request", fields);
  else log.warn("request", fields);
}

function toFields({ requestId, method, url, keyId, client, status, trace }: RequestRecord) {
  const { reported, calls } = trace;
  return {
    request_id: requestId,
    key: keyId ?? undefined,
    client,
    method: method.slice(0, 16),
    path: toPath(url),
    status,
    ms: Math.round(performance.now() - trace.startedAt),
    provider: reported?.provider,
    model: reported?.model,
    stream: reported?.isStream,
    attempts: calls > 1 ? calls : undefined,
    input_tokens: reported?.inputTokens,
    output_tokens: reported?.outputTokens,
    cost: reported?.cost,
    outcome: reported?.outcome,
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
    return { code: type, reason: shorten(`${loc.join(".")}: ${msg}`, maxMessageLength) };
  }
  if (!(error instanceof GatewayError)) return { code: "internal_error", type: errorCatalogue.internal_error.type };
  const { code, message } = error;
  return { code, reason: shorten(message, maxMessageLength), cause: describeCause(error) };
}
