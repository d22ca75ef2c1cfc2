// Resolves the operator's aliases when a request arrives, so that stored requests and jobs contain the names of models.

import type { AliasTarget } from "../../contract/model-names.ts";
import { findTask } from "../../contract/tasks.ts";
import { GatewayError } from "../../errors.ts";
import { resolveAlias } from "../offers.ts";
import { drawByChance } from "../route-planner.ts";

export interface TaskAliases {
  /** The request with the names of task models. Further targets of an alias are tried before the caller's own fallbacks. */
  resolve<Request extends NamedModels>(request: Request): Request;
  /** For the OpenAI-shaped routes, whose names lack the task: the target of an alias is `<provider>/<model>`, or a model of that task. */
  resolveFor(task: string, names: readonly [string, ...string[]]): readonly [string, ...string[]];
}

interface NamedModels {
  readonly model: string;
  readonly fallbacks?: readonly string[] | null | undefined;
}

export function createTaskAliases(aliases: ReadonlyMap<string, readonly AliasTarget[]>): TaskAliases {
  const targetsOf = (name: string) => resolveAlias({ aliases }, name, drawByChance).map(({ model }) => model);

  /** The targets of an alias, which have to be models of one task. */
  function taskModelsOf(alias: string): readonly string[] {
    const models = targetsOf(alias);
    const [task, ...others] = new Set(models.map(taskOf));
    if (task === undefined || task === null || others.length > 0)
      throw new GatewayError(
        "model_not_found",
        `The alias '${alias}' does not refer to models of one task, such as text/moderation/local.`,
        { param: "model" },
      );
    return withoutFallbacks(task, models);
  }

  return {
    resolve(request) {
      const names = [request.model, ...(request.fallbacks ?? [])];
      if (!names.some((name) => aliases.has(name))) return request;
      const [model, ...fallbacks] = names.flatMap((name) => (aliases.has(name) ? taskModelsOf(name) : [name]));
      return { ...request, model, fallbacks };
    },
    resolveFor(task, names) {
      const models = names.flatMap((name) => {
        if (!aliases.has(name)) return [name];
        const targets = targetsOf(name).map((model) => (taskOf(model) === task ? model.slice(task.length + 1) : model));
        return withoutFallbacks(task, targets);
      });
      return models as [string, ...string[]];
    },
  };
}

/** For a task without fallbacks, only the first target is used. */
function withoutFallbacks(task: string, models: readonly string[]): readonly string[] {
  return findTask(task)?.allowsFallbacks === false ? models.slice(0, 1) : models;
}

/** `text/moderation` of `text/moderation/local`; null when the name belongs to no task. */
function taskOf(model: string): string | null {
  const [feature, subfeature, provider = ""] = model.split("/");
  const task = findTask(`${feature}/${subfeature}`);
  return provider === "" || task === undefined ? null : task.name;
}
