// What GET /v3/manage/providers tells of one offer.

import { expect } from "bun:test";
import { type ProviderState, providerStates } from "../../src/contract/providers.ts";
import type { Gateway } from "./gateway-settings.ts";
import { waitFor } from "./wait.ts";

export type OfferState = ProviderState["deployments"][number]["offers"][number];

/** Holds the answer to the published schema. */
export async function readProviders(gateway: Gateway): Promise<readonly ProviderState[]> {
  return providerStates.parse(await gateway.manage("GET", "/providers")).items;
}

export async function readProvider(gateway: Gateway, name: string): Promise<ProviderState> {
  const found = (await readProviders(gateway)).find((provider) => provider.name === name);
  if (found === undefined) expect.unreachable(`there is no provider ${name}`);
  return found;
}

/** Throws when the offer was not called yet. `name` is `<provider>/<model>`. */
export async function readOffer(gateway: Gateway, name: string): Promise<OfferState> {
  const slash = name.indexOf("/");
  const { deployments } = await readProvider(gateway, name.slice(0, slash));
  const offers = deployments.flatMap((deployment) => deployment.offers);
  const found = offers.find(({ model }) => model === name.slice(slash + 1));
  if (found === undefined) expect.unreachable(`the offer ${name} was not called`);
  return found;
}

export async function waitForState(gateway: Gateway, name: string, state: OfferState["state"]): Promise<void> {
  await waitFor(`the circuit of ${name} to be ${state}`, async () => (await readOffer(gateway, name)).state === state, {
    everyMs: 20,
  });
}
