// The thread of compose-thread.ts.

import { setPriority } from "node:os";
import { BudgetSpent, WorkBudget } from "../../lib/json-schema/schema.ts";
import { composeAnswer, invalidSchema } from "./answer.ts";
import type { ComposeOrder, ComposeReport, Refused } from "./compose-thread.ts";
import { SandboxRefusal } from "./refusal.ts";
import { readRequest } from "./request.ts";

declare const self: Worker;

/** About a second of work. */
const threadUnits = 10_000_000;
const niceness = 15;

try {
  // On Linux this changes the calling thread only: the event loop of the process has precedence over it.
  setPriority(niceness);
} catch {
  // Some containers forbid it. The thread then competes with the event loop.
}

self.onmessage = ({ data: { id, body, ...about } }: MessageEvent<ComposeOrder>) => {
  self.postMessage(compose());

  function compose(): ComposeReport {
    try {
      return { id, answer: composeAnswer({ ...about, request: readRequest(body) }, new WorkBudget(threadUnits)) };
    } catch (error) {
      if (error instanceof BudgetSpent)
        return { id, refusal: toRefused(invalidSchema(`Invalid schema: ${error.message}.`)) };
      if (error instanceof SandboxRefusal) return { id, refusal: toRefused(error) };
      throw error;
    }
  }
};

/** A plain object, because an error loses its members on the way to another thread. */
function toRefused({ status, message, param, code }: SandboxRefusal): Refused {
  return { status, message, param, code };
}
