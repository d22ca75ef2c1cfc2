// Asks a provider for something that costs nothing, to see whether it is reachable and accepts the key.

import { GatewayError } from "../errors.ts";
import type { Ticker } from "../lib/ticker.ts";
import { authorizeRequest } from "./authorize-request.ts";
import { ProviderCall } from "./call.ts";
import { CallTicket } from "./call-ticket.ts";
import type { Provider } from "./configure.ts";
import type { Deployment } from "./deployment.ts";
import type { HttpClient } from "./http-client.ts";

export interface Probe {
  readonly deployment: string;
  readonly baseUrl: string;
  /** By the clock of this machine. */
  readonly askedAt: number;
  readonly latencyMs: number;
  /** The clock of the provider, from its answer; null: it did not tell. */
  readonly dateMs: number | null;
  /** Null: it answered, and did not refuse the key. */
  readonly failure: GatewayError | null;
}

export interface ProbeTools {
  readonly http: HttpClient;
  readonly ticker: Ticker;
  readonly timeoutMs: number;
}

// The paths below the address differ, and an answer that refuses the path is an answer.
const goodStatuses = [400, 404, 405, 406, 415, 422, 429];

/** `GET /models` where the provider has the chat format, which all such providers answer without charge. Elsewhere only the address is asked. */
export async function probeDeployment(
  provider: Provider,
  deployment: Deployment,
  { http, ticker, timeoutMs }: ProbeTools,
): Promise<Probe> {
  const path = provider.dialect === null ? "/models" : "/";
  const request = { method: "GET", path, body: "" } as const;
  const startedAt = performance.now();
  const described = { deployment: deployment.name, baseUrl: deployment.baseUrl, askedAt: Date.now() };
  try {
    const call = new ProviderCall({
      ...request,
      ticket: new CallTicket(),
      provider,
      address: deployment,
      headerLines: await authorizeRequest(deployment, request),
      wantsStream: false,
      connection: { signal: new AbortController().signal },
      shutdownSignal: new AbortController().signal,
      clocks: {
        connectTimeoutMs: timeoutMs,
        firstByteTimeoutMs: timeoutMs,
        idleTimeoutMs: timeoutMs,
        totalTimeoutMs: timeoutMs,
      },
      deadline: startedAt + timeoutMs,
      ticker,
      http,
      goodStatuses,
    });
    await call.open();
    const latencyMs = Math.round(performance.now() - startedAt);
    const date = Date.parse(call.header("date") ?? "");
    await call.readBytes();
    return { ...described, latencyMs, dateMs: Number.isNaN(date) ? null : date, failure: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ...described, latencyMs: Math.round(performance.now() - startedAt), dateMs: null, failure: error };
  }
}
