// Responses that a provider stores: retrieves, deletes and cancels them there, and lists their input.

import { ownerOf } from "../../access/caller.ts";
import { GatewayError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { type Attempt, type AttemptTarget, attempt, type ProviderRequest } from "../attempt.ts";
import { type Charge, toCostMembers } from "../pricing.ts";
import { badAnswer, fillModel, readAnswer } from "../provider-answer.ts";
import { toEarlierWork } from "./background-line.ts";
import { backgroundStatus, type ResponseRecord } from "./conversation-store.ts";
import { NativeRelay } from "./native-relay.ts";
import * as native from "./native-response.ts";
import { appendPath, readResponse, withOwnIds } from "./native-responses.ts";
import { patchJson } from "./patch-json.ts";
import type { ResponseLookup, ResponsesAnswer, ResponsesDependencies } from "./responses-input.ts";
import { invalidQuery, notFound } from "./responses-input.ts";

interface LookupOptions {
  /** GET when absent. */
  readonly method?: "POST" | "DELETE";
  readonly suffix?: string;
  readonly isStream?: boolean;
  readonly after?: string | null;
}

// Query parameters of a retrieval that the provider receives.
const passedQuery = ["include", "include[]", "include_obfuscation", "starting_after", "stream", "limit", "order"];

interface SeenEnd {
  readonly own: JsonObject;
  readonly usage: unknown;
  readonly charge: Charge;
}

const isUnbilled = ({ status }: ResponseRecord) => status === backgroundStatus;

export function createProviderStoredResponses(dependencies: ResponsesDependencies) {
  const { conversations, owned } = dependencies;

  async function retrieve(lookup: ResponseLookup, record: ResponseRecord): Promise<ResponsesAnswer> {
    const isStream = lookup.query.get("stream") === "true";
    const { provider, names, signId } = describe(lookup, record);
    return lookUp(lookup, record, { isStream }, async (running, sent): Promise<ResponsesAnswer> => {
      const { quote, startedAt } = running;
      if (isStream) {
        const relay = new NativeRelay({
          provider,
          signId,
          quote,
          startedAt,
          metadata: null,
          isRetrieved: true,
          name: () => names,
          onCreated: () => {},
          onEnded(own) {
            if (!isUnbilled(record)) return;
            if (native.toChatUsage(own["usage"]) !== null) running.billEarlierWork(toEarlierWork(record));
            conversations.noteBackgroundEnd(record, own);
          },
        });
        const stream = await running.stream(sent, () => relay);
        return { kind: "stream", stream, fail: (error) => relay.fail(error) };
      }
      const text = await running.read(sent);
      const value = readResponse(text, provider);
      const usage = native.toChatUsage(value["usage"]);
      const charge = quote.chargeFor(usage, value);
      const added = { ...toCostMembers(charge), ...native.toFinishedTime(value, startedAt) };
      const own = native.toOwnResponse(value, { provider, names, signId }, added);
      if (native.hasEnded(own)) await noteEnd(running, record, { own, usage, charge });
      return { kind: "whole", text: patchJson(text, value, own) };
    });
  }

  /** A response that ran in the background has ended since. The first request that sees the end reports its cost and stores the end. */
  async function noteEnd(running: Attempt, record: ResponseRecord, { own, usage, charge }: SeenEnd): Promise<void> {
    if (isUnbilled(record) && usage !== null) {
      running.billEarlierWork(toEarlierWork(record));
      running.complete(usage, charge);
    }
    if (isUnbilled(record) || (record.body !== null && !native.hasEnded(record)))
      await conversations.completeBackground(record, own);
  }

  async function remove(lookup: ResponseLookup, record: ResponseRecord): Promise<void> {
    try {
      await lookUp(lookup, record, { method: "DELETE" }, (running, sent) => running.read(sent));
    } catch (error) {
      // The provider no longer has it, so there is nothing to delete.
      if (!(error instanceof GatewayError && error.code === "response_not_found")) throw error;
    }
  }

  async function cancel(lookup: ResponseLookup, record: ResponseRecord): Promise<string> {
    const { provider, names, signId } = describe(lookup, record);
    return lookUp(lookup, record, { method: "POST", suffix: "/cancel" }, async (running, sent) => {
      const text = await running.read(sent);
      const value = readResponse(text, provider);
      const added = native.toFinishedTime(value, running.startedAt);
      const own = native.toOwnResponse(value, { provider, names, signId }, added);
      const usage = native.toChatUsage(value["usage"]);
      if (native.hasEnded(own))
        await noteEnd(running, record, { own, usage, charge: running.quote.chargeFor(usage, value) });
      return patchJson(text, value, own);
    });
  }

  async function listInputItems(lookup: ResponseLookup, record: ResponseRecord): Promise<string> {
    const { provider, scope, signId } = describe(lookup, record);
    const after = lookup.query.get("after");
    const providerAfter = after === null ? null : owned.verify(after, scope);
    if (after !== null && providerAfter === null) throw invalidQuery("after", "There is no such item");
    const options = { suffix: "/input_items", after: providerAfter };
    const text = await lookUp(lookup, record, options, (running, sent) => running.read(sent));
    const list = readAnswer(text, provider);
    if (!Array.isArray(list["data"])) throw badAnswer(provider, "did not answer with a list");
    const sign = (id: unknown) => (typeof id === "string" ? signId(id) : null);
    const own: JsonObject = {
      ...list,
      data: list["data"].map((item) => native.toOwnItem(item, signId)),
      first_id: sign(list["first_id"]),
      last_id: sign(list["last_id"]),
    };
    return native.withoutProviderIds(patchJson(text, list, own), [[record.providerResponseId ?? "", record.id]]);
  }

  function describe({ caller }: ResponseLookup, record: ResponseRecord) {
    const { id, previousId, deployment } = record;
    const scope = { owner: ownerOf(caller), deployment };
    const names = { id, previousId, isStored: true };
    return { provider: findTarget(record).provider, names, scope, signId: native.createSignId(owned, scope) };
  }

  function findTarget({ provider, deployment, model }: ResponseRecord): AttemptTarget {
    const found = conversations.findDeployment(provider, deployment);
    if (found !== null) return { ...found, model, health: null };
    throw new GatewayError(
      "provider_not_configured",
      `The provider '${provider}', which stores this response, is no longer configured.`,
    );
  }

  /** Costs were reported when the response was created or ended, so a lookup is free. */
  async function lookUp<Answer>(
    lookup: ResponseLookup,
    record: ResponseRecord,
    { method, suffix = "", isStream = false, after = null }: LookupOptions,
    exchange: (running: Attempt, sent: ProviderRequest) => Promise<Answer>,
  ): Promise<Answer> {
    const candidate = findTarget(record);
    const { query } = lookup;
    const passed = new URLSearchParams();
    if (method === undefined)
      for (const name of passedQuery) for (const value of query.getAll(name)) passed.append(name, value);
    if (after !== null) passed.set("after", after);
    const id = record.providerResponseId ?? "";
    const base = fillModel(candidate.deployment.responsesPath, record.model);
    const path = appendPath(base, `/${encodeURIComponent(id)}${suffix}`, passed.toString());
    const options = { context: lookup, candidate, isStream, isFree: true, operation: "fetch_response" };
    try {
      return await attempt(dependencies, options, (running) =>
        exchange(running, { method: method ?? "GET", path, body: "" }),
      );
    } catch (error) {
      // The provider answers an unknown response as it answers an unknown model, with status 404.
      if (error instanceof GatewayError && error.code === "model_not_found") throw notFound();
      throw withOwnIds(error, [
        [id, record.id],
        [after ?? "", query.get("after") ?? ""],
      ]);
    }
  }

  return { retrieve, remove, cancel, listInputItems };
}
