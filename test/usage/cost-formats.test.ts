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
  type Script,
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

interface Costed {
  readonly cost: number | null;
  readonly cost_reason?: string;
  readonly usage?: Record<string, unknown>;
}

function readCost(text: string): Costed {
  const { cost, cost_reason } = readCosted(text);
  return cost_reason === undefined ? { cost } : { cost, cost_reason };
}

/** The last object that states a cost, by itself or on its response. */
function readCosted(text: string): Costed {
  const texts = text.startsWith("{") ? [text] : readEvents(text).events.map(({ data }) => data);
  const values = texts.flatMap((one) => (one.startsWith("{") ? [JSON.parse(one)] : []));
  const found = values.map((value) => value.response ?? value).findLast((value) => "cost" in value);
  if (found === undefined) throw new Error(`no cost in ${text.slice(-500)}`);
  return found;
}

function streamOf(usage: object, more: object): Script {
  return [
    streamHead(),
    event({ ...chatChunk({ role: "assistant", content: "Hi" }), ...more }),
    event({ ...chatChunk({}, "stop"), ...more }),
    event({ ...chatChunk({}), choices: [], usage, ...more }),
    httpChunk(doneText),
    lastHttpChunk,
  ];
}

function askStreamed(path: string, body: object): Promise<Response> {
  const streaming = path === "/v3/chat/completions" ? { stream_options: { include_usage: true } } : {};
  return ask(gateway.url, key, { ...body, ...streaming, stream: true }, { path });
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
    vendor.next(streamOf(usage, more));
    const streamed = await askStreamed(path, { ...body, model });
    expect({ path, stream: true, ...readCost(await streamed.text()) }).toEqual({ path, stream: true, ...expected });
  }
});

// The first counts are those of the example in https://docs.x.ai/docs/guides/reasoning.
test.each([
  ["that it states", { completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 94 }, total_tokens: 135 }],
  ["that it does not state", { completion_tokens: 9, total_tokens: 135 }],
  ["that it states beside the details", { completion_tokens: 9, reasoning_tokens: 94, total_tokens: 41 }],
])("reasoning on top of the completion %s is in the counts of every format", async (_, counts) => {
  const usage = { prompt_tokens: 32, ...counts };
  const expected: Record<string, object> = {
    "/v3/chat/completions": {
      ...{ prompt_tokens: 32, completion_tokens: 103, total_tokens: 135 },
      completion_tokens_details: { reasoning_tokens: 94 },
    },
    "/v3/v1/messages": { input_tokens: 32, output_tokens: 103, output_tokens_details: { thinking_tokens: 94 } },
    "/v3/responses": {
      ...{ input_tokens: 32, output_tokens: 103, total_tokens: 135 },
      output_tokens_details: { reasoning_tokens: 94 },
    },
  };
  const model = "cerebras/priced";
  for (const [path, body] of formats) {
    vendor.next(answer(200, completion("Hi", { usage })));
    const whole = readCosted(await (await ask(gateway.url, key, { ...body, model }, { path })).text());
    vendor.next(streamOf(usage, {}));
    const streamed = readCosted(await (await askStreamed(path, { ...body, model })).text());
    // 32 × 2 + 103 × 10 in USD per million.
    for (const { usage: told, cost } of [whole, streamed])
      expect({ path, cost, usage: told }).toMatchObject({ path, cost: 0.001094, usage: expected[path] ?? {} });
  }
});
