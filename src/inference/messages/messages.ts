// One request in the Messages format, start to finish. A provider that speaks the format gets the caller's bytes; for every
// other one the request becomes a chat completion, and the answer a message again.

import type { Caller } from "../../access/caller.ts";
import { type ChatCompletionRequest, gatewayMemberNames } from "../../contract/chat-completions.ts";
import type { ChatChunk, ChatCompletion, ChatRequest } from "../../contract/chat-format.ts";
import type { CountTokensRequest, MessagesRequest } from "../../contract/messages.ts";
import { GatewayError } from "../../errors.ts";
import { editMembers, type JsonScan, scanJson } from "../../lib/json-scan.ts";
import { type Connection, ProviderCall, toErrorInAnswer } from "../../providers/call.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject, MessagesPassing } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { type ChatRules, findModelFacts } from "../../providers/provider.ts";
import type { Attempts } from "../attempts.ts";
import { authorize } from "../authorize.ts";
import type { CallDependencies } from "../call-dependencies.ts";
import type { ChatCompletions, FrameStream } from "../chat-completions.ts";
import type { ChunkWriter } from "../chat-relay.ts";
import { type FetchMedia, mustFetchFiles, toMustFetch } from "../media.ts";
import { badAnswer, readObject } from "../passthrough-chat.ts";
import { type Charge, type Pricing, toCostMembers } from "../pricing.ts";
import { RelayStream } from "../relay.ts";
import { type AttemptReport, readUsage } from "../report.ts";
import type { Candidate, RoutePlanner } from "../route-planner.ts";
import type { Trace } from "../trace.ts";
import { appendMembers } from "./append-members.ts";
import { countTokens } from "./count-tokens.ts";
import { fromMessagesRequest } from "./from-messages-request.ts";
import { MessagesStreamWriter } from "./messages-stream.ts";
import { toOwnTurns } from "./own-turns.ts";
import { PassRelay } from "./pass-relay.ts";
import { toMessagesAnswer } from "./to-messages-answer.ts";
import { toPlainChatRequest } from "./to-plain-chat-request.ts";

export interface MessagesInput<Request = MessagesRequest> {
  readonly request: Request;
  readonly text: string;
  readonly scan: JsonScan;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
  readonly trace: Trace;
  readonly wantsMetadata: boolean;
  /** The caller's `anthropic-beta` header: features that a provider of the format may know. */
  readonly beta: string | null;
}

export type MessagesAnswer =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "stream"; readonly stream: FrameStream };

export interface Messages {
  create(input: MessagesInput): Promise<MessagesAnswer>;
  /** The JSON of the count. */
  count(input: MessagesInput<CountTokensRequest>): Promise<string>;
}

export interface MessagesDependencies extends CallDependencies {
  readonly router: RoutePlanner;
  readonly attempts: Attempts;
  readonly pricing: Pricing;
  readonly chatCompletions: ChatCompletions;
  readonly fetchMedia: FetchMedia;
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
const scanLimits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };
const encoder = new TextEncoder();

export function createMessages(dependencies: MessagesDependencies): Messages {
  const { router, attempts, pricing, chatCompletions, fetchMedia, clocks, ticker, http, shutdownSignal } = dependencies;

  /** Through the chat format. */
  async function translate(input: MessagesInput, candidate: Candidate): Promise<MessagesAnswer> {
    const { request, trace } = input;
    const { provider, model } = candidate;
    const isPlain = provider.dialect === null;
    const origin = isPlain ? provider.name : null;
    const own = fromMessagesRequest(request, { origin, searchDomains: provider.dialect?.chat?.searchDomains });
    const rules = findChatRules(provider.row, model);
    const throughResponses = isPlain && needsResponses(rules, own.request);
    const { request: translated, dropped } = isPlain
      ? toPlainChatRequest(own, throughResponses ? { ...rules, reasoningReturn: "reasoning_details" } : rules)
      : own;
    // A document may be named by its address, which the chat format does not know.
    const limits = { connection: input.connection, deadline: trace.startedAt + clocks.totalTimeoutMs };
    const chat = isPlain ? await fetchMedia(translated, mustFetchFiles, limits) : translated;
    if (request.strict_parameters === true) refuseDropped(dropped);
    const text = JSON.stringify(chat);
    const answer = await chatCompletions.attempt(
      {
        ...input,
        // What a chat request's schema asks for, the translation has made.
        request: chat as unknown as ChatCompletionRequest,
        value: {
          ...chat,
          ...(throughResponses && { thinking: own.request["thinking"] }),
          strict_parameters: request.strict_parameters,
        },
        text,
        scan: scanJson(text, scanLimits),
        throughResponses,
        createWriter: () => createWriter(request, origin),
      },
      candidate,
    );
    trace.dropped = [...dropped, ...trace.dropped];
    if (answer.kind === "stream") return answer;
    const message = toMessagesAnswer(answer.value as ChatCompletion, {
      stopSequences: request.stop_sequences ?? null,
      origin,
    });
    return { kind: "whole", text: JSON.stringify({ ...message, ...answer.added }) };
  }

  /** As it is. */
  async function pass(input: MessagesInput, candidate: Candidate, passing: MessagesPassing): Promise<MessagesAnswer> {
    const { provider, model } = candidate;
    const { trace } = input;
    const isStream = input.request.stream === true;
    const quote = pricing.quote(provider, model);
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
        isStream,
        durationMs: performance.now() - startedAt,
        usage: readUsage(usage),
        cost: charge?.cost ?? null,
        outcome,
      });
    let call: ProviderCall | null = null;
    try {
      call = await send(input, candidate, passing.path, isStream);
      await call.open();
      trace.connectedAt = startedAt + call.connectMs;
      if (isStream) {
        const relay = new PassRelay({ provider, passing, quote });
        const stream = new RelayStream(call, relay, ({ outcome, usage, charge, error }) => {
          if (error !== null) candidate.health.broke(error);
          report(outcome, usage, charge ?? (usage === null ? null : quote.chargeFor(usage)));
        });
        await stream.open();
        trace.firstByteAt = performance.now();
        return { kind: "stream", stream };
      }
      trace.firstByteAt = performance.now();
      const text = await call.readWhole();
      const answer = readObject(text, provider);
      if (answer["type"] === "error") throw toErrorInAnswer(provider, answer["error"]);
      if (!Array.isArray(answer["content"])) throw badAnswer(provider, "did not answer with a message");
      call.finish();
      const usage = answer["usage"] ? passing.readUsage(answer["usage"] as JsonObject) : null;
      const charge = quote.chargeFor(usage, { model: answer["model"] });
      report("completed", usage, charge);
      const seconds = Math.round(performance.now() - startedAt) / 1_000;
      const added = {
        provider: provider.name,
        ...toCostMembers(charge),
        provider_time: seconds,
        ...(input.wantsMetadata ? { switchyard: trace.toMetadata(input.requestId) } : {}),
      };
      return { kind: "whole", text: appendMembers(text, answer, added) };
    } catch (error) {
      call?.abandon();
      report(error instanceof GatewayError ? error.code : "caller_left", null, null);
      throw error;
    }
  }

  async function send(
    input: MessagesInput<MessagesRequest | CountTokensRequest>,
    candidate: Candidate,
    path: string,
    wantsStream: boolean,
  ): Promise<ProviderCall> {
    const { model } = candidate;
    const own = toOwnTurns(input.request);
    if (input.request["strict_parameters"] === true) refuseDropped(own.dropped);
    input.trace.dropped = own.dropped;
    const body = editMembers(input.text, input.scan, {
      replace: new Map([["model", JSON.stringify(model)], ...own.replaced]),
      remove: ourMembers,
      append: [],
    });
    const beta = input.beta === null ? "" : `anthropic-beta: ${input.beta}\r\n`;
    return sendBody(input, candidate, { path, body, headerLines: beta, wantsStream });
  }

  async function sendBody(
    input: MessagesInput<unknown>,
    { provider, deployment }: Candidate,
    { wantsStream, ...sent }: { path: string; body: string; headerLines: string; wantsStream: boolean },
  ): Promise<ProviderCall> {
    const { path, body } = sent;
    const headerLines = await authorize(deployment, sent);
    return new ProviderCall({
      provider,
      deployment,
      path,
      body,
      headerLines,
      wantsStream,
      connection: input.connection,
      shutdownSignal,
      clocks,
      deadline: input.trace.startedAt + clocks.totalTimeoutMs,
      ticker,
      http,
    });
  }

  async function countAt(input: MessagesInput<CountTokensRequest>, candidate: Candidate): Promise<string> {
    const { dialect } = candidate.provider;
    input.trace.sentAt = performance.now();
    if (dialect?.messages !== undefined)
      return readCount(
        await send(input, candidate, dialect.messages.countPath, false),
        input,
        candidate,
        (answer, text) => {
          if (typeof answer["input_tokens"] !== "number") throw new TypeError("the answer holds no input_tokens");
          return text;
        },
      );
    const chat = dialect?.chat;
    if (chat?.counting === undefined) return JSON.stringify(countTokens(input.request));
    const { counting } = chat;
    // What only an answer needs is not asked for, and not missed.
    const { request } = fromMessagesRequest(input.request as MessagesRequest);
    const limits = { connection: input.connection, deadline: input.trace.startedAt + clocks.totalTimeoutMs };
    const whole = await fetchMedia(request, toMustFetch(chat.fetchesMedia), limits);
    const { model, provider } = candidate;
    const facts = findModelFacts(provider.row, model);
    const { path, body } = counting.toRequest(whole, { model, facts, isStream: false });
    const call = await sendBody(input, candidate, { path, body, headerLines: "", wantsStream: false });
    return readCount(call, input, candidate, (answer) => JSON.stringify({ input_tokens: counting.fromAnswer(answer) }));
  }

  /** `read` throws a TypeError when it is no count. */
  async function readCount(
    call: ProviderCall,
    { trace }: MessagesInput<unknown>,
    { provider }: Candidate,
    read: (answer: JsonObject, text: string) => string,
  ): Promise<string> {
    try {
      await call.open();
      trace.connectedAt = trace.sentAt + call.connectMs;
      trace.firstByteAt = performance.now();
      const text = await call.readWhole();
      const answer = readObject(text, provider);
      call.finish();
      return toCount(() => read(answer, text), provider);
    } catch (error) {
      call.abandon();
      throw error;
    }
  }

  function toCount(read: () => string, provider: Provider): string {
    try {
      return read();
    } catch (error) {
      throw error instanceof TypeError ? badAnswer(provider, "did not answer with a count", error) : error;
    }
  }

  async function run<Request extends MessagesRequest | CountTokensRequest, Result>(
    input: MessagesInput<Request>,
    attempt: (candidate: Candidate) => Promise<Result>,
  ): Promise<Result> {
    const { request, caller, trace, connection } = input;
    const candidates = router.plan(request, caller, trace);
    trace.routedAt = performance.now();
    const deadline = trace.startedAt + clocks.totalTimeoutMs;
    let answering: Candidate | undefined;
    const result = await attempts.run({ candidates, trace, connection, deadline }, (candidate) => {
      answering = candidate;
      return attempt(candidate);
    });
    if (answering !== undefined) router.remember(request, caller, answering);
    return result;
  }

  return {
    create: (input) =>
      run(input, (candidate) => {
        const passing = candidate.provider.dialect?.messages;
        return passing === undefined ? translate(input, candidate) : pass(input, candidate, passing);
      }),
    count: (input) => run(input, (candidate) => countAt(input, candidate)),
  };
}

/** Whether the provider answers this request through its Responses API alone. */
function needsResponses({ responsesOnly = [], efforts = [] }: ChatRules, request: ChatRequest): boolean {
  if (responsesOnly.includes("everything")) return true;
  if (responsesOnly.includes("search") && request["web_search_options"] !== undefined) return true;
  const isOff = request.reasoning_effort === "none" && efforts.includes("none");
  return responsesOnly.includes("tools") && (request.tools?.length ?? 0) > 0 && !isOff;
}

function createWriter(request: MessagesRequest, origin: string | null): ChunkWriter {
  const { model, stop_sequences: stopSequences = null } = request;
  const writer = new MessagesStreamWriter({ model, stopSequences, origin });
  let cost: number | null = null;
  const add = (texts: readonly string[], frames: Uint8Array[]) => {
    for (const text of texts) frames.push(encoder.encode(text));
  };
  return {
    chunk: (chunk, _frame, _text, frames) => add(writer.write(chunk as unknown as ChatChunk), frames),
    usage(chunk, charge, frames) {
      cost = charge.cost;
      add(writer.write({ ...chunk, choices: [] } as unknown as ChatChunk), frames);
    },
    end: (frames) => add(writer.end({ cost }), frames),
  };
}
