// An end for every wait on a server that may have fallen silent.

import { toUnavailable } from "./outage.ts";

/** Ends the wait at the deadline even when the work itself cannot be ended. */
export async function withDeadline<T>(deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = toUnavailable();
    controller.abort(error);
    late.reject(error);
  }, deadlineMs);
  const working = work(controller.signal);
  // Once the deadline has answered, nobody waits for it any more.
  working.catch(() => {});
  try {
    return await Promise.race([working, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
