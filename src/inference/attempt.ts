// One attempt at one candidate: authorizes and sends its calls, fills the trace, and reports outcome, usage and cost exactly once.

import { noReservation, type Reservation } from "../access/call-limits.ts";
import { describeCause, GatewayError, ValidationError } from "../errors.ts";
import { freeCharge } from "../lib/charge.ts";
import { authorizeRequest } from "../providers/authorize-request.ts";
import { type CallOptions, ProviderCall } from "../providers/call.ts";
import { CallTicket } from "../providers/call-ticket.ts";
import { findModelFacts } from "../providers/provider.ts";
import type { Span } from "../tracing/span.ts";
import { addUsage } from "./add-usage.ts";
import { AttemptSpan } from "./attempt-span.ts";
import { estimateCall, type RequestShape } from "./estimate.ts";
import { refuseOtherModels } from "./other-models.ts";
import { addCharges, type Charge, type Quote } from "./pricing.ts";
import { toReadFailure } from "./provider-answer.ts";
import { type Relay, RelayStream, type StreamEnd } from "./relay-stream.ts";
import { type AttemptReport, chargeOfFailure, readUsage, toOutcome } from "./report.ts";
import type { CallDependencies, RequestContext } from "./request-context.ts";
import type { Candidate } from "./route-planner.ts";

export interface AttemptOptions {
  readonly context: RequestContext;
  readonly candidate: AttemptTarget;
  readonly isStream: boolean;
  /** A request that generates nothing, such as counting tokens or retrieving an earlier response, costs nothing and passes no limits. */
  readonly isFree?: boolean;
  /** As OpenTelemetry names it: `embeddings` … Absent: `chat`, or `count_tokens` for a free request. */
  readonly operation?: string;
  /** What the estimate of the call depends on. Absent for calls that are not charged. */
  readonly shape?: () => RequestShape;
}

/** Work whose end several requests may see. The cost is unknown until then. */
export interface EarlierWork {
  /** Identifies the work, so that its cost counts once. */
  readonly line: NonNullable<AttemptReport["line"]>;
  /** The key that started it. */
  readonly keyId: string;
}

export interface AttemptTarget extends Pick<Candidate, "provider" | "deployment" | "model"> {
  /** Null: the outcome does not count towards the circuit breaker. */
  readonly health: Candidate["health"] | null;
}

/** The members that the gateway adds to an answer. */
export type AddedMembers = {
  readonly provider: string;
  readonly cost: number | null;
  readonly cost_reason?: string;
  readonly provider_time: number;
  readonly switchyard?: Record<string, unknown>;
};

/** Turns the usage of an answer into the members that the gateway adds to it. */
export interface Accounting {
  readonly quote: Quote;
  toMembers(charge: Charge): AddedMembers;
  /** Notes an answer that the provider bills even if the attempt fails afterwards, because of another call or of its content. */
  spend(usage: unknown, charge: Charge): void;
}

/** The request that a provider receives. */
export type ProviderRequest = Pick<CallOptions, "method" | "path" | "body" | "headerLines">;

/** `exchange` talks to the provider through the attempt. When it throws, its calls are closed and the failure is reported. */
export async function attempt<Answer>(
  dependencies: CallDependencies,
  options: AttemptOptions,
  exchange: (attempt: Attempt) => Promise<Answer>,
): Promise<Answer> {
  dependencies.checkLedger();
  const reserving = reserve(dependencies, options);
  // Skip the await when the value is ready: it would cost an event-loop turn.
  const reservation = reserving instanceof Promise ? await reserving : reserving;
  const running = new Attempt(dependencies, options, reservation);
  try {
    const answer = await exchange(running);
    // The exchange of such a request does not look at its usage; that of a stream ends later.
    if (options.isFree === true && !options.isStream) running.complete(null, freeCharge);
    return answer;
  } catch (thrown) {
    const error = running.hasAnswer ? toReadFailure(thrown, options.candidate.provider) : thrown;
    running.fail(error);
    throw error;
  }
}

const noShape = (): RequestShape => ({ body: "" });

function reserve(
  { callLimits, pricing, outputTokensToReserve }: CallDependencies,
  { context, candidate, isFree, shape = noShape }: AttemptOptions,
): Reservation | Promise<Reservation> {
  const { caller, work, trace } = context;
  if (isFree === true || caller.rules.length === 0) return noReservation;
  const { provider, model } = candidate;
  const demand = () => {
    const limits = { usual: outputTokensToReserve, most: findModelFacts(provider.row, model)?.maxOutputTokens };
    return estimateCall(shape(), limits, (input, output, tier) =>
      pricing.estimate(provider, model, { input, output, tier }),
    );
  };
  const name = `${provider.name}/${model}`;
  return callLimits.reserve(caller, work ? `${work.task}/${name}` : name, demand, trace.root);
}

export class Attempt implements Accounting {
  readonly startedAt = performance.now();
  readonly quote: Quote;
  readonly #dependencies: CallDependencies;
  readonly #options: AttemptOptions;
  readonly #calls: ProviderCall[] = [];
  readonly ticket = new CallTicket();
  readonly #reservation: Reservation;
  /** Null: traces are not exported. */
  readonly #span: AttemptSpan | null;
  readonly #spent: { readonly usage: unknown; readonly charge: Charge }[] = [];
  /** A whole answer was received; its content may still be unusable. */
  hasAnswer = false;
  #isReported = false;
  #hasFailed = false;
  /** Set when the end of such work was seen: by a free request, or by the one that started it. */
  #earlier: EarlierWork | null = null;

  constructor(dependencies: CallDependencies, options: AttemptOptions, reservation: Reservation) {
    const { context, candidate } = options;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#reservation = reservation;
    this.ticket.attempt = context.trace.attempts.at(-1) ?? null;
    this.quote = dependencies.pricing.quote(candidate.provider, candidate.model);
    context.trace.sentAt = this.startedAt;
    context.trace.firstByteAt = 0;
    this.#span = context.trace.span === null ? null : startSpan(context.trace.span, options);
    if (this.#span !== null) this.ticket.headerLines = this.#span.linesFor(candidate.provider.name);
  }

  toMembers({ cost, reason }: Charge): AddedMembers {
    const { candidate, context } = this.#options;
    const provider = candidate.provider.name;
    const provider_time = Math.round(performance.now() - this.startedAt) / 1_000;
    const added: AddedMembers =
      reason === null ? { provider, cost, provider_time } : { provider, cost, cost_reason: reason, provider_time };
    return context.wantsMetadata ? { ...added, switchyard: context.trace.toMetadata(context.requestId) } : added;
  }

  spend(usage: unknown, charge: Charge): void {
    this.#spent.push({ usage, charge });
  }

  /** What this attempt reports is the cost of this work, even if the request itself is free. */
  billEarlierWork(work: EarlierWork): void {
    this.#earlier = work;
  }

  /** The text of a whole answer. */
  async read(request: ProviderRequest): Promise<string> {
    const call = await this.#open(request);
    this.#options.context.trace.firstByteAt = performance.now();
    const read = call.readWhole();
    // Skip the await when the value is ready: it would cost an event-loop turn.
    const text = typeof read === "string" ? read : await read;
    call.finish();
    this.hasAnswer = true;
    return text;
  }

  /** Resolves with the first content. `count` calls, each of the same request, make up one stream. */
  async stream(
    request: ProviderRequest,
    createRelay: (contentTypes: readonly string[]) => Relay,
    count = 1,
  ): Promise<RelayStream> {
    const calls =
      count === 1
        ? [await this.#open(request)]
        : await Promise.all(Array.from({ length: count }, () => this.#open(request)));
    const relay = createRelay(calls.map(({ contentType }) => contentType));
    if (this.#span !== null) relay.observe = this.#span.note;
    const stream = new RelayStream(calls, relay, (end) => this.#endStream(end));
    try {
      await stream.open();
    } catch (error) {
      // The provider also bills an answer that was read to its end and is not of the requested structure.
      if (relay.charge !== null) this.spend(relay.usage, relay.charge);
      throw error;
    }
    this.#options.context.trace.firstByteAt = performance.now();
    return stream;
  }

  /** The answer was read. A streamed answer completes by itself. */
  complete(usage: unknown, charge: Charge, answer?: Readonly<Record<string, unknown>>): void {
    if (this.#span !== null && answer !== undefined) this.#span.note(answer);
    this.#report("completed", usage, charge);
  }

  fail(error: unknown): void {
    this.#hasFailed = true;
    for (const call of this.#calls) call.abandon();
    if (!isRefusedUnsent(error) || this.ticket.isUsed) {
      const usage = this.#spent.map((spent) => spent.usage).reduce(addUsage, null);
      const charge = this.#spent.length === 0 ? null : addCharges(this.#spent.map((spent) => spent.charge));
      this.#report(toOutcome(error), usage, charge, error);
      return;
    }
    // The candidate's format cannot express the request, or the key may not use all of its models, so nothing was sent.
    if (this.#isReported) return;
    this.#isReported = true;
    this.#reservation.release();
    this.#span?.cancel(toOutcome(error));
  }

  async #open(request: ProviderRequest): Promise<ProviderCall> {
    const { context, candidate, isStream } = this.#options;
    const { clocks, ticker, http, shutdownSignal, providers } = this.#dependencies;
    const { provider, deployment } = candidate;
    // Here, because every format passes: what counts is what the provider receives.
    refuseOtherModels(providers, { context, candidate, body: request.body });
    const { trace, connection } = context;
    const authorized = authorizeRequest(deployment, request);
    // Skip the await when the value is ready: it would cost an event-loop turn.
    const headerLines = typeof authorized === "string" ? authorized : await authorized;
    if (this.#hasFailed) throw new Error("another call of the attempt has failed");
    const { method = "POST", path, body } = request;
    const call = new ProviderCall({
      ticket: this.ticket,
      provider,
      address: deployment,
      method,
      path,
      body,
      headerLines,
      wantsStream: isStream,
      connection,
      shutdownSignal,
      clocks,
      deadline: trace.startedAt + clocks.totalTimeoutMs,
      ticker,
      http,
    });
    this.#calls.push(call);
    await call.open();
    // Of several calls, the slowest counts.
    trace.connectedAt = Math.max(trace.connectedAt, trace.sentAt + call.connectMs);
    return call;
  }

  /** Null: the stream failed before its first content. */
  #timeToFirstToken(outcome: AttemptReport["outcome"]): number | null {
    const { firstByteAt } = this.#options.context.trace;
    if (firstByteAt > 0) return firstByteAt - this.startedAt;
    // A short stream is complete before its opening has been handed over.
    return outcome === "completed" ? performance.now() - this.startedAt : null;
  }

  #endStream({ outcome, usage, charge, error }: StreamEnd): void {
    const { candidate, context } = this.#options;
    if (error !== null) {
      candidate.health?.broke(error);
      context.trace.broke(error.code);
    }
    // A broken stream is charged for the usage that was reported until then. Without one, what was generated has an unknown cost.
    this.#report(outcome, usage, charge ?? this.quote.chargeFor(usage), error);
  }

  #report(outcome: AttemptReport["outcome"], usage: unknown, charge: Charge | null, error: unknown = null): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const { context, candidate, isStream } = this.#options;
    const { trace, work } = context;
    const earlier = this.#earlier;
    const isFree = this.#options.isFree === true && earlier === null;
    const due = isFree ? freeCharge : charge;
    const tokens = readUsage(usage);
    // Without a charge, the attempt failed before any answer.
    const isUnbilled = due === null && outcome !== "completed" && outcome !== "caller_left";
    const settled = this.#reservation.settle({
      tokens: tokens !== null ? tokens.inputTokens + tokens.outputTokens : isUnbilled ? 0 : null,
      pico: isUnbilled ? 0 : (due ?? chargeOfFailure(outcome)).pico,
    });
    const provider = candidate.provider.name;
    trace.addReport({
      provider,
      model: work === undefined ? candidate.model : `${work.task}/${candidate.model}`,
      isStream,
      outcome,
      inputTokens: tokens?.inputTokens,
      outputTokens: tokens?.outputTokens,
      cost: isUnbilled ? 0 : (due?.cost ?? null),
    });
    const report: AttemptReport = {
      requestId: context.requestId,
      caller: context.caller,
      endpoint: trace.endpoint,
      provider,
      model: candidate.model,
      task: work?.task ?? null,
      jobId: work?.jobId ?? null,
      deployment: candidate.deployment.name,
      attempt: trace.countCall(),
      attemptReason: trace.attemptReason,
      isStream,
      durationMs: performance.now() - this.startedAt,
      firstTokenMs: isStream ? this.#timeToFirstToken(outcome) : null,
      usage: isFree ? null : usage,
      charge: due,
      settled,
      outcome,
      reason: error instanceof GatewayError ? describeFailure(error) : undefined,
      hasRequestLine: trace.root.hasRequestLine,
      ...(isFree && { isFree }),
      ...(earlier !== null && { line: earlier.line, caller: { ...context.caller, keyId: earlier.keyId } }),
    };
    this.#dependencies.report(report);
    this.#span?.end(report);
  }
}

function isRefusedUnsent(error: unknown): boolean {
  return error instanceof ValidationError || (error instanceof GatewayError && error.code === "model_not_allowed");
}

function describeFailure(error: GatewayError): string {
  const cause = describeCause(error);
  return cause === undefined ? error.message : `${error.message} (${cause})`;
}

function startSpan(parent: Span, { context, candidate, isStream, isFree, operation }: AttemptOptions): AttemptSpan {
  const { provider, deployment, model } = candidate;
  const { requestId, caller, work, request } = context;
  return new AttemptSpan(parent, {
    operation: operation ?? (isFree === true ? "count_tokens" : "chat"),
    provider: provider.row.openTelemetryName ?? provider.name,
    model,
    address: provider.row.transport === undefined ? deployment.baseUrl : null,
    isStream,
    request,
    attributes: {
      "switchyard.request.id": requestId,
      "switchyard.key.id": caller.keyId,
      "switchyard.provider": provider.name,
      "switchyard.deployment": deployment.name,
      "switchyard.task": work?.task,
      "switchyard.job.id": work?.jobId ?? undefined,
    },
  });
}
