// Which offers may answer a call: the model that was asked for, or what its alias stands for, then the fallbacks; all of
// them known, allowed to the caller, and set up.

import type { Caller } from "../access/caller.ts";
import { fitsPattern, splitModelName } from "../catalogue/model-name.ts";
import { GatewayError } from "../errors.ts";
import type { Provider } from "../providers/configure.ts";

export interface Offer {
  readonly provider: Provider;
  /** As the provider spells it. */
  readonly model: string;
}

export interface Wanted {
  readonly model: string;
  readonly fallbacks?: readonly string[] | null | undefined;
  readonly routing?:
    | { readonly allowed_providers?: readonly string[] | undefined; readonly allow_fallbacks?: boolean | undefined }
    | null
    | undefined;
}

export interface Market {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  /** First parts of task names: a name that starts with one belongs to another endpoint. */
  readonly features: ReadonlySet<string>;
}

const sandboxName = "sandbox";
const sandboxDefaultModel = "echo";

export function findOffers(market: Market, wanted: Wanted, caller: Caller): [Offer, ...Offer[]] {
  if (caller.kind === "sandbox") return [sandboxOffer(market, wanted.model)];
  const isPlain = !wanted.fallbacks?.length && !wanted.routing && !market.aliases.has(wanted.model);
  if (isPlain) {
    refuseForbidden(wanted.model, caller);
    return [findOffer(market, wanted.model)];
  }
  const names = [
    ...(market.aliases.get(wanted.model) ?? [wanted.model]),
    ...(wanted.fallbacks ?? []).flatMap((name) => market.aliases.get(name) ?? [name]),
  ];
  for (const name of names) refuseForbidden(name, caller);
  const offers = names.map((name) => findOffer(market, name));
  const allowed = wanted.routing?.allowed_providers;
  const kept = allowed === undefined ? offers : offers.filter(({ provider }) => allowed.includes(provider.name));
  const [first, ...rest] = kept;
  if (first === undefined)
    throw new GatewayError("model_not_found", "No offer of this model is among routing.allowed_providers.", {
      param: "routing.allowed_providers",
    });
  return wanted.routing?.allow_fallbacks === false ? [first] : [first, ...rest];
}

function refuseForbidden(name: string, caller: Caller): void {
  if (caller.allowedModels === null || fitsPattern(name, caller.allowedModels)) return;
  throw new GatewayError("model_not_allowed", `This key may not use the model '${name}'.`, { param: "model" });
}

function findOffer(market: Market, name: string): Offer {
  const { provider: providerName, model } = splitModelName(name);
  const provider = market.providers.get(providerName);
  if (provider !== undefined) return { provider, model };
  if (market.features.has(providerName))
    throw new GatewayError("model_not_found", `'${name}' names a task: send it to POST /v3/universal-ai.`, {
      param: "model",
    });
  throw new GatewayError("provider_not_found", `There is no provider '${providerName}'. GET /v3/models lists them.`, {
    param: "model",
  });
}

/** A sandbox key is answered by the sandbox, whatever model it asks for. */
function sandboxOffer(market: Market, name: string): Offer {
  const provider = market.providers.get(sandboxName);
  if (provider === undefined) throw new GatewayError("provider_not_found", "The sandbox is not part of this gateway.");
  const { provider: providerName, model } = splitModelName(name);
  return { provider, model: providerName === sandboxName ? model : sandboxDefaultModel };
}

/** A provider without its key cannot be called; the answer says which setting is missing. */
export function refuseUnconfigured(provider: Provider): void {
  if (provider.missingSetting === null) return;
  throw new GatewayError(
    "provider_not_configured",
    `The provider '${provider.name}' is not set up: set ${provider.missingSetting}, or declare it in switchyard.yaml.`,
  );
}
