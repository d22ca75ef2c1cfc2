// A call of a model that an engine makes to perform a task: it is limited, charged and reported for the caller of the task.

import type { Caller } from "../../access/caller.ts";
import type { CallTicket } from "../../providers/call-ticket.ts";
import type { TaskCall } from "../../providers/task.ts";
import type { CandidateLoop } from "../candidate-loop.ts";
import type { RequestContext } from "../request-context.ts";
import type { RoutePlanner } from "../route-planner.ts";
import { Trace } from "../trace.ts";
import { RunTicket } from "./account-run.ts";

/** What engines call models with. */
export interface ModelCaller {
  readonly router: RoutePlanner;
  readonly candidateLoop: CandidateLoop;
}

type Target = { readonly provider: string; readonly model: string };
type EngineCall = Pick<TaskCall, "signal" | "deadline" | "requestId" | "ticket">;

/** The context of a call, and how it is repeated at other deployments of the model. */
export function planModelCall({ router }: ModelCaller, { provider, model }: Target, call: EngineCall) {
  const { signal, deadline, requestId, ticket } = call;
  const { caller, trace, work } = openModelCall(ticket);
  const connection = { signal };
  const candidates = router.plan({ model: `${provider}/${model}` }, caller, trace);
  return {
    context: { caller, connection, requestId, trace, wantsMetadata: false, work },
    options: { candidates, trace, connection, deadline, repeatsExecuted: false },
  } as const;
}

type ModelCall = Pick<RequestContext, "caller" | "trace"> & Required<Pick<RequestContext, "work">>;

function openModelCall(ticket: CallTicket): ModelCall {
  if (!(ticket instanceof RunTicket)) throw new TypeError("an engine called a model without the ticket of its run");
  const { caller, task, jobId, trace } = ticket.run;
  return {
    // The caller may use the task; the model that performs it is the engine's choice.
    caller: { ...caller, allowedModels: null } satisfies Caller,
    trace: new Trace(performance.now(), 0, trace),
    work: { task, jobId },
  };
}
