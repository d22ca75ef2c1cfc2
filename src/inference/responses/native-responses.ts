// Providers that have the responses API themselves: requests pass with our ids exchanged for the provider's, answers with the
// provider's exchanged for ours. Only ids that we gave to this caller ever go out.

import { gatewayMemberNames } from "../../contract/chat-completions.ts";
import { GatewayError, type Problem, ValidationError } from "../../errors.ts";
import { editMembers } from "../../lib/json-scan.ts";
import { type Connection, ProviderCall, toErrorInAnswer } from "../../providers/call.ts";
import type { Deployment, Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { authorize } from "../authorize.ts";
import { badAnswer, fillModel, readObject } from "../plain-chat.ts";
import { type Charge, toCostMembers } from "../pricing.ts";
import { RelayStream } from "../relay.ts";
import { type AttemptReport, readUsage } from "../report.ts";
import type { Candidate } from "../router.ts";
import type { Trace } from "../trace.ts";
import { HeldStream } from "./held-stream.ts";
import { NativeRelay } from "./native-relay.ts";
import { type ResponseNames, toChatUsage, toOwnItem, toOwnResponse } from "./native-response.ts";
import {
  notFound,
  type ResponseQuestion,
  type ResponsesAnswer,
  type ResponsesDependencies,
  type ResponsesInput,
  stateless,
  toItems,
} from "./response-call.ts";
import type { KeptResponse } from "./response-keeper.ts";

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

const ourMembers: ReadonlySet<string> = new Set(gatewayMemberNames);
// What a caller may ask of a retrieval; everything else is nobody's business upstream.
const passedQuery = ["include", "include[]", "include_obfuscation", "starting_after", "stream", "limit", "order"];

export function createNativeResponses(dependencies: ResponsesDependencies) {
  const { keeper, owned, pricing, clocks, ticker, http, ending } = dependencies;

  async function create(input: ResponsesInput, candidate: Candidate, context: Context): Promise<ResponsesAnswer> {
    const { owner, previous, history } = context;
    const { request, trace } = input;
    const { provider, deployment, model, health } = candidate;
    const isKept = provider.row.responses === "native" && request.store !== false;
    if (request["background"] === true && !isKept) throw stateless(candidate, "background");
    const names: ResponseNames = {
      id: keeper.issue(owner, isKept),
      previousId: request.previous_response_id ?? null,
      owner,
      isStored: isKept,
    };
    const body = toProviderBody(input, candidate, context);
    const quote = pricing.quote(provider, model);
    const startedAt = performance.now();
    trace.sentAt = startedAt;
    trace.firstByteAt = 0;
    const isStream = request.stream === true;
    const report = (outcome: AttemptReport["outcome"], usage: unknown, charge: Charge | null) =>
      dependencies.report({
        requestId: input.requestId,
        keyId: input.caller.keyId,
        provider: provider.name,
        model,
        isStream,
        durationMs: performance.now() - startedAt,
        usage: readUsage(usage),
        cost: charge?.cost ?? null,
        outcome,
      });
    const keep = async (response: JsonObject) => {
      if (typeof response["id"] !== "string") throw badAnswer(provider, "answered with a response that has no id");
      await keeper.keep({
        id: names.id,
        owner,
        keyId: input.caller.keyId,
        provider: provider.name,
        deployment: deployment.name,
        providerResponseId: response["id"],
        model,
        previousId: names.previousId,
        depth: (previous?.depth ?? 0) + 1,
        // Of a stream there is only the beginning yet.
        response: keeper.keepsAll && !isStream ? toOwnResponse(response, names, owned, {}) : null,
        input: keeper.keepsAll ? toItems(request.input) : null,
      });
    };
    let call: ProviderCall | null = null;
    try {
      const path = fillModel(deployment.responsesPath, model);
      call = await send(provider, deployment, {
        method: "POST",
        path,
        body,
        wantsStream: isStream,
        connection: input.connection,
        trace,
      });
      await call.open();
      if (isStream) return await openStream(call, { names, candidate, startedAt, keep: isKept ? keep : null, report });
      trace.firstByteAt = performance.now();
      const answer = readResponse(await call.readWhole(), provider);
      call.finish();
      const usage = toChatUsage(answer["usage"]);
      const charge = quote.chargeFor(usage, answer);
      report("completed", usage, charge);
      if (isKept) await keep(answer);
      const added = {
        provider: provider.name,
        ...toCostMembers(charge),
        provider_time: Math.round(performance.now() - startedAt) / 1_000,
        ...(input.wantsMetadata ? { switchyard: trace.toMetadata(input.requestId) } : {}),
      };
      return { kind: "whole", text: JSON.stringify(toOwnResponse(answer, names, owned, added)) };
    } catch (error) {
      call?.abandon();
      report(error instanceof GatewayError ? error.code : "caller_left", null, null);
      throw error;
    }

    async function openStream(
      opened: ProviderCall,
      options: {
        names: ResponseNames;
        candidate: Candidate;
        startedAt: number;
        keep: ((response: JsonObject) => Promise<void>) | null;
        report: typeof report;
      },
    ): Promise<ResponsesAnswer> {
      let keeping: Promise<unknown> | null = null;
      const hold = (promise: Promise<unknown> | undefined) => {
        if (promise === undefined) return;
        keeping = keeping === null ? promise : Promise.all([keeping, promise]);
        // Waited for where the frames are; a caller who leaves before leaves nobody to tell.
        keeping.catch(() => {});
      };
      const relay = new NativeRelay({
        provider,
        names: options.names,
        owned,
        quote,
        startedAt: options.startedAt,
        onCreated: (response) => hold(options.keep?.(response)),
        onEnded: (response) => {
          const output = (response["output"] ?? []) as readonly JsonObject[];
          input.local?.remember(options.names.id, [...(history ?? []), ...toItems(request.input), ...output]);
          if (options.keep !== null && keeper.keepsAll)
            hold(keeper.complete(options.names.id, options.names.owner, response));
        },
      });
      const stream = new RelayStream(opened, relay, ({ outcome, usage, charge, error }) => {
        if (error !== null) health.broke(error);
        options.report(outcome, usage, charge);
      });
      await stream.open();
      trace.firstByteAt = performance.now();
      const held = new HeldStream(stream, () => {
        const taken = keeping;
        keeping = null;
        return taken;
      });
      return { kind: "stream", stream: held, fail: (error) => relay.fail(error) };
    }
  }

  /** The caller's bytes with what must change: names, ids that are ours, members that are ours. */
  function toProviderBody(
    input: ResponsesInput,
    { provider, model }: Candidate,
    { owner, previous, history }: Context,
  ): string {
    const { request, text, scan, value } = input;
    const problems: Problem[] = [];
    if (value["conversation"] !== undefined && value["conversation"] !== null)
      problems.push({
        loc: ["body", "conversation"],
        msg: "Conversations of the provider are not passed on: chain by previous_response_id",
        type: "unsupported_parameter",
      });
    const told = history === null ? request.input : [...history, ...toItems(request.input)];
    const items = openItems(told, owner, problems) ?? (history === null ? null : told);
    const [first, ...others] = problems;
    if (first !== undefined) throw new ValidationError([first, ...others]);
    const replace = new Map([["model", JSON.stringify(model)]]);
    if (items !== null) replace.set("input", JSON.stringify(items));
    if (history !== null) replace.set("previous_response_id", "null");
    else if (previous !== null) replace.set("previous_response_id", JSON.stringify(previous.providerResponseId));
    const append: string[] = items !== null && !("input" in value) ? [`"input":${JSON.stringify(items)}`] : [];
    if (provider.row.responses === "stateless" && request.store !== false) {
      if ("store" in value) replace.set("store", "false");
      else append.push('"store":false');
    }
    return editMembers(text, scan, { replace, remove: ourMembers, append });
  }

  /** Items with the provider's ids; null when there is none to change. */
  function openItems(input: ResponsesInput["request"]["input"], owner: string, problems: Problem[]): unknown[] | null {
    if (!Array.isArray(input) || !input.some((item) => typeof (item as JsonObject)["id"] === "string")) return null;
    return input.map((item: JsonObject, index) => {
      const { id } = item;
      if (typeof id !== "string") return item;
      const opened = owned.open(id, owner);
      if (opened !== null) return { ...item, id: opened };
      // A reference is read at the provider's: one that we did not give to this caller could be anybody's.
      if (item["type"] === "item_reference")
        problems.push({ loc: ["body", "input", index, "id"], msg: "There is no such item", type: "value_error" });
      return item;
    });
  }

  async function retrieve(question: ResponseQuestion, kept: KeptResponse, owner: string): Promise<ResponsesAnswer> {
    const { provider } = placeOf(kept);
    const wantsStream = question.query.get("stream") === "true";
    const names = { id: kept.id, previousId: kept.previousId, owner, isStored: true };
    const call = await ask(question, kept, { suffix: "", wantsStream });
    if (!wantsStream) {
      const answer = readResponse(await finish(call), provider);
      return { kind: "whole", text: JSON.stringify(toOwnResponse(answer, names, owned, { provider: provider.name })) };
    }
    const relay = new NativeRelay({
      provider,
      names,
      owned,
      quote: pricing.quote(provider, kept.model),
      startedAt: performance.now(),
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
    const call = await ask(question, kept, { method: "POST", suffix: "/cancel", wantsStream: false });
    const names = { id: kept.id, previousId: kept.previousId, owner, isStored: true };
    const answer = readResponse(await finish(call), provider);
    return JSON.stringify(toOwnResponse(answer, names, owned, { provider: provider.name }));
  }

  async function listInputItems(question: ResponseQuestion, kept: KeptResponse, owner: string): Promise<string> {
    const { provider } = placeOf(kept);
    const after = question.query.get("after");
    const opened = after === null ? null : owned.open(after, owner);
    if (after !== null && opened === null)
      throw new ValidationError([{ loc: ["query", "after"], msg: "There is no such item", type: "value_error" }]);
    const call = await ask(question, kept, { suffix: "/input_items", wantsStream: false, after: opened });
    const answer = readObject(await finish(call), provider);
    if (!Array.isArray(answer["data"])) throw badAnswer(provider, "did not answer with a list");
    const mark = (id: unknown) => (typeof id === "string" ? owned.mark(id, owner) : null);
    return JSON.stringify({
      ...answer,
      data: answer["data"].map((item) => toOwnItem(item, owner, owned)),
      first_id: mark(answer["first_id"]),
      last_id: mark(answer["last_id"]),
    });
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
    const [pathname, ownQuery = ""] = base.split("?");
    const search = [ownQuery, passed.toString()].filter((text) => text !== "").join("&");
    const path = `${pathname}/${encodeURIComponent(kept.providerResponseId ?? "")}${suffix}${search === "" ? "" : `?${search}`}`;
    const call = await send(provider, deployment, { method, path, body: "", wantsStream, connection, trace });
    try {
      await call.open();
      return call;
    } catch (error) {
      call.abandon();
      // To the provider it is an id like any other.
      throw error instanceof GatewayError && error.code === "model_not_found" ? notFound() : error;
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
      ending,
      clocks,
      deadline: trace.startedAt + clocks.totalTimeoutMs,
      ticker,
      http,
    });
  }

  return { create, retrieve, remove, cancel, listInputItems };
}

function readResponse(text: string, provider: Provider): JsonObject {
  const answer = readObject(text, provider);
  // A response that failed says so in its status, and is an answer all the same.
  if (answer["error"] && answer["object"] !== "response") throw toErrorInAnswer(provider, answer["error"]);
  if (!Array.isArray(answer["output"])) throw badAnswer(provider, "did not answer with a response");
  return answer;
}
