// Runs a provider's task: sends one request after another, and converts the last response. `runToEnd` waits between the requests. `runStep`
// returns a checkpoint instead, as plain data, so that a job can continue later, in this process or another one.

import { GatewayError } from "../../errors.ts";
import { pause, startDeadline } from "../../lib/deadline.ts";
import { hasOddNumbers, parseExactJson } from "../../lib/exact-json.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import { dayMs } from "../../lib/time-units.ts";
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
  /** The last request that was sent. Its state tells which files the work has stored at the provider. */
  lastRequest: TaskRequest | null;
  hasStarted: boolean;
}

const pollDelay = { firstMs: 1_000, maxMs: 10_000, growth: 1.25 };
/** Temporary failures in a row. Between steps, the delays of `toBackoffMs` add up to about eight minutes. */
const maxFailures = { whileWaiting: 3, betweenSteps: 20 };
const backoff = { firstMs: 1_000, maxMs: 30_000 };
// The longest documents of a provider that answers in parts take about three thousand requests.
const maxRequestsInARow = 5_000;
const maxWorkMs = dayMs;
const cleanUpTimeoutMs = 10_000;

export async function runToEnd(run: TaskRun): Promise<TaskResult> {
  try {
    let request: NextRequest = await toFirstRequest(run);
    let polls = 0;
    let failures = 0;
    let delayMs = 0;
    while (true) {
      const reached = await advance(request, run);
      if ("result" in reached) return reached.result;
      if ("waiting" in reached) {
        request = reached.waiting;
        delayMs = toPollDelayMs(request, polls);
        polls++;
        failures = 0;
        await wait(delayMs, run);
        continue;
      }
      const { failure } = reached;
      failures++;
      // Only a request that polls for work is repeated: the work itself may have been started already.
      if (request.waitMs === undefined || failures > maxFailures.whileWaiting) throw failure;
      const repeatAfterMs = Math.max(delayMs, readRetryAfterMs(failure));
      // The failure says more than a timeout would.
      if (performance.now() + repeatAfterMs > run.call.deadline) throw failure;
      await wait(repeatAfterMs, run);
    }
  } catch (error) {
    throw toRunFailure(error, run);
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

/** A checkpoint of version 0.1, whose members have other names. A job that it started continues after an upgrade. */
interface OldCheckpoint extends Pick<Checkpoint, "polls" | "failures"> {
  readonly request: NextRequest & { readonly note?: unknown };
  readonly place: string;
  readonly since: number;
}

export function readCheckpoint(stored: Json): Checkpoint {
  // Only `toJson`, of this version or of an earlier one, wrote the value.
  const checkpoint = stored as unknown as Checkpoint | OldCheckpoint;
  if (!("place" in checkpoint)) return checkpoint;
  const { place, since, request, polls, failures } = checkpoint;
  const { note, ...others } = request;
  return { request: { ...others, state: note }, deployment: place, polls, failures, startedAt: since };
}

/** Starts the work, or polls once for work that was started. */
export async function runStep(run: TaskRun, before: Checkpoint | null): Promise<EngineStep> {
  const startedAt = before?.startedAt ?? Date.now();
  run.lastRequest = before?.request ?? null;
  run.hasStarted = before !== null;
  try {
    if (Date.now() - startedAt > maxWorkMs)
      throw new GatewayError("provider_timeout", `The provider '${run.provider.name}' did not finish within a day.`);
    const reached = await advance(before?.request ?? (await toFirstRequest(run)), run);
    if ("waiting" in reached) {
      const request = reached.waiting;
      const polls = before === null ? 0 : before.polls + 1;
      return {
        checkpoint: toJson({ request, deployment: run.deployment.id, polls, failures: 0, startedAt }),
        waitMs: toPollDelayMs(request, polls),
        ...(request.progress !== undefined && { progress: request.progress }),
      };
    }
    if ("failure" in reached) {
      const failures = (before?.failures ?? 0) + 1;
      if (before === null || failures > maxFailures.betweenSteps) throw reached.failure;
      return { checkpoint: toJson({ ...before, failures }), waitMs: toBackoffMs(reached.failure, failures) };
    }
    await cleanUp(run);
    return { result: reached.result };
  } catch (error) {
    const isInterrupted = error instanceof CallerLeft || (error instanceof GatewayError && error.code === "draining");
    // Work that was started continues later, and needs its files then. An interrupted start is final, unless a later run repeats it.
    const isFinal = !isInterrupted || (before === null && !(await run.call.willRepeat?.()));
    if (isFinal) await cleanUp(run);
    throw toRunFailure(error, run);
  }
}

/** Once the work was started, a repetition of the task would start it, and pay for it, a second time. */
function toRunFailure(error: unknown, { hasStarted }: TaskRun): unknown {
  if (!hasStarted || !(error instanceof GatewayError)) return error;
  const { code, message, details } = error;
  return new GatewayError(code, message, { ...details, mayHaveExecuted: true, cause: error });
}

/** For work that no step continues: deletes its files. The provider may go on with the work. */
export async function abandonStep(run: TaskRun, { request }: Checkpoint): Promise<void> {
  run.lastRequest = request;
  await cleanUp(run);
}

async function toFirstRequest({ task, call, provider }: TaskRun): Promise<TaskRequest> {
  const first = await task.toRequest(call);
  return (first.acceptsProviderParams ?? true)
    ? mergeParams(first, call.providerParams, { row: provider.row, task })
    : first;
}

type Reached =
  | { readonly result: TaskResult }
  | { readonly waiting: NextRequest }
  /** A temporary failure of the call. A failure of the work itself is thrown. */
  | { readonly failure: GatewayError };

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
    if (request.isPreparation !== true) run.hasStarted = true;
    request = next.acceptsProviderParams ? mergeParams(next, call.providerParams, { row: provider.row, task }) : next;
    if (next.waitMs !== undefined) return { waiting: request };
  }
  throw new GatewayError(
    "provider_bad_response",
    `The provider '${provider.name}' did not finish its answer within ${maxRequestsInARow} requests.`,
  );
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

/** A conversion handles everything that is documented, so its errors are the provider's. */
async function readResponse<Result>({ provider }: TaskRun, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TaskFailure) throw toTaskRefusal(provider, error.status, null, JSON.stringify(error.message));
    // A RangeError: the response is nested too deep, or one of its numbers is used as a length.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const message = `The provider '${provider.name}' sent a response that does not match its documented format.`;
    throw new GatewayError("provider_bad_response", message, { cause: error });
  }
}

/** Null when the response is not JSON. */
function originalOf(response: TaskResponse): unknown {
  if (!/[/+]json$|json-1\.\d$/.test(response.mediaType)) return null;
  return hasOddNumbers(response.text) ? parseExactJson(response.text) : response.json;
}

function toPollDelayMs({ waitMs = 0 }: NextRequest, polls: number): number {
  const { firstMs, maxMs, growth } = pollDelay;
  return waitMs === "growing" ? Math.min(maxMs, firstMs * growth ** polls) : waitMs;
}

function readRetryAfterMs({ details }: GatewayError): number {
  return (details.retryAfter ?? 0) * 1_000;
}

async function wait(delayMs: number, { call, shutdownSignal }: TaskRun): Promise<void> {
  const timeoutMs = call.deadline - performance.now();
  using limit = startDeadline({ timeoutMs, ...toStopOptions(call, shutdownSignal) });
  if (!(await pause(delayMs, limit.signal))) throw limit.signal.reason;
}

/** Deletes the files that the work stored at the provider. A failure is only logged, because the result does not depend on it. */
async function cleanUp(run: TaskRun): Promise<void> {
  const { lastRequest, task, log, provider } = run;
  if (lastRequest === null || task.cleanUpRequests === undefined) return;
  // The caller may have disconnected, its time may be up, or the gateway shuts down, so the requests have signals and a deadline of their own.
  const { signal } = new AbortController();
  const call = { ...run.call, signal, deadline: performance.now() + cleanUpTimeoutMs };
  for (const request of task.cleanUpRequests(call, lastRequest)) {
    try {
      await sendRequest(request, call, { ...run, shutdownSignal: signal });
    } catch (error) {
      log.warn("a file could not be deleted at a provider", { provider: provider.name, path: request.path, error });
    }
  }
}

function toJson(checkpoint: Checkpoint): Json {
  const { body } = checkpoint.request;
  const hasBytes = body?.kind === "bytes" || (body?.kind === "form" && body.parts.some((part) => "bytes" in part));
  if (hasBytes) throw new Error("a request that waits must not carry bytes");
  return JSON.parse(JSON.stringify(checkpoint)) as Json;
}

function toBackoffMs(failure: GatewayError, failures: number): number {
  const growingMs = Math.min(backoff.maxMs, backoff.firstMs * 2 ** (failures - 1));
  return Math.max(growingMs, readRetryAfterMs(failure));
}
