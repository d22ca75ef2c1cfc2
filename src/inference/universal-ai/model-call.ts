// A call of a model that an engine makes to perform a task: it is limited, charged and reported for the caller of the task.

import type { Caller } from "../../access/caller.ts";
import type { CallTicket } from "../../providers/call-ticket.ts";
import type { RequestContext } from "../request-context.ts";
import { Trace } from "../trace.ts";
import { RunTicket } from "./account-run.ts";

type ModelCall = Pick<RequestContext, "caller" | "trace"> & Required<Pick<RequestContext, "work">>;

export function openModelCall(ticket: CallTicket): ModelCall {
  if (!(ticket instanceof RunTicket)) throw new TypeError("an engine called a model without the ticket of its run");
  const { caller, task, jobId, trace } = ticket.run;
  return {
    // The caller may use the task; the model that performs it is the engine's choice.
    caller: { ...caller, allowedModels: null } satisfies Caller,
    trace: new Trace(performance.now(), 0, trace),
    work: { task, jobId },
  };
}
