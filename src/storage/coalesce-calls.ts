// Coalesces concurrent calls of an operation into shared transactions. A call that finds the operation idle runs at once. Calls that arrive
// while others run wait and then run together, so a busier store gets larger transactions.

import type { CoalescedOperation, RunAlone } from "./operation.ts";
import { isUnavailable, toUnavailable } from "./outage.ts";

export interface CoalescingOptions {
  /** How many transactions of one operation run at the same time. */
  readonly maxTransactions: number;
  /** While the store is known to be down, calls do not wait for each other. */
  readonly isDown: () => boolean;
  /** Deadline of a call, including the time that it waits for others. */
  readonly deadlineMs: number;
  /** Milliseconds of a clock that never goes back. */
  readonly clock?: () => number;
}

type Args = readonly unknown[];
export type RunCalls = (
  calls: readonly Args[],
  options: { readonly deadlineMs: number; readonly isAlone: boolean },
) => Promise<readonly unknown[]>;

interface WaitingCall {
  readonly args: Args;
  /** By `clock`. Waiting counts towards the deadline of the operation. */
  readonly deadline: number;
  readonly answer: PromiseWithResolvers<unknown>;
}

// A larger transaction would save little and delay its first calls.
const maxCalls = 64;
// The share of the deadline that a call needs. With less, it would shorten the deadline of the calls that it shares a transaction with.
const minShareLeft = 1 / 4;

/** Returns the method that callers see. */
export function coalesceCalls(
  operation: CoalescedOperation<Args, unknown>,
  run: RunCalls,
  { maxTransactions, isDown, deadlineMs, clock = () => performance.now() }: CoalescingOptions,
): (...args: unknown[]) => Promise<unknown> {
  const { runsAlone = () => false } = operation;
  const aloneDeadlineMs = Math.max(operation.deadlineMs ?? 0, deadlineMs);
  const waiting: WaitingCall[] = [];
  let running = 0;
  let isScheduled = false;

  async function runSingle(args: Args): Promise<unknown> {
    const [result] = await run([args], { deadlineMs: aloneDeadlineMs, isAlone: true });
    return result;
  }

  /** Waits for a microtask, so that calls made in the same turn share a transaction. */
  function schedule(): void {
    if (isScheduled || running >= maxTransactions) return;
    isScheduled = true;
    queueMicrotask(() => {
      isScheduled = false;
      while (waiting.length > 0 && running < maxTransactions) void runNext();
    });
  }

  async function runNext(): Promise<void> {
    const earliestDeadline = clock() + deadlineMs * minShareLeft;
    const calls = waiting.splice(0, maxCalls).filter(({ deadline, answer }) => {
      if (deadline < earliestDeadline) answer.reject(toUnavailable());
      return deadline >= earliestDeadline;
    });
    if (calls.length === 0) return;
    running += 1;
    await runTogether(calls);
    running -= 1;
    if (waiting.length > 0) schedule();
  }

  /** Never throws: each call gets its result or its error. */
  async function runTogether(calls: readonly WaitingCall[]): Promise<void> {
    const deadline = Math.min(...calls.map((call) => call.deadline));
    try {
      const results = await run(
        calls.map(({ args }) => args),
        { deadlineMs: deadline - clock(), isAlone: false },
      );
      for (const [index, call] of calls.entries()) {
        const result = results[index];
        // Not awaited: the waiting calls need not wait for a large one.
        call.answer.resolve(isRunAlone(result) ? runSingle(call.args) : result);
      }
    } catch (error) {
      if (calls.length > 1 && !isUnavailable(error)) {
        // The transaction was rolled back because of one call. Run each by itself, so that only that call fails.
        await Promise.all(calls.map((call) => runTogether([call])));
        return;
      }
      for (const { answer } of calls) answer.reject(error);
    }
  }

  return (...args) => {
    if (isDown() || runsAlone(...args)) return runSingle(args);
    const answer = Promise.withResolvers<unknown>();
    waiting.push({ args, deadline: clock() + deadlineMs, answer });
    schedule();
    return answer.promise;
  };
}

/** Compares a member instead of the identity, because the value may come from another thread. */
function isRunAlone(result: unknown): result is RunAlone {
  return typeof result === "object" && result !== null && "runAlone" in result;
}
