// A task that is requested in an OpenAI format: the parts of the request that are the same for speech, transcripts, images and moderations.

import { engineMemberNames } from "../contract/engine-models.ts";
import type { TaskName } from "../contract/tasks.ts";
import type { ShapedTask } from "../inference/universal-ai/shaped-task.ts";
import type { UniversalAi } from "../inference/universal-ai/universal-ai.ts";
import type { JsonObject } from "../providers/dialect.ts";

interface EngineRequest {
  readonly model: string;
  readonly fallbacks?: readonly string[] | null | undefined;
  readonly provider_params?: JsonObject | null | undefined;
  readonly strict_parameters?: boolean | null | undefined;
  readonly [member: string]: unknown;
}

/** `members`: the members of the format that the route reads itself. */
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
