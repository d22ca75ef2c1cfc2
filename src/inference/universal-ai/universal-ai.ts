// One task that is answered now: plans the engines, fetches the files of the input, and tries the engines in turn.

import { ownerOf } from "../../access/caller.ts";
import type { AliasTarget } from "../../contract/model-names.ts";
import type { UniversalAiRequest } from "../../contract/universal-ai.ts";
import type { BinaryResult, Engine, InputFile, TaskCall } from "../../engines/engine.ts";
import { GatewayError } from "../../errors.ts";
import { startDeadline } from "../../lib/deadline.ts";
import type { JsonObject } from "../../lib/lenient-json.ts";
import { CallerLeft } from "../../providers/call.ts";
import type { Deployment } from "../../providers/deployment.ts";
import type { Span } from "../../tracing/span.ts";
import type { LoopCandidate, LoopOptions } from "../candidate-loop.ts";
import type { HealthBook } from "../health.ts";
import { toOutcome } from "../report.ts";
import type { CallDependencies, RequestContext } from "../request-context.ts";
import type { AttemptNote, Trace } from "../trace.ts";
import { runOffer, type TaskOffer } from "./run-offer.ts";
import { createTaskAliases, type TaskAliases } from "./task-aliases.ts";
import { checkFiles, type FileFetching, type OpenFiles, readFiles, type TaskFilesOptions } from "./task-files.ts";
import { findFiles } from "./task-input.ts";
import { createTaskPlanner, type TaskPlan, type TaskPlanner } from "./task-planner.ts";

export interface TaskRequestContext extends RequestContext {
  readonly request: UniversalAiRequest;
  /** Where clients reach the gateway, for the addresses of binary results. */
  readonly baseUrl: string;
  /** Files that arrived with the request, by the member of the input that would name them. Absent: the input names them. */
  readonly files?: Readonly<Record<string, InputFile>>;
  /** Takes a binary result that needs no address, and returns the value that replaces the address. */
  readonly takeBinary?: (result: BinaryResult) => string;
  /** The caller waits, also for a task that usually runs as a job. */
  readonly runsJobs?: true;
}

export interface UniversalAi extends TaskPlanner {
  run(input: TaskRequestContext): Promise<JsonObject>;
  /** Throws a ValidationError for files that cannot be used, as far as that is known without fetching them. */
  checkFiles(plan: TaskPlan, owner: string): Promise<void>;
  /** Fetches the files that the input names. Throws a ValidationError for those that cannot be used. Dispose of them when the task is done. */
  openFiles(plan: TaskPlan, fetching: FileFetching): Promise<OpenFiles>;
  /** Tries the offers in turn until one answers. */
  tryOffers<Answer>(
    offers: readonly TaskOffer[],
    options: OfferOptions,
    attempt: (offer: TaskOffer, note: AttemptNote, deployment: string | null) => Promise<Answer>,
  ): Promise<Answer>;
  /** The offer as `tryOffers` would try it now. */
  toCandidate(offer: TaskOffer): LoopCandidate;
  readonly engines: readonly Engine[];
  readonly aliases: TaskAliases;
}

export interface OfferOptions extends Pick<LoopOptions<LoopCandidate>, "trace" | "deadline"> {
  readonly signal: AbortSignal;
  /** False: a failed call is not retried. */
  readonly retries?: false;
  /** The first offer continues work at its provider, so the circuit breaker does not apply to it. */
  readonly continuesFirst?: boolean;
}

export interface UniversalAiDependencies
  extends Pick<CallDependencies, "candidateLoop" | "shutdownSignal" | "report" | "callLimits" | "checkLedger"> {
  readonly engines: readonly Engine[];
  readonly health: HealthBook;
  /** Names that the operator declared, and their targets. */
  readonly aliases?: ReadonlyMap<string, readonly AliasTarget[]>;
  readonly files: TaskFilesOptions;
  /** Stores the bytes and returns their signed address. */
  readonly publish: (result: BinaryResult, owner: string, baseUrl: string) => Promise<string>;
  readonly totalTimeoutMs: number;
}

export function createUniversalAi(dependencies: UniversalAiDependencies): UniversalAi {
  const { engines, health, candidateLoop, publish, totalTimeoutMs, shutdownSignal, report } = dependencies;
  const planner = createTaskPlanner(engines);

  async function run(input: TaskRequestContext): Promise<JsonObject> {
    const { request, caller, trace, connection } = input;
    const plan = planner.check(request, caller, input.runsJobs === true ? "job" : "now");
    trace.routedAt = performance.now();
    const deadline = trace.startedAt + totalTimeoutMs;
    const timeoutMs = Math.max(1, deadline - performance.now());
    using limit = startDeadline({
      timeoutMs,
      signals: [connection.signal, shutdownSignal],
      reason(fired) {
        if (fired === null) return new GatewayError("provider_timeout", "The task did not finish in time.");
        if (fired === connection.signal) return new CallerLeft();
        return new GatewayError("draining", "The gateway shut down before the task was done.");
      },
    });
    const { signal } = limit;
    const { dropped } = trace;
    try {
      using opened = input.files === undefined ? await openFiles(plan, { caller, signal, timeoutMs }) : null;
      const files = input.files ?? opened?.files ?? {};
      return await tryOffers(plan.offers, { trace, signal, deadline }, async (offer, note, deployment) => {
        try {
          trace.dropped = [...dropped, ...findUnsupported(request.input, offer.engine)];
          return await runEngine(
            input,
            plan,
            { offer, note },
            { files, signal, deadline, ...(deployment && { deployment }) },
          );
        } catch (error) {
          throw offer.engine.isIdempotent ? error : withoutRetry(error);
        }
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  async function openFiles({ task, input, offers }: TaskPlan, fetching: FileFetching): Promise<OpenFiles> {
    if (task.producesFiles) await dependencies.files.refuseOverQuota?.(ownerOf(fetching.caller));
    const fetchesAddresses = offers.some(({ engine }) => engine.ignoresFiles !== true);
    return await readFiles(task, findFiles(task, input), dependencies.files, { ...fetching, fetchesAddresses });
  }

  function tryOffers<Answer>(
    offers: readonly TaskOffer[],
    { trace, signal, deadline, retries, continuesFirst = false }: OfferOptions,
    attempt: (offer: TaskOffer, note: AttemptNote, deployment: string | null) => Promise<Answer>,
  ): Promise<Answer> {
    const candidates = offers.map((offer, index) => toCandidate(offer, index === 0 && continuesFirst ? null : health));
    // An engine without deployments retries by itself, or not at all.
    const mayRetry = retries !== false && candidates.every(({ chosen }) => chosen !== null);
    const parent = trace.span;
    // One span for the task, with those of its attempts below it.
    if (parent !== null) trace.span = startTaskSpan(parent, offers);
    const options = {
      candidates,
      trace,
      connection: { signal },
      deadline,
      ...(mayRetry ? {} : { retries: 0 }),
      ...(offers.every(({ engine }) => engine.isIdempotent) ? {} : { repeatsExecuted: false as const }),
    };
    const answer = candidateLoop.run(options, ({ offer, chosen }, note) => attempt(offer, note, chosen?.name ?? null));
    return parent === null ? answer : endTaskSpan(answer, trace, parent);
  }

  async function runEngine(
    input: TaskRequestContext,
    plan: TaskPlan,
    { offer, note }: { readonly offer: TaskOffer; readonly note: AttemptNote },
    options: Pick<TaskCall, "files" | "signal" | "deadline" | "deployment">,
  ): Promise<JsonObject> {
    const { request, trace, requestId, caller } = input;
    const { task } = plan;
    const owner = ownerOf(caller);
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    const modelCalls: AttemptNote[] = [];
    const running = runOffer({
      task,
      offer,
      call: {
        input: plan.input,
        ...options,
        providerParams: request.provider_params ?? {},
        requestId,
        owner,
        // The note of the loop stands for the first call of a model; each further one is an attempt of its own.
        onAttempt(attempt) {
          if (modelCalls.length > 0) trace.attempts.push(attempt);
          modelCalls.push(attempt);
        },
      },
      caller,
      trace,
      callLimits: dependencies.callLimits,
      checkLedger: dependencies.checkLedger,
      publish: async (binary) => input.takeBinary?.(binary) ?? (await publish(binary, owner, input.baseUrl)),
      report,
    });
    const done = await running.finally(() => {
      note.wasSent ||= modelCalls[0]?.wasSent === true;
    });
    trace.firstByteAt = startedAt + done.milliseconds;
    return {
      status: "success",
      cost: done.cost,
      ...(done.costReason === null ? {} : { cost_reason: done.costReason }),
      provider: done.provider,
      model: done.model,
      feature: task.feature,
      subfeature: task.subfeature,
      output: done.output,
      provider_time: Math.round(done.milliseconds) / 1_000,
      ...(request.show_original_response === true ? { original_response: done.original } : {}),
      ...(input.wantsMetadata ? { switchyard: trace.toMetadata(requestId) } : {}),
    };
  }

  return {
    ...planner,
    run,
    checkFiles: ({ task, input }, owner) => checkFiles(findFiles(task, input), dependencies.files, owner),
    openFiles,
    tryOffers,
    toCandidate: (offer) => toCandidate(offer, health),
    engines,
    aliases: createTaskAliases(dependencies.aliases ?? new Map()),
  };
}

function startTaskSpan(parent: Span, [first]: readonly TaskOffer[]): Span {
  const task = first?.engine.task ?? "";
  return parent.child({ name: `task ${task}`, kind: "internal", attributes: { "switchyard.task": task } });
}

async function endTaskSpan<Answer>(answer: Promise<Answer>, trace: Trace, parent: Span): Promise<Answer> {
  const { span } = trace;
  try {
    const answered = await answer;
    span?.end(null);
    return answered;
  } catch (error) {
    span?.end(toOutcome(error));
    throw error;
  } finally {
    trace.span = parent;
  }
}

interface OfferCandidate extends LoopCandidate {
  readonly offer: TaskOffer;
  /** Null: the engine has no deployments to choose from. */
  readonly chosen: Deployment | null;
}

/** `book` is null for an offer that the circuit breaker does not apply to. */
function toCandidate(offer: TaskOffer, book: HealthBook | null): OfferCandidate {
  const { engine, model } = offer;
  const { provider, task, unavailableReason } = engine;
  const healthOf = ({ name }: Deployment) => book?.of(name, model === null ? task : `${task}/${model}`) ?? null;
  const deployments = engine.deployments?.(model) ?? [];
  const now = performance.now();
  const chosen = deployments.find((one) => healthOf(one)?.wouldAdmit(now)) ?? deployments[0] ?? null;
  return {
    offer,
    chosen,
    provider: { name: provider },
    deployment: chosen ?? { name: provider },
    model: model ?? task,
    health: chosen === null ? null : healthOf(chosen),
    unavailableReason,
  };
}

/** Members that the caller set and the provider has no parameter for. Null and an empty text set nothing. */
function findUnsupported(input: JsonObject, engine: Engine): string[] {
  const names = [...(engine.unsupportedMembers ?? []), ...(engine.unsupportedFor?.(input) ?? [])];
  return names.filter((name) => (input[name] ?? "") !== "").map((name) => `input.${name}`);
}

/** A client's automatic retry would repeat, and pay for, a task that a provider may have executed. */
function withoutRetry(error: unknown): unknown {
  if (!(error instanceof GatewayError) || !error.details.mayHaveExecuted) return error;
  const { code, message, details } = error;
  return new GatewayError(code, message, { ...details, shouldRetry: false, cause: error.cause });
}
