// Distinguishes an outage of the store (503, retry) from a bug in the gateway (500).

import { GatewayError } from "../errors.ts";
import { untilAborted, withDeadline } from "../lib/deadline.ts";

// SQLSTATE classes and codes: connection, transaction conflict, resources, operator intervention (shutdown, cancelled), read-only standby.
const outageStates = /^(?:08|40|53|57|58|25006)/;
const outageCodes =
  /^(?:ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME|TLS|QUERY_CANCELLED|COMMIT)|SQLITE_(?:BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|PROTOCOL|NOMEM|CORRUPT|NOTADB)|ERR_SQLITE_CONNECTION|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EHOSTUNREACH|ENETUNREACH)/;

export function toUnavailable(cause?: unknown): GatewayError {
  return new GatewayError("dependency_unavailable", "The store does not answer at the moment. Try again shortly.", {
    retryAfter: 1,
    cause,
  });
}

/** Rejects at the deadline also when the work ignores the signal: a server that hangs must not hold the caller. */
export function withStoreDeadline<Value>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const reason = () => toUnavailable();
  return withDeadline({ timeoutMs, reason }, (signal) => untilAborted(work(signal), signal));
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "dependency_unavailable";
}

/** An outage becomes a 503; every other error is returned unchanged. */
export function toStorageError(error: unknown): unknown {
  return isOutage(error) ? toUnavailable(error) : error;
}

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof GatewayError) return false;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  if (typeof errno === "string" && outageStates.test(errno)) return true;
  return typeof code === "string" && outageCodes.test(code);
}
