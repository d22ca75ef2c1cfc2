// The tokens of a chat request, counted by a provider that has an endpoint for it.

import type { ChatRequest } from "../contract/chat-format.ts";
import type { ChatDialect, TokenCounting } from "../providers/dialect.ts";
import { findModelFacts } from "../providers/provider.ts";
import { attempt } from "./attempt.ts";
import { type FetchMedia, toMustFetch } from "./media.ts";
import { badAnswer, readAnswer } from "./provider-answer.ts";
import type { CallDependencies, RequestContext } from "./request-context.ts";
import type { Candidate } from "./route-planner.ts";
import { limitsOf } from "./try-candidates.ts";

interface CountOptions extends Pick<ChatDialect, "fetchesMedia"> {
  readonly counting: TokenCounting;
  readonly request: ChatRequest;
}

export async function countAtProvider(
  dependencies: CallDependencies & { readonly fetchMedia: FetchMedia },
  context: RequestContext,
  candidate: Candidate,
  { counting, fetchesMedia, request }: CountOptions,
): Promise<number> {
  const { provider, model } = candidate;
  const limits = limitsOf(context, dependencies.clocks);
  const whole = await dependencies.fetchMedia(request, toMustFetch(fetchesMedia), limits);
  const sent = counting.toRequest(whole, { model, facts: findModelFacts(provider.row, model), isStream: false });
  const options = { context, candidate, isStream: false, isFree: true };
  const text = await attempt(dependencies, options, (running) => running.read(sent));
  const answer = readAnswer(text, provider);
  try {
    return counting.fromAnswer(answer);
  } catch (error) {
    throw error instanceof TypeError ? badAnswer(provider, "did not answer with a count", error) : error;
  }
}
