// Patterns such as `openai/*` against the names of calls: `<provider>/<model>`, or `<feature>/<subfeature>/<provider>[/<model>]` for a task.

import { findTask } from "../contract/tasks.ts";
import { fitsPattern } from "../lib/name-pattern.ts";

/** A call for a task may name no model, as `text/anonymization/local` does. `text/anonymization/local/*` includes it. */
export function includesCall(pattern: string, call: string): boolean {
  if (fitsPattern(call, pattern)) return true;
  const offer = findOfferOfTask(call);
  return offer !== null && !offer.includes("/") && fitsPattern(`${call}/`, pattern);
}

/** Like `includesCall`, but a pattern without a task, such as `openai/*`, includes the calls of the provider for tasks too. */
export function includesCallOfProvider(pattern: string, call: string): boolean {
  if (includesCall(pattern, call)) return true;
  const offer = findOfferOfTask(call);
  return offer !== null && (fitsPattern(offer, pattern) || (!offer.includes("/") && fitsPattern(`${offer}/`, pattern)));
}

/** The provider and the model of a call for a task; null for a call without a task. */
function findOfferOfTask(call: string): string | null {
  const taskEnd = call.indexOf("/", call.indexOf("/") + 1);
  return taskEnd > 0 && findTask(call.slice(0, taskEnd)) !== undefined ? call.slice(taskEnd + 1) : null;
}
