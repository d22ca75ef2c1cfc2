// Plans the candidates of a request and tries them in turn.

import type { Clocks } from "../providers/call.ts";
import type { MediaLimits } from "./media.ts";
import type { Wanted } from "./offers.ts";
import type { CallDependencies, RequestContext } from "./request-context.ts";
import type { Candidate, RoutePlanner } from "./route-planner.ts";

export interface PlanDependencies extends CallDependencies {
  readonly router: RoutePlanner;
}

type PlannedRequest = RequestContext & { readonly request: Wanted };

export function planAndTry<Answer>(
  dependencies: PlanDependencies,
  input: PlannedRequest,
  attempt: (candidate: Candidate) => Promise<Answer>,
): Promise<Answer> {
  const { request, caller, trace } = input;
  const candidates = dependencies.router.plan(request, caller, trace);
  trace.routedAt = performance.now();
  return tryCandidates(dependencies, input, candidates, attempt);
}

export function tryCandidates<Answer>(
  { router, candidateLoop, clocks }: PlanDependencies,
  input: PlannedRequest,
  candidates: readonly Candidate[],
  attempt: (candidate: Candidate) => Promise<Answer>,
): Promise<Answer> {
  const { request, caller, trace, connection } = input;
  const deadline = deadlineOf(input, clocks);
  const onAnswered = (candidate: Candidate) => router.remember(request, caller, candidate);
  return candidateLoop.run({ candidates, trace, connection, deadline, onAnswered }, attempt);
}

/** In the milliseconds of `performance.now()`. */
export function deadlineOf({ trace }: Pick<RequestContext, "trace">, { totalTimeoutMs }: Clocks): number {
  return trace.startedAt + totalTimeoutMs;
}

/** The limits of a download for this request. */
export function limitsOf(context: RequestContext, clocks: Clocks): MediaLimits {
  const { caller, trace, connection } = context;
  return { caller, trace, connection, deadline: deadlineOf(context, clocks) };
}
