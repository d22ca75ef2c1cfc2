// Runs a task for an endpoint of another format, such as OpenAI's audio routes: builds the names of the models, passes members that the task
// does not have on to the provider or reports them as dropped, and reports problems under the caller's own member names.

import type { TaskInputs, TaskOutputs } from "../../contract/task-types.ts";
import type { TaskName } from "../../contract/tasks.ts";
import type { BinaryResult, InputFile } from "../../engines/engine.ts";
import { type Problem, ValidationError } from "../../errors.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { rows } from "../../providers/index.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { refuseForbidden } from "../allowed-models.ts";
import type { AddedMembers } from "../attempt.ts";
import type { RequestContext } from "../request-context.ts";
import type { UniversalAi } from "./universal-ai.ts";

export interface ShapedContext extends RequestContext {
  readonly baseUrl: string;
}

export interface ShapedTask<Name extends TaskName = TaskName> {
  readonly task: Name;
  /** `<provider>[/<model>]`, then its fallbacks. */
  readonly models: readonly [string, ...string[]];
  /** The schema fills in defaults. */
  readonly input: Partial<TaskInputs[Name]>;
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

export interface ShapedAnswer<Name extends TaskName = TaskName> {
  readonly output: TaskOutputs[Name];
  readonly model: string | null;
  readonly original_response?: unknown;
  /** The members that the gateway adds to every answer. */
  readonly added: AddedMembers;
}

export async function runShapedTask<Name extends TaskName>(
  universalAi: UniversalAi,
  shaped: ShapedTask<Name>,
  context: ShapedContext,
): Promise<ShapedAnswer<Name>> {
  const { task, models, files, takeBinary } = shaped;
  const { allowedModels } = context.caller;
  if (allowedModels !== null)
    for (const model of models) {
      const name = universalAi.spellName(`${task}/${model}`);
      refuseForbidden(allowedModels, withoutTask(name, task), () => listNames(universalAi, shaped, name));
    }
  const passed = passOn(shaped, context);
  const [model, ...fallbacks] = models.map((name) => `${task}/${name}`) as [string, ...string[]];
  try {
    const answer = await universalAi.run({
      ...context,
      // All names of the model were checked above.
      caller: { ...context.caller, allowedModels: null },
      request: {
        model,
        input: shaped.input,
        fallbacks,
        provider_params: { ...passed, ...shaped.providerParams },
        show_original_response: shaped.wantsOriginal ?? false,
      },
      runsJobs: true,
      ...(files && { files }),
      ...(takeBinary && { takeBinary }),
    });
    const { output, model: used, original_response, provider, cost, cost_reason, provider_time, switchyard } = answer;
    const added = {
      provider,
      cost,
      ...(cost_reason !== undefined && { cost_reason }),
      provider_time,
      ...(switchyard !== undefined && { switchyard }),
    };
    return { output, model: used, original_response, added } as ShapedAnswer<Name>;
  } catch (error) {
    throw error instanceof ValidationError ? inCallersNames(error, shaped.names) : error;
  }
}

/** The patterns of a key may match the name of the model with or without the task. */
function listNames(universalAi: UniversalAi, { task, input }: ShapedTask, name: string): readonly string[] {
  const names = [name, ...universalAi.listEqualNames(name, input)];
  return [...names, ...names.map((one) => withoutTask(one, task))];
}

function withoutTask(name: string, task: TaskName): string {
  return name.slice(task.length + 1);
}

type PassedOn = Pick<ShapedTask, "task" | "models" | "others" | "isStrict">;

/** Members that all providers accept under the same name become provider parameters; the others are dropped and reported. */
function passOn({ task, models, others = {}, isStrict = false }: PassedOn, context: ShapedContext): JsonObject {
  const providers = context.caller.kind === "sandbox" ? [] : models.map((model) => model.split("/", 1)[0] ?? "");
  const isAccepted = (name: string) =>
    providers.length > 0 && providers.every((provider) => passthroughMembersOf(provider, task).includes(name));
  const present = Object.entries(others).filter(([, value]) => value !== null && value !== undefined);
  const dropped = present.flatMap(([name]) => (isAccepted(name) ? [] : [name]));
  if (isStrict) refuseDropped(dropped);
  context.trace.dropped = dropped;
  return Object.fromEntries(present.filter(([name]) => isAccepted(name)));
}

function passthroughMembersOf(provider: string, task: TaskName): readonly string[] {
  const row = rows.find(({ name }) => name === provider);
  return row?.tasks?.find((one) => one.task === task)?.passthroughMembers ?? [];
}

function inCallersNames(error: ValidationError, names: ShapedTask["names"]): ValidationError {
  const [first, ...others] = error.problems.map((problem): Problem => {
    const [root = "body", parent, member, ...rest] = problem.loc;
    const name = parent === "input" && member !== undefined ? names[String(member)] : undefined;
    return name === undefined ? problem : { ...problem, loc: [root, name, ...rest] };
  });
  return new ValidationError([first as Problem, ...others]);
}
