// How far long work is, for the person who waits at a terminal.

import type { Output } from "./command-line.ts";

const everyMs = 1_000;

export interface Progress {
  /** What is done now. */
  set(text: string): void;
}

/** Shows the work and the seconds that it has taken. Scripts and files get nothing of it. */
export async function withProgress<T>(
  { showProgress }: Output,
  text: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  if (showProgress === undefined) return await work({ set() {} });
  const startedAt = performance.now();
  let current = text;
  const show = () => showProgress(`${current} … ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  show();
  const timer = setInterval(show, everyMs);
  try {
    return await work({
      set(next) {
        current = next;
        show();
      },
    });
  } finally {
    clearInterval(timer);
    showProgress(null);
  }
}

/** On a terminal, the line is written over. */
export function showOnTerminal(line: string | null): void {
  const width = Math.max(20, process.stderr.columns ?? 80);
  process.stderr.write(`\r\u001b[K${line === null ? "" : line.slice(0, width - 1)}`);
}
