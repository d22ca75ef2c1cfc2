// Detects overload: a late tick means that requests have waited as long. New requests are then refused with 503 instead of being served too
// late.

import { GatewayError } from "../errors.ts";

export type LoadWatch = ReturnType<typeof createLoadWatch>;

const tickMs = 100;
const usualLagLimitMs = 1_500;
// After a long lag, all requests that queued in the meantime are refused, and not only the first one.
const shedMs = 250;

export function createLoadWatch(lagLimitMs = usualLagLimitMs) {
  let lastTick = performance.now();
  let shedUntil = 0;
  let lagMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    lagMs = Math.max(0, now - lastTick - tickMs);
    if (lagMs > lagLimitMs) shedUntil = now + shedMs;
    lastTick = now;
  }, tickMs);
  timer.unref();
  return {
    /** Throws 503 while the event loop lags. */
    refuseWhenOverloaded(): void {
      const now = performance.now();
      if (now < shedUntil || now - lastTick - tickMs > lagLimitMs)
        throw new GatewayError("overloaded", "The gateway is overloaded; try again.", { retryAfter: 1 });
    },
    /** The delay of the last tick, or of the next one if it is late: about as long as requests wait. */
    get lagMs(): number {
      return Math.max(lagMs, performance.now() - lastTick - tickMs);
    },
    close: () => clearInterval(timer),
  };
}
