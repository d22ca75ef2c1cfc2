// Plans the candidates of a request and tries them in turn.

import type { CallDependencies } from "./call-dependencies.ts";
import type { Wanted } from "./offers.ts";
import type { RequestContext } from "./request-context.ts";
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
  { request, caller, trace, connection }: PlannedRequest,
  candidates: readonly Candidate[],
  attempt: (candidate: Candidate) => Promise<Answer>,
): Promise<Answer> {
  const deadline = deadlineOf(trace, clocks);
  const onAnswered = (candidate: Candidate) => router.remember(request, caller, candidate);
  return candidateLoop.run({ candidates, trace, connection, deadline, onAnswered }, attempt);
}

/** In the milliseconds of `performance.now()`. */
export function deadlineOf(
  { startedAt }: RequestContext["trace"],
  { totalTimeoutMs }: CallDependencies["clocks"],
): number {
  return startedAt + totalTimeoutMs;
}
