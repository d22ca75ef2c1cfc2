// One request in the Messages format from start to finish. A provider of that format receives the caller's bytes; for any other
// provider the request is translated into a chat completion, and the answer back into a message.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import type { ChatCompletion, ChatRequest } from "../../contract/chat-format.ts";
import { areVendorFallbacks, type CountTokensRequest, type MessagesRequest } from "../../contract/messages.ts";
import { editMembers } from "../../lib/json-scan.ts";
import { isObject } from "../../lib/lenient-json.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { MessagesPassthrough } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import type { ChatRules } from "../../providers/provider.ts";
import { attempt, type ProviderRequest } from "../attempt.ts";
import { locateProblems, toCallerName } from "../caller-names.ts";
import { type ChatCompletions, type ChatDependencies, toChatInput } from "../chat-completions.ts";
import { encodeEvents } from "../chat-relay.ts";
import { countAtProvider } from "../count-at-provider.ts";
import { mustFetchFiles } from "../media.ts";
import { appendMembers, badAnswer, readAnswer } from "../provider-answer.ts";
import type { FrameStream } from "../relay-stream.ts";
import { type JsonRequest, toMetadataReader } from "../request-context.ts";
import type { Candidate } from "../route-planner.ts";
import { toTranslationOptions } from "../translated-request.ts";
import { limitsOf, planAndTry } from "../try-candidates.ts";
import { countTokens } from "./count-tokens.ts";
import { fromMessagesRequest } from "./from-messages-request.ts";
import { MessagesRelay } from "./messages-relay.ts";
import { MessagesStreamWriter } from "./messages-stream.ts";
import { toProviderTurns } from "./provider-turns.ts";
import { toMessagesAnswer } from "./to-messages-answer.ts";
import { toPlainChatRequest } from "./to-plain-chat-request.ts";

export interface MessagesInput<Request = MessagesRequest> extends JsonRequest<Request> {
  /** The caller's `anthropic-beta` header: features that a provider of the format may support. */
  readonly beta: string | null;
}

export type MessagesAnswer =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "stream"; readonly stream: FrameStream };

export type Messages = ReturnType<typeof createMessages>;

interface MessagesDependencies extends ChatDependencies {
  readonly chatCompletions: ChatCompletions;
}

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
const besideFallbacks: ReadonlySet<string> = new Set(gatewayMemberNames.filter((name) => name !== "fallbacks"));

export function createMessages(dependencies: MessagesDependencies) {
  const { chatCompletions, fetchMedia, clocks } = dependencies;

  /** Through the chat format. */
  async function translate(input: MessagesInput, candidate: Candidate): Promise<MessagesAnswer> {
    const { request, trace } = input;
    const { provider, model } = candidate;
    const isPlain = provider.dialect === null;
    const options = toTranslationOptions(provider);
    const { origin = null } = options;
    const own = fromMessagesRequest(request, options);
    const rules = findChatRules(provider.row, model);
    const throughResponses = isPlain && needsResponses(rules, own.request);
    const { request: translated, dropped } = isPlain
      ? toPlainChatRequest(own, throughResponses ? { ...rules, reasoningReturn: "reasoning_details" } : rules)
      : own;
    // The Messages format names documents by their address; the chat format does not.
    const chat = isPlain ? await fetchMedia(translated, mustFetchFiles, limitsOf(input, clocks)) : translated;
    if (request.strict_parameters === true) refuseDropped(dropped);
    const value = {
      ...chat,
      ...(throughResponses && { thinking: own.request["thinking"] }),
      strict_parameters: request.strict_parameters,
    };
    const { model: name, stop_sequences: stopSequences = null } = request;
    const createWriter = () => encodeEvents(new MessagesStreamWriter({ model: name, stopSequences, origin }));
    const toOwnAnswer = (completion: ChatCompletion) => toMessagesAnswer(completion, { stopSequences, origin });
    const chatInput = toChatInput(input, chat, { value, throughResponses, createWriter, toOwnAnswer });
    const answer = await locateProblems(own.names, chatCompletions.attempt(chatInput, candidate));
    trace.dropped = [...new Set([...dropped, ...trace.dropped.map((name) => toCallerName(name, own.names))])];
    return answer;
  }

  /** To a provider of the same format. */
  async function passThrough(
    input: MessagesInput,
    candidate: Candidate,
    passthrough: MessagesPassthrough,
  ): Promise<MessagesAnswer> {
    const isStream = input.request.stream === true;
    const request = toProviderRequest(input, candidate, passthrough.path);
    const shape = () => ({ body: input.text, maxOutputTokens: input.request.max_tokens });
    return attempt(dependencies, { context: input, candidate, isStream, shape }, async (running) => {
      const { quote } = running;
      const { provider } = candidate;
      if (isStream) {
        const metadata = toMetadataReader(input);
        const relay = new MessagesRelay({ provider, passthrough, quote, metadata });
        const stream = await running.stream(request, () => relay);
        return { kind: "stream", stream };
      }
      const text = await running.read(request);
      const answer = readAnswer(text, provider);
      const { content } = answer;
      if (!Array.isArray(content)) throw badAnswer(provider, "did not answer with a message");
      const isEmptyRefusal = answer["stop_reason"] === "refusal" && content.length === 0;
      const blocks = content.filter(isObject);
      const usage = isObject(answer["usage"]) ? passthrough.readUsage(answer["usage"], blocks, isEmptyRefusal) : null;
      const charge = quote.chargeFor(usage, { model: answer["model"] });
      running.complete(usage, charge, answer);
      return { kind: "whole", text: appendMembers(text, answer, running.toMembers(charge)) };
    });
  }

  /** The caller's bytes with the provider's model name, and without the gateway's members. */
  function toProviderRequest(
    { request, text, scan, trace, beta }: MessagesInput<MessagesRequest | CountTokensRequest>,
    { model }: Candidate,
    path: string,
  ): ProviderRequest {
    const own = toProviderTurns(request);
    if (request["strict_parameters"] === true) refuseDropped(own.dropped);
    trace.dropped = own.dropped;
    const body = editMembers(text, scan, {
      replace: new Map([["model", JSON.stringify(model)], ...own.replaced]),
      remove: areVendorFallbacks(request.fallbacks) ? besideFallbacks : ourMembers,
      append: [],
    });
    return { path, body, headerLines: beta === null ? "" : `anthropic-beta: ${beta}\r\n` };
  }

  async function countAt(input: MessagesInput<CountTokensRequest>, candidate: Candidate): Promise<string> {
    const { provider } = candidate;
    const { dialect } = provider;
    if (dialect?.messages !== undefined) {
      const request = toProviderRequest(input, candidate, dialect.messages.countPath);
      const options = { context: input, candidate, isStream: false, isFree: true };
      const text = await attempt(dependencies, options, (running) => running.read(request));
      const count = readAnswer(text, provider)["input_tokens"];
      if (typeof count !== "number") throw badAnswer(provider, "did not answer with a count");
      return text;
    }
    const chat = dialect?.chat;
    if (chat?.counting === undefined) return JSON.stringify(countTokens(input.request));
    // A request to count lacks the members that only an answer needs; the translation does not read them.
    const { request } = fromMessagesRequest(input.request as MessagesRequest, toTranslationOptions(provider));
    const count = await countAtProvider(dependencies, input, candidate, { ...chat, counting: chat.counting, request });
    return JSON.stringify({ input_tokens: count });
  }

  return {
    create: (input: MessagesInput): Promise<MessagesAnswer> =>
      planAndTry(dependencies, toPlanned(input), (candidate) => {
        const passthrough = candidate.provider.dialect?.messages;
        return passthrough === undefined ? translate(input, candidate) : passThrough(input, candidate, passthrough);
      }),
    /** The JSON of the count. */
    count: (input: MessagesInput<CountTokensRequest>): Promise<string> =>
      planAndTry(dependencies, toPlanned(input), (candidate) => countAt(input, candidate)),
  };
}

/** The gateway's own fallbacks decide which candidates there are; those of the provider do not. */
function toPlanned(input: MessagesInput<MessagesRequest | CountTokensRequest>) {
  const { model, routing, session_id, fallbacks } = input.request;
  return {
    ...input,
    request: { model, routing, session_id, fallbacks: areVendorFallbacks(fallbacks) ? null : fallbacks },
  };
}

/** Whether the provider accepts this request only at its Responses API. */
function needsResponses({ responsesOnly = [], efforts = [] }: ChatRules, request: ChatRequest): boolean {
  if (responsesOnly.includes("everything")) return true;
  if (responsesOnly.includes("search") && request["web_search_options"] !== undefined) return true;
  const isOff = request.reasoning_effort === "none" && efforts.includes("none");
  return responsesOnly.includes("tools") && (request.tools?.length ?? 0) > 0 && !isOff;
}
