// Which offers are tried, and in which order: the caller's wishes, the operator's weights, the conversation's own offer, and
// how each offer has been doing. Nothing is called here.

import type { Caller } from "../access/caller.ts";
import { GatewayError } from "../errors.ts";
import type { Deployment, Provider } from "../providers/configure.ts";
import type { HealthBook, OfferHealth } from "./health.ts";
import { type Draw, findOffers, type Offer, type RoutingTable, type Wanted } from "./offers.ts";
import type { Trace } from "./trace.ts";

/** One offer at one deployment. */
export interface Candidate {
  readonly provider: Provider;
  readonly deployment: Deployment;
  readonly model: string;
  readonly health: OfferHealth;
  /** What it may change places with. */
  readonly pool: string;
}

export interface RoutePlanner {
  /** In the order of trying; never empty. */
  plan(wanted: Wanted, caller: Caller, trace: Trace): readonly Candidate[];
  /** The conversation stays where it was answered. */
  remember(wanted: Wanted, caller: Caller, candidate: Candidate): void;
}

export interface RoutePlannerOptions {
  readonly table: RoutingTable;
  readonly health: HealthBook;
  /** What a typical request costs, for `sort: cost`; null when the price is not known. */
  readonly typicalCost: (provider: Provider, model: string) => number | null;
  /** Which ability a provider needs for this endpoint. */
  readonly serves: (provider: Provider) => boolean;
  readonly endpoint: string;
}

const mostSessions = 20_000;
const sessionMs = 3_600_000;

export function createRoutePlanner({
  table,
  health,
  typicalCost,
  serves,
  endpoint,
}: RoutePlannerOptions): RoutePlanner {
  const sessions = new Map<string, { name: string; until: number }>();

  function plan(wanted: Wanted, caller: Caller, trace: Trace): readonly Candidate[] {
    const session = wanted.session_id ? `${caller.keyId} ${wanted.session_id}` : null;
    const draw = session === null ? drawByChance : drawByName(session);
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

  /** Says why the offer cannot be asked, where it cannot. */
  function addCandidates(
    { provider, model, pool = `${provider.name} ${model}` }: Offer,
    draw: Draw,
    candidates: Candidate[],
  ): GatewayError | null {
    if (!serves(provider)) return notFound(`The provider '${provider.name}' has no ${endpoint}.`);
    if (provider.deployments.length === 0) return notConfigured(provider);
    const serving = servingDeployments(provider, model);
    if (serving.length === 0) return notFound(`No deployment of '${provider.name}' serves the model '${model}'.`);
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

  /** What has no known price comes last: nobody should pay more by surprise. */
  function costOf({ provider, model }: Offer): number {
    return typicalCost(provider, model) ?? Number.MAX_VALUE;
  }

  /** What has not been measured comes first, so that it will be. What was asked and never answered comes last. */
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

  function remember(wanted: Wanted, caller: Caller, candidate: Candidate): void {
    if (!wanted.session_id) return;
    const session = `${caller.keyId} ${wanted.session_id}`;
    // The oldest go first: a session that goes on is entered anew.
    sessions.delete(session);
    sessions.set(session, { name: nameOf(candidate), until: performance.now() + sessionMs });
    if (sessions.size > mostSessions) sessions.delete(sessions.keys().next().value as string);
  }

  return { plan, remember };
}

function servingDeployments({ deployments }: Provider, model: string): readonly Deployment[] {
  if (deployments.every(({ models }) => models === null)) return deployments;
  return deployments.filter(({ models }) => models === null || models.has(model));
}

const nameOfDeployment = ({ name }: Deployment) => name;
const weightOfDeployment = ({ weight }: Deployment) => weight;

function notFound(message: string): GatewayError {
  return new GatewayError("model_not_found", message, { param: "model" });
}

/** A provider without its key cannot be called; the answer says which setting is missing. */
function notConfigured({ name, missingSetting }: Provider): GatewayError {
  return new GatewayError(
    "provider_not_configured",
    `The provider '${name}' is not set up: set ${missingSetting}, or declare it in switchyard.yaml.`,
  );
}

/**
 * In a pool of equals, outliers and open circuits go to the end: nothing is taken out, so the pool is never empty. An order
 * that was asked for stays as it is.
 */
function orderByHealth(candidates: readonly Candidate[]): readonly Candidate[] {
  const now = performance.now();
  const rank = ({ health }: Candidate) => (!health.mayBeAsked(now) ? 2 : health.isOutlier(now) ? 1 : 0);
  const ranked = candidates.map((candidate) => ({ candidate, rank: rank(candidate) }));
  if (ranked.every((one) => one.rank === 0)) return candidates;
  const places = new Map(candidates.map(({ pool }, index) => [pool, index] as const).reverse());
  const placeOf = ({ pool }: Candidate) => places.get(pool) ?? 0;
  return ranked
    .sort((one, other) => placeOf(one.candidate) - placeOf(other.candidate) || one.rank - other.rank)
    .map(({ candidate }) => candidate);
}

function nameOf({ deployment, model }: Candidate): string {
  return `${deployment.name} ${model}`;
}

/** Heavier ones come first more often: each draws a waiting time, and the shortest wins. */
export const drawByChance: Draw = (things, _name, weight) => byWaitingTime(things, weight, Math.random);

/** The same conversation always draws the same, in every process, and few conversations move when the pool changes. */
function drawByName(session: string): Draw {
  const shareOf = (name: string) => (Number(Bun.hash.wyhash(`${session} ${name}`) >> 32n) + 0.5) / 2 ** 32;
  return (things, name, weight) => byWaitingTime(things, weight, (thing) => shareOf(name(thing)));
}

function byWaitingTime<T>(
  things: readonly T[],
  weight: (thing: T) => number,
  chance: (thing: T) => number,
): readonly T[] {
  const drawn = things.map((thing) => ({
    thing,
    wait: -Math.log(chance(thing) || Number.MIN_VALUE) / (weight(thing) || Number.MIN_VALUE),
  }));
  return drawn.sort((one, other) => one.wait - other.wait).map(({ thing }) => thing);
}
