// Fetches a result that a provider stores elsewhere: without credentials, and not from private networks.

import type { Egress, EgressAnswer } from "../egress/egress.ts";
import { EgressError, type EgressErrorCode } from "../egress/egress-error.ts";
import { type ErrorCode, GatewayError } from "../errors.ts";
import { withDeadline } from "../lib/deadline.ts";
import { CallerLeft, type Clocks } from "../providers/call.ts";
import type { TaskCall } from "./engine.ts";

export interface FetchResultOptions {
  readonly egress: Egress;
  readonly clocks: Clocks;
  readonly shutdownSignal: AbortSignal;
  /** The provider's name. */
  readonly provider: string;
  /** Whether the provider itself is called over TLS. One that is not belongs to the operator, and may name `http` addresses. */
  readonly isTls: boolean;
  readonly maxBytes: number;
}

type Limits = Pick<TaskCall, "signal" | "deadline">;

/** A response with status 2xx. Everything else is thrown as a failure of the provider, which has performed the task by now. */
export async function fetchResult(url: string, limits: Limits, options: FetchResultOptions): Promise<EgressAnswer> {
  const { egress, clocks, provider, isTls, maxBytes } = options;
  try {
    const answer = await withDeadline(toStopOptions(limits, options.shutdownSignal), (signal) =>
      egress.fetch(url, {
        maxBytes,
        timeoutMs: Math.max(1, limits.deadline - performance.now()),
        connectTimeoutMs: clocks.connectTimeoutMs,
        firstByteTimeoutMs: clocks.firstByteTimeoutMs,
        idleTimeoutMs: clocks.idleTimeoutMs,
        redirects: 3,
        signal,
        ...(isTls ? {} : { protocols: ["https:", "http:"] }),
      }),
    );
    const { status } = answer;
    if (status >= 200 && status <= 299) return answer;
    const code = status >= 500 || status === 429 ? "provider_error" : "provider_bad_response";
    const what = `The file that the provider '${provider}' named answered with status ${status}.`;
    throw new GatewayError(code, what, { mayHaveExecuted: true });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const code = codes[error.code] ?? "provider_unreachable";
    const what = `The file that the provider '${provider}' named could not be fetched (${error.code}): ${error.message}.`;
    throw new GatewayError(code, what, { cause: error, mayHaveExecuted: true });
  }
}

const codes: Readonly<Partial<Record<EgressErrorCode, ErrorCode>>> = {
  url_not_allowed: "provider_bad_response",
  too_large: "provider_bad_response",
  timeout: "provider_timeout",
};

/** Ends the work when the gateway shuts down or the caller disconnects, with the error for that. */
export function toStopOptions({ signal, deadline }: Limits, shutdownSignal: AbortSignal) {
  return {
    signals: [shutdownSignal, signal],
    reason(fired: AbortSignal | null): Error {
      if (fired === shutdownSignal)
        return new GatewayError("draining", "The gateway shut down before the answer was complete.");
      if (fired === null || performance.now() >= deadline)
        return new GatewayError("provider_timeout", "The provider did not finish within the time of the request.");
      return new CallerLeft();
    },
  };
}
