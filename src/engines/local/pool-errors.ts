// The errors of jobs that do not run, or do not complete.

import { GatewayError } from "../../errors.ts";
import { CallerLeft } from "../../providers/call.ts";
import type { TimeLimit } from "./local-engine.ts";
import { memorySignal } from "./messages.ts";

/** The error of a job whose caller left, or whose request exceeded its deadline. */
export function abortError(task: string, signal: AbortSignal): Error {
  if (signal.reason instanceof GatewayError) return signal.reason;
  if (signal.aborted) return new CallerLeft();
  return new GatewayError("provider_timeout", `The local engine for ${task} did not finish in time.`);
}

export function timeLimitError(task: string, { milliseconds, setting }: TimeLimit): GatewayError {
  return new GatewayError(
    "provider_timeout",
    `The local engine for ${task} exceeded its time limit of ${milliseconds / 1_000} s. Send a smaller input, or ask the operator to raise ${setting}.`,
    // A retry with the same input would take as long.
    { shouldRetry: false },
  );
}

/** `how` is the exit code, or the signal that killed the worker. */
export function exitError(task: string, how: number | string | null, maxMemoryBytes: number): GatewayError {
  if (how !== memorySignal)
    return new GatewayError("provider_error", `The local engine for ${task} crashed while processing this input.`);
  const limit = Math.round(maxMemoryBytes / 1_048_576);
  return new GatewayError(
    "provider_error",
    `The local engine for ${task} needed more than its ${limit} MB of memory for this input. Send a smaller input.`,
    { shouldRetry: false },
  );
}

export function queueFullError(retryAfter: number): GatewayError {
  const message = "Too many tasks are waiting for the local engines. Try again later.";
  return new GatewayError("overloaded", message, { retryAfter });
}

export function ownerQueueFullError(count: number, retryAfter: number): GatewayError {
  return new GatewayError(
    "rate_limit_exceeded",
    `The owner of this key already has ${count} waiting local tasks, which is the limit per owner. Try again when one of them has finished.`,
    { retryAfter, isOwnLimit: true },
  );
}

export function startError(cause: unknown): GatewayError {
  return new GatewayError("provider_unavailable", "No worker for the local engines could be started.", { cause });
}

export function drainingError(): GatewayError {
  return new GatewayError("draining", "The gateway is shutting down.");
}
