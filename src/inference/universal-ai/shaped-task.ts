// A task that was asked for in another shape than ours: the names are put together, members that have no place in the task are passed
// on or named as dropped, and what is wrong is told by the caller's own names.

import type { Caller } from "../../access/caller.ts";
import { fitsPattern } from "../../catalogue/model-name.ts";
import type { BinaryResult, EngineFile } from "../../engines/engine.ts";
import { listPassedMembers } from "../../engines/passed-members.ts";
import { GatewayError, type Problem, ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import type { AddedMembers } from "../attempt.ts";
import type { RequestContext } from "../request-context.ts";
import type { UniversalAi } from "./universal-ai.ts";

export interface ShapedContext extends RequestContext {
  readonly baseUrl: string;
}

export interface ShapedTask {
  /** `audio/tts` */
  readonly task: string;
  /** `<provider>[/<model>]`, the first choice first. */
  readonly models: readonly [string, ...string[]];
  readonly input: JsonObject;
  /** Where the caller wrote what the task calls otherwise: `text` → `prompt`. */
  readonly names: Readonly<Record<string, string>>;
  /** Members of the request that the task has no place for. */
  readonly others?: JsonObject;
  readonly providerParams?: JsonObject | null | undefined;
  readonly isStrict?: boolean;
  readonly wantsOriginal?: boolean;
  readonly files?: Readonly<Record<string, EngineFile>>;
  readonly takeBinary?: (result: TakenBinary) => string;
}

/** A result as bytes. */
export type TakenBinary = Pick<BinaryResult, "bytes" | "mediaType">;

export interface ShapedAnswer {
  readonly output: JsonObject;
  readonly model: string | null;
  readonly original_response?: unknown;
  /** Members that every answer has, whatever its shape. */
  readonly added: AddedMembers;
}

export async function runShapedTask(
  universalAi: UniversalAi,
  shaped: ShapedTask,
  context: ShapedContext,
): Promise<ShapedAnswer> {
  const { task, models, files, takeBinary } = shaped;
  for (const model of models) refuseForbidden(task, model, context.caller);
  const passed = passOn(shaped, context);
  const [model, ...fallbacks] = models.map((name) => `${task}/${name}`) as [string, ...string[]];
  try {
    const answer = await universalAi.run({
      ...context,
      // By both names, above.
      caller: { ...context.caller, allowedModels: null },
      request: {
        model,
        input: shaped.input,
        fallbacks,
        provider_params: { ...passed, ...shaped.providerParams },
        show_original_response: shaped.wantsOriginal ?? false,
      },
      runsJobs: true,
      ...(files === undefined ? {} : { files }),
      ...(takeBinary === undefined ? {} : { takeBinary }),
    });
    const { output, model: used, original_response, provider, cost, cost_reason, provider_time, switchyard } = answer;
    return {
      output,
      model: used,
      original_response,
      added: {
        provider,
        cost,
        ...(cost_reason !== undefined && { cost_reason }),
        provider_time,
        ...(switchyard !== undefined && { switchyard }),
      },
    } as ShapedAnswer;
  } catch (error) {
    throw error instanceof ValidationError ? inCallersNames(error, shaped.names) : error;
  }
}

/** A key's patterns may name the task's model, or the model as it is written here. */
function refuseForbidden(task: string, model: string, { allowedModels }: Caller): void {
  if (allowedModels === null) return;
  if (fitsPattern(model, allowedModels) || fitsPattern(`${task}/${model}`, allowedModels)) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${model}'.`, { param: "model" });
}

/** What all of the providers take by the same name, as parameters of theirs; the rest is dropped, and said to be. */
function passOn({ task, models, others = {}, isStrict = false }: ShapedTask, context: ShapedContext): JsonObject {
  const providers = context.caller.kind === "sandbox" ? [] : models.map((model) => model.split("/", 1)[0] ?? "");
  const given = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  const isTaken = (name: string) =>
    providers.length > 0 && providers.every((provider) => listPassedMembers(provider, task).includes(name));
  const dropped = given.flatMap(([name]) => (isTaken(name) ? [] : [name]));
  if (isStrict) refuseDropped(dropped);
  context.trace.dropped = dropped;
  return Object.fromEntries(given.filter(([name]) => isTaken(name)));
}

function inCallersNames(error: ValidationError, names: ShapedTask["names"]): ValidationError {
  const [first, ...others] = error.problems.map((problem): Problem => {
    const [root, place, member, ...rest] = problem.loc;
    if (place !== "input" || member === undefined) return problem;
    const name = names[String(member)];
    return name === undefined ? problem : { ...problem, loc: [root ?? "body", name, ...rest] };
  });
  return new ValidationError([first as Problem, ...others]);
}
