// A result that a provider keeps elsewhere: fetched through the guard against inner addresses, and without credentials.

import type { Egress, EgressAnswer } from "../egress/egress.ts";
import { EgressError } from "../egress/egress-error.ts";
import { GatewayError } from "../errors.ts";
import { CallerLeft, type Clocks } from "../providers/call.ts";
import type { TaskCall } from "./engine.ts";

export interface FetchResultOptions {
  readonly egress: Egress;
  readonly clocks: Clocks;
  readonly shutdownSignal: AbortSignal;
  /** The provider's name. */
  readonly provider: string;
  /** Whether the provider itself is reached by TLS. One that is not is the operator's own, and may name plain addresses. */
  readonly isTls: boolean;
  readonly maxBytes: number;
}

/** An answer of status 2xx; everything else is thrown as a failure of the provider, which has done the task by now. */
export async function fetchResult(
  url: string,
  { signal, deadline }: Pick<TaskCall, "signal" | "deadline">,
  { egress, clocks, shutdownSignal, provider, isTls, maxBytes }: FetchResultOptions,
): Promise<EgressAnswer> {
  try {
    const answer = await egress.fetch(url, {
      maxBytes,
      timeoutMs: Math.max(1, deadline - performance.now()),
      connectTimeoutMs: clocks.connectTimeoutMs,
      redirects: 3,
      signal: AbortSignal.any([signal, shutdownSignal]),
      ...(isTls ? {} : { protocols: ["https:", "http:"] }),
    });
    const { status } = answer;
    if (status >= 200 && status <= 299) return answer;
    const code = status >= 500 || status === 429 ? "provider_error" : "provider_bad_response";
    const what = `The file that the provider '${provider}' named answered with status ${status}.`;
    throw new GatewayError(code, what, { mayHaveExecuted: true });
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (shutdownSignal.aborted)
      throw new GatewayError("draining", "The gateway went down before the answer was complete.");
    if (signal.aborted) throw new CallerLeft();
    if (!(error instanceof EgressError)) throw error;
    const code =
      error.code === "url_not_allowed" || error.code === "too_large" ? "provider_bad_response" : "provider_unreachable";
    const what = `The file that the provider '${provider}' named could not be fetched (${error.code}): ${error.message}.`;
    throw new GatewayError(code, what, { cause: error, mayHaveExecuted: true });
  }
}
