// Notices when this process cannot keep up: a tick that comes late means that requests have waited as long. New ones are
// then refused early, while there is still time to say so.

import { GatewayError } from "../errors.ts";

export interface LoadWatch {
  /** Throws 503 while the event loop lags. */
  refuseWhenOverloaded(): void;
  /** By how much the last tick was late, or the next one is: about as long as requests wait for their turn. */
  readonly lagMs: number;
  close(): void;
}

const tickMs = 100;
const usualLagLimitMs = 1_500;
// After a long lag the requests that queued meanwhile are shed, not only the first one.
const shedMs = 250;

export function createLoadWatch(lagLimitMs = usualLagLimitMs): LoadWatch {
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
    refuseWhenOverloaded() {
      const now = performance.now();
      if (now < shedUntil || now - lastTick - tickMs > lagLimitMs)
        throw new GatewayError("overloaded", "The gateway has too much to do; try again.", { retryAfter: 1 });
    },
    get lagMs() {
      return Math.max(lagMs, performance.now() - lastTick - tickMs);
    },
    close: () => clearInterval(timer),
  };
}
