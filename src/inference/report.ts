// The report of an attempt that has ended.

import { type ErrorCode, GatewayError, ValidationError } from "../errors.ts";
import { CallerLeft } from "../providers/call.ts";

export interface AttemptReport {
  readonly requestId: string;
  readonly keyId: string;
  /** The path of the route; absent for jobs. */
  readonly path?: string;
  readonly provider: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly durationMs: number;
  /** Null when the provider reported no usage. */
  readonly usage: ReturnType<typeof readUsage>;
  /** USD; null when it is unknown. */
  readonly cost: number | null;
  readonly outcome: "completed" | FailedOutcome;
}

type FailedOutcome = "caller_left" | ErrorCode;

export function toOutcome(error: unknown): FailedOutcome {
  if (error instanceof GatewayError) return error.code;
  if (error instanceof ValidationError) return "invalid_request";
  return error instanceof CallerLeft ? "caller_left" : "internal_error";
}

export function readUsage(usage: unknown): { inputTokens: number; outputTokens: number } | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { prompt_tokens, completion_tokens } = usage as Record<string, unknown>;
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") return null;
  return { inputTokens: prompt_tokens, outputTokens: completion_tokens };
}
