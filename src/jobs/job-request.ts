// What is kept of a request until its job has run: as JSON text, written by who accepts it and read by who runs it.

import type { Caller } from "../access/caller.ts";
import type { AsyncJobRequest } from "../contract/async-jobs.ts";

export interface KeptRequest {
  readonly request: AsyncJobRequest;
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
