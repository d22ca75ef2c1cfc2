// The tokens of a chat request, counted by a provider that has an endpoint for it.

import type { ChatRequest } from "../contract/chat-format.ts";
import type { TokenCounting } from "../providers/dialect.ts";
import { findModelFacts } from "../providers/provider.ts";
import { type AttemptOptions, attempt } from "./attempt.ts";
import type { CallDependencies } from "./call-dependencies.ts";
import { badAnswer, readObject } from "./provider-answer.ts";

interface CountOptions extends Pick<AttemptOptions, "context" | "candidate"> {
  readonly counting: TokenCounting;
}

export async function countAtProvider(
  dependencies: CallDependencies,
  { counting, ...options }: CountOptions,
  request: ChatRequest,
): Promise<number> {
  const { provider, model } = options.candidate;
  const sent = counting.toRequest(request, { model, facts: findModelFacts(provider.row, model), isStream: false });
  const text = await attempt(dependencies, { ...options, isStream: false, isReported: false }, (running) =>
    running.read(sent),
  );
  const answer = readObject(text, provider);
  try {
    return counting.fromAnswer(answer);
  } catch (error) {
    throw error instanceof TypeError ? badAnswer(provider, "did not answer with a count", error) : error;
  }
}
