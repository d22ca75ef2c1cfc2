// What a request would try, without calling a provider. The planners of real requests decide; this file only words their decisions.

import type { Caller } from "../access/caller.ts";
import type { Model } from "../contract/models.ts";
import type {
  Ability,
  PreviewEndpoint,
  PreviewRequest,
  RoutingCandidate,
  RoutingPreview,
  RoutingTable as ShownTable,
} from "../contract/routing.ts";
import { errorCatalogue, GatewayError, ValidationError } from "../errors.ts";
import { findProvider } from "../providers/find-provider.ts";
import { type LoopCandidate, reasonFor, unavailable } from "./candidate-loop.ts";
import { listTargets, mayUseProvider, type RoutingTable, type Target, toOffer, type Wanted } from "./offers.ts";
import { type Candidate, drawByWeight, type RoutePlanner, servingDeployments } from "./route-planner.ts";
import { Trace } from "./trace.ts";
import type { UniversalAi } from "./universal-ai/universal-ai.ts";

export interface RoutingPreviewOptions {
  readonly table: RoutingTable;
  readonly routers: Readonly<Record<"chat" | "embeddings", RoutePlanner>>;
  readonly universalAi: Pick<UniversalAi, "chooseOffers" | "findOffer" | "toCandidate" | "aliases" | "engines">;
  /** The listed model of this id, if there is one. */
  readonly findModel: (id: string) => Model | undefined;
  readonly retries: number;
}

export type RoutingPreviews = ReturnType<typeof createRoutingPreviews>;

type Refusal = GatewayError | ValidationError;
type Decision = Pick<RoutingCandidate, "reason" | "message">;

export function createRoutingPreviews({ table, routers, universalAi, findModel, retries }: RoutingPreviewOptions) {
  function previewModels(endpoint: PreviewEndpoint, wanted: Wanted, caller: Caller) {
    const router = endpoint === "embeddings" ? routers.embeddings : routers.chat;
    const trace = new Trace(performance.now(), 0);
    const planned = tryTo(() => router.plan(wanted, caller, trace, drawByWeight));
    const candidates = planned instanceof Error ? [] : planned;
    // The sandbox answers a sandbox key whatever the request names.
    const targets = caller.kind === "sandbox" ? [] : listTargets(table, wanted, drawByWeight);
    const tried = decide(candidates).map(({ candidate, decision }) =>
      describeCandidate(candidate, decision, targets, wanted.model),
    );
    const planningProblem = planned instanceof Error ? planned : null;
    const passed = targets.flatMap((target) => {
      const decision = explainTarget(target, { router, wanted, caller, candidates, planningProblem });
      return decision === null ? [] : [describeTarget(target, decision)];
    });
    return {
      refusal: planningProblem ?? findRefusal(candidates),
      rows: [...tried, ...passed],
      count: candidates.length,
    };
  }

  interface Planned {
    readonly router: RoutePlanner;
    readonly wanted: Wanted;
    readonly caller: Caller;
    readonly candidates: readonly Candidate[];
    readonly planningProblem: Refusal | null;
  }

  /** Null: the target is among the candidates. */
  function explainTarget(target: Target, planned: Planned): Decision | null {
    const { router, wanted, caller, candidates, planningProblem } = planned;
    const offer = tryTo(() => toOffer(table, target, caller));
    if (offer instanceof Error) return toDecision(offer);
    const { provider, model } = offer;
    if (candidates.some((one) => one.provider === provider && one.model === model)) return null;
    if (!mayUseProvider(offer, wanted))
      return { reason: "provider_excluded", message: "The request allows other providers only." };
    const problem = router.findProblem(offer);
    if (problem !== null) return toDecision(problem);
    if (planningProblem !== null) return notReached;
    return { reason: "fallbacks_off", message: "The request allows no fallbacks." };
  }

  function describeCandidate(
    candidate: Candidate,
    decision: Decision,
    targets: readonly Target[],
    requested: string,
  ): RoutingCandidate {
    const { provider, deployment, model, health } = candidate;
    const target = targets.find((one) => {
      const offer = tryTo(() => toOffer(table, one, unlimited));
      return !(offer instanceof Error) && offer.provider === provider && offer.model === model;
    });
    const deployments = servingDeployments(provider, model);
    const ofDeployments = shareOf(
      deployment.weight,
      deployments.map(({ weight }) => weight),
    );
    const ofTarget = target === undefined ? null : shareOfTarget(target);
    return {
      position: null,
      ...decision,
      name: target?.name ?? requested,
      model: `${provider.name}/${model}`,
      provider: provider.name,
      deployment: deployment.name,
      share: ofDeployments === null && ofTarget === null ? null : (ofDeployments ?? 1) * (ofTarget ?? 1),
      circuit: health.state(performance.now()),
      latency_ms: health.latencyMs,
      missing_abilities: [],
      unknown_abilities: [],
    };
  }

  function describeTarget(target: Target, decision: Decision): RoutingCandidate {
    const offer = tryTo(() => toOffer(table, target, unlimited));
    return {
      ...{ ...notCalled, ...decision },
      ...{ name: target.name, model: target.model, share: shareOfTarget(target) },
      provider: offer instanceof Error ? null : offer.provider.name,
    };
  }

  function shareOfTarget({ name, weight }: Target): number | null {
    if (weight === null) return null;
    return shareOf(
      weight,
      (table.aliases.get(name) ?? []).map((target) => target.weight ?? 1),
    );
  }

  function previewTask({ model, fallbacks }: Wanted, caller: Caller) {
    const resolved = tryTo(() => universalAi.aliases.resolve({ model, fallbacks: fallbacks ?? [] }));
    if (resolved instanceof Error) return { refusal: resolved, rows: [], count: 0 };
    const names = [resolved.model, ...resolved.fallbacks];
    const offers = tryTo(() => universalAi.chooseOffers(resolved, caller));
    const toRow = (name: string, { provider, deployment, health }: LoopCandidate, decision: Decision) => ({
      ...{ ...notCalled, ...decision, name: names.length === 1 ? model : name, model: name },
      ...{ provider: provider.name, deployment: deployment.name === provider.name ? null : deployment.name },
      ...{ circuit: health?.state(performance.now()) ?? null, latency_ms: health?.latencyMs ?? null },
    });
    if (offers instanceof Error) {
      const rows = names.map((name): RoutingCandidate => {
        const offer = tryTo(() => universalAi.findOffer(name, caller));
        if (offer instanceof Error) return { ...notCalled, ...toDecision(offer), name, model: name, provider: null };
        const { unavailableReason } = offer.engine;
        const reason = "provider_not_configured" as const;
        const decision = unavailableReason === null ? notReached : { reason, message: unavailableReason };
        return toRow(name, universalAi.toCandidate(offer), decision);
      });
      return { refusal: offers, rows, count: 0 };
    }
    const candidates = offers.map((offer) => universalAi.toCandidate(offer));
    const rows = decide(candidates).map(({ candidate, decision }, index) =>
      toRow(offers.length === names.length ? (names[index] ?? model) : model, candidate, decision),
    );
    return { refusal: findRefusal(candidates), rows, count: 0 };
  }

  function withAbilities(row: RoutingCandidate, wanted: readonly Ability[]): RoutingCandidate {
    if (wanted.length === 0) return row;
    const capabilities = findModel(row.model)?.capabilities;
    const claimOf = (ability: Ability) => capabilities?.[`supports_${ability}`] ?? null;
    return {
      ...row,
      missing_abilities: wanted.filter((ability) => claimOf(ability) === false),
      unknown_abilities: wanted.filter((ability) => claimOf(ability) === null),
    };
  }

  return {
    /** The names that the operator declared, and what they lead to. */
    describe(): ShownTable {
      const aliases = [...table.aliases].map(([name, targets]) => ({
        name,
        targets: targets.map(({ model, weight }) => ({
          ...{ model, weight },
          share: shareOfTarget({ name, model, weight: isWeighted(targets) ? (weight ?? 1) : null }),
          configured: isConfigured(model),
        })),
      }));
      return { aliases, retries };
    },

    preview(request: PreviewRequest, caller: Caller = unlimited): RoutingPreview {
      const { endpoint, model, fallback, ability, sort, allowed_provider, allow_fallbacks } = request;
      const wanted: Wanted = {
        model,
        fallbacks: fallback,
        routing: { sort, allow_fallbacks, ...(allowed_provider.length > 0 && { allowed_providers: allowed_provider }) },
      };
      const { refusal, rows, count } =
        endpoint === "universal-ai" ? previewTask(wanted, caller) : previewModels(endpoint, wanted, caller);
      let position = 0;
      const isTried = ({ reason }: RoutingCandidate) => triedReasons.has(reason);
      return {
        process: process.pid,
        refusal: refusal === null ? null : toShownRefusal(refusal),
        retries: count === 1 ? retries : 0,
        candidates: rows.map((row) => withAbilities({ ...row, position: isTried(row) ? ++position : null }, ability)),
      };
    },

    /** The answer to a request that is refused for its key. */
    refuse: (refusal: GatewayError): RoutingPreview => ({
      ...{ process: process.pid, refusal: toShownRefusal(refusal), retries: 0, candidates: [] },
    }),
  };

  function isConfigured(model: string): boolean {
    const [first = "", second = "", third = ""] = model.split("/");
    if (!table.features.has(first)) return findProvider(table.providers, first)?.configured === true;
    return universalAi.engines.some(
      ({ task, provider, aliases = [], unavailableReason }) =>
        task === `${first}/${second}` && [provider, ...aliases].includes(third) && unavailableReason === null,
    );
  }
}

const triedReasons: ReadonlySet<string> = new Set(["first", "fallback", "other_deployment", "probe"]);
const notReached: Decision = {
  reason: "request_refused",
  message: "The request is refused because of another model that it leads to.",
};
const notCalled = {
  ...{ position: null, deployment: null, share: null, circuit: null, latency_ms: null },
  ...{ missing_abilities: [], unknown_abilities: [] },
};

/** A key without limits, for a preview that names none. */
const unlimited: Caller = {
  ...{ keyId: "", kind: "inference", name: "", owner: null, team: null, role: null, scopes: new Set() },
  ...{ allowedModels: null, rateLimit: null, budget: null, rules: [], tags: {} },
};

const messages = {
  first: "It is tried first.",
  fallback: "It is tried when those before it fail.",
  other_deployment: "Another deployment of the same model, tried when the one before it fails.",
} as const;

/** What the candidate loop would do with each of them now. */
function decide<Each extends LoopCandidate>(candidates: readonly Each[]) {
  const now = performance.now();
  return candidates.map((candidate, index): { candidate: Each; decision: Decision } => {
    const { health, unavailableReason = null } = candidate;
    if (unavailableReason !== null)
      return { candidate, decision: { reason: "provider_not_configured", message: unavailableReason } };
    if (health !== null && !health.wouldAdmit(now)) {
      const seconds = Math.max(1, Math.ceil(health.opensInMs(now) / 1_000));
      const message = `Its circuit is open after repeated failures; a call tests it in ${seconds} s.`;
      return { candidate, decision: { reason: "circuit_open", message } };
    }
    if (health?.state(now) === "half_open") {
      const message = "Its circuit was open: one call tests it.";
      return { candidate, decision: { reason: "probe", message } };
    }
    const reason = reasonFor(candidates, index) as keyof typeof messages;
    return { candidate, decision: { reason, message: messages[reason] } };
  });
}

/** The answer when no candidate may be called now. */
function findRefusal(candidates: readonly LoopCandidate[]): GatewayError | null {
  return decide(candidates).some(({ decision }) => triedReasons.has(decision.reason)) ? null : unavailable(candidates);
}

function isWeighted(targets: readonly { readonly weight: number | null }[]): boolean {
  return targets.some(({ weight }) => weight !== null);
}

/** Null: there is no other one. */
function shareOf(weight: number, weights: readonly number[]): number | null {
  return weights.length < 2 ? null : weight / weights.reduce((sum, one) => sum + one, 0);
}

function toDecision(refusal: Refusal): Decision {
  const { code, message } = toShownRefusal(refusal);
  const isKnown = (name: string): name is Decision["reason"] => knownCodes.has(name);
  return { reason: isKnown(code) ? code : "model_not_found", message };
}

const knownCodes: ReadonlySet<string> = new Set<Decision["reason"]>([
  ...(["provider_not_configured", "provider_not_found", "model_not_found", "model_not_allowed"] as const),
]);

function toShownRefusal(refusal: Refusal): NonNullable<RoutingPreview["refusal"]> {
  const code = refusal instanceof GatewayError ? refusal.code : "invalid_request";
  return { status: errorCatalogue[code].status, code, message: refusal.message };
}

function tryTo<Result>(run: () => Result): Result | Refusal {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError || error instanceof ValidationError) return error;
    throw error;
  }
}
