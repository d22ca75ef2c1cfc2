// The parts that routes to models have in common: error codes, the context of a call, and tasks that are requested in an OpenAI format.

import { engineMemberNames } from "../contract/engine-models.ts";
import type { TaskName } from "../contract/tasks.ts";
import type { ErrorCode } from "../errors.ts";
import type { RequestContext } from "../inference/request-context.ts";
import type { ShapedTask } from "../inference/universal-ai/shaped-task.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import type { JsonObject } from "../providers/dialect.ts";
import type { Call } from "./route.ts";

/** A call with a key, whatever else its route declares. */
export type KeyedCall = Pick<
  Call<"inference">,
  "caller" | "request" | "requestId" | "trace" | "wantsMetadata" | "searchParams"
>;

export function contextOf({ caller, request, requestId, trace, wantsMetadata }: KeyedCall): RequestContext {
  return { caller, connection: request, requestId, trace, wantsMetadata };
}

/** How a call of a provider fails, whatever it asks for. */
export const providerFailures = [
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_timeout",
] as const;

/** The errors of a request that names a model. openapi/route-errors.ts adds the errors that follow from a route's key and body. */
export const modelCallErrors: readonly ErrorCode[] = [
  "provider_rejected_request",
  ...providerFailures,
  "provider_not_configured",
  "model_not_allowed",
  "provider_not_found",
  "model_not_found",
  "provider_unavailable",
];

/** The errors of a request about an existing response. */
export const storedResponseErrors: readonly ErrorCode[] = [
  "provider_rejected_request",
  ...providerFailures,
  "provider_not_configured",
  "response_not_found",
  "response_not_stored",
];

/** The declaration that the routes of tasks in an OpenAI format share. */
export const taskRoute = {
  tag: "Tasks",
  method: "POST",
  key: "inference",
  scope: "universal",
  errors: modelCallErrors,
} as const;

interface EngineRequest {
  readonly model: string;
  readonly fallbacks?: readonly string[] | null | undefined;
  readonly provider_params?: JsonObject | null | undefined;
  readonly strict_parameters?: boolean | null | undefined;
  readonly [member: string]: unknown;
}

/** Reads the members of a request that all tasks have. `members`: those of the format, which the route reads itself. */
export function createTaskReader<Name extends TaskName>(
  universalAi: UniversalAi,
  task: Name,
  members: readonly string[],
) {
  const read = new Set([...engineMemberNames, ...members]);
  return (request: EngineRequest): Omit<ShapedTask<Name>, "input" | "names"> => ({
    task,
    models: universalAi.aliases.resolveFor(task, [request.model, ...(request.fallbacks ?? [])]),
    others: Object.fromEntries(Object.entries(request).filter(([name]) => !read.has(name))),
    providerParams: request.provider_params,
    isStrict: request.strict_parameters === true,
  });
}
