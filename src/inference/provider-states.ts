// How the providers are doing, for the operator.

import type { Degradation } from "../contract/health.ts";
import type { ProviderState } from "../contract/providers.ts";
import type { Provider } from "../providers/configure.ts";
import type { HealthBook, OfferHealth } from "./health.ts";

const mostModels = 10;

export function describeProviders(providers: Iterable<Provider>, health: HealthBook): ProviderState[] {
  return [...providers].map((provider) => describeProvider(provider, health));
}

/** Providers with an offer that is not asked at the moment. */
export function listOpenCircuits(providers: Iterable<Provider>, health: HealthBook): Degradation[] {
  const now = performance.now();
  return [...providers].flatMap(({ name, deployments }) => {
    const open = deployments.flatMap((deployment) =>
      [...health.ofDeployment(deployment.name)].filter(([, offer]) => offer.state(now) === "open"),
    );
    if (open.length === 0) return [];
    const models = open.map(([model]) => model).slice(0, mostModels);
    const reason = `The circuit of ${models.join(", ")} is open after repeated failures.`;
    return [{ component: "provider" as const, name, reason }];
  });
}

function describeProvider({ row, name, configured, missingSetting, deployments }: Provider, health: HealthBook) {
  const described = deployments.map((deployment) => ({
    name: deployment.name,
    base_url: deployment.baseUrl,
    weight: deployment.weight,
    models: deployment.models === null ? null : [...deployment.models],
    offers: [...health.ofDeployment(deployment.name)].map(([model, one]) => describeOffer(model, one)),
  }));
  const offers = described.flatMap((deployment) => deployment.offers);
  const errors = offers.flatMap(({ last_error }) => (last_error === null ? [] : [last_error]));
  errors.sort((one, other) => other.at.localeCompare(one.at));
  return {
    name,
    title: row.title,
    dialect: row.dialect ?? "openai",
    configured,
    missing_setting: missingSetting,
    healthy: offers.length === 0 ? null : offers.every(({ state }) => state === "closed"),
    last_error: errors[0] ?? null,
    deployments: described,
  };
}

function describeOffer(model: string, health: OfferHealth) {
  const now = performance.now();
  const { latencyMs, calls, failures, lastError } = health;
  return {
    model,
    state: health.state(now),
    retry_in_ms: Math.ceil(health.opensInMs(now)),
    latency_ms: latencyMs === null ? null : Math.round(latencyMs * 10) / 10,
    calls,
    failures,
    last_error: lastError === null ? null : { ...lastError, at: lastError.at.toISOString() },
  };
}
