// Finds the offers for a model name: splits the name, resolves aliases, and applies the key's list of allowed models. A sandbox key is
// only offered the sandbox.

import type { Caller } from "../access/caller.ts";
import { splitModelName } from "../catalogue/model-name.ts";
import type { ChatCompletionRequest } from "../contract/chat-completions.ts";
import type { AliasTarget } from "../contract/model-names.ts";
import { GatewayError } from "../errors.ts";
import { suggest } from "../lib/find-nearest.ts";
import type { Provider } from "../providers/configure.ts";
import { findProvider, isNamed, listProviderNames } from "../providers/find-provider.ts";
import { spellModel } from "../providers/model-spelling.ts";
import { modelNamesOf } from "../providers/provider.ts";
import { type NamedModel, refuseForbidden } from "./allowed-models.ts";

export interface Offer {
  readonly provider: Provider;
  /** The provider's own name of the model. */
  readonly model: string;
  /** The weighted alias that the offer was drawn for. */
  readonly pool?: string;
}

export type Wanted = Pick<ChatCompletionRequest, "model"> &
  Partial<Pick<ChatCompletionRequest, "fallbacks" | "routing" | "session_id">>;

export interface RoutingTable {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly aliases: ReadonlyMap<string, readonly AliasTarget[]>;
  /** The first parts of task names: such a name belongs to another endpoint. */
  readonly features: ReadonlySet<string>;
}

/** Orders weighted items for trying them in turn. */
export type Draw = <T>(items: readonly T[], name: (item: T) => string, weight: (item: T) => number) => readonly T[];

const sandboxName = "sandbox";
const sandboxDefaultModel = "echo";

export function findOffers(table: RoutingTable, wanted: Wanted, caller: Caller, draw: Draw): [Offer, ...Offer[]] {
  if (caller.kind === "sandbox") return [sandboxOffer(table, wanted.model)];
  const isPlain = !wanted.fallbacks?.length && !wanted.routing && !table.aliases.has(wanted.model);
  if (isPlain) {
    if (caller.allowedModels !== null) refuseForbiddenOffer(table, wanted.model, caller.allowedModels);
    return [findOffer(table, wanted.model)];
  }
  const offers = listTargets(table, wanted, draw).map((target) => toOffer(table, target, caller));
  const found = offers.filter((offer) => mayUseProvider(offer, wanted));
  const [first, ...rest] = found;
  if (first === undefined)
    throw new GatewayError("model_not_found", "None of the providers in routing.allowed_providers offers this model.", {
      param: "routing.allowed_providers",
    });
  return [first, ...rest];
}

/** A model that a request leads to. */
export interface Target extends AliasTarget {
  /** The alias or model that the request names. */
  readonly name: string;
}

/** The models that the request leads to, in order: its own, then its fallbacks, each with the targets of its alias. */
export function listTargets(table: RoutingTable, { model, fallbacks }: Wanted, draw: Draw): Target[] {
  return [model, ...(fallbacks ?? [])].flatMap((name) =>
    resolveAlias(table, name, draw).map((target) => ({ name, ...target })),
  );
}

/** Throws when the caller may not use the model, or no provider has its name. */
export function toOffer(table: RoutingTable, { name, model, weight }: Target, caller: Caller): Offer {
  if (caller.allowedModels !== null) refuseForbiddenOffer(table, model, caller.allowedModels);
  const offer = findOffer(table, model);
  return weight === null ? offer : { ...offer, pool: name };
}

export function mayUseProvider({ provider }: Offer, { routing }: Wanted): boolean {
  return routing?.allowed_providers?.some((name) => isNamed(provider, name)) ?? true;
}

/** The targets in the order in which they are tried. A name that is not an alias is its own target. */
export function resolveAlias(
  { aliases }: Pick<RoutingTable, "aliases">,
  name: string,
  draw: Draw,
): readonly AliasTarget[] {
  const targets = aliases.get(name);
  if (targets === undefined) return [{ model: name, weight: null }];
  if (targets.every(({ weight }) => weight === null)) return targets;
  const weighted = targets.map(({ model, weight }) => ({ model, weight: weight ?? 1 }));
  return draw(
    weighted,
    ({ model }) => model,
    ({ weight }) => weight,
  );
}

type AllowedModels = NonNullable<Caller["allowedModels"]>;

/** `named`: how the request names the model, if not as its own. */
export function refuseForbiddenOffer(
  { providers }: Pick<RoutingTable, "providers">,
  name: string,
  allowedModels: AllowedModels,
  named?: NamedModel,
): void {
  const { provider: providerName, model: written } = splitModelName(name);
  const provider = findProvider(providers, providerName);
  const model = provider === undefined ? written : spellModel(provider, written);
  const listOtherNames = () => {
    if (provider === undefined) return [];
    // A name of the provider counts only if it leads to the same provider: with a key for Gemini, `google` is not Vertex AI.
    const names = modelNamesOf(provider.row).filter((other) => findProvider(providers, other) === provider);
    return names.map((other) => `${other}/${model}`);
  };
  refuseForbidden(allowedModels, `${providerName}/${model}`, listOtherNames, named);
}

function findOffer(table: RoutingTable, name: string): Offer {
  const { provider: providerName, model } = splitModelName(name);
  const provider = findProvider(table.providers, providerName);
  if (provider !== undefined) return { provider, model: spellModel(provider, model) };
  if (table.features.has(providerName))
    throw new GatewayError("model_not_found", `'${name}' names a task: send it to POST /v3/universal-ai.`, {
      param: "model",
    });
  const nearest = suggest(providerName, listProviderNames(table.providers.values())) || ".";
  throw new GatewayError(
    "provider_not_found",
    `There is no provider '${providerName}'${nearest} GET /v3/models lists the models.`,
    { param: "model" },
  );
}

/** The sandbox answers every request of a sandbox key, whatever its model. */
function sandboxOffer(table: RoutingTable, name: string): Offer {
  const provider = table.providers.get(sandboxName);
  if (provider === undefined) throw new GatewayError("provider_not_found", "The sandbox is not part of this gateway.");
  const { provider: providerName, model } = splitModelName(name);
  return { provider, model: providerName === sandboxName ? model : sandboxDefaultModel };
}
