// One chat completion, start to finish: which offers, in which order, how each is spoken to, and what is reported of it.

import type { Caller } from "../access/caller.ts";
import type { ChatCompletionRequest } from "../contract/chat-completions.ts";
import type { ChatRequest } from "../contract/chat-format.ts";
import { GatewayError } from "../errors.ts";
import type { JsonScan } from "../lib/json-scan.ts";
import { type Connection, ProviderCall } from "../providers/call.ts";
import type { Attempts } from "./attempts.ts";
import { authorize } from "./authorize.ts";
import type { CallDependencies } from "./call-dependencies.ts";
import type { ChatAdapter, GatewayMembers, WholeAnswer } from "./chat-adapter.ts";
import { ChatChunkWriter, ChatRelay, type ChunkWriter } from "./chat-relay.ts";
import { type FetchMedia, toMustFetch } from "./media.ts";
import { callInParallel, ParallelStream } from "./parallel-calls.ts";
import { passThroughChat } from "./passthrough-chat.ts";
import type { Charge, Pricing, Quote } from "./pricing.ts";
import { RelayStream, type StreamEnd } from "./relay.ts";
import { type AttemptReport, readUsage } from "./report.ts";
import type { Candidate, RoutePlanner } from "./route-planner.ts";
import type { Trace } from "./trace.ts";
import { translateChat, translateToResponses } from "./translated-chat.ts";

export interface ChatInput {
  /** What the schema knows of it. */
  readonly request: ChatCompletionRequest;
  /** All of it, for translations. */
  readonly value: ChatRequest;
  readonly text: string;
  readonly scan: JsonScan;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  /** Whether the caller asked what was decided. */
  readonly wantsMetadata: boolean;
  /** False: whoever asks checks a structured answer himself. */
  readonly checksStructure?: boolean;
  /** The provider's chat endpoint refuses this request, and its Responses API answers it. */
  readonly throughResponses?: boolean;
  /** For callers who do not speak the chat format themselves. */
  readonly createWriter?: () => ChunkWriter;
}

export type ChatAnswer =
  | ({ readonly kind: "whole" } & WholeAnswer)
  | { readonly kind: "stream"; readonly stream: FrameStream };

/** What the door writes out. */
export interface FrameStream {
  take(): readonly Uint8Array[] | null | undefined;
  wait(): Promise<void>;
  abandon(): void;
}

export interface ChatCompletions {
  complete(input: ChatInput): Promise<ChatAnswer>;
  /** One try at one offer, for what becomes a chat completion on its way. */
  attempt(input: ChatInput, candidate: Candidate): Promise<ChatAnswer>;
}

export interface ChatDependencies extends CallDependencies {
  readonly router: RoutePlanner;
  readonly attempts: Attempts;
  readonly pricing: Pricing;
  /** Replaces addresses of media by what is found there, for providers that want bytes. */
  readonly fetchMedia: FetchMedia;
}

export function createChatCompletions(dependencies: ChatDependencies): ChatCompletions {
  const { router, attempts, pricing, clocks, ticker, http, shutdownSignal } = dependencies;

  async function attempt(input: ChatInput, candidate: Candidate): Promise<ChatAnswer> {
    const { provider, deployment, model } = candidate;
    const { trace } = input;
    const dialect = provider.dialect?.chat;
    let adapter: ChatAdapter;
    if (input.throughResponses === true) adapter = translateToResponses(input.value, candidate);
    else if (dialect === undefined) adapter = passThroughChat(input, candidate);
    else {
      const mustFetch = toMustFetch(dialect.fetchesMedia);
      const limits = { connection: input.connection, deadline: deadlineOf(input) };
      const value = await dependencies.fetchMedia(input.value, mustFetch, limits);
      adapter = translateChat(value, candidate, dialect, input.checksStructure !== false);
    }
    trace.dropped = adapter.dropped;
    const authorized = authorize(deployment, adapter);
    // Not awaited when it is there: a turn of the event loop for nothing.
    const headerLines = authorized instanceof Promise ? await authorized : authorized;
    const wantsStream = input.request.stream === true;
    const quote = pricing.quote(provider, model);
    const send = () =>
      new ProviderCall({
        provider,
        deployment,
        path: adapter.path,
        body: adapter.body,
        headerLines,
        wantsStream,
        connection: input.connection,
        shutdownSignal,
        clocks,
        deadline: deadlineOf(input),
        ticker,
        http,
      });
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    trace.firstByteAt = 0;
    const report = (outcome: AttemptReport["outcome"], usage: unknown, charge: Charge | null) =>
      dependencies.report({
        requestId: input.requestId,
        keyId: input.caller.keyId,
        path: trace.path,
        provider: provider.name,
        model,
        isStream: wantsStream,
        durationMs: performance.now() - startedAt,
        usage: readUsage(usage),
        cost: charge?.cost ?? null,
        outcome,
      });
    const onEnd = ({ outcome, usage, charge, error }: StreamEnd) => {
      if (error !== null) {
        candidate.health.broke(error);
        trace.broke(error.code);
      }
      // A stream that broke off is charged for what it had told until then.
      report(outcome, usage, charge ?? (usage === null ? null : quote.chargeFor(usage)));
    };
    try {
      const answer = wantsStream
        ? await openStream(input, adapter, { send, quote, onEnd })
        : await readWhole(input, candidate, adapter, { send, quote, onEnd });
      return answer;
    } catch (error) {
      report(error instanceof GatewayError ? error.code : "caller_left", null, null);
      throw error;
    }
  }

  return {
    attempt,
    async complete(input) {
      const { request, caller, trace, connection } = input;
      const candidates = router.plan(request, caller, trace);
      trace.routedAt = performance.now();
      const options = { candidates, trace, connection, deadline: deadlineOf(input) };
      let answering: Candidate | undefined;
      const answer = await attempts.run(options, (candidate) => {
        answering = candidate;
        return attempt(input, candidate);
      });
      if (answering !== undefined) router.remember(request, caller, answering);
      return answer;
    },
  };

  function deadlineOf({ trace }: ChatInput): number {
    return trace.startedAt + clocks.totalTimeoutMs;
  }
}

interface Calling {
  readonly send: () => ProviderCall;
  readonly quote: Quote;
  readonly onEnd: (end: StreamEnd) => void;
}

async function readWhole(
  input: ChatInput,
  { provider }: Candidate,
  adapter: ChatAdapter,
  { send, quote, onEnd }: Calling,
): Promise<ChatAnswer> {
  const { trace, requestId } = input;
  const startedAt = trace.sentAt;
  const ours = (): GatewayMembers => ({
    provider: provider.name,
    quote,
    providerTime: Math.round(performance.now() - startedAt) / 1_000,
    metadata: input.wantsMetadata ? trace.toMetadata(requestId) : null,
  });
  if (adapter.calls > 1) {
    const { connectMs, ...answer } = await callInParallel(adapter, send, ours);
    trace.connectedAt = trace.sentAt + connectMs;
    trace.firstByteAt = performance.now();
    onEnd(toEnd(answer));
    return { kind: "whole", ...answer };
  }
  const call = send();
  try {
    await call.open();
    trace.connectedAt = trace.sentAt + call.connectMs;
    trace.firstByteAt = performance.now();
    const whole = call.readWhole();
    // Not awaited when it is there: a turn of the event loop for nothing.
    const answer = adapter.readWhole(typeof whole === "string" ? whole : await whole, ours());
    call.finish();
    onEnd(toEnd(answer));
    return { kind: "whole", ...answer };
  } catch (error) {
    call.abandon();
    throw error;
  }
}

function toEnd({ value, charge }: WholeAnswer): StreamEnd {
  return { outcome: "completed", usage: value["usage"] ?? null, charge, error: null };
}

async function openStream(
  input: ChatInput,
  adapter: ChatAdapter,
  { send, quote, onEnd }: Calling,
): Promise<ChatAnswer> {
  const { trace, request, requestId } = input;
  const relayOptions = {
    writer: input.createWriter?.() ?? new ChatChunkWriter(request.stream_options?.include_usage === true),
    quote,
    metadata: input.wantsMetadata ? () => trace.toMetadata(requestId) : null,
  };
  if (adapter.calls > 1) {
    const stream = new ParallelStream(adapter, send, relayOptions, onEnd);
    await stream.open();
    trace.connectedAt = trace.sentAt + stream.connectMs;
    trace.firstByteAt = performance.now();
    return { kind: "stream", stream };
  }
  const call = send();
  try {
    await call.open();
    trace.connectedAt = trace.sentAt + call.connectMs;
    const source = adapter.createSource(call.contentType);
    const stream = new RelayStream(call, new ChatRelay({ ...relayOptions, source }), onEnd);
    await stream.open();
    trace.firstByteAt = performance.now();
    return { kind: "stream", stream };
  } catch (error) {
    call.abandon();
    throw error;
  }
}
