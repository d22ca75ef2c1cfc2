// Decides which offers are tried and in which order: by the caller's routing options, the operator's weights, the session's last offer, and
// the health of each offer. It sends no request.

import type { Caller } from "../access/caller.ts";
import { GatewayError } from "../errors.ts";
import type { Provider } from "../providers/configure.ts";
import type { Deployment } from "../providers/deployment.ts";
import type { HealthBook, OfferHealth } from "./health.ts";
import { type Draw, findOffers, type Offer, type RoutingTable, type Wanted } from "./offers.ts";
import type { Trace } from "./trace.ts";

/** One offer at one deployment. */
export interface Candidate {
  readonly provider: Provider;
  readonly deployment: Deployment;
  readonly model: string;
  readonly health: OfferHealth;
  /** Candidates of the same pool are interchangeable. */
  readonly pool: string;
}

export type RoutePlanner = ReturnType<typeof createRoutePlanner>;

interface RoutePlannerOptions {
  readonly table: RoutingTable;
  readonly health: HealthBook;
  /** The cost of a typical request, for `sort: cost`; null when the price is unknown. */
  readonly typicalCost: (provider: Provider, model: string) => number | null;
  /** Whether the provider supports this endpoint. */
  readonly serves: (provider: Provider) => boolean;
  readonly endpoint: string;
}

const mostSessions = 20_000;
const sessionMs = 3_600_000;

export function createRoutePlanner(options: RoutePlannerOptions) {
  const { table, health, typicalCost, serves, endpoint } = options;
  const sessions = new Map<string, { name: string; until: number }>();

  /** The candidates in the order in which they are tried; never empty. `usedDraw`: for previews, which draw nothing by chance. */
  function plan(wanted: Wanted, caller: Caller, trace: Trace, usedDraw?: Draw): readonly Candidate[] {
    const session = wanted.session_id ? `${caller.keyId} ${wanted.session_id}` : null;
    const draw = usedDraw ?? (session === null ? drawByChance : drawByName(session));
    const found = sortOffers(findOffers(table, wanted, caller, draw), wanted);
    const offers = wanted.routing?.allow_fallbacks === false ? found.slice(0, 1) : found;
    const candidates: Candidate[] = [];
    let problem: GatewayError | null = null;
    for (const offer of offers) {
      const own = addCandidates(offer, draw, candidates);
      if (own === null) continue;
      trace.skipped.push({ provider: offer.provider.name, model: offer.model, why: own.message });
      problem ??= own;
    }
    if (candidates.length === 0 && problem !== null) throw problem;
    if (candidates.length === 1) return candidates;
    return orderByHealth(session === null ? candidates : preferSession(session, candidates, trace));
  }

  /** Why the offer cannot be tried; null when it can. */
  function findProblem({ provider, model }: Offer): GatewayError | null {
    if (!serves(provider)) return notFound(`The provider '${provider.name}' has no ${endpoint}.`);
    if (provider.deployments.length === 0) return notConfigured(provider);
    if (servingDeployments(provider, model).length > 0) return null;
    return notFound(`No deployment of '${provider.name}' serves the model '${model}'.`);
  }

  /** Returns the reason when the offer cannot be tried. */
  function addCandidates(offer: Offer, draw: Draw, candidates: Candidate[]): GatewayError | null {
    const problem = findProblem(offer);
    if (problem !== null) return problem;
    const { provider, model, pool = `${provider.name} ${model}` } = offer;
    const serving = servingDeployments(provider, model);
    const drawn = serving.length === 1 ? serving : draw(serving, nameOfDeployment, weightOfDeployment);
    for (const deployment of drawn)
      candidates.push({ provider, deployment, model, health: health.of(deployment.name, model), pool });
    return null;
  }

  function sortOffers(offers: [Offer, ...Offer[]], wanted: Wanted): [Offer, ...Offer[]] {
    const sort = wanted.routing?.sort;
    if (offers.length === 1 || sort === undefined || sort === "order") return offers;
    const measure = sort === "cost" ? costOf : latencyOf;
    const measured = offers.map((offer) => ({ offer, value: measure(offer) }));
    measured.sort((one, other) => one.value - other.value);
    return measured.map(({ offer }) => offer) as [Offer, ...Offer[]];
  }

  /** An unknown price comes last: it could be the highest. */
  function costOf({ provider, model }: Offer): number {
    return typicalCost(provider, model) ?? Number.MAX_VALUE;
  }

  /** An offer without a measurement comes first, so that it is measured; one that never answered comes last. */
  function latencyOf({ provider, model }: Offer): number {
    const latencies = servingDeployments(provider, model).map(({ name }) => {
      const { latencyMs, calls } = health.of(name, model);
      return latencyMs ?? (calls === 0 ? -1 : Number.MAX_VALUE);
    });
    return Math.min(Number.MAX_VALUE, ...latencies);
  }

  function preferSession(session: string, candidates: Candidate[], trace: Trace): Candidate[] {
    const known = sessions.get(session);
    if (known === undefined || known.until < performance.now()) return candidates;
    const index = candidates.findIndex((candidate) => nameOf(candidate) === known.name);
    if (index < 0) return candidates;
    trace.isSticky = true;
    return [...candidates.splice(index, 1), ...candidates];
  }

  /** Routes later requests of the session to the candidate that answered this one. */
  function remember(wanted: Wanted, caller: Caller, candidate: Candidate): void {
    if (!wanted.session_id) return;
    const session = `${caller.keyId} ${wanted.session_id}`;
    // Delete first: insertion order is the order of eviction, and an active session moves to the end.
    sessions.delete(session);
    sessions.set(session, { name: nameOf(candidate), until: performance.now() + sessionMs });
    if (sessions.size > mostSessions) sessions.delete(sessions.keys().next().value as string);
  }

  return { plan, remember, findProblem };
}

/** The deployments of the provider that serve the model. */
export function servingDeployments({ deployments }: Provider, model: string): readonly Deployment[] {
  if (deployments.every(({ models }) => models === null)) return deployments;
  return deployments.filter(({ models }) => models === null || models.has(model));
}

const nameOfDeployment = ({ name }: Deployment) => name;
const weightOfDeployment = ({ weight }: Deployment) => weight;

function notFound(message: string): GatewayError {
  return new GatewayError("model_not_found", message, { param: "model" });
}

/** The provider cannot be called without its key; the message names the missing setting. */
function notConfigured({ name, missingSetting }: Provider): GatewayError {
  return new GatewayError(
    "provider_not_configured",
    `The provider '${name}' is not set up: set ${missingSetting}, or declare it in switchyard.yaml.`,
  );
}

/**
 * Moves outliers and open circuits to the end of their pool. No candidate is removed, so the pool is never empty, and an order that the
 * caller requested stays.
 */
function orderByHealth(candidates: readonly Candidate[]): readonly Candidate[] {
  const now = performance.now();
  const rank = ({ health }: Candidate) => (!health.wouldAdmit(now) ? 2 : health.isOutlier(now) ? 1 : 0);
  const ranked = candidates.map((candidate) => ({ candidate, rank: rank(candidate) }));
  if (ranked.every((one) => one.rank === 0)) return candidates;
  const firstIndexes = new Map(candidates.map(({ pool }, index) => [pool, index] as const).reverse());
  const poolIndex = ({ pool }: Candidate) => firstIndexes.get(pool) ?? 0;
  return ranked
    .sort((one, other) => poolIndex(one.candidate) - poolIndex(other.candidate) || one.rank - other.rank)
    .map(({ candidate }) => candidate);
}

function nameOf({ deployment, model }: Candidate): string {
  return `${deployment.name} ${model}`;
}

/** The heaviest items first: the most likely of the orders that are drawn by chance. */
export const drawByWeight: Draw = (items, _name, weight) => items.toSorted((one, other) => weight(other) - weight(one));

/** Heavier items come first more often: each draws a random waiting time, and the shortest wins. */
export const drawByChance: Draw = (items, _name, weight) => byWaitingTime(items, weight, Math.random);

/** A session draws the same order in every process, and few sessions move when the pool changes. */
function drawByName(session: string): Draw {
  const shareOf = (name: string) => (Number(Bun.hash.wyhash(`${session} ${name}`) >> 32n) + 0.5) / 2 ** 32;
  return (items, name, weight) => byWaitingTime(items, weight, (item) => shareOf(name(item)));
}

function byWaitingTime<T>(items: readonly T[], weight: (item: T) => number, chance: (item: T) => number): readonly T[] {
  const waitFor = (item: T) => -Math.log(chance(item) || Number.MIN_VALUE) / (weight(item) || Number.MIN_VALUE);
  const drawn = items.map((item) => ({ item, wait: waitFor(item) }));
  return drawn.sort((one, other) => one.wait - other.wait).map(({ item }) => item);
}
