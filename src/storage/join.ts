// Joins calls of an operation that come while others of it are under way: they wait for those, and go together then. A lone call
// goes at once, so that nobody waits for company; and the busier the store, the more go with one transaction.

import { GatewayError } from "../errors.ts";
import { type GoesAlone, goesAlone, type JoinedOperation, operationDeadlineMs } from "./operation.ts";
import { toUnavailable } from "./outage.ts";

export interface Joining {
  /** How many of one operation are under way at once. */
  readonly atOnce: number;
  /** Whether the store is known not to answer: nobody waits for it in line then. */
  readonly isAway: () => boolean;
}

type Args = readonly unknown[];
type RunJoined = (calls: readonly Args[], deadlineMs: number) => Promise<readonly unknown[]>;

interface WaitingCall {
  readonly args: Args;
  /** By `performance.now()`. The time in line is part of the time that a call has. */
  readonly deadline: number;
  readonly answer: PromiseWithResolvers<unknown>;
}

// More would make the first of them wait for the last, and save little.
const mostJoined = 64;
// Who has less than this left would only make those that it goes with fail.
const leastMs = operationDeadlineMs / 4;

/** The method that callers see, in front of `run`. */
export function join(
  operation: JoinedOperation<Args, unknown>,
  run: RunJoined,
  { atOnce, isAway }: Joining,
): (...args: unknown[]) => Promise<unknown> {
  const { isAlone = () => false, deadlineMs = operationDeadlineMs } = operation;
  const waiting: WaitingCall[] = [];
  let underWay = 0;
  let isGathering = false;

  async function runAlone(args: Args, withinMs: number): Promise<unknown> {
    const [result] = await run([args], withinMs);
    return result;
  }

  /** After what is called in the same moment has lined up. */
  function gather(): void {
    if (isGathering || underWay >= atOnce) return;
    isGathering = true;
    queueMicrotask(() => {
      isGathering = false;
      while (waiting.length > 0 && underWay < atOnce) void runNext();
    });
  }

  async function runNext(): Promise<void> {
    const soon = performance.now() + leastMs;
    const calls = waiting.splice(0, mostJoined).filter(({ deadline, answer }) => {
      if (deadline < soon) answer.reject(toUnavailable());
      return deadline >= soon;
    });
    if (calls.length === 0) return;
    underWay += 1;
    await runTogether(calls);
    underWay -= 1;
    if (waiting.length > 0) gather();
  }

  /** Never throws: what goes wrong is told to those that it concerns. */
  async function runTogether(calls: readonly WaitingCall[]): Promise<void> {
    const deadline = Math.min(...calls.map((call) => call.deadline));
    try {
      const results = await run(
        calls.map(({ args }) => args),
        deadline - performance.now(),
      );
      for (const [index, call] of calls.entries()) {
        const result = results[index];
        if (!isGoesAlone(result)) call.answer.resolve(result);
        // Not waited for: those in line need not wait for what is large.
        else call.answer.resolve(runAlone(call.args, call.deadline - performance.now()));
      }
    } catch (error) {
      if (calls.length > 1 && !isUnavailable(error)) {
        // One of them is to blame, nothing of any was stored, and the others are to have what they asked for.
        await Promise.all(calls.map((call) => runTogether([call])));
        return;
      }
      for (const { answer } of calls) answer.reject(error);
    }
  }

  return (...args) => {
    if (isAway() || isAlone(...args)) return runAlone(args, deadlineMs);
    const answer = Promise.withResolvers<unknown>();
    waiting.push({ args, deadline: performance.now() + operationDeadlineMs, answer });
    gather();
    return answer.promise;
  };
}

/** By its member: it may come from another thread. */
function isGoesAlone(result: unknown): result is GoesAlone {
  return typeof result === "object" && result !== null && "goesAlone" in result && goesAlone.goesAlone;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "dependency_unavailable";
}
