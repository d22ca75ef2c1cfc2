// One request of a task to its vendor, and the whole answer.

import type { Egress } from "../../egress/egress.ts";
import { GatewayError } from "../../errors.ts";
import type { Ticker } from "../../lib/ticker.ts";
import { type Clocks, ProviderCall } from "../../providers/call.ts";
import type { Provider } from "../../providers/configure.ts";
import type { Deployment } from "../../providers/deployment.ts";
import type { HttpClient } from "../../providers/http-client.ts";
import { toTaskRefusal } from "../../providers/refusal.ts";
import type { ProviderTask, TaskCall, TaskRequest, TaskResponse } from "../../providers/task.ts";
import { fetchResult } from "../fetch-result.ts";
import { writeVendorRequest } from "./write-vendor-request.ts";

export interface ProviderCallOptions {
  readonly provider: Provider;
  readonly deployment: Deployment;
  readonly task: ProviderTask;
  readonly http: HttpClient;
  readonly egress?: Egress;
  readonly ticker: Ticker;
  readonly clocks: Clocks;
  readonly shutdownSignal: AbortSignal;
}

const maxAnswerBytes = 64 * 1_048_576;
// Most tasks must not be sent twice. A connection that was idle for longer may be closed by the vendor while the request is on its way.
const maxIdleMs = 1_000;
const decoder = new TextDecoder();

/** Resolves with an answer of status 2xx, or of one that the request calls good; any other is thrown as our error. */
export async function callVendor(
  request: TaskRequest,
  call: TaskCall,
  options: ProviderCallOptions,
): Promise<TaskResponse> {
  const { provider, deployment, task, clocks, shutdownSignal, ticker, http } = options;
  const service = request.service ?? task.service;
  const address = service === undefined ? deployment : deployment.services.get(service);
  if (address === undefined) throw new Error(`${provider.name} has no service '${service}'`);
  if (request.url !== undefined) return download(request.url, call, { ...options, isTls: address.origin.isTls });
  const made = new ProviderCall({
    ...(await writeVendorRequest(request, address)),
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
    toRefusal: (by, status, retryAfter, body) => toTaskRefusal(by, status, retryAfter, body, call.model !== null),
  });
  try {
    await made.open();
    made.beginIdleClock();
    const bytes = await made.readBytes();
    made.finish();
    return new ReadAnswer(provider.name, made.status, (name) => made.header(name), bytes);
  } catch (error) {
    made.abandon();
    throw error;
  }
}

/** Fetches a result that the vendor stores elsewhere. */
async function download(
  url: string,
  call: TaskCall,
  { egress, provider, clocks, isTls, shutdownSignal }: ProviderCallOptions & { readonly isTls: boolean },
): Promise<TaskResponse> {
  if (egress === undefined) throw new Error("results at other addresses cannot be fetched without egress");
  const from = { egress, clocks, shutdownSignal, provider: provider.name, isTls, maxBytes: maxAnswerBytes };
  const { status, header, body } = await fetchResult(url, call, from);
  return new ReadAnswer(provider.name, status, header, body);
}

/** An answer that was read whole. */
export class ReadAnswer implements TaskResponse {
  readonly status: number;
  readonly bytes: Uint8Array;
  readonly #header: (name: string) => string | null;
  readonly #vendor: string;
  #json: unknown;

  constructor(vendor: string, status: number, header: (name: string) => string | null, bytes: Uint8Array) {
    this.#vendor = vendor;
    this.status = status;
    this.#header = header;
    this.bytes = bytes;
  }

  header(name: string): string | null {
    return this.#header(name);
  }

  get mediaType(): string {
    return (this.#header("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  }

  get text(): string {
    return decoder.decode(this.bytes);
  }

  get json(): unknown {
    if (this.#json === undefined) this.#json = this.#parse();
    return this.#json;
  }

  #parse(): unknown {
    try {
      return JSON.parse(this.text);
    } catch (cause) {
      const what = `The provider '${this.#vendor}' answered with something that is not JSON.`;
      throw new GatewayError("provider_bad_response", what, { cause });
    }
  }
}
