// One chat completion, start to finish, for providers that speak the same dialect as our callers: the caller's bytes go
// out with only the model and our own members changed, and the provider's bytes come back with only ours added.

import type { Caller } from "../access/caller.ts";
import { type ChatCompletionRequest, gatewayMemberNames } from "../contract/chat-completions.ts";
import { type ErrorCode, GatewayError } from "../errors.ts";
import { editMembers, type JsonScan, scanJson } from "../lib/json-scan.ts";
import type { Ticker } from "../lib/ticker.ts";
import { type Clocks, type Connection, ProviderCall, toErrorInAnswer } from "../providers/call.ts";
import type { Provider } from "../providers/configure.ts";
import type { HttpClient } from "../providers/http-client.ts";
import { ChatStream } from "./chat-stream.ts";
import { findOffers, type Market, type Offer, refuseUnconfigured } from "./offers.ts";
import { type AttemptReport, readUsage } from "./report.ts";

export interface ChatInput {
  readonly request: ChatCompletionRequest;
  readonly text: string;
  readonly scan: JsonScan;
  readonly caller: Caller;
  readonly connection: Connection;
  readonly requestId: string;
}

export type ChatAnswer =
  | { readonly kind: "whole"; readonly text: string }
  | { readonly kind: "stream"; readonly stream: ChatStream };

export interface ChatCompletions {
  complete(input: ChatInput): Promise<ChatAnswer>;
}

export interface ChatDependencies {
  readonly market: Market;
  readonly clocks: Clocks;
  readonly ticker: Ticker;
  readonly http: HttpClient;
  /** Fires when the gateway goes down and can wait no longer. */
  readonly ending: AbortSignal;
  /** Told once of every attempt that reached a provider. */
  readonly report: (attempt: AttemptReport) => void;
}

const defaultChatPath = "/chat/completions";
const ourMembersOfRequest: ReadonlySet<string> = new Set(gatewayMemberNames);
// To providers that send usage unasked, or never, the wish for it is unknown and may be refused.
const withStreamOptions: ReadonlySet<string> = new Set([...gatewayMemberNames, "stream_options"]);

/** After these failures another offer may do better; a request that was rejected as such would be rejected again. */
const fallbackCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "model_not_found",
  "provider_rate_limited",
  "provider_auth_failed",
  "provider_error",
  "provider_unreachable",
  "provider_bad_response",
  "provider_disconnected",
  "provider_not_configured",
  "provider_unavailable",
  "provider_timeout",
]);

export function createChatCompletions(dependencies: ChatDependencies): ChatCompletions {
  async function attempt(input: ChatInput, offer: Offer): Promise<ChatAnswer> {
    const { provider, model } = offer;
    refuseUnconfigured(provider);
    const wantsStream = input.request.stream === true;
    const call = new ProviderCall({
      provider,
      path: provider.row.chatPath ?? defaultChatPath,
      body: toProviderBody(input, offer),
      wantsStream,
      connection: input.connection,
      ending: dependencies.ending,
      clocks: dependencies.clocks,
      ticker: dependencies.ticker,
      http: dependencies.http,
    });
    const report = (outcome: AttemptReport["outcome"], usage: unknown) =>
      dependencies.report({
        requestId: input.requestId,
        keyId: input.caller.keyId,
        provider: provider.name,
        model,
        isStream: wantsStream,
        durationMs: performance.now() - call.startedAt,
        usage: readUsage(usage),
        outcome,
      });
    try {
      await call.open();
      if (!wantsStream) {
        const { text, usage } = toAnswer(await call.readWhole(), call);
        call.finish();
        report("completed", usage);
        return { kind: "whole", text };
      }
      const stream = new ChatStream(call, {
        includeUsage: input.request.stream_options?.include_usage === true,
        cost: costOf(provider),
        onEnd: report,
      });
      await stream.open();
      return { kind: "stream", stream };
    } catch (error) {
      call.abandon();
      report(error instanceof GatewayError ? error.code : "caller_left", null);
      throw error;
    }
  }

  return {
    async complete(input) {
      const offers = findOffers(dependencies.market, input.request, input.caller);
      const last = offers.length - 1;
      for (let index = 0; index < last; index++) {
        try {
          return await attempt(input, offers[index] ?? offers[0]);
        } catch (error) {
          if (!(error instanceof GatewayError && fallbackCodes.has(error.code))) throw error;
        }
      }
      return attempt(input, offers[last] ?? offers[0]);
    },
  };
}

/** The caller's bytes with the provider's model name, without our members, and with usage asked for in streams. */
function toProviderBody({ request, text, scan }: ChatInput, { provider, model }: Offer): string {
  const replace = new Map([["model", JSON.stringify(model)]]);
  const append: string[] = [];
  if (request.stream === true && provider.row.streamUsage === "ask" && request.stream_options?.include_usage !== true) {
    const options = JSON.stringify({ ...request.stream_options, include_usage: true });
    if (request.stream_options === undefined) append.push(`"stream_options":${options}`);
    else replace.set("stream_options", options);
  }
  const remove = provider.row.streamUsage === "ask" ? ourMembersOfRequest : withStreamOptions;
  return editMembers(text, scan, { replace, remove, append });
}

const noEdits = new Map<string, string>();
const ourMembers = new Set(["provider", "cost", "provider_time"]);
const scanLimits = { maxDepth: Number.POSITIVE_INFINITY, maxTokens: Number.POSITIVE_INFINITY };

function toAnswer(text: string, call: ProviderCall): { text: string; usage: unknown } {
  const answer = readCompletion(text, call.provider);
  const seconds = Math.round(performance.now() - call.startedAt) / 1_000;
  const added = `"provider":${JSON.stringify(call.provider.name)},"cost":${costOf(call.provider)},"provider_time":${seconds}`;
  const usage = answer["usage"];
  const total = missingTotal(usage);
  if (total === null && !("provider" in answer) && !("cost" in answer) && !("provider_time" in answer)) {
    return { text: `${text.slice(0, text.lastIndexOf("}"))},${added}}`, usage };
  }
  const replace =
    total === null ? noEdits : new Map([["usage", JSON.stringify({ ...(usage as object), total_tokens: total })]]);
  const edits = { replace, remove: ourMembers, append: [added] };
  return { text: editMembers(text, scanJson(text, scanLimits), edits), usage };
}

/** Prices are not known in this version: null is not 0. */
export function costOf(provider: Provider): number | null {
  return provider.row.isFree === true ? 0 : null;
}

function readCompletion(text: string, provider: Provider): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badAnswer(provider, "answered with something that is not JSON", cause);
  }
  if (typeof value !== "object" || value === null) throw badAnswer(provider, "did not answer with a completion");
  const answer = value as Record<string, unknown>;
  if (answer["error"]) throw toErrorInAnswer(provider, answer["error"]);
  if (!Array.isArray(answer["choices"])) throw badAnswer(provider, "did not answer with a completion");
  return answer;
}

/** `total_tokens` is the sum. Returns it where the provider did not say so. */
function missingTotal(usage: unknown): number | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { prompt_tokens, completion_tokens, total_tokens } = usage as Record<string, unknown>;
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") return null;
  return typeof total_tokens === "number" ? null : prompt_tokens + completion_tokens;
}

function badAnswer(provider: Provider, what: string, cause?: unknown): GatewayError {
  return new GatewayError("provider_bad_response", `The provider '${provider.name}' ${what}.`, { cause });
}
