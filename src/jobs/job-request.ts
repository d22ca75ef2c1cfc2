// What is kept of a request until its job has run: as JSON text, written by who accepts it and read by who runs it.

import type { Caller } from "../access/caller.ts";
import type { AsyncJobRequest, JobObject } from "../contract/async-jobs.ts";
import { parseExactJson } from "../lib/exact-json.ts";

export interface KeptRequest {
  readonly request: AsyncJobRequest;
  /** `user_webhook_parameters` as the caller wrote them: a number keeps its digits. */
  readonly userParameters: string | null;
  readonly caller: Pick<Caller, "keyId" | "kind" | "owner">;
  readonly requestId: string;
  readonly baseUrl: string;
}

export function packRequest(kept: KeptRequest): string {
  return JSON.stringify(kept);
}

/** The cast says what `packRequest` wrote: nobody else writes there. */
export function unpackRequest(text: string): KeptRequest {
  return JSON.parse(text) as KeptRequest;
}

export interface KeptResult {
  readonly output?: JobObject["output"];
  readonly error?: JobObject["error"];
  readonly original_response?: unknown;
}

/** Numbers of the vendor's own answer keep their digits. The gateway wrote those of the output, and a plain parse is faster. */
export function unpackResult(text: string): KeptResult {
  return (text.includes('"original_response"') ? parseExactJson(text) : JSON.parse(text)) as KeptResult;
}

/** What the key may do was checked when the job was accepted; a job is not taken back when its key is. */
export function callerOf({ caller }: KeptRequest): Caller {
  return {
    ...caller,
    name: "",
    scopes: new Set(["universal"]),
    allowedModels: null,
    rateLimit: null,
    budget: null,
    tags: {},
  };
}
