// Waiting for a condition, always with a deadline: tests poll what they promise and never sleep for luck.

interface Wait {
  readonly withinMs?: number;
  /** Default: often at first, then less and less often, so that a long wait costs little. */
  readonly everyMs?: number;
}

const [shortestPauseMs, longestPauseMs] = [2, 100];

/** Resolves with the first truthy value; throws, naming what was awaited, when the deadline passes. */
export async function waitFor<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  { withinMs = 200_000, everyMs }: Wait = {},
): Promise<NonNullable<Value>> {
  const deadline = performance.now() + withinMs;
  let pauseMs = everyMs ?? shortestPauseMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await Bun.sleep(pauseMs);
    if (everyMs === undefined) pauseMs = Math.min(pauseMs * 1.2, longestPauseMs);
  }
}

/** The promise, or an error that names it when it takes too long. */
export async function within<Value>(withinMs: number, what: string, promise: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${withinMs} ms in vain for ${what}`)), withinMs);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs `work` for 0..count-1, never more than `atOnce` at a time. */
export async function inParallel(count: number, atOnce: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}

/** Rates are counted by the clock's minute: a test that counts must not begin at the end of one. */
export async function awayFromMinuteEnd(): Promise<void> {
  await waitFor("the next minute", () => Date.now() % 60_000 < 57_000, { withinMs: 4_000, everyMs: 50 });
}
