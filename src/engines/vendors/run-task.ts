// Runs a vendor's task: request after request, until its last answer is mapped. At once, waiting in between; or as a job, in steps, where
// what has to wait is handed out as plain data and is gone on with later, here or in another process.

import { GatewayError } from "../../errors.ts";
import { hasOddNumbers, parseExactJson } from "../../lib/exact-json.ts";
import type { Json } from "../../lib/json-schema/schema.ts";
import type { Log } from "../../log.ts";
import { CallerLeft } from "../../providers/call.ts";
import { toTaskRefusal } from "../../providers/refusal.ts";
import {
  type NextRequest,
  type ProviderTask,
  type ProviderTaskCall,
  TaskFailure,
  type TaskRequest,
  type TaskResponse,
  type TaskResult,
} from "../../providers/task.ts";
import type { EngineStep } from "../engine.ts";
import { callVendor, type ProviderCallOptions } from "./call-vendor.ts";
import { mergeParams } from "./merge-params.ts";

export interface Running extends ProviderCallOptions {
  readonly task: ProviderTask;
  readonly call: ProviderTaskCall;
  readonly log: Log;
}

const mostFailuresWaiting = 3;
// With the pauses below, about eight minutes.
const mostFailuresBetweenSteps = 20;
const longestBackoffMs = 30_000;
const shortestPollMs = 1_000;
const longestPollMs = 10_000;
const pollGrowth = 1.25;
// The longest documents of a vendor that answers in portions have some three thousand of them.
const mostRequestsInARow = 5_000;
const longestWorkMs = 24 * 3_600_000;

export async function runAtOnce(running: Running): Promise<TaskResult> {
  const { call, shutdownSignal } = running;
  const trail: Trail = { asked: null };
  try {
    let request: NextRequest = await readFirst(running);
    for (let polls = 0, failures = 0; ; ) {
      trail.asked = request;
      const reached = await advance(request, trail, running);
      if ("answer" in reached) return reached.answer;
      if ("failure" in reached) {
        // What has not been begun fails; the work that has goes on, whatever became of a question for it.
        if (request.waitMs === undefined || ++failures > mostFailuresWaiting) throw reached.failure;
      } else {
        request = reached.waiting;
        failures = 0;
        polls++;
      }
      await pause(toWait(request, polls - 1), call, shutdownSignal);
    }
  } finally {
    await cleanUp(trail, running);
  }
}

/** What is stored between two steps. */
interface Kept {
  readonly request: NextRequest;
  /** The id of the deployment that performs the work. */
  readonly place: string;
  readonly polls: number;
  /** Of the questions in a row. */
  readonly failures: number;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** The id of the deployment that performs a stored piece of work. */
export function deploymentOfKept(kept: Json): string {
  return (kept as unknown as Kept).place;
}

/** Starts the work, or asks once for work that was started. */
export async function runInSteps(running: Running, kept: Json | null): Promise<EngineStep> {
  const place = running.deployment.id;
  const before = kept as unknown as Kept | null;
  const since = before?.since ?? Date.now();
  const trail: Trail = { asked: before?.request ?? null };
  try {
    if (Date.now() - since > longestWorkMs)
      throw new GatewayError(
        "provider_timeout",
        `The provider '${running.provider.name}' did not finish within a day.`,
      );
    const reached = await advance(before?.request ?? (await readFirst(running)), trail, running);
    if ("waiting" in reached) {
      const polls = (before?.polls ?? -1) + 1;
      const { progress } = reached.waiting;
      return {
        kept: toKept({ request: reached.waiting, place, polls, failures: 0, since }),
        waitMs: toWait(reached.waiting, polls),
        ...(progress === undefined ? {} : { progress }),
      };
    }
    if ("failure" in reached) {
      const failures = (before?.failures ?? 0) + 1;
      if (before === null || failures > mostFailuresBetweenSteps) throw reached.failure;
      return { kept: toKept({ ...before, failures }), waitMs: toBackoff(reached.failure, failures) };
    }
    await cleanUp(trail, running);
    return { answer: reached.answer };
  } catch (error) {
    // Who is stopped in the middle of it goes on later.
    const isStopped = error instanceof CallerLeft || (error instanceof GatewayError && error.code === "draining");
    if (!isStopped) await cleanUp(trail, running);
    throw error;
  }
}

function toKept(kept: Kept): Json {
  const { body } = kept.request;
  const hasBytes = body?.kind === "bytes" || (body?.kind === "form" && body.parts.some((part) => "bytes" in part));
  if (hasBytes) throw new Error("a request that waits must not carry bytes");
  return JSON.parse(JSON.stringify(kept)) as Json;
}

/** The last request that was sent: it knows what lies at the vendor's. */
interface Trail {
  asked: TaskRequest | null;
}

type Reached =
  | { readonly answer: TaskResult }
  | { readonly waiting: NextRequest }
  /** A short one, on the way; the vendor's own verdict on the work is thrown. */
  | { readonly failure: GatewayError };

async function readFirst({ task, call, provider: { row } }: Running): Promise<TaskRequest> {
  const first = await task.toRequest(call);
  return (first.acceptsProviderParams ?? true) ? mergeParams(first, call.providerParams, row) : first;
}

/** From a request on, until one has to wait, or the end. */
async function advance(from: TaskRequest, trail: Trail, running: Running): Promise<Reached> {
  const { task, call, provider } = running;
  for (let asked = from, sent = 0; ; ) {
    trail.asked = asked;
    if (sent++ >= mostRequestsInARow)
      throw new GatewayError(
        "provider_bad_response",
        `The provider '${provider.name}' did not finish its answer within ${mostRequestsInARow} requests.`,
      );
    let answer: TaskResponse;
    try {
      answer = await callVendor(asked, call, running);
    } catch (error) {
      if (isShort(error)) return { failure: error };
      throw error;
    }
    const last = asked;
    const next = await reading(running, () => task.next?.(answer, call, last) ?? null);
    if (next === null) {
      const answered = await reading(running, async () =>
        toEngineAnswer(answer, await task.fromResponse(answer, call, last)),
      );
      return { answer: answered };
    }
    asked = next.acceptsProviderParams ? mergeParams(next, call.providerParams, provider.row) : next;
    if (next.waitMs !== undefined) return { waiting: asked };
  }
}

/** Whatever a mapping stumbles over was the vendor's doing: mappings are made for all that is documented. */
async function reading<Result>(running: Running, read: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TaskFailure)
      throw toTaskRefusal(running.provider, error.status, null, JSON.stringify(error.message));
    // A RangeError: it is nested too deep, or one of its numbers is the length of something.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const { name } = running.provider;
    throw new GatewayError("provider_bad_response", `The provider '${name}' sent an answer that makes no sense.`, {
      cause: error,
    });
  }
}

const shortFailures: readonly string[] = [
  "provider_rate_limited",
  "provider_error",
  "provider_unreachable",
  "provider_disconnected",
  "provider_timeout",
] satisfies readonly GatewayError["code"][];

function isShort(error: unknown): error is GatewayError {
  return error instanceof GatewayError && shortFailures.includes(error.code);
}

function toWait({ waitMs = 0 }: NextRequest, polls: number): number {
  return waitMs === "growing" ? Math.min(longestPollMs, shortestPollMs * pollGrowth ** polls) : waitMs;
}

function toBackoff({ details }: GatewayError, failures: number): number {
  const growing = Math.min(longestBackoffMs, 1_000 * 2 ** (failures - 1));
  return Math.max(growing, (details.retryAfter ?? 0) * 1_000);
}

/** Takes away what the work left at the vendor's. Whether that succeeds changes nothing for the caller. */
async function cleanUp({ asked }: Trail, running: Running): Promise<void> {
  const { task, call, log, provider } = running;
  if (asked === null || task.cleanUpRequests === undefined) return;
  // Of its own time: the caller may have left.
  const own = { ...call, signal: new AbortController().signal, deadline: performance.now() + 10_000 };
  for (const request of task.cleanUpRequests(own, asked)) {
    try {
      await callVendor(request, own, running);
    } catch (error) {
      log.warn("a file could not be taken away from a provider", {
        provider: provider.name,
        path: request.path,
        error,
      });
    }
  }
}

function pause(
  milliseconds: number,
  { signal, deadline }: ProviderTaskCall,
  shutdownSignal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leftMs = deadline - performance.now();
  const isTooLong = milliseconds > leftMs;
  const timer = setTimeout(() => (isTooLong ? fail() : resolve()), Math.max(0, Math.min(milliseconds, leftMs)));
  const fail = () => {
    if (shutdownSignal.aborted)
      reject(new GatewayError("draining", "The gateway went down before the answer was complete."));
    else if (isTooLong || performance.now() >= deadline)
      reject(new GatewayError("provider_timeout", "The provider did not finish within the time of the request."));
    else reject(new CallerLeft());
  };
  const stop = AbortSignal.any([signal, shutdownSignal]);
  stop.addEventListener("abort", fail, { once: true });
  if (stop.aborted) fail();
  return promise.finally(() => {
    clearTimeout(timer);
    stop.removeEventListener("abort", fail);
  });
}

function exactJsonOf({ text, json }: TaskResponse): unknown {
  return hasOddNumbers(text) ? parseExactJson(text) : json;
}

function toEngineAnswer(answer: TaskResponse, result: TaskResult): TaskResult {
  const { output, units, binaries, charge } = result;
  const isJson = /[/+]json$|json-1\.\d$/.test(answer.mediaType);
  return {
    output,
    units,
    original: "original" in result ? result.original : isJson ? exactJsonOf(answer) : null,
    ...(binaries === undefined ? {} : { binaries }),
    ...(charge === undefined ? {} : { charge }),
  };
}
