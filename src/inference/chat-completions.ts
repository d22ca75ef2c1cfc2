// One chat completion from start to finish: plans the candidates, adapts the request to each, and reads or relays the answer.

import type { ChatCompletionRequest } from "../contract/chat-completions.ts";
import type { ChatCompletion, ChatRequest } from "../contract/chat-format.ts";
import { scanJson } from "../lib/json-scan.ts";
import { type Attempt, attempt } from "./attempt.ts";
import type { ChatAdapter, WholeAnswer } from "./chat-adapter.ts";
import { ChatChunkWriter, ChatRelay, type ChunkWriter } from "./chat-relay.ts";
import type { RequestShape } from "./estimate.ts";
import { type FetchMedia, toMustFetch } from "./media.ts";
import { joinAnswers, ParallelSource } from "./parallel-choices.ts";
import { passThroughChat } from "./passthrough-chat.ts";
import type { FrameStream } from "./relay-stream.ts";
import { type JsonRequest, type RequestContext, toMetadataReader } from "./request-context.ts";
import type { Candidate } from "./route-planner.ts";
import { translateChat, translateToResponses } from "./translated-chat.ts";
import { limitsOf, type PlanDependencies, planAndTry } from "./try-candidates.ts";

export interface ChatInput extends JsonRequest<ChatCompletionRequest> {
  /** The parsed body with members that the schema does not know, for translations. */
  readonly value: ChatRequest;
  /** False: the code that sends this request checks a structured answer itself. */
  readonly checksStructure?: boolean;
  /** The provider's chat endpoint rejects this request; its Responses API accepts it. */
  readonly throughResponses?: boolean;
  /** For callers whose format is not the chat format: how streams and whole answers are written in theirs. */
  readonly createWriter?: () => ChunkWriter;
  readonly toOwnAnswer?: (completion: ChatCompletion) => Readonly<Record<string, unknown>>;
}

export type ChatAnswer =
  | ({ readonly kind: "whole" } & WholeAnswer)
  | { readonly kind: "stream"; readonly stream: FrameStream };

export type ChatCompletions = ReturnType<typeof createChatCompletions>;

export interface ChatDependencies extends PlanDependencies {
  /** Replaces the addresses of media by their content, for providers that need bytes. */
  readonly fetchMedia: FetchMedia;
}

/** A chat request that a translation created, in place of one that a caller sent. */
export function toChatInput(
  context: RequestContext,
  chat: ChatRequest,
  options: Partial<Omit<ChatInput, keyof JsonRequest<unknown>>> = {},
): ChatInput {
  const text = JSON.stringify(chat);
  return {
    caller: context.caller,
    connection: context.connection,
    requestId: context.requestId,
    trace: context.trace,
    wantsMetadata: context.wantsMetadata,
    ...(context.work && { work: context.work }),
    // The translation only produces members that the schema of a chat request allows.
    request: chat as unknown as ChatCompletionRequest,
    value: chat,
    text,
    scan: scanJson(text),
    ...options,
  };
}

export function createChatCompletions(dependencies: ChatDependencies) {
  const { fetchMedia, clocks } = dependencies;

  async function attemptChat(input: ChatInput, candidate: Candidate): Promise<ChatAnswer> {
    const adapting = adapt(input, candidate);
    // Skip the await when the value is ready: it would cost an event-loop turn.
    const adapter = adapting instanceof Promise ? await adapting : adapting;
    input.trace.dropped = adapter.dropped;
    const isStream = input.request.stream === true;
    const shape = () => toShape(input, adapter.calls);
    return attempt(dependencies, { context: input, candidate, isStream, shape }, (running) =>
      isStream ? openStream(input, adapter, running) : readWhole(input, adapter, running),
    );
  }

  function adapt(input: ChatInput, candidate: Candidate): ChatAdapter | Promise<ChatAdapter> {
    const dialect = candidate.provider.dialect?.chat;
    if (input.throughResponses === true) return translateToResponses(input.value, candidate);
    if (dialect === undefined) return passThroughChat(input, candidate);
    return fetchMedia(input.value, toMustFetch(dialect.fetchesMedia), limitsOf(input, clocks)).then((value) =>
      translateChat(value, candidate, dialect, input.checksStructure !== false),
    );
  }

  return {
    /** One attempt at one candidate, for requests of other formats that are translated into a chat completion. */
    attempt: attemptChat,
    complete: (input: ChatInput) => planAndTry(dependencies, input, (candidate) => attemptChat(input, candidate)),
  };
}

function toShape({ text, request, value }: ChatInput, calls: number): RequestShape {
  const maxOutputTokens = request.max_completion_tokens ?? request.max_tokens;
  return { body: text, maxOutputTokens, choices: request.n, calls, serviceTier: value["service_tier"] };
}

async function readWhole({ toOwnAnswer }: ChatInput, adapter: ChatAdapter, running: Attempt): Promise<ChatAnswer> {
  const answer =
    adapter.calls === 1
      ? adapter.readWhole(await running.read(adapter), running)
      : joinAnswers(await Promise.all(Array.from({ length: adapter.calls }, () => readOne(adapter, running))), running);
  const own = toOwnAnswer === undefined ? answer : convert(answer, toOwnAnswer, running);
  running.complete(answer.value["usage"] ?? null, answer.charge, answer.value);
  return { kind: "whole", ...own };
}

/** Within the attempt, because an answer that cannot be converted leads to the next candidate. It is billed all the same. */
function convert(
  answer: WholeAnswer,
  toOwnAnswer: NonNullable<ChatInput["toOwnAnswer"]>,
  running: Attempt,
): WholeAnswer {
  const { value: completion, charge, added } = answer;
  running.spend(completion["usage"] ?? null, charge);
  const value = { ...toOwnAnswer(completion as ChatCompletion), ...added };
  return { value, text: JSON.stringify(value), charge, added };
}

/** One of several calls, which is billed even if another one fails. */
async function readOne(adapter: ChatAdapter, running: Attempt): Promise<WholeAnswer> {
  const answer = adapter.readWhole(await running.read(adapter), running);
  running.spend(answer.value["usage"] ?? null, answer.charge);
  return answer;
}

async function openStream(input: ChatInput, adapter: ChatAdapter, running: Attempt): Promise<ChatAnswer> {
  const { request } = input;
  const writer = input.createWriter?.() ?? new ChatChunkWriter(request.stream_options?.include_usage === true);
  const metadata = toMetadataReader(input);
  const stream = await running.stream(
    adapter,
    (contentTypes) => {
      const sources = contentTypes.map((contentType) => adapter.createSource(contentType));
      const [only] = sources;
      if (only !== undefined && sources.length === 1)
        return new ChatRelay({ source: only, writer, quote: running.quote, metadata });
      const source = new ParallelSource(sources, running.quote);
      return new ChatRelay({ source, writer, quote: source, metadata });
    },
    adapter.calls,
  );
  return { kind: "stream", stream };
}
