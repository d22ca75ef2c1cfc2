// Creates responses at providers without the Responses API: the request becomes a chat completion, and the answer a response again.

import { findChatRules } from "../../providers/chat-rules.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { locateProblems, toCallerName } from "../caller-names.ts";
import { toChatInput } from "../chat-completions.ts";
import { type EventWriter, encodeEvents } from "../chat-relay.ts";
import { mustFetchFiles } from "../media.ts";
import { toPlainChatRequest } from "../messages/to-plain-chat-request.ts";
import { toCostMembers } from "../pricing.ts";
import type { Candidate } from "../route-planner.ts";
import { toTranslationOptions } from "../translated-request.ts";
import { limitsOf } from "../try-candidates.ts";
import { fromResponsesRequest } from "./from-responses-request.ts";
import { toCancelled, toSeconds } from "./native-response.ts";
import { createDraft } from "./response-defaults.ts";
import type { StreamFailure } from "./response-events.ts";
import { type ResponseContext, toRecordMembers } from "./response-planner.ts";
import { ResponseRecorder } from "./response-recorder.ts";
import type { ResponsesAnswer, ResponsesDependencies, ResponsesInput } from "./responses-input.ts";
import { refuseBackground, toItems } from "./responses-input.ts";
import { ResponsesStreamWriter } from "./responses-stream.ts";
import { nowInSeconds, takenCallIds, toResponse } from "./to-response.ts";
import { toToolNames } from "./tool-names.ts";

const encoder = new TextEncoder();

export function createTranslatedResponses(dependencies: ResponsesDependencies) {
  const { chatCompletions, conversations, fetchMedia, clocks } = dependencies;

  return async function create(
    input: ResponsesInput,
    candidate: Candidate,
    context: ResponseContext,
  ): Promise<ResponsesAnswer> {
    const { request, trace } = input;
    const { provider, model } = candidate;
    refuseBackground(request, candidate);
    const { chat, dropped, names, origin } = await translate(input, candidate, context.history ?? []);
    const isStored = conversations.storesFor(provider.name) && request.store !== false;
    const id = conversations.issue(context.owner, isStored);
    const draft = createDraft(
      { ...request, store: isStored },
      { id, createdAt: nowInSeconds(), model, provider: provider.name },
    );
    const items = [...(context.history ?? []), ...toItems(request.input)];
    const output = { takenCallIds: takenCallIds(items), origin, toolNames: toToolNames(request.tools ?? []) };
    const writer = new ResponsesStreamWriter(draft, output);
    const recorder = new ResponseRecorder();
    const startedAt = performance.now();
    const store = (response: JsonObject) =>
      conversations.store({
        ...toRecordMembers(input, candidate, context, true),
        id,
        providerResponseId: null,
        response,
      });
    const events: EventWriter = {
      write: (chunk) => writer.write(chunk),
      end(charge, metadata) {
        const members = { provider: provider.name, ...toCostMembers(charge), provider_time: toSeconds(startedAt) };
        const texts = writer.end(metadata === null ? members : { ...members, switchyard: metadata });
        // A stream that ends within its first read is stored with its end, below.
        recorder.complete(writer.response);
        input.local?.remember(id, isStored ? null : [...items, ...writer.response.output]);
        return [...texts, "data: [DONE]\n\n"];
      },
    };
    const value = { ...chat, strict_parameters: request.strict_parameters };
    const chatInput = toChatInput(input, chat, {
      value,
      createWriter: () => encodeEvents(events),
      toOwnAnswer: (completion) => toResponse(draft, completion, output),
    });
    const answer = await locateProblems(names, chatCompletions.attempt(chatInput, candidate));
    trace.dropped = [...new Set([...dropped, ...trace.dropped.map((name) => toCallerName(name, names))])];
    if (answer.kind === "whole") {
      if (isStored) await store(answer.value).stored;
      return { kind: "whole", text: answer.text };
    }
    const fail = (error: StreamFailure) =>
      encoder.encode(writer.fail(error, { provider: provider.name, provider_time: toSeconds(startedAt) }).join(""));
    if (!isStored) return { kind: "stream", stream: answer.stream, fail };
    recorder.begin(store(writer.response));
    const onAbandoned = () => recorder.giveUp({ ...writer.response, ...toCancelled(startedAt) });
    return {
      kind: "stream",
      stream: await recorder.open(answer.stream, onAbandoned),
      fail(error) {
        const frames = fail(error);
        recorder.giveUp(writer.response);
        return frames;
      },
    };
  };

  async function translate(input: ResponsesInput, { provider, model }: Candidate, history: readonly JsonObject[]) {
    const { request } = input;
    const isPlain = provider.dialect === null;
    const options = toTranslationOptions(provider);
    const own = fromResponsesRequest(request, history, options);
    const {
      request: chat,
      dropped,
      names,
    } = isPlain ? toPlainChatRequest(own, findChatRules(provider.row, model)) : own;
    if (request.strict_parameters === true) refuseDropped(dropped);
    const limits = limitsOf(input, clocks);
    return {
      chat: isPlain ? await fetchMedia(chat, mustFetchFiles, limits) : chat,
      dropped,
      names,
      origin: options.origin ?? null,
    };
  }
}
