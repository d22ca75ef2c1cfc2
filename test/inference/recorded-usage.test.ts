// Every usage that vendors were recorded to tell, as parts and as a cost: no part is negative, none is more than the whole, the parts add up to
// the cost, and a cost that is not known says why. The recordings are a folder beside the checkout, or the one that SWITCHYARD_RECORDINGS names.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInPrices, createPriceBook } from "../../src/catalogue/prices.ts";
import { createPricing } from "../../src/inference/pricing.ts";
import { toChatUsage } from "../../src/inference/responses/native-response.ts";
import type { Provider } from "../../src/providers/configure.ts";
import { readAnthropicUsage } from "../../src/providers/dialects/anthropic/index.ts";
import { fromConverseUsage } from "../../src/providers/dialects/bedrock/answer.ts";
import { toUsage as fromCohereUsage } from "../../src/providers/dialects/cohere/answer.ts";
import { fromGeminiUsage } from "../../src/providers/dialects/gemini/usage.ts";
import { rows } from "../../src/providers/index.ts";
import { readTokenParts } from "../../src/usage/tokens.ts";
import { asList, asObject, findRecordings, type JsonObject } from "../recordings/recording.ts";
import { totalsOf } from "../support/token-totals.ts";

const folder = findRecordings();
const title = "recorded usage: parts are within their wholes, and a cost that is not known says why";
if (folder === null) test.skip(title, () => {});
else test(title, () => sweep(folder));

interface Told {
  readonly usage: JsonObject;
  readonly answer: JsonObject;
}

function sweep(root: string): void {
  const pricing = createPricing(createPriceBook(builtInPrices));
  const reasons = new Map<string, number>();
  const wrong: unknown[] = [];
  let known = 0;
  for (const file of [...new Bun.Glob("*/*.json").scanSync(root)].sort()) {
    const stored = JSON.parse(readFileSync(join(root, file), "utf8"));
    if (stored.response.status !== 200) continue;
    for (const { usage, answer } of readTold(stored)) {
      const parts = readTokenParts(usage);
      const { totalTokens } = parts === null ? { totalTokens: 0 } : totalsOf(parts);
      const most = Math.max(
        count(usage["total_tokens"]),
        count(usage["prompt_tokens"]) + count(usage["completion_tokens"]),
      );
      const values = parts === null ? [] : Object.values(parts);
      if (totalTokens > most || values.some((value) => !(value >= 0 && value <= totalTokens)))
        wrong.push({ file, usage, parts });
      const model = typeof answer["model"] === "string" ? answer["model"] : (stored.model ?? "");
      const provider = toProvider(stored.provider);
      const { cost, reason, pico, basis } = pricing.quote(provider, model).chargeFor(usage, answer);
      // What the ledger stores explains the same amount, part by part.
      const told =
        basis === null ? null : pricing.explain(provider, model, JSON.parse(JSON.stringify(basis)), new Date());
      const sum = (told?.parts ?? []).reduce((total, part) => total + part.pico, 0);
      if (told?.pico !== pico || (pico !== null && sum !== pico) || told.parts.some((part) => !(part.pico >= 0)))
        wrong.push({ file, pico, told });
      if (cost === null) reasons.set(reason ?? "no reason", (reasons.get(reason ?? "no reason") ?? 0) + 1);
      else if (cost < 0 || !Number.isFinite(cost)) wrong.push({ file, cost });
      else known += 1;
    }
  }
  const unknown = [...reasons].sort(([, left], [, right]) => right - left);
  console.log(
    `recorded usages: ${known} with a cost, without one: ${unknown.map(([why, n]) => `${n} ${why}`).join(", ")}`,
  );
  expect(wrong).toEqual([]);
  expect(reasons.get("no reason")).toBeUndefined();
  expect(known).toBeGreaterThan(0);
}

/** Usage in the words of the chat format, the last of each answer. */
function readTold(stored: { kind: string; provider: string; response: JsonObject }): readonly Told[] {
  const values = readValues(stored.response);
  const told = values.flatMap((value): Told[] => {
    const answer = asObject(value["response"] ?? value["message"] ?? value);
    const given = asObject(value["usage"] ?? asObject(value["delta"])["usage"] ?? answer["usage"]);
    const usage = toUsage(stored.kind, stored.provider, given, asObject(value["usageMetadata"]));
    return usage === null ? [] : [{ usage, answer }];
  });
  return told.slice(-1);
}

function toUsage(kind: string, provider: string, given: JsonObject, metadata: JsonObject): JsonObject | null {
  if (kind === "generateContent") return fromGeminiUsage(metadata, { webSearches: 0, requestedTier: null });
  if (Object.keys(given).length === 0) return null;
  if (kind === "messages") return readAnthropicUsage(given);
  if (kind === "converse") return fromConverseUsage(given);
  if (kind === "responses") return toChatUsage(given);
  if (provider === "cohere" && kind === "chat") return fromCohereUsage(given);
  return given;
}

/** The objects of a body: one, a list, or those of an event stream. Streams of another framing are left out. */
function readValues({ body }: JsonObject): readonly JsonObject[] {
  if (typeof body !== "string") return [];
  try {
    const whole: unknown = JSON.parse(body);
    return Array.isArray(whole) ? asList(whole).map(asObject) : [asObject(whole)];
  } catch {
    return body.split(/\r?\n/).flatMap((line) => {
      const text = line.startsWith("data:") ? line.slice(5) : line;
      if (!text.trim().startsWith("{")) return [];
      try {
        return [asObject(JSON.parse(text))];
      } catch {
        return [];
      }
    });
  }
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Prices ask a provider for its name and for what its row says of its bills. */
function toProvider(name: string): Provider {
  const row = rows.find((one) => one.name === name) ?? { name };
  return { name, row } as Provider;
}
