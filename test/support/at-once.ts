// A limit for tests that run beside each other: each starts processes, and a machine with two cores has others to serve.

/** Runs at most `most` of the given tasks at once; the others wait in order. */
export function createLimit(most: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (run) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
