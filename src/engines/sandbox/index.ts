// The sandbox engine of every task: valid outputs, deterministic, free and offline. As in the sandbox's chat, a model name can request a
// fault.

import { type Task, tasks } from "../../contract/tasks.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { freeCharge } from "../../lib/charge.ts";
import { pause } from "../../lib/deadline.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { configureProviders, type Provider } from "../../providers/configure.ts";
import { toRefusal } from "../../providers/refusal.ts";
import { sandbox } from "../../providers/sandbox/index.ts";
import { type Fault, findBehaviour, sandboxModels } from "../../providers/sandbox/models.ts";
import { errorBody, SandboxRefusal } from "../../providers/sandbox/refusal.ts";
import type { BinaryResult, Engine, TaskCall, TaskResult } from "../engine.ts";
import { faceTask } from "../face-collections.ts";
import { binaryComposers, outputComposers } from "./composers.ts";
import { makeSensibleExample } from "./examples.ts";

const goodModel = "ok";
const retryAfterSeconds = "1";
const none: Fault = { kind: "none" };

export function createSandboxEngines(): readonly Engine[] {
  const provider = configureProviders([sandbox], {}, () => null).get(sandbox.name) as Provider;
  return tasks.map((task) => ({
    provider: provider.name,
    task: task.name,
    models: [goodModel],
    // All models of the sandbox's chat, without the faults.
    acceptsAnyModel: true,
    isSandbox: true,
    isFree: true,
    unavailableReason: null,
    isIdempotent: true,
    ignoresFiles: true,
    run: (call: TaskCall) => run(task, provider, call),
    ...(task.name === faceTask && { collections }),
  }));
}

const done = async () => ({ output: {}, original: null, units: {} });

/** The sandbox looks at no picture: each has one face, and its collections are stored like all others. */
const collections: NonNullable<Engine["collections"]> = {
  create: done,
  addFaces: async () => {
    const face = { confidence: 1, bounding_box: { left: 0.25, top: 0.25, width: 0.5, height: 0.5 } };
    return { output: { faces: [face] }, original: null, units: { request: 1 }, charge: freeCharge };
  },
  deleteFaces: done,
  delete: done,
};

async function run(task: Task, provider: Provider, call: TaskCall): Promise<TaskResult> {
  const fault = findFault(call.model);
  await misbehave(fault, provider, call);
  refuseLongTexts(call.input);
  const isGarbage = fault.kind === "garbage" || fault.kind === "garbage-in-stream";
  const composed = isGarbage ? { output: { page: "It works!" } } : compose(task, call);
  const original = { sandbox: true, task: task.name };
  return { ...composed, original, units: { request: 1 }, charge: freeCharge };
}

/** The sandbox runs on the event loop, and some outputs are many times as long as the input. */
const maxCharacters = 250_000;

function refuseLongTexts(input: unknown): void {
  let left = maxCharacters;
  const count = (value: unknown): void => {
    if (typeof value === "string") left -= value.length;
    else if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) count(inner);
  };
  count(input);
  if (left >= 0) return;
  const msg = `The sandbox takes at most ${maxCharacters} characters of text in a task`;
  throw new ValidationError([{ loc: ["body", "input"], msg, type: "string_too_long" }]);
}

type Composer<Composed> = (input: JsonObject, fileName: string) => Composed;

function compose({ name, outputSchema }: Task, { input, files }: TaskCall): Pick<TaskResult, "output" | "binaries"> {
  // The input has been checked against the schema of this task.
  const toOutput = outputComposers[name] as Composer<JsonObject> | undefined;
  const toBinaries = binaryComposers[name] as Composer<BinaryResult[]> | undefined;
  const fileName = Object.values(files)[0]?.name ?? "the file";
  const output = toOutput?.(input, fileName);
  if (toBinaries === undefined) return { output: output ?? makeSensibleExample(outputSchema) };
  return { output: output ?? {}, binaries: toBinaries(input, fileName) };
}

function findFault(model: string | null): Fault {
  if (model === null || model === goodModel) return none;
  const behaviour = findBehaviour(model);
  if (behaviour !== null) return behaviour.fault;
  const names = [goodModel, ...sandboxModels.map(({ name }) => name)].join(", ");
  throw new GatewayError("model_not_found", `The model '${model}' does not exist. The sandbox has: ${names}.`, {
    param: "model",
  });
}

async function misbehave(fault: Fault, provider: Provider, call: TaskCall): Promise<void> {
  switch (fault.kind) {
    case "status": {
      const refusal = new SandboxRefusal(fault.status, `The sandbox was asked to answer with status ${fault.status}.`);
      throw toRefusal(provider, fault.status, fault.status === 429 ? retryAfterSeconds : null, errorBody(refusal));
    }
    case "error-in-stream":
      throw new GatewayError("provider_error", `The provider '${provider.name}' failed while it answered.`);
    case "cut":
      throw new GatewayError(
        "provider_disconnected",
        `The provider '${provider.name}' closed the connection before its answer was complete.`,
      );
    case "hang":
    case "stall":
      return delay(Number.POSITIVE_INFINITY, provider, call);
    case "slow":
    case "slow-start":
      return delay(fault.delayMs, provider, call);
    default:
  }
}

async function delay(delayMs: number, { name }: Provider, { signal, deadline }: TaskCall): Promise<void> {
  const leftMs = Math.max(0, deadline - performance.now());
  const isTime = await pause(Math.min(delayMs, leftMs), signal);
  if (isTime && delayMs <= leftMs) return;
  if (isTime || performance.now() >= deadline)
    throw new GatewayError("provider_timeout", `The provider '${name}' did not answer in time.`);
  throw signal.reason;
}
