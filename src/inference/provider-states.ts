// The state of the providers, for the operator.

import type { Degradation } from "../contract/health.ts";
import type { ProviderState } from "../contract/providers.ts";
import type { Family } from "../metrics/family.ts";
import type { Provider } from "../providers/configure.ts";
import type { Deployment } from "../providers/deployment.ts";
import { hasModels, type ProviderRow } from "../providers/provider.ts";
import type { HealthBook, OfferHealth } from "./health.ts";

const mostModels = 10;
const circuitStates: readonly ReturnType<OfferHealth["state"]>[] = ["closed", "open", "half_open"];

export function describeProviders(providers: Iterable<Provider>, health: HealthBook): ProviderState[] {
  return [...providers].map((provider) => describeProvider(provider, health));
}

/** How many called models of each deployment have a circuit in each state, for the metrics. */
export function describeCircuits(providers: Iterable<Provider>, health: HealthBook): Family[] {
  const now = performance.now();
  const samples = [...providers].flatMap((provider) =>
    listDeployments(provider).flatMap((deployment) => {
      const states = [...health.ofDeployment(deployment.name)].map(([, offer]) => offer.state(now));
      if (states.length === 0) return [];
      return circuitStates.map((state) => ({
        labels: { provider: provider.name, deployment: deployment.name, state },
        value: states.filter((one) => one === state).length,
      }));
    }),
  );
  const help = "Called models of each deployment by the state of their circuit breaker: closed, open or half_open.";
  return [{ name: "circuits", help, type: "gauge", merge: "max", samples }];
}

/** Providers with an open circuit. */
export function listOpenCircuits(providers: Iterable<Provider>, health: HealthBook): Degradation[] {
  const now = performance.now();
  return [...providers].flatMap((provider) => {
    const open = listDeployments(provider).flatMap(({ name }) =>
      [...health.ofDeployment(name)].filter(([, offer]) => offer.state(now) === "open"),
    );
    if (open.length === 0) return [];
    const models = open.map(([model]) => model).slice(0, mostModels);
    const reason = `The circuit of ${models.join(", ")} is open after repeated failures.`;
    return [{ component: "provider" as const, name: provider.name, reason }];
  });
}

export function describeProvider(provider: Provider, health: HealthBook): ProviderState {
  const { row, name, missingSetting, missingTaskSetting } = provider;
  const described = listDeployments(provider).map((deployment) => ({
    name: deployment.name,
    base_url: isBuiltIn(row) ? null : deployment.baseUrl,
    weight: deployment.weight,
    models: deployment.models === null ? null : [...deployment.models],
    offers: [...health.ofDeployment(deployment.name)].map(([model, one]) => describeOffer(model, one)),
  }));
  const offers = described.flatMap((deployment) => deployment.offers);
  const errors = offers.flatMap(({ last_error }) => (last_error === null ? [] : [last_error]));
  errors.sort((one, other) => other.at.localeCompare(one.at));
  const configured = provider.configured || (row.tasks !== undefined && missingTaskSetting === null);
  return {
    name,
    title: row.title,
    dialect: hasModels(row) ? (row.dialect ?? "openai") : null,
    built_in: isBuiltIn(row),
    configured,
    missing_setting: configured ? null : hasModels(row) ? missingSetting : missingTaskSetting,
    healthy: offers.length === 0 ? null : offers.every(({ state }) => state === "closed"),
    last_error: errors[0] ?? null,
    credentials: provider.sources.find(({ key }) => key !== null)?.key?.kind ?? null,
    deployments: described,
  };
}

/** It runs in the gateway itself, so it has no credentials. */
export function isBuiltIn({ transport, auth }: ProviderRow): boolean {
  return transport !== undefined || auth?.kind === "none";
}

/** Of models and tasks. Both have the same deployment where they share an address, and the same name where they do not. */
export function listDeployments({ row, deployments, taskDeployments }: Provider): readonly Deployment[] {
  const names = new Set(deployments.map(({ name }) => name));
  const ofTasks = row.tasks === undefined ? [] : taskDeployments.filter(({ name }) => !names.has(name));
  return [...deployments, ...ofTasks];
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
