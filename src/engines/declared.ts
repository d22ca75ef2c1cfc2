// Providers of the operator's own that answer tasks in our shape: POST {base_url}/universal-ai.

import { GatewayError } from "../errors.ts";
import type { Ticker } from "../lib/ticker.ts";
import { type Clocks, ProviderCall } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import type { JsonObject } from "../providers/dialect.ts";
import type { HttpClient } from "../providers/http-client.ts";
import type { Engine, EngineAnswer, EngineCall } from "./engine.ts";

export interface CallDependencies {
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  readonly ending: AbortSignal;
}

const path = "/universal-ai";

export function createDeclaredEngines(providers: Iterable<Provider>, dependencies: CallDependencies): Engine[] {
  return [...providers].flatMap((provider) =>
    provider.tasks.map((task) => ({
      provider: provider.name,
      task,
      models: [],
      takesOtherModels: false,
      missing:
        provider.missingSetting === null
          ? null
          : `The provider '${provider.name}' is not set up: set ${provider.missingSetting}.`,
      run: (call: EngineCall) => run(provider, task, call, dependencies),
    })),
  );
}

async function run(
  provider: Provider,
  task: string,
  call: EngineCall,
  dependencies: CallDependencies,
): Promise<EngineAnswer> {
  const [deployment] = provider.deployments;
  if (deployment === undefined) throw new TypeError(`the provider '${provider.name}' has no address`);
  const { clocks, ticker, http, ending } = dependencies;
  const request = { model: `${task}/${provider.name}`, input: call.input, provider_params: call.providerParams };
  const made = new ProviderCall({
    provider,
    deployment,
    path,
    body: JSON.stringify(request),
    wantsStream: false,
    connection: { signal: call.signal },
    ending,
    clocks,
    deadline: call.deadline,
    ticker,
    http,
  });
  try {
    await made.open();
    const answer = readAnswer(await made.readWhole(), provider);
    made.finish();
    const cost = readCost(answer["cost"]);
    return {
      output: answer["output"] as JsonObject,
      original: answer["original_response"] ?? answer,
      units: { request: 1 },
      charge: { cost, reason: cost === null ? "price_unknown" : null },
    };
  } catch (error) {
    made.abandon();
    throw error;
  }
}

function readCost(stated: unknown): number | null {
  return typeof stated === "number" && Number.isFinite(stated) && stated >= 0 ? stated : null;
}

function readAnswer(text: string, { name }: Provider): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) {
      const { output } = value as JsonObject;
      if (typeof output === "object" && output !== null) return value as JsonObject;
    }
  } catch {
    // said below
  }
  throw new GatewayError("provider_bad_response", `The provider '${name}' did not answer with a task's output.`);
}
