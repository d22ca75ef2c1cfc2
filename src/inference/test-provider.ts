// Tests the credentials of a provider with one cheap call, without retries and past the circuit breaker. The call is real: it is recorded and
// may cost a little.

import type { ProviderTest, ProviderTestResult } from "../contract/providers.ts";
import type { TaskName } from "../contract/tasks.ts";
import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import type { JsonObject } from "../lib/lenient-json.ts";
import { findChatRules } from "../providers/chat-rules.ts";
import type { Provider } from "../providers/configure.ts";
import type { Deployment } from "../providers/deployment.ts";
import { attempt } from "./attempt.ts";
import { createChatCompletions, toChatInput } from "./chat-completions.ts";
import { createEmbeddings, type EmbeddingsInput } from "./embeddings.ts";
import { HealthBook } from "./health.ts";
import type { FetchMedia } from "./media.ts";
import { listDeployments } from "./provider-states.ts";
import type { CallDependencies, RequestContext } from "./request-context.ts";
import { createRoutePlanner } from "./route-planner.ts";

export interface TesterOptions {
  readonly calling: CallDependencies;
  readonly fetchMedia: FetchMedia;
  /** The tasks of a provider whose engines run on this machine; null: its tasks and models are called over the network. */
  readonly listLocalTasks: (provider: Provider) => readonly TaskName[] | null;
  /** Performs a task at this provider, which need not be one that is in use. */
  readonly runTask: (
    provider: Provider,
    task: TaskName,
    input: JsonObject,
    context: RequestContext,
  ) => Promise<JsonObject>;
}

export type ProviderTester = ReturnType<typeof createProviderTester>;

interface Tried {
  readonly called: string;
  readonly cost: number | null;
}

const timeoutMs = 30_000;
const mostDeployments = 20;
/** Above the minimum of every provider. */
const outputTokens = 16;
const noBreaker = { breakerFailures: 0, breakerWindowMs: 1_000, breakerOpenMs: 1_000 };

/** Tasks that read a few characters, the cheapest first. */
export const testInputs: readonly (readonly [task: TaskName, input: JsonObject])[] = [
  ["translation/language_detection", { text: "Hello" }],
  ["translation/automatic_translation", { text: "Hello", source_language: "en", target_language: "fr" }],
  ["text/moderation", { text: "Hello" }],
  ["text/sentiment_analysis", { text: "Hello" }],
  ["text/anonymization", { text: "Hello" }],
  ["text/spell_check", { text: "Hello" }],
  ["web/search", { query: "example", max_results: 1 }],
  ["audio/tts", { text: "Hi" }],
  ["text/ai_detection", { text: "The test of a gateway sends this short text. ".repeat(8) }],
];

const outcomes: Partial<Record<ErrorCode, ProviderTestResult["outcome"]>> = {
  provider_auth_failed: "credentials_refused",
  provider_rejected_request: "request_refused",
  model_not_found: "request_refused",
  provider_rate_limited: "rate_limited",
  provider_unreachable: "unreachable",
  provider_timeout: "unreachable",
  provider_disconnected: "unreachable",
};

export function createProviderTester({ calling, fetchMedia, listLocalTasks, runTask }: TesterOptions) {
  const { clocks } = calling;
  const bounded = {
    ...clocks,
    firstByteTimeoutMs: Math.min(clocks.firstByteTimeoutMs, timeoutMs),
    totalTimeoutMs: Math.min(clocks.totalTimeoutMs, timeoutMs),
  };
  // The planner is not asked: each deployment is called directly.
  const table = { providers: new Map(), aliases: new Map(), features: new Set<string>() };
  const health = new HealthBook(noBreaker);
  const router = createRoutePlanner({ table, health, typicalCost: () => null, serves: () => true, endpoint: "test" });
  const dependencies = { ...calling, clocks: bounded, router };
  const chatCompletions = createChatCompletions({ ...dependencies, fetchMedia });
  const embeddings = createEmbeddings(dependencies);

  /** Null: there is no cheap call. */
  function findTry(provider: Provider, deployment: Deployment, wantedModel: string | null, context: RequestContext) {
    const { row, dialect, defaultModels } = provider;
    const candidate = (model: string) => ({ provider, deployment, model, health: health.of("", ""), pool: "" });
    const localTasks = listLocalTasks(provider);
    const isForModels = localTasks === null && provider.deployments.includes(deployment);
    const [firstModel] = deployment.models ?? [];
    const { defaultModel, models: [firstChat] = [] } = row.chat ?? { models: [] };
    const chatModel = wantedModel ?? firstModel ?? defaultModels["*"] ?? defaultModel ?? firstChat?.id;
    if (isForModels && row.chat !== undefined && chatModel !== undefined)
      return async (): Promise<Tried> => {
        const limit = findChatRules(row, chatModel).outputLimit ?? "max_tokens";
        const request = { model: chatModel, messages: [{ role: "user", content: "Say OK." }], [limit]: outputTokens };
        const answer = await chatCompletions.attempt(toChatInput(context, request as never), candidate(chatModel));
        return { called: chatModel, cost: answer.kind === "whole" ? answer.charge.cost : null };
      };
    const embeddingModel = wantedModel ?? firstModel ?? row.embeddings?.models?.[0]?.id;
    if (isForModels && row.chat === undefined && embeddingModel !== undefined)
      return async (): Promise<Tried> => {
        const { charge } = await embeddings.attempt(
          toEmbeddingsInput(context, embeddingModel),
          candidate(embeddingModel),
        );
        return { called: embeddingModel, cost: charge.cost };
      };
    // A server whose models are not known lists them.
    if (isForModels && dialect === null)
      return async (): Promise<Tried> => {
        const request = { method: "GET", path: "/models", body: "" } as const;
        const options = { context, candidate: { ...candidate(""), health: null }, isStream: false, isFree: true };
        await attempt(dependencies, options, (running) => running.read(request));
        return { called: "GET /models", cost: 0 };
      };
    const known = new Set(localTasks ?? (row.tasks ?? []).map(({ task }) => task));
    const found = testInputs.find(([task]) => known.has(task));
    if (found === undefined) return null;
    const [task, input] = found;
    return async (): Promise<Tried> => {
      const answer = await runTask(provider, task, input, context);
      const { cost } = answer;
      return { called: task, cost: typeof cost === "number" ? cost : null };
    };
  }

  async function testDeployment(
    provider: Provider,
    deployment: Deployment,
    model: string | null,
    context: RequestContext,
  ): Promise<ProviderTestResult> {
    const run = findTry(provider, deployment, model, context);
    const base = { deployment: deployment.name, milliseconds: 0, called: null, cost: null, error: null };
    if (run === null) return { ...base, outcome: "not_tested" };
    const startedAt = performance.now();
    const measure = () => ({ ...base, milliseconds: Math.round(performance.now() - startedAt) });
    try {
      return { ...measure(), outcome: "completed", ...(await run()) };
    } catch (error) {
      if (!(error instanceof GatewayError) && !(error instanceof ValidationError)) throw error;
      const code = error instanceof GatewayError ? error.code : "invalid_request";
      return { ...measure(), outcome: outcomes[code] ?? "failed", error: { code, message: error.message } };
    }
  }

  return async (provider: Provider, model: string | null, context: RequestContext): Promise<ProviderTest> => {
    const deployments = listDeployments(provider).slice(0, mostDeployments);
    if (deployments.length === 0)
      throw new GatewayError(
        "provider_not_configured",
        `The provider '${provider.name}' is not set up: set ${provider.missingSetting ?? provider.missingTaskSetting}.`,
      );
    const results = await Promise.all(deployments.map((one) => testDeployment(provider, one, model, context)));
    const isUntested = results.every(({ outcome }) => outcome === "not_tested");
    const ok = isUntested ? null : results.every(({ outcome }) => outcome === "completed" || outcome === "not_tested");
    return { provider: provider.name, ok, results };
  };
}

function toEmbeddingsInput(context: RequestContext, model: string): EmbeddingsInput {
  const request = { model, input: "OK" };
  const { text, scan } = toChatInput(context, request as never);
  return { ...context, request, value: request, text, scan };
}
