// Runs a task for an endpoint of another shape, such as OpenAI's audio routes: builds the names of the models, passes members that the task
// does not have on to the provider or names them as dropped, and reports problems under the caller's own member names.

import type { Caller } from "../../access/caller.ts";
import { fitsPattern } from "../../catalogue/model-name.ts";
import type { BinaryResult, InputFile } from "../../engines/engine.ts";
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
  /** `<provider>[/<model>]`, then its fallbacks. */
  readonly models: readonly [string, ...string[]];
  readonly input: JsonObject;
  /** The caller's member names by those of the task: `text` → `prompt`. */
  readonly names: Readonly<Record<string, string>>;
  /** Members of the request that the task does not have. */
  readonly others?: JsonObject;
  readonly providerParams?: JsonObject | null | undefined;
  readonly isStrict?: boolean;
  readonly wantsOriginal?: boolean;
  readonly files?: Readonly<Record<string, InputFile>>;
  readonly takeBinary?: (result: TakenBinary) => string;
}

/** A binary result without its address. */
export type TakenBinary = Pick<BinaryResult, "bytes" | "mediaType">;

export interface ShapedAnswer {
  readonly output: JsonObject;
  readonly model: string | null;
  readonly original_response?: unknown;
  /** The members that the gateway adds to every answer. */
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
      // Both names of the model were checked above.
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

/** The patterns of a key may match the model's name with or without the task. */
function refuseForbidden(task: string, model: string, { allowedModels }: Caller): void {
  if (allowedModels === null) return;
  if (fitsPattern(model, allowedModels) || fitsPattern(`${task}/${model}`, allowedModels)) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${model}'.`, { param: "model" });
}

/** Members that all providers accept under the same name become provider parameters; the others are dropped and named. */
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
