// Responses from start to finish: created by a provider with the Responses API or through the chat format; stored by the provider, by the
// gateway, or not at all; and found again only by their owner.

import { ownerOf } from "../../access/caller.ts";
import { GatewayError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { countAtProvider } from "../count-at-provider.ts";
import { estimateChatTokens } from "../messages/count-tokens.ts";
import type { FrameStream } from "../relay-stream.ts";
import type { Candidate } from "../route-planner.ts";
import { toTranslationOptions } from "../translated-request.ts";
import { tryCandidates } from "../try-candidates.ts";
import type { ResponseRecord } from "./conversation-store.ts";
import { fromResponsesRequest } from "./from-responses-request.ts";
import { createNativeResponses } from "./native-responses.ts";
import { createProviderStoredResponses } from "./provider-stored-responses.ts";
import { createDraft } from "./response-defaults.ts";
import { createResponsePlanner, type ResponseContext, type ResponsePlan } from "./response-planner.ts";
import type { ResponseLookup, ResponsesAnswer, ResponsesDependencies, ResponsesInput } from "./responses-input.ts";
import { invalidQuery, notFound, toItems } from "./responses-input.ts";
import { ResponsesStreamWriter } from "./responses-stream.ts";
import { nowInSeconds } from "./to-response.ts";
import { createTranslatedResponses } from "./translated-responses.ts";

export type Responses = ReturnType<typeof createResponses>;

const encoder = new TextEncoder();

export function createResponses(dependencies: ResponsesDependencies) {
  const { conversations, clocks } = dependencies;
  const plan = createResponsePlanner(dependencies);
  const native = createNativeResponses(dependencies);
  const createTranslated = createTranslatedResponses(dependencies);
  const atProvider = createProviderStoredResponses(dependencies);

  async function create(received: ResponsesInput): Promise<ResponsesAnswer> {
    const planned = await plan(received);
    const { input, candidates, context } = planned;
    if (input.generates === false) return rememberInput(planned);
    return tryCandidates(dependencies, input, candidates, (candidate) =>
      candidate.provider.row.responses === undefined
        ? createTranslated(input, candidate, context)
        : native.create({ input, candidate, context }),
    );
  }

  /** The JSON of the count, which the provider returns, or the gateway estimates where the provider cannot count. */
  async function countInput(received: ResponsesInput): Promise<string> {
    const { input, candidates, context } = await plan(received);
    return tryCandidates(dependencies, input, candidates, async (candidate) => {
      const counted = await countAt(input, candidate, context);
      return JSON.stringify({ object: "response.input_tokens", ...counted, provider: candidate.provider.name });
    });
  }

  async function countAt(
    input: ResponsesInput,
    candidate: Candidate,
    context: ResponseContext,
  ): Promise<{ input_tokens: number; estimated?: true }> {
    const { provider } = candidate;
    if (provider.row.responses?.paths?.includes("input_tokens"))
      return { input_tokens: await native.countInput({ input, candidate, context }) };
    // Only the provider has the earlier turns, so the gateway does not know the whole input.
    if (context.previous !== null && context.history === null)
      throw new GatewayError(
        "stateful_not_supported",
        `The provider '${provider.name}' does not count tokens, and the gateway does not have the earlier conversation.`,
        { param: "previous_response_id" },
      );
    const { request } = fromResponsesRequest(input.request, context.history ?? [], toTranslationOptions(provider));
    const chat = provider.dialect?.chat;
    if (chat?.counting === undefined) return { input_tokens: estimateChatTokens(request), estimated: true };
    const options = { ...chat, counting: chat.counting, request };
    return { input_tokens: await countAtProvider(dependencies, input, candidate, options) };
  }

  /** The JSON of a shorter conversation, at providers that support it. */
  async function compact(received: ResponsesInput): Promise<string> {
    const { input, candidates, context } = await plan(received);
    const able = candidates.filter(({ provider }) => provider.row.responses?.paths?.includes("compact"));
    if (able.length === 0)
      throw new GatewayError(
        "compaction_not_supported",
        `The provider '${candidates[0]?.provider.name}' has no compaction: send a summary of the conversation instead.`,
        { param: "model" },
      );
    return tryCandidates(dependencies, input, able, (candidate) => native.compact({ input, candidate, context }));
  }

  /** Generates nothing: the next response continues this input. */
  function rememberInput({ input, planned: [candidate], context }: ResponsePlan): ResponsesAnswer {
    const { request, local } = input;
    const id = conversations.issue(context.owner, false);
    const options = { id, createdAt: nowInSeconds(), model: candidate?.model ?? "" };
    const draft = createDraft({ ...request, store: false }, { ...options, provider: candidate?.provider.name ?? "" });
    const writer = new ResponsesStreamWriter(draft);
    const end = writer.end({ cost: 0, provider_time: 0 });
    local?.remember(id, [...(context.history ?? []), ...toItems(request.input)]);
    return {
      kind: "stream",
      stream: toStream(end.map((text) => encoder.encode(text))),
      fail: (error) => encoder.encode(writer.fail(error, { provider_time: 0 }).join("")),
    };
  }

  async function find({ id, caller }: ResponseLookup): Promise<ResponseRecord> {
    const owner = ownerOf(caller);
    const found = await conversations.find(id, owner);
    if (found !== null) return found;
    if (conversations.isOwnUnstored(id, owner))
      throw new GatewayError(
        "response_not_stored",
        "The response was not stored: it was created with `store: false`, or its provider stores no responses.",
        { param: "response_id" },
      );
    throw notFound();
  }

  /** A response that the gateway stores itself, as the caller received it. */
  async function readStored(record: ResponseRecord): Promise<JsonObject> {
    const response = await conversations.readResponse(record);
    if (response === null) throw notFound();
    const mayRun = Date.now() - record.createdAt < clocks.totalTimeoutMs;
    if (record.status !== "in_progress" || mayRun) return response;
    // The process that was to store its end was killed.
    const error = { code: "server_error", message: "The gateway ended before the response was complete." };
    // Nothing measured how long the provider took.
    return { ...response, status: "failed", error, provider_time: 0 };
  }

  return {
    create,
    countInput,
    compact,
    async retrieve(lookup: ResponseLookup): Promise<ResponsesAnswer> {
      const record = await find(lookup);
      if (record.providerResponseId !== null) return atProvider.retrieve(lookup, record);
      if (lookup.query.get("stream") === "true")
        throw invalidQuery(
          "stream",
          "The gateway stores this response without its events, so it cannot be streamed again",
        );
      return { kind: "whole", text: JSON.stringify(await readStored(record)) };
    },
    async remove(lookup: ResponseLookup): Promise<string> {
      const record = await find(lookup);
      if (record.providerResponseId !== null) await atProvider.remove(lookup, record);
      if (!(await conversations.remove(lookup.id, ownerOf(lookup.caller)))) throw notFound();
      return JSON.stringify({ id: lookup.id, object: "response.deleted", deleted: true });
    },
    async cancel(lookup: ResponseLookup): Promise<string> {
      const record = await find(lookup);
      if (record.providerResponseId === null)
        throw new GatewayError("stateful_not_supported", "Only a background response can be cancelled.", {
          param: "response_id",
        });
      return atProvider.cancel(lookup, record);
    },
    async listInputItems(lookup: ResponseLookup): Promise<string> {
      const record = await find(lookup);
      if (record.providerResponseId !== null) return atProvider.listInputItems(lookup, record);
      return JSON.stringify(toItemList(await conversations.readInput(record), lookup.query));
    },
  };
}

/** A stream whose frames are known from the start. */
function toStream(frames: readonly Uint8Array[]): FrameStream {
  let waiting = [frames];
  const abandon = () => {
    waiting = [];
  };
  return { take: () => waiting.pop() ?? null, wait: async () => {}, abandon };
}

const defaultItems = 20;

/** The items of a conversation that the gateway stores, as one page. */
export function toItemList(items: readonly JsonObject[], query: URLSearchParams) {
  const ordered = query.get("order") === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const index = ordered.findIndex(({ id }) => id === after);
  if (after !== null && index < 0) throw invalidQuery("after", "There is no such item");
  const start = after === null ? 0 : index + 1;
  const limit = Number(query.get("limit") ?? defaultItems);
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + limit < ordered.length,
  };
}
