// Sends one request of a task to its provider and reads the whole response.

import type { Egress } from "../../egress/egress.ts";
import { GatewayError } from "../../errors.ts";
import { once } from "../../lib/once.ts";
import type { Ticker } from "../../lib/ticker.ts";
import { type Clocks, ProviderCall } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Deployment } from "../../providers/deployment.ts";
import type { HttpClient } from "../../providers/http-client.ts";
import { toTaskRefusal } from "../../providers/refusal.ts";
import type { ProviderTask, TaskCall, TaskRequest, TaskResponse } from "../../providers/task.ts";
import { fetchResult } from "../fetch-result.ts";
import { encodeRequest } from "./encode-request.ts";

export interface SendOptions {
  readonly provider: Provider;
  readonly deployment: Deployment;
  readonly task: ProviderTask;
  readonly http: HttpClient;
  /** For results that a provider stores elsewhere. */
  readonly egress?: Egress;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  readonly shutdownSignal: AbortSignal;
  /** The provider has accepted a request of the task that is no preparation. */
  readonly hasStarted: boolean;
}

const maxResponseBytes = 64 * 1_048_576;
// Most tasks must not be sent twice. The provider may close a connection that was idle for longer while the request is on its way.
const maxIdleMs = 1_000;

/** Resolves with a response of status 2xx, or of a status that the request accepts; any other is thrown as a GatewayError. */
export async function sendRequest(request: TaskRequest, call: TaskCall, options: SendOptions): Promise<TaskResponse> {
  const { provider, deployment, task, clocks, shutdownSignal, ticker, http, egress } = options;
  // Later requests refer to the work that was started: their 404 says nothing about the model.
  const namesModel = call.model !== null && !options.hasStarted && request.isPreparation !== true;
  const service = request.service ?? task.service;
  const address = service === undefined ? deployment : deployment.services.get(service);
  if (address === undefined) throw new Error(`${provider.name} has no service '${service}'`);
  if (request.url !== undefined) {
    if (egress === undefined) throw new Error("results at other addresses cannot be fetched without egress");
    const { isTls } = address.origin;
    const from = { egress, clocks, shutdownSignal, provider: provider.name, isTls, maxBytes: maxResponseBytes };
    const { status, header, body } = await fetchResult(request.url, call, from);
    return toTaskResponse(provider.name, { status, header, bytes: body });
  }
  const providerCall = new ProviderCall({
    ...(await encodeRequest(request, address)),
    ticket: call.ticket,
    provider,
    address,
    path: request.path,
    wantsStream: false,
    connection: call,
    shutdownSignal,
    clocks,
    deadline: call.deadline,
    ticker,
    http,
    maxIdleMs,
    goodStatuses: request.acceptedStatuses ?? [],
    toRefusal: (by, status, retryAfter, body) => toTaskRefusal(by, status, retryAfter, body, namesModel),
  });
  try {
    await providerCall.open();
    providerCall.beginIdleClock();
    const bytes = await providerCall.readBytes();
    providerCall.finish();
    const header = (name: string) => providerCall.header(name);
    return toTaskResponse(provider.name, { status: providerCall.status, header, bytes });
  } catch (error) {
    providerCall.abandon();
    throw error;
  }
}

export function toTaskResponse(
  provider: string,
  received: Pick<TaskResponse, "status" | "header" | "bytes">,
): TaskResponse {
  const text = once(() => new TextDecoder().decode(received.bytes));
  const json = once((): unknown => {
    try {
      return JSON.parse(text());
    } catch (cause) {
      const what = `The provider '${provider}' answered with something that is not JSON.`;
      throw new GatewayError("provider_bad_response", what, { cause });
    }
  });
  return {
    ...received,
    mediaType: (received.header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "",
    get text() {
      return text();
    },
    get json() {
      return json();
    },
  };
}
