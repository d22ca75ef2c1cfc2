// Responses, start to finish: created by a provider that has the API itself, or through the chat format; kept by the provider,
// by the gateway, or not at all; and found again by those who own them, and by nobody else.

import type { ChatCompletionRequest } from "../../contract/chat-completions.ts";
import type { ChatChunk, ChatCompletion } from "../../contract/chat-format.ts";
import { GatewayError, ValidationError } from "../../errors.ts";
import { scanJson } from "../../lib/json-scan.ts";
import { findChatRules } from "../../providers/chat-rules.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { findModelFacts } from "../../providers/provider.ts";
import type { ChunkWriter } from "../chat-relay.ts";
import { mustFetchFiles, toMustFetch } from "../media.ts";
import { estimateChatTokens } from "../messages/count-tokens.ts";
import { toPlainChatRequest } from "../messages/to-plain-chat-request.ts";
import type { Candidate } from "../route-planner.ts";
import { fromResponsesRequest } from "./from-responses-request.ts";
import { HeldStream } from "./held-stream.ts";
import { toSeconds } from "./native-response.ts";
import { createNativeResponses, noSuchItem, toCancelled } from "./native-responses.ts";
import { PreparedStream } from "./prepared-stream.ts";
import { withReferencedItems } from "./referenced-items.ts";
import {
  notFound,
  ownerOf,
  type ResponseQuestion,
  type ResponsesAnswer,
  type ResponsesDependencies,
  type ResponsesInput,
  stateless,
  toItems,
} from "./response-call.ts";
import { createDraft } from "./response-defaults.ts";
import type { KeptResponse, StoredResponse } from "./response-keeper.ts";
import { ResponsesStreamWriter } from "./responses-stream.ts";
import { nowInSeconds, takenCallIds, toResponse } from "./to-response.ts";
import { comesFrom } from "./told-items.ts";
import { toToolNames } from "./tool-names.ts";

export interface Responses {
  create(input: ResponsesInput): Promise<ResponsesAnswer>;
  /** The JSON of the count. */
  countInput(input: ResponsesInput): Promise<string>;
  /** The JSON of the compacted conversation. */
  compact(input: ResponsesInput): Promise<string>;
  retrieve(question: ResponseQuestion): Promise<ResponsesAnswer>;
  remove(question: ResponseQuestion): Promise<string>;
  cancel(question: ResponseQuestion): Promise<string>;
  listInputItems(question: ResponseQuestion): Promise<string>;
}

const scanLimits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };
const encoder = new TextEncoder();

export function createResponses(dependencies: ResponsesDependencies): Responses {
  const { router, attempts, chatCompletions, fetchMedia, keeper, owned, clocks } = dependencies;
  const native = createNativeResponses(dependencies);

  /** The offers for a request, and the conversation that it continues. */
  async function plan(given: ResponsesInput) {
    const owner = ownerOf(given.caller);
    const input = await withReferencedItems(given, owner, keeper);
    const { request, caller, trace } = input;
    const remembered = recall(input, owner);
    const previousId = remembered === null ? request.previous_response_id : null;
    const planned = router.plan(request, caller, trace);
    // A connection can continue its own responses with every provider.
    const canContinue = input.local !== undefined || planned.some(isKeeping);
    const previous = previousId ? await findPrevious(previousId, owner, canContinue) : null;
    const chosen =
      remembered === null ? await chooseOffers(planned, previous) : { candidates: planned, history: remembered };
    const { history } = chosen;
    const candidates = preferOrigin(chosen.candidates, [...(history ?? []), ...toItems(request.input)], owner);
    trace.routedAt = performance.now();
    return { input, planned, candidates, context: { owner, previous, history } };
  }

  async function attempt<Result>(
    { request, caller, trace, connection }: ResponsesInput,
    candidates: readonly Candidate[],
    run: (candidate: Candidate) => Promise<Result>,
  ): Promise<Result> {
    const deadline = trace.startedAt + clocks.totalTimeoutMs;
    let answering: Candidate | undefined;
    const answer = await attempts.run({ candidates, trace, connection, deadline }, (candidate) => {
      answering = candidate;
      return run(candidate);
    });
    if (answering !== undefined) router.remember(request, caller, answering);
    return answer;
  }

  async function create(given: ResponsesInput): Promise<ResponsesAnswer> {
    const { input, planned, candidates, context } = await plan(given);
    const history = context.history ?? [];
    if (input.generates === false) return prepare(input, planned, { owner: context.owner, history });
    return attempt(input, candidates, (candidate) =>
      candidate.provider.row.responses === undefined
        ? translate(input, candidate, { ...context, history })
        : native.create(input, candidate, context),
    );
  }

  /** How many tokens the input has: by the provider where it counts them, else by an estimate that says so. */
  async function countInput(given: ResponsesInput): Promise<string> {
    const { input, candidates, context } = await plan(given);
    return attempt(input, candidates, async (candidate) => {
      const counted = await countAt(input, candidate, context);
      return JSON.stringify({ object: "response.input_tokens", ...counted, provider: candidate.provider.name });
    });
  }

  async function countAt(
    input: ResponsesInput,
    candidate: Candidate,
    context: { owner: string; previous: KeptResponse | null; history: readonly JsonObject[] | null },
  ): Promise<{ input_tokens: number; estimated?: true }> {
    const { provider, model } = candidate;
    if (provider.row.responses?.paths?.includes("input_tokens"))
      return { input_tokens: await native.countInput(input, candidate, context) };
    // The provider alone has the earlier turns, so what is here is not the whole input.
    if (context.previous !== null && context.history === null)
      throw new GatewayError(
        "stateful_not_supported",
        `The provider '${provider.name}' does not count tokens, and the gateway does not have the earlier conversation.`,
        { param: "previous_response_id" },
      );
    const { request } = fromResponsesRequest(input.request, context.history ?? []);
    const chat = provider.dialect?.chat;
    if (chat?.counting === undefined) return { input_tokens: estimateChatTokens(request), estimated: true };
    const limits = { connection: input.connection, deadline: input.trace.startedAt + clocks.totalTimeoutMs };
    const whole = await fetchMedia(request, toMustFetch(chat.fetchesMedia), limits);
    const facts = findModelFacts(provider.row, model);
    const { value } = await native.post(
      input,
      candidate,
      chat.counting.toRequest(whole, { model, facts, isStream: false }),
    );
    return { input_tokens: chat.counting.fromAnswer(value) };
  }

  /** A shorter conversation in the place of a long one, by providers that have that. */
  async function compact(given: ResponsesInput): Promise<string> {
    const { input, candidates, context } = await plan(given);
    const able = candidates.filter(({ provider }) => provider.row.responses?.paths?.includes("compact"));
    if (able.length === 0)
      throw new GatewayError(
        "compaction_not_supported",
        `The provider '${candidates[0]?.provider.name}' has no compaction: send a summary of the conversation instead.`,
        { param: "model" },
      );
    return attempt(input, able, (candidate) => native.compact(input, candidate, context));
  }

  /** Items that an account made, its sealed reasoning above all, are read best by that account. */
  function preferOrigin(
    candidates: readonly Candidate[],
    items: readonly JsonObject[],
    owner: string,
  ): readonly Candidate[] {
    const [first] = candidates;
    if (candidates.length === 1 || first === undefined) return candidates;
    // Only among equals: the order of providers is the caller's or the operator's wish.
    const origin = candidates.find(
      ({ pool, deployment }) => pool === first.pool && comesFrom(items, owned, { owner, place: deployment.name }),
    );
    return origin === undefined ? candidates : [origin, ...candidates.filter((candidate) => candidate !== origin)];
  }

  /** What the connection remembers of a response that nobody keeps. */
  function recall({ request, local }: ResponsesInput, owner: string): readonly JsonObject[] | null {
    const id = request.previous_response_id;
    return id && local !== undefined && keeper.isOwnUnstored(id, owner) ? local.find(id) : null;
  }

  /** Nothing is generated: the next response may go on from what was sent. */
  function prepare(
    { request, local }: ResponsesInput,
    [candidate]: readonly Candidate[],
    { owner, history }: { owner: string; history: readonly JsonObject[] },
  ): ResponsesAnswer {
    const id = keeper.issue(owner, false);
    const writer = new ResponsesStreamWriter(
      createDraft({ ...request, store: false }, { id, createdAt: nowInSeconds(), model: candidate?.model ?? "" }),
    );
    const texts = [
      ...writer.begin(),
      ...writer.end({ provider: candidate?.provider.name ?? "", cost: 0, provider_time: 0 }),
    ];
    local?.remember(id, [...history, ...toItems(request.input)]);
    return {
      kind: "stream",
      stream: new PreparedStream(texts.map((text) => encoder.encode(text))),
      fail: (error) => encoder.encode(writer.fail(error, { provider_time: 0 }).join("")),
    };
  }

  /** Whether a response of this offer is stored, so that it can be continued. */
  function isKeeping({ provider }: Candidate): boolean {
    return provider.row.responses?.kind === "native" || keeper.keepsFor(provider.name);
  }

  async function findPrevious(id: string, owner: string, canContinue: boolean): Promise<KeptResponse> {
    const found = await keeper.find(id, owner);
    if (found !== null) return found;
    if (!keeper.isOwnUnstored(id, owner)) throw cannotContinue("There is no such earlier response.");
    if (canContinue) throw cannotContinue("The earlier response was not stored, so it cannot be continued.");
    throw new GatewayError(
      "stateful_not_supported",
      "The earlier response was not stored, and the provider cannot continue any response: send the whole conversation.",
      { param: "previous_response_id" },
    );
  }

  /**
   * Who may go on from the earlier response: the provider and account that keep it; or, when the gateway has kept the whole
   * conversation itself, anybody, who then is told all of it.
   */
  async function chooseOffers(
    planned: readonly Candidate[],
    previous: KeptResponse | null,
  ): Promise<{ candidates: readonly Candidate[]; history: readonly JsonObject[] | null }> {
    if (previous === null) return { candidates: planned, history: null };
    const keeping = planned.filter(
      ({ provider, deployment }) =>
        provider.row.responses?.kind === "native" &&
        provider.name === previous.provider &&
        deployment.name === previous.deployment,
    );
    if (previous.providerResponseId !== null && keeping.length > 0) return { candidates: keeping, history: null };
    const history = await keeper.readConversation(previous);
    if (Array.isArray(history)) {
      const able = keeper.keepsAll ? planned : planned.filter(({ provider }) => provider.name === previous.provider);
      if (able.length > 0) return { candidates: able, history };
    } else if (previous.providerResponseId === null)
      throw cannotContinue(
        history === "unfinished"
          ? "The earlier response did not complete, so it cannot be continued."
          : "A turn of the conversation was deleted or has expired, so it cannot be continued.",
      );
    if (!planned.some(isKeeping)) throw stateless(planned[0], "previous_response_id");
    throw new GatewayError(
      "previous_response_provider_mismatch",
      `The earlier response is kept by '${previous.provider}', and only that provider can continue it.`,
      { param: "previous_response_id" },
    );
  }

  /** Through the chat format. */
  async function translate(
    input: ResponsesInput,
    candidate: Candidate,
    { owner, previous, history }: { owner: string; previous: KeptResponse | null; history: readonly JsonObject[] },
  ): Promise<ResponsesAnswer> {
    const { request, trace } = input;
    const { provider, deployment, model } = candidate;
    if (request["background"] === true) throw stateless(candidate, "background");
    const isPlain = provider.dialect === null;
    const origin = isPlain ? provider.name : null;
    const own = fromResponsesRequest(request, history, {
      origin,
      searchDomains: provider.dialect?.chat?.searchDomains,
    });
    const translated = isPlain ? toPlainChatRequest(own, findChatRules(provider.row, model)) : own;
    if (request.strict_parameters === true) refuseDropped(translated.dropped);
    const limits = { connection: input.connection, deadline: trace.startedAt + clocks.totalTimeoutMs };
    const chat = isPlain ? await fetchMedia(translated.request, mustFetchFiles, limits) : translated.request;
    const isKept = keeper.keepsFor(provider.name) && request.store !== false;
    const id = keeper.issue(owner, isKept);
    const previousId = request.previous_response_id ?? null;
    const draft = createDraft({ ...request, store: isKept }, { id, createdAt: nowInSeconds(), model });
    const store = (response: JsonObject) =>
      keeper.store({
        id,
        owner,
        keyId: input.caller.keyId,
        provider: provider.name,
        deployment: deployment.name,
        providerResponseId: null,
        model,
        previousId,
        depth: (previous?.depth ?? 0) + 1,
        response,
        input: toItems(request.input),
      });
    const context = {
      takenCallIds: takenCallIds([...history, ...toItems(request.input)]),
      origin,
      toolNames: toToolNames(request.tools ?? []),
    };
    const writer = new ResponsesStreamWriter(draft, context);
    const toldSoFar = () => writer.response as unknown as JsonObject;
    let record: StoredResponse | null = null;
    let pending: Promise<unknown> | null = null;
    const text = JSON.stringify(chat);
    const startedAt = performance.now();
    const answer = await chatCompletions.attempt(
      {
        ...input,
        // What a chat request's schema asks for, the translation has made.
        request: chat as unknown as ChatCompletionRequest,
        value: { ...chat, strict_parameters: request.strict_parameters },
        text,
        scan: scanJson(text, scanLimits),
        createWriter: () =>
          createWriter(writer, { provider: provider.name, startedAt }, (response) => {
            // Without a record the stream ended within its first read: it is then stored with its end.
            pending = record?.complete(response) ?? null;
            pending?.catch(() => {});
            const output = (response["output"] ?? []) as readonly JsonObject[];
            input.local?.remember(id, [...history, ...toItems(request.input), ...output]);
          }),
      },
      candidate,
    );
    trace.dropped = [...translated.dropped, ...trace.dropped];
    if (answer.kind === "stream") {
      const { stream } = answer;
      const fail = (error: { code: string; message: string }) =>
        encoder.encode(writer.fail(error, { provider: provider.name, provider_time: toSeconds(startedAt) }).join(""));
      if (!isKept) return { kind: "stream", stream, fail };
      const opened = store(toldSoFar());
      record = opened;
      try {
        // The caller learns an id only once it is stored: until then the request can still fail with a status of its own.
        await opened.stored;
      } catch (error) {
        stream.abandon();
        throw error;
      }
      const takePending = () => {
        const taken = pending;
        pending = null;
        return taken;
      };
      const onAbandoned = () => opened.giveUp({ ...toldSoFar(), ...toCancelled(startedAt) });
      return {
        kind: "stream",
        stream: new HeldStream(stream, { takePending, onAbandoned }),
        fail(error) {
          const frames = fail(error);
          opened.giveUp(toldSoFar());
          return frames;
        },
      };
    }
    const response = { ...toResponse(draft, answer.value as ChatCompletion, context), ...answer.added };
    if (isKept) await store(response as unknown as JsonObject).stored;
    return { kind: "whole", text: JSON.stringify(response) };
  }

  async function find({ id, caller }: ResponseQuestion): Promise<KeptResponse> {
    const owner = ownerOf(caller);
    const found = await keeper.find(id, owner);
    if (found !== null) return found;
    if (keeper.isOwnUnstored(id, owner))
      throw new GatewayError(
        "response_not_stored",
        "The response was not stored: it was created with `store: false`, or its provider stores none.",
        { param: "response_id" },
      );
    throw notFound();
  }

  /** One that the gateway has kept itself, as it was told. */
  async function readKept(kept: KeptResponse): Promise<JsonObject> {
    const response = await keeper.readResponse(kept);
    if (response === null) throw notFound();
    const mayRun = Date.now() - kept.createdAt < clocks.totalTimeoutMs;
    if (kept.status !== "in_progress" || mayRun) return response;
    // Whoever was to write down its end has not lived to do it.
    const error = { code: "server_error", message: "The gateway ended before the response was complete." };
    return { ...response, status: "failed", error };
  }

  return {
    create,
    countInput,
    compact,
    async retrieve(question) {
      const kept = await find(question);
      if (kept.providerResponseId !== null) return native.retrieve(question, kept, ownerOf(question.caller));
      if (question.query.get("stream") === "true")
        throw new ValidationError([
          {
            loc: ["query", "stream"],
            msg: "This response is kept by the gateway, without its events: it cannot be streamed again",
            type: "value_error",
          },
        ]);
      return { kind: "whole", text: JSON.stringify(await readKept(kept)) };
    },
    async remove(question) {
      const kept = await find(question);
      if (kept.providerResponseId !== null) await native.remove(question, kept);
      if (!(await keeper.remove(question.id, ownerOf(question.caller)))) throw notFound();
      return JSON.stringify({ id: question.id, object: "response.deleted", deleted: true });
    },
    async cancel(question) {
      const kept = await find(question);
      if (kept.providerResponseId === null)
        throw new GatewayError(
          "stateful_not_supported",
          "Only a response that runs in the background can be cancelled.",
          {
            param: "response_id",
          },
        );
      return native.cancel(question, kept, ownerOf(question.caller));
    },
    async listInputItems(question) {
      const kept = await find(question);
      const owner = ownerOf(question.caller);
      if (kept.providerResponseId !== null) return native.listInputItems(question, kept, owner);
      return JSON.stringify(toItemList(await keeper.readInput(kept), question.query));
    },
  };
}

function createWriter(
  writer: ResponsesStreamWriter,
  { provider, startedAt }: { provider: string; startedAt: number },
  onEnd: (response: JsonObject) => void,
): ChunkWriter {
  let cost: { cost: number | null; cost_reason?: string } = { cost: null, cost_reason: "usage_unknown" };
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
    usage(chunk, charge, frames) {
      cost = charge.reason === null ? { cost: charge.cost } : { cost: charge.cost, cost_reason: charge.reason };
      begin(frames);
      add(writer.write({ ...chunk, choices: [] } as unknown as ChatChunk), frames);
    },
    end(frames, metadata) {
      begin(frames);
      const added = {
        provider,
        ...cost,
        provider_time: toSeconds(startedAt),
        ...(metadata === null ? {} : { switchyard: metadata }),
      };
      add(writer.end(added), frames);
      onEnd(writer.response as unknown as JsonObject);
      frames.push(encoder.encode("data: [DONE]\n\n"));
    },
  };
}

function cannotContinue(message: string): GatewayError {
  return new GatewayError("previous_response_not_found", message, { param: "previous_response_id" });
}

const usualItems = 20;

function toItemList(items: readonly JsonObject[], query: URLSearchParams) {
  const ordered = query.get("order") === "asc" ? items : items.toReversed();
  const after = query.get("after");
  const place = ordered.findIndex(({ id }) => id === after);
  if (after !== null && place < 0) throw noSuchItem();
  const start = after === null ? 0 : place + 1;
  const limit = Number(query.get("limit") ?? usualItems);
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + limit < ordered.length,
  };
}
