// Plans a request for a response: the candidates that may answer it, and the conversation that it continues.

import { ownerOf } from "../../access/caller.ts";
import { GatewayError } from "../../errors.ts";
import type { JsonObject } from "../../providers/dialect.ts";
import { isNamed } from "../../providers/find-provider.ts";
import type { Candidate } from "../route-planner.ts";
import type { ResponseRecord } from "./conversation-store.ts";
import { comesFrom } from "./provider-items.ts";
import { withReferencedItems } from "./referenced-items.ts";
import { cannotContinue, type ResponsesDependencies, type ResponsesInput, toItems } from "./responses-input.ts";

export interface ResponseContext {
  readonly owner: string;
  /** The response that this one continues. */
  readonly previous: ResponseRecord | null;
  /** The earlier conversation, for a provider that has to receive all of it; null for a provider that stores it itself. */
  readonly history: readonly JsonObject[] | null;
}

export interface ResponsePlan {
  readonly input: ResponsesInput;
  /** All candidates of the model, before the conversation excludes some. */
  readonly planned: readonly Candidate[];
  readonly candidates: readonly Candidate[];
  readonly context: ResponseContext;
}

export function createResponsePlanner({ router, conversations, owned }: ResponsesDependencies) {
  async function plan(received: ResponsesInput): Promise<ResponsePlan> {
    const owner = ownerOf(received.caller);
    const input = await withReferencedItems(received, owner, conversations);
    const { request, caller, trace } = input;
    const remembered = recall(input, owner);
    const previousId = remembered === null ? request.previous_response_id : null;
    const planned = router.plan(request, caller, trace);
    // A connection can continue its own responses with every provider.
    const canContinue = input.local !== undefined || planned.some(isStoring);
    const previous = previousId ? await findPrevious(previousId, owner, canContinue) : null;
    const chosen =
      remembered === null ? await chooseCandidates(planned, previous) : { candidates: planned, history: remembered };
    const { history } = chosen;
    const candidates = preferOrigin(chosen.candidates, [...(history ?? []), ...toItems(request.input)], owner);
    trace.routedAt = performance.now();
    return { input, planned, candidates, context: { owner, previous, history } };
  }

  /** The conversation that the connection remembers, for a response that is not stored. */
  function recall({ request, local }: ResponsesInput, owner: string): readonly JsonObject[] | null {
    const id = request.previous_response_id;
    return id && local !== undefined && conversations.isOwnUnstored(id, owner) ? local.find(id) : null;
  }

  /** Whether responses of this candidate are stored, so that they can be continued. */
  function isStoring({ provider }: Candidate): boolean {
    return provider.row.responses?.kind === "native" || conversations.storesFor(provider.name);
  }

  async function findPrevious(id: string, owner: string, canContinue: boolean): Promise<ResponseRecord> {
    const found = await conversations.find(id, owner);
    if (found !== null) return found;
    if (!conversations.isOwnUnstored(id, owner)) throw cannotContinue("There is no such earlier response.");
    if (canContinue) throw cannotContinue("The earlier response was not stored, so it cannot be continued.");
    throw new GatewayError(
      "stateful_not_supported",
      "The earlier response was not stored, and the provider cannot continue any response: send the whole conversation.",
      { param: "previous_response_id" },
    );
  }

  /**
   * The candidates that can continue the earlier response: the account that stores it; or, when the gateway stores the conversation
   * itself, every candidate, which then receives all of it.
   */
  async function chooseCandidates(
    planned: readonly Candidate[],
    previous: ResponseRecord | null,
  ): Promise<{ candidates: readonly Candidate[]; history: readonly JsonObject[] | null }> {
    if (previous === null) return { candidates: planned, history: null };
    const stored = conversations.findDeployment(previous.provider, previous.deployment);
    const storing = planned.filter(
      ({ provider, deployment }) => provider.row.responses?.kind === "native" && deployment === stored?.deployment,
    );
    if (previous.providerResponseId !== null && storing.length > 0) return { candidates: storing, history: null };
    const history = await conversations.readConversation(previous);
    if (Array.isArray(history)) {
      const able = conversations.storesAll
        ? planned
        : planned.filter(({ provider }) => isNamed(provider, previous.provider));
      if (able.length > 0) return { candidates: able, history };
    } else if (previous.providerResponseId === null)
      throw cannotContinue(
        history === "unfinished"
          ? "The earlier response did not complete, so it cannot be continued."
          : "A turn of the conversation was deleted or has expired, so it cannot be continued.",
      );
    if (!planned.some(isStoring))
      throw new GatewayError(
        "stateful_not_supported",
        `The provider '${planned[0]?.provider.name}' stores no responses.`,
        { param: "previous_response_id" },
      );
    throw new GatewayError(
      "previous_response_provider_mismatch",
      `The earlier response is stored by '${previous.provider}', and only that provider can continue it.`,
      { param: "previous_response_id" },
    );
  }

  /** An account can read the items that it created itself, encrypted reasoning above all. */
  function preferOrigin(
    candidates: readonly Candidate[],
    items: readonly JsonObject[],
    owner: string,
  ): readonly Candidate[] {
    const [first] = candidates;
    if (candidates.length === 1 || first === undefined) return candidates;
    // Only among equals: the caller or the operator chose the order of the providers.
    const origin = candidates.find(
      ({ pool, deployment }) => pool === first.pool && comesFrom(items, owned, { owner, deployment: deployment.name }),
    );
    return origin === undefined ? candidates : [origin, ...candidates.filter((candidate) => candidate !== origin)];
  }

  return plan;
}

/** The members of a stored response that are known before the answer. `storesContent`: the gateway stores its input and output. */
export function toRecordMembers(
  { caller, request }: ResponsesInput,
  { provider, deployment, model }: Candidate,
  { owner, previous, history }: ResponseContext,
  storesContent: boolean,
) {
  const ownItems = toItems(request.input);
  // Only the connection has the earlier turns. A reference to them could never be followed, so the response is stored with them.
  const recalled = storesContent && previous === null ? history : null;
  return {
    owner,
    keyId: caller.keyId,
    provider: provider.name,
    deployment: deployment.name,
    model,
    previousId: recalled === null ? (request.previous_response_id ?? null) : null,
    depth: (previous?.depth ?? 0) + 1,
    input: storesContent ? [...(recalled ?? []), ...ownItems] : null,
  };
}
