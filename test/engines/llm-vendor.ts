// Engines of chat models, and a vendor on this machine that they call in the chat format.

import { afterAll, beforeEach } from "bun:test";
import type { ChatCompletion, ChatRequest } from "../../src/contract/chat-format.ts";
import type { Engine, InputFile, TaskResult } from "../../src/engines/engine.ts";
import { type Complete, createLlmEngines } from "../../src/engines/llm/index.ts";
import { CallTicket } from "../../src/providers/call-ticket.ts";
import { configureProviders, type Provider } from "../../src/providers/configure.ts";
import type { JsonObject } from "../../src/providers/dialect.ts";
import { rows } from "../../src/providers/index.ts";
import { toRefusal } from "../../src/providers/refusal.ts";
import { answer, completion } from "../support/answers.ts";
import { answerByExample, requestOf } from "../support/llm-tasks.ts";
import { startVendor } from "../support/vendor.ts";

export const usdPerToken = 0.000_001;

export interface Asked {
  readonly provider?: string;
  readonly model?: string | null;
  readonly file?: InputFile;
  readonly params?: JsonObject;
  readonly engine?: Engine;
}

/** The vendor answers with an example of the schema unless the test queues an answer. It stops after the last test of the file. */
export async function openLlmVendor() {
  const vendor = await startVendor(answerByExample);
  afterAll(() => vendor.stop());
  beforeEach(() => vendor.clear());

  const providers = configureProviders(
    rows,
    {
      openai: { base_url: vendor.url, api_key: "key" },
      zai: { base_url: vendor.url, api_key: "key" },
      "in-house": { base_url: vendor.url, models: ["small"] },
    },
    () => null,
  );

  /** A chat completion as the gateway makes one, in the plain format. */
  const complete: Complete = async (request, { provider, model }, { signal }) => {
    const body = JSON.stringify({ ...request, model });
    const response = await fetch(`${vendor.url}/chat/completions`, { method: "POST", body, signal });
    const text = await response.text();
    if (!response.ok)
      throw toRefusal(providers.get(provider) as Provider, response.status, response.headers.get("retry-after"), text);
    const value = JSON.parse(text) as ChatCompletion;
    return { completion: value, charge: { cost: (value.usage?.total_tokens ?? 0) * usdPerToken, reason: null } };
  };

  const engines = createLlmEngines({ providers: providers.values(), complete });

  function engineOf(task: string, provider = "openai", among = engines): Engine {
    const found = among.find((engine) => engine.task === task && engine.provider === provider);
    if (found === undefined) throw new Error(`there is no engine for ${task} at ${provider}`);
    return found;
  }

  function engineWith(task: string, complete: Complete): Engine {
    return engineOf(task, "openai", createLlmEngines({ providers: providers.values(), complete }));
  }

  function run(task: string, input: JsonObject, asked: Asked = {}): Promise<TaskResult> {
    const { provider = "openai", model = "gpt-4o-mini", file, params = {}, engine = engineOf(task, provider) } = asked;
    return engine.run({
      model,
      input,
      files: file === undefined ? {} : { file },
      providerParams: params,
      signal: AbortSignal.timeout(60_000),
      deadline: performance.now() + 60_000,
      ticket: new CallTicket(),
      requestId: "req-1",
      owner: "key:test",
    });
  }

  /** Queues an answer of the model. */
  function say(value: unknown, more: JsonObject = {}): void {
    vendor.next(answer(200, completion(typeof value === "string" ? value : JSON.stringify(value), more)));
  }

  const sent = (at = 0): ChatRequest => requestOf(vendor.requests.at(at));

  return { vendor, complete, engines, engineWith, run, say, sent };
}
