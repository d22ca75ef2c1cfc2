import type { Log } from "../log.ts";

/**
 * Keeps the process alive after a rejection that no code awaited and after an exception outside of every request: it serves thousands of
 * other requests. Each one is a defect, so it is logged, with the number of them since the start.
 */
export function surviveUnexpectedErrors(log: Log): void {
  let count = 0;
  function report(message: string, error: unknown): void {
    count += 1;
    try {
      log.error(message, { error, count });
    } catch {
      // An error whose members throw must not end the process either.
      log.error(message, { count });
    }
  }
  process.on("unhandledRejection", (error) => report("unhandled rejection", error));
  process.on("uncaughtException", (error) => report("uncaught exception", error));
}
