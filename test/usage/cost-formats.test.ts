// The same usage has the same cost in every format, whole and streamed.

import { expect, test } from "bun:test";
import {
  answer,
  chatChunk,
  completion,
  doneText,
  event,
  httpChunk,
  lastHttpChunk,
  streamHead,
} from "../support/answers.ts";
import { ask } from "../support/chat.ts";
import { readEvents } from "../support/events.ts";
import { sharedGateway } from "../support/test-gateway.ts";
import { startVendor } from "../support/vendor.ts";

const vendor = await startVendor();
const prices = { "cerebras/priced": { input: 2, output: 10, cache_read: 0.5, tiers: { flex: 0.5 } } };
const gateway = await sharedGateway({
  vendor,
  config: { prices, providers: { cerebras: { base_url: vendor.url, api_key: "k" } } },
});
const key = await gateway.createKey();

const messages = [{ role: "user", content: "hi" }];
const formats = [
  ["/v3/chat/completions", { messages }],
  ["/v3/v1/messages", { messages, max_tokens: 9 }],
  ["/v3/responses", { input: "hi" }],
] as const;

/** The last object that states a cost, by itself or on its response. */
function readCost(text: string): { cost: number | null; cost_reason?: string } {
  const texts = text.startsWith("{") ? [text] : readEvents(text).events.map(({ data }) => data);
  const values = texts.flatMap((one) => (one.startsWith("{") ? [JSON.parse(one)] : []));
  const found = values.map((value) => value.response ?? value).findLast((value) => "cost" in value);
  if (found === undefined) throw new Error(`no cost in ${text.slice(-500)}`);
  const { cost, cost_reason } = found;
  return cost_reason === undefined ? { cost } : { cost, cost_reason };
}

test.each([
  [
    "a cache and reasoning",
    "cerebras/priced",
    {
      ...{ prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
      ...{ prompt_tokens_details: { cached_tokens: 400 }, completion_tokens_details: { reasoning_tokens: 150 } },
    },
    {},
    // 600 × 2 + 400 × 0.5 + 200 × 10 in USD per million.
    { cost: 0.0034 },
  ],
  [
    "a service tier",
    "cerebras/priced",
    { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
    { service_tier: "flex" },
    { cost: 0.002 },
  ],
  [
    "audio without a price",
    "cerebras/priced",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, completion_tokens_details: { audio_tokens: 5 } },
    {},
    { cost: null, cost_reason: "part_unknown" },
  ],
  [
    "a model without a price",
    "cerebras/unheard-of",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    {},
    { cost: null, cost_reason: "price_unknown" },
  ],
] as const)("%s", async (_, model, usage, more, expected) => {
  for (const [path, body] of formats) {
    vendor.next(answer(200, completion("Hi", { usage, ...more })));
    const whole = await ask(gateway.url, key, { ...body, model }, { path });
    expect({ path, ...readCost(await whole.text()) }).toEqual({ path, ...expected });
    vendor.next([
      streamHead(),
      event({ ...chatChunk({ role: "assistant", content: "Hi" }), ...more }),
      event({ ...chatChunk({}, "stop"), ...more }),
      event({ ...chatChunk({}), choices: [], usage, ...more }),
      httpChunk(doneText),
      lastHttpChunk,
    ]);
    const streaming = path === "/v3/chat/completions" ? { stream_options: { include_usage: true } } : {};
    const streamed = await ask(gateway.url, key, { ...body, ...streaming, model, stream: true }, { path });
    expect({ path, stream: true, ...readCost(await streamed.text()) }).toEqual({ path, stream: true, ...expected });
  }
});
