// Providers that have the responses API themselves: requests pass with our ids exchanged for the provider's, answers with the
// provider's exchanged for ours. Only ids that we gave to this caller ever go out.

import { GatewayError, ValidationError } from "../../errors.ts";
import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { IdScope } from "../../lib/owned-id.ts";
import { type Connection, ProviderCall, toErrorInAnswer } from "../../providers/call.ts";
import type { Deployment, Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { authorize } from "../authorize.ts";
import { badAnswer, fillModel, readObject } from "../passthrough-chat.ts";
import { type Charge, toCostMembers } from "../pricing.ts";
import { RelayStream } from "../relay.ts";
import { type AttemptReport, readUsage } from "../report.ts";
import type { Candidate } from "../route-planner.ts";
import type { Trace } from "../trace.ts";
import { HeldStream } from "./held-stream.ts";
import { NativeRelay } from "./native-relay.ts";
import { type NativeRequest, toNativeRequest } from "./native-request.ts";
import {
  createMarkId,
  hasEnded,
  type ResponseNames,
  toChatUsage,
  toFinishedTime,
  toOwnItem,
  toOwnResponse,
  toSeconds,
  withoutProviderIds,
} from "./native-response.ts";
import { patchJson } from "./patch-json.ts";
import {
  notFound,
  type ResponseQuestion,
  type ResponsesAnswer,
  type ResponsesDependencies,
  type ResponsesInput,
  stateless,
  toItems,
} from "./response-call.ts";
import { isCancelled, toSpecifiedStatus } from "./response-defaults.ts";
import type { KeptResponse, StoredResponse } from "./response-keeper.ts";

interface Context {
  readonly owner: string;
  /** The provider goes on from it. */
  readonly previous: KeptResponse | null;
  /** What was said before, when the provider has to be told all of it; null: it has not. */
  readonly history: readonly JsonObject[] | null;
}

interface Request {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body: string;
  readonly wantsStream: boolean;
  readonly connection: Connection;
  readonly trace: Trace;
}

interface Answer {
  readonly text: string;
  readonly value: JsonObject;
}

// What a caller may ask of a retrieval; everything else is nobody's business upstream.
const passedQuery = ["include", "include[]", "include_obfuscation", "starting_after", "stream", "limit", "order"];

const scanLimits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };

// By the types of npm's openai 7.53.0: InputTokenCountParams and ResponseCompactParams.
const countedMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "previous_response_id", "tools", "tool_choice", "parallel_tool_calls"],
  ...["reasoning", "text", "truncation", "personality"],
]);
const compactedMembers: ReadonlySet<string> = new Set([
  ...["model", "input", "instructions", "previous_response_id"],
  ...["prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "service_tier"],
]);

export function createNativeResponses(dependencies: ResponsesDependencies) {
  const { keeper, owned, pricing, clocks, ticker, http, shutdownSignal } = dependencies;

  async function create(input: ResponsesInput, candidate: Candidate, context: Context): Promise<ResponsesAnswer> {
    const { owner, previous, history } = context;
    const { request, trace } = input;
    const { provider, deployment, model, health } = candidate;
    const isWanted = request.store !== false;
    const mayStore = provider.row.responses?.kind === "native" && isWanted;
    const mustKeep = keeper.keepsAll && isWanted;
    if (request["background"] === true && !mayStore) throw stateless(candidate, "background");
    const scope = { owner, place: deployment.name };
    const markId = createMarkId(owned, scope);
    const isStateless = provider.row.responses?.kind === "stateless";
    const native = toNativeRequest(input, { model, owned, scope, previous, history, mayStore, isStateless });
    if (request.strict_parameters === true) refuseDropped(native.dropped);
    const quote = pricing.quote(provider, model);
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    trace.firstByteAt = 0;
    trace.dropped = native.dropped;
    const isStream = request.stream === true;
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
    /** A provider that was asked to keep the response may say that it does not. */
    const isAtProvider = (answer: JsonObject) => mayStore && answer["store"] !== false;
    const name = (answer: JsonObject): ResponseNames => {
      const isStored = isAtProvider(answer) || mustKeep;
      return {
        id: keeper.issue(owner, isStored),
        previousId: request.previous_response_id ?? null,
        isStored,
        instructions: request.instructions ?? null,
      };
    };
    const store = (answer: JsonObject, own: JsonObject): StoredResponse | null => {
      if (!own["store"]) return null;
      if (typeof answer["id"] !== "string") throw badAnswer(provider, "answered with a response that has no id");
      return keeper.store({
        id: own["id"] as string,
        owner,
        keyId: input.caller.keyId,
        provider: provider.name,
        deployment: deployment.name,
        providerResponseId: isAtProvider(answer) ? answer["id"] : null,
        model,
        previousId: request.previous_response_id ?? null,
        depth: (previous?.depth ?? 0) + 1,
        response: own,
        input: mustKeep ? toItems(request.input) : null,
      });
    };
    const remember = (own: JsonObject) => {
      if (own["status"] === "failed" || isCancelled(own)) return;
      const output = (own["output"] ?? []) as readonly JsonObject[];
      input.local?.remember(own["id"] as string, [...(history ?? []), ...toItems(request.input), ...output]);
    };

    let call: ProviderCall | null = null;
    let answer: Answer;
    try {
      call = await send(provider, deployment, {
        method: "POST",
        path: fillModel(deployment.responsesPath, model),
        body: native.body,
        wantsStream: isStream,
        connection: input.connection,
        trace,
      });
      await call.open();
      trace.connectedAt = trace.sentAt + call.connectMs;
      if (isStream) return await openStream(call);
      trace.firstByteAt = performance.now();
      answer = readResponse(await call.readWhole(), provider);
      call.finish();
    } catch (error) {
      call?.abandon();
      if (error instanceof KeepingFailed) throw error.cause;
      report(error instanceof GatewayError ? error.code : "caller_left", null, null);
      throw toOwnError(error, native, previous);
    }
    const usage = toChatUsage(answer.value["usage"]);
    const charge = quote.chargeFor(usage, answer.value);
    report("completed", usage, charge);
    const names = name(answer.value);
    const own = toOwnResponse(answer.value, names, markId, {
      provider: provider.name,
      ...toCostMembers(charge),
      provider_time: toSeconds(startedAt),
      ...(input.wantsMetadata ? { switchyard: trace.toMetadata(input.requestId) } : {}),
    });
    await store(answer.value, own)?.stored;
    return { kind: "whole", text: patchJson(answer.text, answer.value, own) };

    async function openStream(opened: ProviderCall): Promise<ResponsesAnswer> {
      let record: StoredResponse | null = null;
      let pending: Promise<unknown> | null = null;
      let isAtGateway = false;
      const hold = (promise: Promise<unknown> | undefined) => {
        pending = promise ?? null;
        // Awaited where the frames are taken; a caller that leaves before takes none.
        promise?.catch(() => {});
      };
      const relay = new NativeRelay({
        provider,
        markId,
        quote,
        startedAt,
        isRetrieved: false,
        name,
        onCreated: (response, own) => {
          isAtGateway = mustKeep && !isAtProvider(response);
          record = store(response, own);
          hold(record?.stored);
        },
        onEnded: (own) => {
          remember(own);
          if (mustKeep) hold(record?.complete(own));
        },
      });
      /** What the provider keeps can be asked for there; of what the gateway keeps alone the end is written down. */
      const giveUp = (changes: JsonObject) => {
        const { response } = relay;
        if (isAtGateway && response !== null) record?.giveUp({ ...response, ...changes });
      };
      const stream = new RelayStream(opened, relay, ({ outcome, usage, charge, error }) => {
        if (error !== null) {
          health.broke(error);
          trace.broke(error.code);
        }
        report(outcome, usage, charge);
      });
      await stream.open();
      trace.firstByteAt = performance.now();
      const takePending = () => {
        const taken = pending;
        pending = null;
        return taken;
      };
      try {
        // The caller learns an id only once it is stored: until then the request can still fail with a status of its own.
        await takePending();
      } catch (error) {
        stream.abandon();
        throw new KeepingFailed(error);
      }
      return {
        kind: "stream",
        stream: new HeldStream(stream, { takePending, onAbandoned: () => giveUp(toCancelled(startedAt)) }),
        fail(error) {
          const frames = relay.fail(error);
          giveUp({});
          return frames;
        },
      };
    }
  }

  /** A request of the same form to a path below the responses API. Members that are not in `members` are left out. */
  async function postBelow(
    input: ResponsesInput,
    candidate: Candidate,
    { suffix, members, context }: { suffix: string; members: ReadonlySet<string>; context: Context },
  ): Promise<Answer> {
    const { owner, previous, history } = context;
    const { provider, deployment, model } = candidate;
    const scope = { owner, place: deployment.name };
    const isStateless = provider.row.responses?.kind === "stateless";
    const native = toNativeRequest(input, { model, owned, scope, previous, history, mayStore: true, isStateless });
    if (input.request.strict_parameters === true) refuseDropped(native.dropped);
    input.trace.dropped = native.dropped;
    const scan = scanJson(native.body, scanLimits);
    const others = new Set(scan.members.map(({ name }) => name).filter((name) => !members.has(name)));
    const body = editMembers(native.body, scan, { replace: new Map(), remove: others, append: [] });
    const path = toPathBelow(fillModel(deployment.responsesPath, model), suffix);
    try {
      return await post(input, candidate, { path, body });
    } catch (error) {
      throw toOwnError(error, native, previous);
    }
  }

  async function post(
    { connection, trace }: ResponsesInput,
    { provider, deployment }: Candidate,
    { path, body }: { path: string; body: string },
  ): Promise<Answer> {
    trace.sentAt = performance.now();
    const call = await send(provider, deployment, {
      method: "POST",
      path,
      body,
      wantsStream: false,
      connection,
      trace,
    });
    try {
      await call.open();
      trace.connectedAt = trace.sentAt + call.connectMs;
      trace.firstByteAt = performance.now();
      const text = await call.readWhole();
      const value = readObject(text, provider);
      if (value["error"]) throw toErrorInAnswer(provider, value["error"]);
      call.finish();
      return { text, value };
    } catch (error) {
      call.abandon();
      throw error;
    }
  }

  async function countInput(input: ResponsesInput, candidate: Candidate, context: Context): Promise<number> {
    const { value } = await postBelow(input, candidate, { suffix: "/input_tokens", members: countedMembers, context });
    const count = value["input_tokens"];
    if (typeof count !== "number") throw badAnswer(candidate.provider, "did not answer with a count");
    return count;
  }

  /** The JSON of the compacted conversation: its items have ids that are ours, and can be sent back as input. */
  async function compact(input: ResponsesInput, candidate: Candidate, context: Context): Promise<string> {
    const { provider, deployment, model } = candidate;
    const startedAt = performance.now();
    const report = (outcome: AttemptReport["outcome"], usage: unknown, charge: Charge | null) =>
      dependencies.report({
        requestId: input.requestId,
        keyId: input.caller.keyId,
        provider: provider.name,
        model,
        isStream: false,
        durationMs: performance.now() - startedAt,
        usage: readUsage(usage),
        cost: charge?.cost ?? null,
        outcome,
      });
    let answer: Answer;
    try {
      answer = await postBelow(input, candidate, { suffix: "/compact", members: compactedMembers, context });
    } catch (error) {
      report(error instanceof GatewayError ? error.code : "caller_left", null, null);
      throw error;
    }
    const { text, value } = answer;
    const { output, id } = value;
    if (!Array.isArray(output)) throw badAnswer(provider, "did not answer with a compacted conversation");
    const usage = toChatUsage(value["usage"]);
    const charge = pricing.quote(provider, model).chargeFor(usage, value);
    report("completed", usage, charge);
    const markId = createMarkId(owned, { owner: context.owner, place: deployment.name });
    const own = {
      ...value,
      ...(typeof id === "string" && { id: markId(id) }),
      output: output.map((item) => toOwnItem(item, markId)),
      provider: provider.name,
      ...toCostMembers(charge),
      provider_time: toSeconds(startedAt),
    };
    return patchJson(text, value, own);
  }

  async function retrieve(question: ResponseQuestion, kept: KeptResponse, owner: string): Promise<ResponsesAnswer> {
    const { provider } = placeOf(kept);
    const wantsStream = question.query.get("stream") === "true";
    const names = namesOf(kept);
    const markId = createMarkId(owned, scopeOf(kept, owner));
    const quote = pricing.quote(provider, kept.model);
    const askedAt = performance.now();
    const call = await ask(question, kept, { suffix: "", wantsStream });
    if (!wantsStream) {
      const answer = readResponse(await finish(call), provider);
      const charge = quote.chargeFor(toChatUsage(answer.value["usage"]), answer.value);
      const added = { provider: provider.name, ...toCostMembers(charge), ...toFinishedTime(answer.value, askedAt) };
      const own = toOwnResponse(answer.value, names, markId, added);
      // What ran in the background has come to its end since: the gateway's own copy comes to it as well.
      if (kept.body !== null && !hasEnded(kept) && hasEnded(own)) await keeper.complete(kept, own);
      return { kind: "whole", text: patchJson(answer.text, answer.value, own) };
    }
    const relay = new NativeRelay({
      provider,
      markId,
      quote,
      startedAt: askedAt,
      isRetrieved: true,
      name: () => names,
      onCreated: () => {},
      onEnded: () => {},
    });
    // What it cost was told and counted when it was created.
    const stream = new RelayStream(call, relay, () => {});
    try {
      await stream.open();
    } catch (error) {
      call.abandon();
      throw error;
    }
    return { kind: "stream", stream, fail: (error) => relay.fail(error) };
  }

  async function remove(question: ResponseQuestion, kept: KeptResponse): Promise<void> {
    try {
      await finish(await ask(question, kept, { method: "DELETE", suffix: "", wantsStream: false }));
    } catch (error) {
      // The provider has it no more, which is what was asked for.
      if (!(error instanceof GatewayError && error.code === "response_not_found")) throw error;
    }
  }

  async function cancel(question: ResponseQuestion, kept: KeptResponse, owner: string): Promise<string> {
    const { provider } = placeOf(kept);
    const names = namesOf(kept);
    const askedAt = performance.now();
    const call = await ask(question, kept, { method: "POST", suffix: "/cancel", wantsStream: false });
    const answer = readResponse(await finish(call), provider);
    const markId = createMarkId(owned, scopeOf(kept, owner));
    const added = { provider: provider.name, ...toFinishedTime(answer.value, askedAt) };
    const own = toOwnResponse(answer.value, names, markId, added);
    return patchJson(answer.text, answer.value, own);
  }

  async function listInputItems(question: ResponseQuestion, kept: KeptResponse, owner: string): Promise<string> {
    const { provider } = placeOf(kept);
    const scope = scopeOf(kept, owner);
    const after = question.query.get("after");
    const opened = after === null ? null : owned.verify(after, scope);
    if (after !== null && opened === null) throw noSuchItem();
    const call = await ask(question, kept, { suffix: "/input_items", wantsStream: false, after: opened });
    const text = await finish(call);
    const list = readObject(text, provider);
    if (!Array.isArray(list["data"])) throw badAnswer(provider, "did not answer with a list");
    const markId = createMarkId(owned, scope);
    const mark = (id: unknown) => (typeof id === "string" ? markId(id) : null);
    const own = {
      ...list,
      data: list["data"].map((item) => toOwnItem(item, markId)),
      first_id: mark(list["first_id"]),
      last_id: mark(list["last_id"]),
    };
    return withoutProviderIds(patchJson(text, list, own), [[kept.providerResponseId ?? "", kept.id]]);
  }

  function placeOf({ provider, deployment }: KeptResponse): { provider: Provider; deployment: Deployment } {
    const place = keeper.findPlace(provider, deployment);
    if (place !== null) return place;
    throw new GatewayError(
      "provider_not_configured",
      `The provider '${provider}', which keeps this response, is not set up.`,
    );
  }

  async function ask(
    { query, connection, trace }: ResponseQuestion,
    kept: KeptResponse,
    options: { method?: Request["method"]; suffix: string; wantsStream: boolean; after?: string | null },
  ): Promise<ProviderCall> {
    const { provider, deployment } = placeOf(kept);
    const { method = "GET", suffix, wantsStream, after = null } = options;
    const passed = new URLSearchParams();
    if (method === "GET")
      for (const name of passedQuery) for (const value of query.getAll(name)) passed.append(name, value);
    if (after !== null) passed.set("after", after);
    const base = fillModel(deployment.responsesPath, kept.model);
    const id = kept.providerResponseId ?? "";
    const path = toPathBelow(base, `/${encodeURIComponent(id)}${suffix}`, passed.toString());
    const call = await send(provider, deployment, { method, path, body: "", wantsStream, connection, trace });
    try {
      await call.open();
      return call;
    } catch (error) {
      call.abandon();
      // To the provider it is an id like any other.
      if (error instanceof GatewayError && error.code === "model_not_found") throw notFound();
      throw inOurWords(error, [
        [id, kept.id],
        [after ?? "", query.get("after") ?? ""],
      ]);
    }
  }

  async function finish(call: ProviderCall): Promise<string> {
    try {
      const text = await call.readWhole();
      call.finish();
      return text;
    } catch (error) {
      call.abandon();
      throw error;
    }
  }

  async function send(provider: Provider, deployment: Deployment, request: Request): Promise<ProviderCall> {
    const { method, path, body, wantsStream, connection, trace } = request;
    const headerLines = await authorize(deployment, { path, body, headerLines: "" });
    return new ProviderCall({
      provider,
      deployment,
      method,
      path,
      body,
      headerLines,
      wantsStream,
      connection,
      shutdownSignal,
      clocks,
      deadline: trace.startedAt + clocks.totalTimeoutMs,
      ticker,
      http,
    });
  }

  return { create, post, countInput, compact, retrieve, remove, cancel, listInputItems };
}

/** The suffix belongs before a query that the path has, and `query` behind it. */
function toPathBelow(path: string, suffix: string, query = ""): string {
  const [pathname, ownQuery = ""] = path.split("?");
  const search = [ownQuery, query].filter((text) => text !== "").join("&");
  return `${pathname}${suffix}${search === "" ? "" : `?${search}`}`;
}

/** The provider's part went well, and was reported. */
class KeepingFailed extends Error {
  constructor(cause: unknown) {
    super("a response could not be kept", { cause });
  }
}

/** The provider's words about ids, with the caller's ids; and its not knowing one of them as what it is. */
function toOwnError(error: unknown, { pairs }: NativeRequest, previous: KeptResponse | null): unknown {
  const told = inOurWords(error, pairs);
  if (!(told instanceof GatewayError) || told === error) return told;
  const { code, message } = told;
  const isUnknown = code === "model_not_found" || (code === "provider_rejected_request" && notThere.test(message));
  if (!isUnknown) return told;
  if (previous !== null && message.includes(previous.id))
    return new GatewayError("previous_response_not_found", "The provider has the earlier response no more.", {
      param: "previous_response_id",
      cause: error,
    });
  return new GatewayError("provider_rejected_request", message, { param: "input", cause: error });
}

const notThere = /not.{0,3}found|no such|does not exist|expired/i;

function inOurWords(error: unknown, pairs: NativeRequest["pairs"]): unknown {
  if (!(error instanceof GatewayError)) return error;
  let message = error.message;
  for (const [id, own] of pairs) if (id !== "") message = message.replaceAll(id, own);
  return message === error.message ? error : new GatewayError(error.code, message, error.details);
}

/** Of a response that the caller left: what it is stored as. */
export function toCancelled(startedAt: number): JsonObject {
  return {
    ...toSpecifiedStatus({ status: "cancelled" }),
    provider_time: toSeconds(startedAt),
  };
}

function namesOf({ id, previousId }: KeptResponse): ResponseNames {
  return { id, previousId, isStored: true };
}

function scopeOf({ deployment }: KeptResponse, owner: string): IdScope {
  return { owner, place: deployment };
}

export function noSuchItem(): ValidationError {
  return new ValidationError([{ loc: ["query", "after"], msg: "There is no such item", type: "value_error" }]);
}

function readResponse(text: string, provider: Provider): Answer {
  const value = readObject(text, provider);
  // A response that failed says so in its status, and is an answer all the same.
  if (value["error"] && value["object"] !== "response") throw toErrorInAnswer(provider, value["error"]);
  if (!Array.isArray(value["output"])) throw badAnswer(provider, "did not answer with a response");
  return { text, value };
}
