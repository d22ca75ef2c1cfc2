// Runs a provider's task: sends one request after another until the last response is converted. `runToEnd` waits between the requests.
// `runStep` returns a checkpoint instead, as plain data, so that a job can continue later, in this process or another one.

import { GatewayError } from "../../errors.ts";
import { pause, startDeadline } from "../../lib/deadline.ts";
import { hasOddNumbers, parseExactJson } from "../../lib/exact-json.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import { toTaskRefusal } from "../../providers/refusal.ts";
import type { NextRequest, ProviderTaskCall, TaskRequest, TaskResponse, TaskResult } from "../../providers/task.ts";
import { TaskFailure } from "../../providers/task.ts";
import type { EngineStep } from "../engine.ts";
import { toStopOptions } from "../fetch-result.ts";
import { mergeParams } from "./merge-params.ts";
import { type SendOptions, sendRequest } from "./send-request.ts";

export interface TaskRun extends SendOptions {
  readonly call: ProviderTaskCall;
  readonly log: Log;
  /** The last request that was sent: it knows which files are stored at the provider. */
  lastRequest: TaskRequest | null;
}

const poll = { firstMs: 1_000, maxMs: 10_000, growth: 1.25 };
/** Temporary failures in a row. Those between two steps, with the delays of `toBackoff`, take about eight minutes. */
const maxFailures = { whileWaiting: 3, betweenSteps: 20 };
const maxBackoffMs = 30_000;
// The longest documents of a provider that answers in parts take about three thousand requests.
const maxRequestsInARow = 5_000;
const maxWorkMs = 24 * 3_600_000;

export async function runToEnd(run: TaskRun): Promise<TaskResult> {
  try {
    let request: NextRequest = await toFirstRequest(run);
    for (let polls = 0, failures = 0; ; ) {
      const reached = await advance(request, run);
      if ("result" in reached) return reached.result;
      if ("failure" in reached) {
        // Only a request that polls for work is repeated: the work itself may have been started already.
        if (request.waitMs === undefined || ++failures > maxFailures.whileWaiting) throw reached.failure;
      } else {
        request = reached.waiting;
        failures = 0;
        polls++;
      }
      await wait(toDelay(request, polls - 1), run);
    }
  } finally {
    await cleanUp(run);
  }
}

/** What is stored between two steps. */
export interface Checkpoint {
  readonly request: NextRequest;
  /** The id of the deployment that performs the work. */
  readonly deployment: string;
  readonly polls: number;
  /** In a row. */
  readonly failures: number;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** The names in checkpoints of version 0.1: a job that it started continues after an upgrade. */
interface FirstCheckpoint extends Pick<Checkpoint, "polls" | "failures"> {
  readonly request: NextRequest & { readonly note?: unknown };
  readonly place: string;
  readonly since: number;
}

export function readCheckpoint(stored: Json): Checkpoint {
  // Only `toJson`, of this version or of an earlier one, wrote the value.
  const checkpoint = stored as unknown as Checkpoint | FirstCheckpoint;
  if (!("place" in checkpoint)) return checkpoint;
  const { place, since, request, polls, failures } = checkpoint;
  const { note, ...others } = request;
  return { request: { ...others, state: note }, deployment: place, polls, failures, startedAt: since };
}

/** Starts the work, or polls once for work that was started. */
export async function runStep(run: TaskRun, before: Checkpoint | null): Promise<EngineStep> {
  const startedAt = before?.startedAt ?? Date.now();
  run.lastRequest = before?.request ?? null;
  try {
    if (Date.now() - startedAt > maxWorkMs)
      throw new GatewayError("provider_timeout", `The provider '${run.provider.name}' did not finish within a day.`);
    const reached = await advance(before?.request ?? (await toFirstRequest(run)), run);
    if ("waiting" in reached) {
      const request = reached.waiting;
      const polls = (before?.polls ?? -1) + 1;
      return {
        checkpoint: toJson({ request, deployment: run.deployment.id, polls, failures: 0, startedAt }),
        waitMs: toDelay(request, polls),
        ...(request.progress !== undefined && { progress: request.progress }),
      };
    }
    if ("failure" in reached) {
      const failures = (before?.failures ?? 0) + 1;
      if (before === null || failures > maxFailures.betweenSteps) throw reached.failure;
      return { checkpoint: toJson({ ...before, failures }), waitMs: toBackoff(reached.failure, failures) };
    }
    await cleanUp(run);
    return { result: reached.result };
  } catch (error) {
    // An interrupted job continues later, and needs its files then.
    const isInterrupted = error instanceof CallerLeft || (error instanceof GatewayError && error.code === "draining");
    if (!isInterrupted) await cleanUp(run);
    throw error;
  }
}

/** Ends work that no step continues: only its files are deleted. */
export async function abandonStep(run: TaskRun, { request }: Checkpoint): Promise<void> {
  run.lastRequest = request;
  await cleanUp(run);
}

function toJson(checkpoint: Checkpoint): Json {
  const { body } = checkpoint.request;
  const hasBytes = body?.kind === "bytes" || (body?.kind === "form" && body.parts.some((part) => "bytes" in part));
  if (hasBytes) throw new Error("a request that waits must not carry bytes");
  return JSON.parse(JSON.stringify(checkpoint)) as Json;
}

type Reached =
  | { readonly result: TaskResult }
  | { readonly waiting: NextRequest }
  /** A temporary failure of the call. A failure of the work itself is thrown. */
  | { readonly failure: GatewayError };

async function toFirstRequest({ task, call, provider }: TaskRun): Promise<TaskRequest> {
  const first = await task.toRequest(call);
  return (first.acceptsProviderParams ?? true)
    ? mergeParams(first, call.providerParams, { row: provider.row, task })
    : first;
}

/** Sends this request and those that follow, until one has to wait. */
async function advance(first: TaskRequest, run: TaskRun): Promise<Reached> {
  const { task, call, provider } = run;
  let request = first;
  for (let sent = 0; sent < maxRequestsInARow; sent++) {
    run.lastRequest = request;
    let response: TaskResponse;
    try {
      response = await sendRequest(request, call, run);
    } catch (error) {
      if (isTemporary(error)) return { failure: error };
      throw error;
    }
    const current = request;
    const next = await readResponse(run, () => task.next?.(response, call, current) ?? null);
    if (next === null) {
      const result = await readResponse(run, () => task.fromResponse(response, call, current));
      return { result: "original" in result ? result : { ...result, original: originalOf(response) } };
    }
    request = next.acceptsProviderParams ? mergeParams(next, call.providerParams, { row: provider.row, task }) : next;
    if (next.waitMs !== undefined) return { waiting: request };
  }
  throw new GatewayError(
    "provider_bad_response",
    `The provider '${provider.name}' did not finish its answer within ${maxRequestsInARow} requests.`,
  );
}

/** A conversion handles everything that is documented, so its errors are the provider's. */
async function readResponse<Result>({ provider }: TaskRun, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TaskFailure) throw toTaskRefusal(provider, error.status, null, JSON.stringify(error.message));
    // A RangeError: the response is nested too deep, or one of its numbers is used as a length.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const message = `The provider '${provider.name}' sent an answer that makes no sense.`;
    throw new GatewayError("provider_bad_response", message, { cause: error });
  }
}

const temporaryFailures: readonly string[] = [
  "provider_rate_limited",
  "provider_error",
  "provider_unreachable",
  "provider_disconnected",
  "provider_timeout",
] satisfies readonly GatewayError["code"][];

function isTemporary(error: unknown): error is GatewayError {
  return error instanceof GatewayError && temporaryFailures.includes(error.code);
}

function toDelay({ waitMs = 0 }: NextRequest, polls: number): number {
  return waitMs === "growing" ? Math.min(poll.maxMs, poll.firstMs * poll.growth ** polls) : waitMs;
}

function toBackoff({ details }: GatewayError, failures: number): number {
  const growing = Math.min(maxBackoffMs, 1_000 * 2 ** (failures - 1));
  return Math.max(growing, (details.retryAfter ?? 0) * 1_000);
}

async function wait(delayMs: number, { call, shutdownSignal }: TaskRun): Promise<void> {
  const timeoutMs = call.deadline - performance.now();
  using limit = startDeadline({ timeoutMs, ...toStopOptions(call, shutdownSignal) });
  if (!(await pause(delayMs, limit.signal))) throw limit.signal.reason;
}

/** Deletes the files that the work stored at the provider. The caller does not depend on its success. */
async function cleanUp(run: TaskRun): Promise<void> {
  const { lastRequest, task, log, provider } = run;
  if (lastRequest === null || task.cleanUpRequests === undefined) return;
  // The caller may have disconnected, so this has a time limit of its own.
  const call = { ...run.call, signal: new AbortController().signal, deadline: performance.now() + 10_000 };
  for (const request of task.cleanUpRequests(call, lastRequest)) {
    try {
      await sendRequest(request, call, run);
    } catch (error) {
      log.warn("a file could not be deleted at a provider", { provider: provider.name, path: request.path, error });
    }
  }
}

/** Null when the response is not JSON. */
function originalOf(response: TaskResponse): unknown {
  if (!/[/+]json$|json-1\.\d$/.test(response.mediaType)) return null;
  return hasOddNumbers(response.text) ? parseExactJson(response.text) : response.json;
}
