// Creates responses at providers that have the Responses API. Requests are sent with the provider's ids, and answers are returned with the
// gateway's ids. Only ids that the gateway issued to this caller are sent to a provider.

import { GatewayError } from "../../errors.ts";
import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { toErrorInAnswer } from "../../providers/refusal.ts";
import { type Attempt, type AttemptOptions, attempt, type ProviderRequest } from "../attempt.ts";
import { badAnswer, fillModel, readAnswer, readObject } from "../provider-answer.ts";
import { toMetadataReader } from "../request-context.ts";
import type { Candidate } from "../route-planner.ts";
import { toEarlierWork } from "./background-line.ts";
import type { PendingResponse, ResponseRecord } from "./conversation-store.ts";
import { NativeRelay } from "./native-relay.ts";
import { toNativeRequest } from "./native-request.ts";
import * as native from "./native-response.ts";
import { patchJson } from "./patch-json.ts";
import { isCancelled } from "./response-defaults.ts";
import { type ResponseContext, toRecordMembers } from "./response-planner.ts";
import { ResponseRecorder } from "./response-recorder.ts";
import type { ResponsesAnswer, ResponsesDependencies, ResponsesInput } from "./responses-input.ts";
import { refuseBackground, toItems } from "./responses-input.ts";

// The types InputTokenCountParams and ResponseCompactParams of npm's openai 7.53.0.
const countedMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "previous_response_id", "tools", "tool_choice", "parallel_tool_calls"],
  ...["reasoning", "text", "truncation", "personality"],
]);
const compactedMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "previous_response_id"],
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "service_tier"],
]);

/** A request that is ready to be sent, with the ids in it. */
interface Prepared {
  readonly sent: { readonly path: string; readonly body: string };
  readonly pairs: native.IdPairs;
}

interface NativeCall {
  readonly input: ResponsesInput;
  readonly candidate: Candidate;
  readonly context: ResponseContext;
}

export function createNativeResponses(dependencies: ResponsesDependencies) {
  const { owned } = dependencies;

  async function create(call: NativeCall): Promise<ResponsesAnswer> {
    const { candidate } = call;
    const { request } = call.input;
    refuseBackground(request, candidate);
    const mayStore = candidate.provider.row.responses?.kind === "native" && request.store !== false;
    const prepared = prepare(call, mayStore);
    const isStream = request.stream === true;
    const creation = openCreation(dependencies, call, mayStore);
    return send(call, prepared, { isStream }, isStream ? creation.stream : creation.read);
  }

  async function countInput(call: NativeCall): Promise<number> {
    const { provider } = call.candidate;
    const prepared = toPathBelow(prepare(call, true), "/input_tokens", countedMembers);
    const options = { isStream: false, isFree: true };
    const text = await send(call, prepared, options, (running, sent) => running.read(sent));
    const count = readAnswer(text, provider)["input_tokens"];
    if (typeof count !== "number") throw badAnswer(provider, "did not answer with a count");
    return count;
  }

  /** The JSON of the compacted conversation: its items have the gateway's ids, and can be sent back as input. */
  async function compact(call: NativeCall): Promise<string> {
    const { provider, deployment } = call.candidate;
    const prepared = toPathBelow(prepare(call, true), "/compact", compactedMembers);
    const signId = native.createSignId(owned, { owner: call.context.owner, deployment: deployment.name });
    return send(call, prepared, { isStream: false }, async (running, sent) => {
      const text = await running.read(sent);
      const value = readAnswer(text, provider);
      const { output, id } = value;
      if (!Array.isArray(output)) throw badAnswer(provider, "did not answer with a compacted conversation");
      const own = {
        ...value,
        ...(typeof id === "string" && { id: signId(id) }),
        output: output.map((item) => native.toOwnItem(item, signId)),
        ...account(running, value),
      };
      return patchJson(text, value, own);
    });
  }

  function prepare({ input, candidate, context }: NativeCall, mayStore: boolean): Prepared {
    const { provider, deployment, model } = candidate;
    const { owner, previous, history } = context;
    const scope = { owner, deployment: deployment.name };
    const isStateless = provider.row.responses?.kind === "stateless";
    const options = { model, owned, scope, previous, history, mayStore, isStateless };
    const { body, dropped, pairs } = toNativeRequest(input, options);
    if (input.request.strict_parameters === true) refuseDropped(dropped);
    input.trace.dropped = dropped;
    return { sent: { path: fillModel(deployment.responsesPath, model), body }, pairs };
  }

  /** One attempt, whose errors have the caller's ids. */
  async function send<Answer>(
    { input, candidate, context }: NativeCall,
    { sent, pairs }: Prepared,
    options: Pick<AttemptOptions, "isStream" | "isFree">,
    exchange: (running: Attempt, sent: ProviderRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const { max_output_tokens: maxOutputTokens, service_tier: serviceTier } = input.request;
    const shape = () => ({ body: sent.body, maxOutputTokens, serviceTier });
    try {
      return await attempt(dependencies, { context: input, candidate, shape, ...options }, (running) =>
        exchange(running, sent),
      );
    } catch (error) {
      throw toOwnError(error, pairs, context.previous);
    }
  }

  return { create, countInput, compact };
}

/** The same request for a path below that of the Responses API, with only these members. */
function toPathBelow({ sent, pairs }: Prepared, suffix: string, members: ReadonlySet<string>): Prepared {
  const scan = scanJson(sent.body);
  const remove = new Set(scan.members.map(({ name }) => name).filter((name) => !members.has(name)));
  const body = editMembers(sent.body, scan, { replace: new Map(), remove, append: [] });
  return { sent: { path: appendPath(sent.path, suffix), body }, pairs };
}

/** Adds the suffix before the query that the path may have, and `query` after it. */
export function appendPath(path: string, suffix: string, query = ""): string {
  const [pathname, ownQuery = ""] = path.split("?");
  const search = [ownQuery, query].filter((text) => text !== "").join("&");
  return `${pathname}${suffix}${search === "" ? "" : `?${search}`}`;
}

/** The provider's message with the caller's ids. When it says that an id is unknown, the error says which of the caller's. */
function toOwnError(error: unknown, pairs: native.IdPairs, previous: ResponseRecord | null): unknown {
  const own = withOwnIds(error, pairs);
  if (!(own instanceof GatewayError) || own === error) return own;
  const { code, message } = own;
  const isUnknown = code === "model_not_found" || (code === "provider_rejected_request" && unknownId.test(message));
  if (!isUnknown) return own;
  if (previous !== null && message.includes(previous.id))
    return new GatewayError("previous_response_not_found", "The provider no longer has the earlier response.", {
      param: "previous_response_id",
      cause: error,
    });
  return new GatewayError("provider_rejected_request", message, { param: "input", cause: error });
}

const unknownId = /not.{0,3}found|no such|does not exist|expired/i;

/** The error with the gateway's ids in its message. */
export function withOwnIds(error: unknown, pairs: native.IdPairs): unknown {
  if (!(error instanceof GatewayError)) return error;
  const message = native.replaceIds(error.message, pairs);
  return message === error.message ? error : new GatewayError(error.code, message, error.details);
}

export function readResponse(text: string, provider: Provider): JsonObject {
  const value = readObject(text, provider);
  // A failed response is an answer, too: its status says that it failed.
  if (value["error"] && value["object"] !== "response") throw toErrorInAnswer(provider, value);
  if (!Array.isArray(value["output"])) throw badAnswer(provider, "did not answer with a response");
  return value;
}

/** Reports the usage of an answer, and returns the members that the gateway adds to it. */
function account(running: Attempt, value: JsonObject): JsonObject {
  const usage = native.toChatUsage(value["usage"]);
  const charge = running.quote.chargeFor(usage, value);
  running.complete(usage, charge, value);
  return running.toMembers(charge);
}

/** One response that a provider creates: its ids, where it is stored, and its answer. `mayStore`: the provider may store it. */
function openCreation(
  { owned, conversations }: ResponsesDependencies,
  { input, candidate, context }: NativeCall,
  mayStore: boolean,
) {
  const { request } = input;
  const { provider, deployment } = candidate;
  const isStoredHere = conversations.storesAll && request.store !== false;
  const signId = native.createSignId(owned, { owner: context.owner, deployment: deployment.name });

  /** The provider may decline to store a response, and its answer says so. */
  const isAtProvider = (answer: JsonObject) => mayStore && answer["store"] !== false;

  function name(answer: JsonObject): native.ResponseNames {
    const isStored = isAtProvider(answer) || isStoredHere;
    return {
      id: conversations.issue(context.owner, isStored),
      previousId: request.previous_response_id ?? null,
      isStored,
      request,
    };
  }

  function store(answer: JsonObject, own: JsonObject, isBackground = false): PendingResponse | null {
    if (!own["store"]) return null;
    if (typeof answer["id"] !== "string") throw badAnswer(provider, "answered with a response that has no id");
    return conversations.store({
      ...toRecordMembers(input, candidate, context, isStoredHere),
      id: own["id"] as string,
      providerResponseId: isAtProvider(answer) ? answer["id"] : null,
      response: own,
      isBackground,
    });
  }

  function remember(own: JsonObject): void {
    if (own["status"] === "failed" || isCancelled(own)) return;
    const output = (own["output"] ?? []) as readonly JsonObject[];
    const items = own["store"] ? null : [...(context.history ?? []), ...toItems(request.input), ...output];
    input.local?.remember(own["id"] as string, items);
  }

  async function read(running: Attempt, sent: ProviderRequest): Promise<ResponsesAnswer> {
    const text = await running.read(sent);
    const value = readResponse(text, provider);
    const own = native.toOwnResponse(value, { provider, names: name(value), signId }, account(running, value));
    await store(value, own, isAtProvider(value) && !native.hasEnded(own))?.stored;
    return { kind: "whole", text: patchJson(text, value, own) };
  }

  async function stream(running: Attempt, sent: ProviderRequest): Promise<ResponsesAnswer> {
    const recorder = new ResponseRecorder();
    const { quote, startedAt } = running;
    const { keyId } = input.caller;
    let isOnlyHere = false;
    let background: PendingResponse | null = null;
    const relay = new NativeRelay({
      provider,
      signId,
      quote,
      startedAt,
      metadata: toMetadataReader(input),
      isRetrieved: false,
      name,
      onCreated(response, own) {
        isOnlyHere = isStoredHere && !isAtProvider(response);
        // When this stream is interrupted, the provider goes on: a later request that sees the end reports the cost.
        const isBackground = request["background"] === true && isAtProvider(response);
        const pending = store(response, own, isBackground);
        if (isBackground) background = pending;
        recorder.begin(pending);
      },
      onEnded(own) {
        remember(own);
        if (background !== null && native.toChatUsage(own["usage"]) !== null)
          running.billEarlierWork(toEarlierWork({ id: own["id"] as string, createdAt: background.createdAt, keyId }));
        if (isStoredHere) recorder.complete(own);
        else background?.noteEnd(own);
      },
    });
    // The provider itself knows the end of a response that it stores.
    const giveUp = (changes: JsonObject) => {
      if (isOnlyHere && relay.response !== null) recorder.giveUp({ ...relay.response, ...changes });
    };
    const relayed = await running.stream(sent, () => relay);
    return {
      kind: "stream",
      stream: await recorder.open(relayed, () => giveUp(native.toCancelled(startedAt))),
      fail(error) {
        const frames = relay.fail(error);
        giveUp({});
        return frames;
      },
    };
  }

  return { read, stream };
}
