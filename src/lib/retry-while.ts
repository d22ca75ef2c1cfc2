// Repeats work that fails for a passing reason.

const firstPauseMs = 100;
const longestPauseMs = 2_000;

export interface RetryRules {
  /** Whether the work may succeed later. */
  readonly isPassing: (error: unknown) => boolean;
  readonly giveUpAfterMs: number;
  readonly onRetry?: (error: unknown) => void;
}

/** Throws an error that is not passing at once, and every error after `giveUpAfterMs`. */
export async function retryWhile<Result>(work: () => Promise<Result>, rules: RetryRules): Promise<Result> {
  const since = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!rules.isPassing(error) || performance.now() - since > rules.giveUpAfterMs) throw error;
      rules.onRetry?.(error);
      await Bun.sleep(pauseMs);
    }
  }
}
