// Creates responses at providers without the Responses API: the request becomes a chat completion, and the answer a response again.

import type { ChatChunk, ChatCompletion } from "../../contract/chat-format.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { toChatInput } from "../chat-completions.ts";
import type { ChunkWriter } from "../chat-relay.ts";
import { mustFetchFiles } from "../media.ts";
import { toPlainChatRequest } from "../messages/to-plain-chat-request.ts";
import { type Charge, toCostMembers } from "../pricing.ts";
import type { Candidate } from "../route-planner.ts";
import { deadlineOf } from "../try-candidates.ts";
import { fromResponsesRequest } from "./from-responses-request.ts";
import { toCancelled, toSeconds } from "./native-response.ts";
import { createDraft } from "./response-defaults.ts";
import type { ResponseContext } from "./response-planner.ts";
import { ResponseRecorder } from "./response-recorder.ts";
import {
  type ResponsesAnswer,
  type ResponsesDependencies,
  type ResponsesInput,
  stateless,
  toItems,
} from "./responses-input.ts";
import { ResponsesStreamWriter } from "./responses-stream.ts";
import { nowInSeconds, takenCallIds, toResponse } from "./to-response.ts";
import { toToolNames } from "./tool-names.ts";

const encoder = new TextEncoder();

export function createTranslatedResponses(dependencies: ResponsesDependencies) {
  const { chatCompletions, fetchMedia, conversations, clocks } = dependencies;

  return async function create(
    input: ResponsesInput,
    candidate: Candidate,
    { owner, previous, history: earlier }: ResponseContext,
  ): Promise<ResponsesAnswer> {
    const { request, trace, connection } = input;
    const { provider, deployment, model } = candidate;
    if (request["background"] === true) throw stateless(candidate, "background");
    const history = earlier ?? [];
    const items = [...history, ...toItems(request.input)];
    const isPlain = provider.dialect === null;
    const origin = isPlain ? provider.name : null;
    const own = fromResponsesRequest(request, history, {
      origin,
      searchDomains: provider.dialect?.chat?.searchDomains,
    });
    const translated = isPlain ? toPlainChatRequest(own, findChatRules(provider.row, model)) : own;
    if (request.strict_parameters === true) refuseDropped(translated.dropped);
    const limits = { connection, deadline: deadlineOf(trace, clocks) };
    const chat = isPlain ? await fetchMedia(translated.request, mustFetchFiles, limits) : translated.request;
    const isStored = conversations.storesFor(provider.name) && request.store !== false;
    const id = conversations.issue(owner, isStored);
    const draft = createDraft({ ...request, store: isStored }, { id, createdAt: nowInSeconds(), model });
    const context = { takenCallIds: takenCallIds(items), origin, toolNames: toToolNames(request.tools ?? []) };
    const writer = new ResponsesStreamWriter(draft, context);
    const lastState = () => writer.response as unknown as JsonObject;
    const store = (response: JsonObject) =>
      conversations.store({
        id,
        owner,
        keyId: input.caller.keyId,
        provider: provider.name,
        deployment: deployment.name,
        providerResponseId: null,
        model,
        previousId: request.previous_response_id ?? null,
        depth: (previous?.depth ?? 0) + 1,
        response,
        input: toItems(request.input),
      });
    const recorder = new ResponseRecorder();
    const startedAt = performance.now();
    const createWriter = () =>
      createChunkWriter(writer, { provider: provider.name, startedAt }, (response) => {
        // A stream that ends within its first read is stored with its end, below.
        recorder.complete(response);
        const output = (response["output"] ?? []) as readonly JsonObject[];
        input.local?.remember(id, [...items, ...output]);
      });
    const value = { ...chat, strict_parameters: request.strict_parameters };
    const answer = await chatCompletions.attempt(toChatInput(input, chat, { value, createWriter }), candidate);
    trace.dropped = [...translated.dropped, ...trace.dropped];
    if (answer.kind === "whole") {
      const response = { ...toResponse(draft, answer.value as ChatCompletion, context), ...answer.added };
      if (isStored) await store(response as unknown as JsonObject).stored;
      return { kind: "whole", text: JSON.stringify(response) };
    }
    const fail = (error: { code: string; message: string }) =>
      encoder.encode(writer.fail(error, { provider: provider.name, provider_time: toSeconds(startedAt) }).join(""));
    if (!isStored) return { kind: "stream", stream: answer.stream, fail };
    recorder.begin(store(lastState()));
    const onAbandoned = () => recorder.giveUp({ ...lastState(), ...toCancelled(startedAt) });
    return {
      kind: "stream",
      stream: await recorder.open(answer.stream, onAbandoned),
      fail(error) {
        const frames = fail(error);
        recorder.giveUp(lastState());
        return frames;
      },
    };
  };
}

function createChunkWriter(
  writer: ResponsesStreamWriter,
  { provider, startedAt }: { provider: string; startedAt: number },
  onEnd: (response: JsonObject) => void,
): ChunkWriter {
  let charge: Charge = { cost: null, reason: "usage_unknown", version: null };
  let hasBegun = false;
  const add = (texts: readonly string[], frames: Uint8Array[]) => {
    for (const text of texts) frames.push(encoder.encode(text));
  };
  const begin = (frames: Uint8Array[]) => {
    if (hasBegun) return;
    hasBegun = true;
    add(writer.begin(), frames);
  };
  return {
    chunk(chunk, _frame, _text, frames) {
      begin(frames);
      add(writer.write(chunk as unknown as ChatChunk), frames);
    },
    usage(chunk, known, frames) {
      charge = known;
      begin(frames);
      add(writer.write({ ...chunk, choices: [] } as unknown as ChatChunk), frames);
    },
    end(frames, metadata) {
      begin(frames);
      const added = {
        provider,
        ...toCostMembers(charge),
        provider_time: toSeconds(startedAt),
        ...(metadata === null ? {} : { switchyard: metadata }),
      };
      add(writer.end(added), frames);
      onEnd(writer.response as unknown as JsonObject);
      frames.push(encoder.encode("data: [DONE]\n\n"));
    },
  };
}
