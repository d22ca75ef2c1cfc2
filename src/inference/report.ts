// What is known of one attempt at a provider once it has ended.

import type { ErrorCode } from "../errors.ts";

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface AttemptReport {
  readonly requestId: string;
  readonly keyId: string;
  /** Of the route; absent for jobs. */
  readonly path?: string;
  readonly provider: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly durationMs: number;
  /** Null when the provider told nothing. */
  readonly usage: TokenUsage | null;
  /** USD; null when it is not known. */
  readonly cost: number | null;
  readonly outcome: "completed" | "caller_left" | ErrorCode;
}

export function readUsage(usage: unknown): TokenUsage | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { prompt_tokens, completion_tokens } = usage as Record<string, unknown>;
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") return null;
  return { inputTokens: prompt_tokens, outputTokens: completion_tokens };
}
