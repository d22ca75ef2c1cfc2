import type { Job } from "../../src/engines/local/pool.ts";

/** A small job of an engine in test/engines/local-test-engines.ts. */
export function poolJob(task: string, more: Partial<Job> = {}): Job {
  return {
    task,
    lane: "light",
    owner: "key:test",
    timeLimit: { milliseconds: 200_000, setting: "SWITCHYARD_LOCAL_TEXT_TIMEOUT_MS" },
    model: null,
    input: {},
    files: {},
    signal: new AbortController().signal,
    deadline: performance.now() + 250_000,
    ...more,
  };
}
