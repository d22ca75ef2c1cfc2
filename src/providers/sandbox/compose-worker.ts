// The thread of compose-thread.ts.

import { BudgetSpent, WorkBudget } from "../../lib/json-schema/schema.ts";
import { composeAnswer, invalidSchema } from "./answer.ts";
import type { ComposeOrder, ComposeReport, Refused } from "./compose-thread.ts";
import { SandboxRefusal } from "./refusal.ts";

declare const self: Worker;

/** About a second of work. */
const threadUnits = 10_000_000;

self.onmessage = ({ data: { id, ...question } }: MessageEvent<ComposeOrder>) => {
  self.postMessage(compose());

  function compose(): ComposeReport {
    try {
      return { id, answer: composeAnswer(question, new WorkBudget(threadUnits)) };
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
