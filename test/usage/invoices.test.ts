// Invoices worked by hand from the price pages of the vendors: the arithmetic adds up, and the gateway charges the same, from the usage as the
// vendor documents it.

import { describe, expect, test } from "bun:test";
import { checkPriceFile } from "../../src/catalogue/prices.ts";
import { type Task, tasks } from "../../src/contract/tasks.ts";
import { toChatUsage } from "../../src/inference/responses/native-response.ts";
import { chargeForTask } from "../../src/inference/universal-ai/unit-price.ts";
import { readAnthropicUsage } from "../../src/providers/dialects/anthropic/index.ts";
import { fromConverseUsage } from "../../src/providers/dialects/bedrock/answer.ts";
import { toUsage as fromCohereUsage } from "../../src/providers/dialects/cohere/answer.ts";
import { fromGeminiUsage } from "../../src/providers/dialects/gemini/usage.ts";
import { costOfUsage, readServiceTier, toUsd } from "../../src/usage/cost.ts";
import { readFees } from "../../src/usage/fees.ts";
import {
  findPublished,
  type ModelInvoice,
  modelInvoices,
  published,
  publishedFile,
  taskInvoices,
} from "../support/published-prices.ts";

const noon = new Date("2026-11-15T12:00:00Z");

test("there are at least a hundred, and each has an amount with its work, or the reason why it has none", () => {
  const invoices = [...modelInvoices, ...taskInvoices];
  expect(invoices.length).toBeGreaterThanOrEqual(100);
  expect(new Set(invoices.map(({ title }) => title)).size).toBe(invoices.length);
  for (const { title, usd, work, reason } of invoices)
    expect([title, usd === null, work === undefined]).toEqual([title, reason !== undefined, reason !== undefined]);
  expect(checkPriceFile(publishedFile, null)).toEqual([]);
});

test("the work of each adds up to its amount", () => {
  for (const { title, work, usd } of [...modelInvoices, ...taskInvoices])
    if (work !== undefined) expect([title, toUsd(addUp(work))]).toEqual([title, usd as number]);
});

/** Sums of products of decimals, exactly: `1,000 × 1.25 + 500 × 10` in millionths of a dollar, as pico-dollars. */
function addUp(work: string): bigint {
  const picoPerMillionth = 1_000_000n;
  return work.split(" + ").reduce((sum, term) => {
    const product = term.split(" × ").reduce(
      ({ digits, decimals }, factor) => {
        const [whole = "", fraction = ""] = factor.replaceAll(",", "").split(".");
        if (!/^\d+$/.test(whole + fraction)) throw new Error(`not a number: ${factor}`);
        return { digits: digits * BigInt(whole + fraction), decimals: decimals + fraction.length };
      },
      { digits: picoPerMillionth, decimals: 0 },
    );
    const divisor = 10n ** BigInt(product.decimals);
    if (product.digits % divisor !== 0n) throw new Error(`less than a pico-dollar: ${term}`);
    return sum + product.digits / divisor;
  }, 0n);
}

describe("is charged", () => {
  test.each(modelInvoices)("$model: $title", (invoice) => {
    const usage = readUsage(invoice);
    const { model, answer = {}, at, usd, reason } = invoice;
    const cost = costOfUsage(usage, findPublished(model), {
      at: at === undefined ? noon : new Date(at),
      tier: invoice.tier ?? readServiceTier(answer["service_tier"], usage),
      fees: readFees(usage, answer),
      believesStatedCost: published[model]?.billsAsStated === true,
      priceOf: findPublished,
    });
    if (usd === null) {
      expect({ ...cost, detail: undefined }).toEqual({ amount: null, reason: reason as never, detail: undefined });
      return;
    }
    if (cost.amount === null) throw new Error(`no cost: ${cost.reason} ${cost.detail ?? ""}`);
    expect(Number.isSafeInteger(cost.amount)).toBe(true);
    expect(toUsd(cost.amount)).toBe(usd);
  });

  test.each(taskInvoices)("$task/$offer: $title", ({ task: name, offer, listPrice, units, usd, reason }) => {
    const known = tasks.find((task) => task.name === name);
    if (known === undefined) throw new Error(`there is no task ${name}`);
    const [provider = "", model = null] = offer.split("/");
    const task: Task = { ...known, knownOffers: [{ provider, model: `${name}/${offer}`, listPrice }] };
    const charge = chargeForTask(task, provider, model, { output: {}, units });
    expect({ cost: charge.cost, reason: charge.reason }).toEqual({ cost: usd, reason: reason ?? null });
  });
});

/** In the members of the chat format, as the gateway reads it from an answer of the vendor. */
function readUsage({ format, usage, webSearches = 0 }: ModelInvoice): unknown {
  switch (format) {
    case "messages":
      return readAnthropicUsage(usage);
    case "responses":
      return toChatUsage(usage);
    case "generateContent":
      return fromGeminiUsage(usage, { webSearches, requestedTier: null });
    case "converse":
      return fromConverseUsage(usage as Record<string, unknown>);
    case "cohere":
      return fromCohereUsage(usage);
    default:
      return usage;
  }
}
