// Which engines may run a task request, in which order: everything that can be decided from the request alone.

import type { Caller } from "../../access/caller.ts";
import { findTask, type Task, type TaskName, tasks } from "../../contract/tasks.ts";
import type { UniversalAiRequest } from "../../contract/universal-ai.ts";
import type { Engine } from "../../engines/engine.ts";
import { type ErrorCode, GatewayError, type Problem, throwProblems } from "../../errors.ts";
import { suggest } from "../../lib/find-nearest.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { refuseForbidden } from "../allowed-models.ts";
import { refuseUnavailable, type TaskOffer } from "./run-offer.ts";
import { createInputCheck } from "./task-input.ts";

export interface TaskPlan {
  readonly task: Task;
  readonly input: JsonObject;
  readonly offers: readonly TaskOffer[];
}

type NamedModels = Pick<UniversalAiRequest, "model" | "fallbacks">;

export interface TaskPlanner {
  /** Throws when the request is refused for a reason that is known before it runs. */
  check(request: UniversalAiRequest, caller: Caller, mode: "now" | "job"): TaskPlan;
  /** The offers of a request, whatever its input. Throws as `check` does. */
  chooseOffers(request: NamedModels, caller: Caller): readonly TaskOffer[];
  /** The offer of one model. Throws when the caller may not use it, or nothing offers it. */
  findOffer(model: string, caller: Caller): TaskOffer;
  /**
   * The names of a task's model that lead to the same engine: with other names of the provider, and with the model that is the default,
   * which may depend on the input.
   */
  listEqualNames(model: string, input?: JsonObject): readonly string[];
  /** The name of a task's model with the spelling by which its calls are counted. */
  spellName(model: string): string;
}

const sandboxName = "sandbox";

export function createTaskPlanner(engines: readonly Engine[]): TaskPlanner {
  const byName = groupByName(engines);
  const checkInput = createInputCheck();

  function findOffer(name: string, task: TaskName, input?: JsonObject): TaskOffer {
    const [, , provider = "", ...rest] = name.split("/");
    const serving = byName.get(`${task}/${provider}`);
    if (serving === undefined) {
      const names = engines.filter((engine) => engine.task === task).map((engine) => engine.provider);
      const message = `No provider '${provider}' serves ${task} here${suggest(provider, names) || "."} GET /v3/info/${task} lists the providers that do.`;
      throw unknownModel("provider_not_found", message);
    }
    const model = rest.length === 0 ? null : rest.join("/");
    const engine = chooseEngine(serving, model);
    if (engine === undefined) {
      const known = serving.flatMap(({ models }) => models);
      const hint = suggest(model ?? "", known) || (known.length === 0 ? "; name the provider alone." : ".");
      const message = `'${provider}' has no model '${model}' for ${task}${hint} GET /v3/info/${task} lists the models.`;
      throw unknownModel("model_not_found", message);
    }
    return { engine, model: model === null ? findDefault(engine, input) : spellModel(engine, model) };
  }

  function refuseForbiddenName(name: string, { allowedModels }: Caller, input?: JsonObject): void {
    if (allowedModels !== null) refuseForbidden(allowedModels, spellName(name), () => listEqualNames(name, input));
  }

  function spellName(name: string): string {
    const [feature, subfeature, provider, ...rest] = name.split("/");
    const model = rest.join("/");
    const start = `${feature}/${subfeature}/${provider}`;
    const engine = model === "" ? undefined : chooseEngine(byName.get(start) ?? [], model);
    return engine === undefined ? name : `${start}/${spellModel(engine, model)}`;
  }

  function listEqualNames(name: string, input?: JsonObject): readonly string[] {
    const [feature, subfeature, provider = "", ...rest] = name.split("/");
    const task = `${feature}/${subfeature}`;
    const choose = (providerName: string, model: string | null) =>
      chooseEngine(byName.get(`${task}/${providerName}`) ?? [], model);
    const written = rest.length === 0 ? null : rest.join("/");
    const engine = choose(provider, written);
    if (engine === undefined) return [];
    const model = written === null ? null : spellModel(engine, written);
    const defaultModel = model === null ? findDefault(engine, input) : null;
    const models = defaultModel === null ? [model] : [model, defaultModel];
    return [engine.provider, ...(engine.aliases ?? [])].flatMap((other) =>
      models
        .filter((one) => choose(other, one) === engine)
        .map((one) => (one === null ? `${task}/${other}` : `${task}/${other}/${one}`)),
    );
  }

  function sandboxOffer(task: TaskName): TaskOffer {
    const [engine] = byName.get(`${task}/${sandboxName}`) ?? [];
    if (engine === undefined) throw new GatewayError("provider_not_found", "The sandbox does not support this task.");
    return { engine, model: null };
  }

  /** `input` is absent when only the models of a request are known. */
  function choose(
    task: Task,
    { names, input }: { readonly names: readonly string[]; readonly input?: JsonObject },
    caller: Caller,
  ): readonly TaskOffer[] {
    for (const name of names) refuseForbiddenName(name, caller, input);
    const offers =
      caller.kind === "sandbox" ? [sandboxOffer(task.name)] : names.map((name) => findOffer(name, task.name, input));
    const [first] = offers;
    // Refuse at once, before a file is fetched or a job is stored.
    if (first !== undefined && offers.every(({ engine }) => engine.unavailableReason !== null))
      refuseUnavailable(first.engine);
    return offers;
  }

  return {
    check(request, caller, mode) {
      const task = findTaskOf(request.model);
      if (mode === "now" && task.mode === "async")
        throw unknownModel("async_only", `'${request.model}' runs as a job: send it to POST /v3/universal-ai/async.`);
      refuseFallbacks(task, request.fallbacks ?? []);
      const input = checkInput(task, request.input);
      return { task, input, offers: choose(task, { names: namesOf(request), input }, caller) };
    },
    chooseOffers(request, caller) {
      const task = findTaskOf(request.model);
      refuseFallbacks(task, request.fallbacks ?? []);
      return choose(task, { names: namesOf(request) }, caller);
    },
    findOffer(model, caller) {
      refuseForbiddenName(model, caller);
      return findOffer(model, findTaskOf(model).name);
    },
    listEqualNames,
    spellName,
  };
}

function namesOf({ model, fallbacks }: NamedModels): readonly string[] {
  return [model, ...(fallbacks ?? [])];
}

/** By `<task>/<provider>`. The engines of a provider come before those of providers that have its name as an alias. */
function groupByName(engines: readonly Engine[]): ReadonlyMap<string, readonly Engine[]> {
  const byName = Map.groupBy(engines, ({ task, provider }) => `${task}/${provider}`);
  for (const engine of engines)
    for (const name of engine.aliases ?? []) {
      const key = `${engine.task}/${name}`;
      byName.set(key, [...(byName.get(key) ?? []), engine]);
    }
  return byName;
}

/** A provider may offer a task twice, by its own API and by a chat model: the model's name decides, otherwise the first engine. */
function chooseEngine(serving: readonly Engine[], model: string | null): Engine | undefined {
  if (model === null) return serving.find(({ unavailableReason }) => unavailableReason === null) ?? serving[0];
  return (
    serving.find((engine) => engine.models.includes(spellModel(engine, model))) ??
    serving.find(({ acceptsAnyModel }) => acceptsAnyModel)
  );
}

function spellModel({ toModelName }: Engine, model: string): string {
  return toModelName?.(model) ?? model;
}

function findDefault(engine: Engine, input: JsonObject | undefined): string | null {
  const chosen = input === undefined ? undefined : engine.defaultModelFor?.(input);
  return chosen ?? engine.defaultModel ?? null;
}

function findTaskOf(name: string): Task {
  const [feature = "", subfeature = ""] = name.split("/");
  const ofFeature = tasks.filter((task) => task.feature === feature);
  if (ofFeature.length === 0) {
    const features = tasks.map((task) => task.feature);
    const message = `There is no feature '${feature}'${suggest(feature, features) || "."} GET /v3/info lists the features.`;
    throw unknownModel("feature_not_found", message);
  }
  const task = findTask(`${feature}/${subfeature}`);
  if (task !== undefined) return task;
  const subfeatures = ofFeature.map((one) => one.subfeature);
  const message = `'${feature}' has no subfeature '${subfeature}'${suggest(subfeature, subfeatures) || "."} GET /v3/info/${feature}?include=unconfigured lists the subfeatures.`;
  throw unknownModel("subfeature_not_found", message);
}

function unknownModel(code: ErrorCode, message: string): GatewayError {
  return new GatewayError(code, message, { param: "model" });
}

function refuseFallbacks({ name: task, allowsFallbacks }: Task, fallbacks: readonly string[]): void {
  if (fallbacks.length === 0) return;
  const problems = fallbacks.flatMap((name, index): Problem[] => {
    const msg = `Input should be a model of ${task}`;
    return name.startsWith(`${task}/`) ? [] : [{ loc: ["body", "fallbacks", index], msg, type: "value_error" }];
  });
  if (!allowsFallbacks)
    problems.push({ loc: ["body", "fallbacks"], msg: "This task allows no fallbacks", type: "value_error" });
  throwProblems(problems);
}
