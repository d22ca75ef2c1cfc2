// The clocks of a guarded request.

import { EgressError } from "./egress-error.ts";

/** Runs `work` with a signal that fires with a timeout error, or with the reason of the outer signal. */
export async function inTime<Value>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  const timeout = () => controller.abort(new EgressError("timeout", "The server did not answer in time"));
  const timer = setTimeout(timeout, timeoutMs);
  outer?.addEventListener("abort", abort);
  if (outer?.aborted === true) abort();
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", abort);
  }
}

/** The promise, or the signal's reason if that fires first. */
export async function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
