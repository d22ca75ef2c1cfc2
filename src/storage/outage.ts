// Distinguishes an outage of the store (503, retry) from a bug in the gateway (500).

import { GatewayError } from "../errors.ts";
import { untilAborted, withDeadline } from "../lib/deadline.ts";

// SQLSTATE classes and codes: connection, transaction conflict, resources, operator intervention (shutdown, cancelled), read-only standby.
const outageStates = /^(?:08|40|53|57|58|25006)/;
// The server refuses the gateway until an operator acts: authorisation, name of the database, privileges, state of an object (locked).
const refusalStates = /^(?:28|3D|42501|55)/;
// The values of a statement are wrong: data, integrity constraints, limits such as the size of a row of an index.
const valueStates = /^(?:22|23|54)/;
const valueCodes = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;
const databaseCodes = /^(?:ERR_POSTGRES|ERR_SQLITE|SQLITE)_/;
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
  return isOutage(error) || refusalStates.test(readCodes(error).state) ? toUnavailable(error) : error;
}

/** An outage that may pass by itself. */
export function isOutage(error: unknown): boolean {
  const { code, state } = readCodes(error);
  return outageStates.test(state) || outageCodes.test(code);
}

/** Whether the values of a statement are the reason, so that it fails however often it is repeated. Errors of our own code count as such. */
export function isValueError(error: unknown): boolean {
  if (isUnavailable(error)) return false;
  const { code, state } = readCodes(error);
  return valueStates.test(state) || valueCodes.test(code) || !databaseCodes.test(code);
}

/** The code of the driver and the SQLSTATE, or empty texts. */
function readCodes(error: unknown): { readonly code: string; readonly state: string } {
  if (!(error instanceof Error) || error instanceof GatewayError) return { code: "", state: "" };
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  return { code: typeof code === "string" ? code : "", state: typeof errno === "string" ? errno : "" };
}
