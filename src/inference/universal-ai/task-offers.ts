// The engines of this gateway as the listing shows them, with their prices.

import type { TaskOffer } from "../../catalogue/catalogue.ts";
import type { PriceBook } from "../../catalogue/prices.ts";
import type { TaskPricing } from "../../contract/info.ts";
import { findTask } from "../../contract/tasks.ts";
import type { Engine } from "../../engines/engine.ts";
import { toUsd } from "../../lib/money.ts";
import { findListPrice } from "./unit-price.ts";

const tokensPriced = 1_000_000;
const free: TaskPricing = { price: 0, price_unit_quantity: 1, price_unit_type: "request" };

export function toTaskOffers(engines: readonly Engine[], book: PriceBook | null = null): TaskOffer[] {
  const byName = new Map<string, TaskOffer>();
  for (const offer of engines.flatMap((engine) => toOffers(engine, book))) {
    const known = byName.get(offer.model);
    // Two engines of one provider may perform the same task: the name refers to the first one that is available.
    if (known === undefined || (!known.configured && offer.configured)) byName.set(offer.model, offer);
  }
  // All rows of a provider show the model that its name alone stands for.
  return [...byName.values()].map((offer) => {
    const bare = byName.get(`${offer.feature}/${offer.subfeature}/${offer.provider}`);
    return bare === undefined ? offer : { ...offer, defaultModel: bare.defaultModel };
  });
}

function toOffers(engine: Engine, book: PriceBook | null): TaskOffer[] {
  const { task, provider, models, defaultModel = null, needsModel, unavailableReason, isSandbox = false } = engine;
  const [feature = "", subfeature = ""] = task.split("/");
  const bare = `${task}/${provider}`;
  const named = [...(needsModel === true ? [] : [null]), ...models];
  return named.map((model) => ({
    feature,
    subfeature,
    provider,
    model: model === null ? bare : `${bare}/${model}`,
    defaultModel,
    pricing: findPricing(engine, model ?? defaultModel, book),
    configured: unavailableReason === null,
    isSandbox,
  }));
}

function findPricing(engine: Engine, model: string | null, book: PriceBook | null): TaskPricing | null {
  if (engine.isFree === true) return free;
  if (engine.isPaidByToken === true) return model === null ? null : findTokenPricing(engine, model, book);
  if (engine.tokenModel !== undefined) return findTokenPricing(engine, model ?? engine.tokenModel, book);
  const price = findListPrice(findTask(engine.task), engine.provider, model);
  if (price === null) return null;
  return { price: price.price, price_unit_quantity: price.quantity, price_unit_type: price.unit };
}

function findTokenPricing(engine: Engine, model: string, book: PriceBook | null): TaskPricing | null {
  const { provider, writesNoTokens, tokenModel } = engine;
  const [bracket] = book?.find(provider, model)?.bracketsAt(new Date()) ?? [];
  const { input = null, output: text = null, imageOutput = null } = bracket?.rates ?? {};
  const output = tokenModel === undefined ? text : (imageOutput ?? text);
  if (input === null || (output === null && writesNoTokens !== true)) return null;
  return {
    price: toUsd(input * tokensPriced),
    ...(output === null || writesNoTokens === true ? {} : { output_price: toUsd(output * tokensPriced) }),
    price_unit_quantity: tokensPriced,
    price_unit_type: "token",
  };
}
