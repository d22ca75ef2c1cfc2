// Creates responses at providers that have the Responses API. Requests are sent with the provider's ids, and answers are returned with the
// gateway's ids. Only ids that the gateway issued to this caller are sent to a provider.

import { GatewayError } from "../../errors.ts";
import { editMembers, scanJson } from "../../lib/json-scan.ts";
import type { Provider } from "../../providers/configure.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { refuseDropped } from "../../providers/parameters.ts";
import { toErrorInAnswer } from "../../providers/refusal.ts";
import { type Attempt, attempt, type ProviderRequest } from "../attempt.ts";
import { badAnswer, fillModel, readObject } from "../provider-answer.ts";
import type { Candidate } from "../route-planner.ts";
import type { PendingResponse, ResponseRecord } from "./conversation-store.ts";
import { NativeRelay } from "./native-relay.ts";
import { type NativeRequest, toNativeRequest } from "./native-request.ts";
import {
  createSignId,
  type IdPairs,
  type ResponseNames,
  replaceIds,
  toCancelled,
  toChatUsage,
  toOwnItem,
  toOwnResponse,
} from "./native-response.ts";
import { patchJson } from "./patch-json.ts";
import { isCancelled } from "./response-defaults.ts";
import type { ResponseContext } from "./response-planner.ts";
import { ResponseRecorder } from "./response-recorder.ts";
import {
  type ResponsesAnswer,
  type ResponsesDependencies,
  type ResponsesInput,
  stateless,
  toItems,
} from "./responses-input.ts";

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
  readonly native: NativeRequest;
  readonly sent: ProviderRequest;
}

export function createNativeResponses(dependencies: ResponsesDependencies) {
  const { owned } = dependencies;

  async function create(
    input: ResponsesInput,
    candidate: Candidate,
    context: ResponseContext,
  ): Promise<ResponsesAnswer> {
    const { request } = input;
    const mayStore = candidate.provider.row.responses?.kind === "native" && request.store !== false;
    if (request["background"] === true && !mayStore) throw stateless(candidate, "background");
    const prepared = prepare(input, candidate, context, mayStore);
    const isStream = request.stream === true;
    const creation = new Creation(dependencies, { input, candidate, context, mayStore });
    return send(prepared, context, () =>
      attempt(dependencies, { context: input, candidate, isStream }, (running) =>
        isStream ? creation.stream(running, prepared.sent) : creation.read(running, prepared.sent),
      ),
    );
  }

  async function countInput(input: ResponsesInput, candidate: Candidate, context: ResponseContext): Promise<number> {
    const prepared = toPathBelow(prepare(input, candidate, context, true), "/input_tokens", countedMembers);
    const options = { context: input, candidate, isStream: false, isReported: false };
    const { value } = await send(prepared, context, () =>
      attempt(dependencies, options, async (running) => readAnswer(await running.read(prepared.sent), candidate)),
    );
    const count = value["input_tokens"];
    if (typeof count !== "number") throw badAnswer(candidate.provider, "did not answer with a count");
    return count;
  }

  /** The JSON of the compacted conversation: its items have the gateway's ids, and can be sent back as input. */
  async function compact(input: ResponsesInput, candidate: Candidate, context: ResponseContext): Promise<string> {
    const { provider, deployment } = candidate;
    const prepared = toPathBelow(prepare(input, candidate, context, true), "/compact", compactedMembers);
    const signId = createSignId(owned, { owner: context.owner, deployment: deployment.name });
    return send(prepared, context, () =>
      attempt(dependencies, { context: input, candidate, isStream: false }, async (running) => {
        const { text, value } = readAnswer(await running.read(prepared.sent), candidate);
        const { output, id } = value;
        if (!Array.isArray(output)) throw badAnswer(provider, "did not answer with a compacted conversation");
        const usage = toChatUsage(value["usage"]);
        const charge = running.quote.chargeFor(usage, value);
        running.complete(usage, charge);
        const own = {
          ...value,
          ...(typeof id === "string" && { id: signId(id) }),
          output: output.map((item) => toOwnItem(item, signId)),
          ...running.toMembers(charge),
        };
        return patchJson(text, value, own);
      }),
    );
  }

  function prepare(
    input: ResponsesInput,
    { provider, deployment, model }: Candidate,
    { owner, previous, history }: ResponseContext,
    mayStore: boolean,
  ): Prepared {
    const scope = { owner, deployment: deployment.name };
    const isStateless = provider.row.responses?.kind === "stateless";
    const native = toNativeRequest(input, { model, owned, scope, previous, history, mayStore, isStateless });
    if (input.request.strict_parameters === true) refuseDropped(native.dropped);
    input.trace.dropped = native.dropped;
    return { native, sent: { path: fillModel(deployment.responsesPath, model), body: native.body } };
  }

  return { create, countInput, compact };
}

/** The same request for a path below that of the Responses API, with only these members. */
function toPathBelow({ native, sent }: Prepared, suffix: string, members: ReadonlySet<string>): Prepared {
  const scan = scanJson(native.body);
  const remove = new Set(scan.members.map(({ name }) => name).filter((name) => !members.has(name)));
  const body = editMembers(native.body, scan, { replace: new Map(), remove, append: [] });
  return { native, sent: { path: appendPath(sent.path, suffix), body } };
}

/** Adds the suffix before the query that the path may have, and `query` after it. */
export function appendPath(path: string, suffix: string, query = ""): string {
  const [pathname, ownQuery = ""] = path.split("?");
  const search = [ownQuery, query].filter((text) => text !== "").join("&");
  return `${pathname}${suffix}${search === "" ? "" : `?${search}`}`;
}

async function send<Answer>(
  { native }: Prepared,
  { previous }: ResponseContext,
  call: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw toOwnError(error, native, previous);
  }
}

/** The provider's message with the caller's ids. When it says that an id is unknown, the error says which of the caller's. */
function toOwnError(error: unknown, { pairs }: NativeRequest, previous: ResponseRecord | null): unknown {
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
export function withOwnIds(error: unknown, pairs: IdPairs): unknown {
  if (!(error instanceof GatewayError)) return error;
  const message = replaceIds(error.message, pairs);
  return message === error.message ? error : new GatewayError(error.code, message, error.details);
}

interface NativeAnswer {
  readonly text: string;
  readonly value: JsonObject;
}

function readAnswer(text: string, { provider }: Candidate): NativeAnswer {
  const value = readObject(text, provider);
  if (value["error"]) throw toErrorInAnswer(provider, value["error"]);
  return { text, value };
}

export function readResponse(text: string, provider: Provider): NativeAnswer {
  const value = readObject(text, provider);
  // A failed response is an answer, too: its status says that it failed.
  if (value["error"] && value["object"] !== "response") throw toErrorInAnswer(provider, value["error"]);
  if (!Array.isArray(value["output"])) throw badAnswer(provider, "did not answer with a response");
  return { text, value };
}

interface CreationOptions {
  readonly input: ResponsesInput;
  readonly candidate: Candidate;
  readonly context: ResponseContext;
  /** The provider may store the response. */
  readonly mayStore: boolean;
}

/** One response that a provider creates: its ids, where it is stored, and its answer. */
class Creation {
  readonly #dependencies: ResponsesDependencies;
  readonly #options: CreationOptions;
  /** The gateway stores the response itself. */
  readonly #isStoredHere: boolean;

  constructor(dependencies: ResponsesDependencies, options: CreationOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#isStoredHere = dependencies.conversations.storesAll && options.input.request.store !== false;
  }

  async read(running: Attempt, sent: ProviderRequest): Promise<ResponsesAnswer> {
    const { text, value } = readResponse(await running.read(sent), this.#options.candidate.provider);
    const usage = toChatUsage(value["usage"]);
    const charge = running.quote.chargeFor(usage, value);
    running.complete(usage, charge);
    const own = toOwnResponse(value, this.#name(value), this.#createSignId(), running.toMembers(charge));
    await this.#store(value, own)?.stored;
    return { kind: "whole", text: patchJson(text, value, own) };
  }

  async stream(running: Attempt, sent: ProviderRequest): Promise<ResponsesAnswer> {
    const recorder = new ResponseRecorder();
    const { quote, startedAt } = running;
    let isOnlyHere = false;
    const relay = new NativeRelay({
      provider: this.#options.candidate.provider,
      signId: this.#createSignId(),
      quote,
      startedAt,
      isRetrieved: false,
      name: (response) => this.#name(response),
      onCreated: (response, own) => {
        isOnlyHere = this.#isStoredHere && !this.#isAtProvider(response);
        recorder.begin(this.#store(response, own));
      },
      onEnded: (own) => {
        this.#remember(own);
        if (this.#isStoredHere) recorder.complete(own);
      },
    });
    // The provider itself knows the end of a response that it stores.
    const giveUp = (changes: JsonObject) => {
      if (isOnlyHere && relay.response !== null) recorder.giveUp({ ...relay.response, ...changes });
    };
    const stream = await running.stream(sent, () => relay);
    return {
      kind: "stream",
      stream: await recorder.open(stream, () => giveUp(toCancelled(startedAt))),
      fail(error) {
        const frames = relay.fail(error);
        giveUp({});
        return frames;
      },
    };
  }

  #createSignId() {
    const { candidate, context } = this.#options;
    return createSignId(this.#dependencies.owned, { owner: context.owner, deployment: candidate.deployment.name });
  }

  /** The provider may decline to store a response, and its answer says so. */
  #isAtProvider(answer: JsonObject): boolean {
    return this.#options.mayStore && answer["store"] !== false;
  }

  #name(answer: JsonObject): ResponseNames {
    const { input, context } = this.#options;
    const isStored = this.#isAtProvider(answer) || this.#isStoredHere;
    return {
      id: this.#dependencies.conversations.issue(context.owner, isStored),
      previousId: input.request.previous_response_id ?? null,
      isStored,
      instructions: input.request.instructions ?? null,
    };
  }

  #store(answer: JsonObject, own: JsonObject): PendingResponse | null {
    const { input, candidate, context } = this.#options;
    const { provider, deployment, model } = candidate;
    if (!own["store"]) return null;
    if (typeof answer["id"] !== "string") throw badAnswer(provider, "answered with a response that has no id");
    return this.#dependencies.conversations.store({
      id: own["id"] as string,
      owner: context.owner,
      keyId: input.caller.keyId,
      provider: provider.name,
      deployment: deployment.name,
      providerResponseId: this.#isAtProvider(answer) ? answer["id"] : null,
      model,
      previousId: input.request.previous_response_id ?? null,
      depth: (context.previous?.depth ?? 0) + 1,
      response: own,
      input: this.#isStoredHere ? toItems(input.request.input) : null,
    });
  }

  #remember(own: JsonObject): void {
    const { input, context } = this.#options;
    if (own["status"] === "failed" || isCancelled(own)) return;
    const output = (own["output"] ?? []) as readonly JsonObject[];
    const items = [...(context.history ?? []), ...toItems(input.request.input), ...output];
    input.local?.remember(own["id"] as string, items);
  }
}
