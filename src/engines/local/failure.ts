// Errors on the way from a worker to the gateway. They lose their class in a message, so they are sent as plain objects.

import { type ErrorCode, GatewayError, messageOf, type Problem, ValidationError } from "../../errors.ts";
import type { Log } from "../../log.ts";

export type Failure =
  | { readonly kind: "validation"; readonly problems: readonly [Problem, ...Problem[]] }
  | { readonly kind: "gateway"; readonly code: ErrorCode; readonly message: string; readonly details: FailureDetails }
  | { readonly kind: "bug"; readonly message: string; readonly stack: string };

type FailureDetails = Pick<GatewayError["details"], "param" | "retryAfter" | "shouldRetry" | "isOwnLimit">;

export function toFailure(error: unknown): Failure {
  if (error instanceof ValidationError) return { kind: "validation", problems: error.problems };
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    const { param, retryAfter, shouldRetry, isOwnLimit } = details;
    const sent = {
      ...(param !== undefined && { param }),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(shouldRetry !== undefined && { shouldRetry }),
      ...(isOwnLimit !== undefined && { isOwnLimit }),
    };
    return { kind: "gateway", code, message, details: sent };
  }
  return { kind: "bug", message: messageOf(error), stack: error instanceof Error ? (error.stack ?? "") : "" };
}

export function fromFailure(failure: Failure, task: string, log: Log): Error {
  switch (failure.kind) {
    case "validation":
      return new ValidationError(failure.problems);
    case "gateway":
      return new GatewayError(failure.code, failure.message, failure.details);
    case "bug":
      log.error("A local engine failed", { task, message: failure.message, stack: failure.stack });
      return new GatewayError("provider_error", `The local engine for ${task} failed on this input.`, {
        cause: new Error(failure.message),
      });
  }
}
