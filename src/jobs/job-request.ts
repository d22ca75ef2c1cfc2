// The request of a job as JSON text: stored when the job is submitted, read when it runs.

import type { Caller } from "../access/caller.ts";
import type { AsyncJobRequest, JobObject } from "../contract/async-jobs.ts";
import { mergeTags } from "../inference/tag-caller.ts";
import { parseExactJson } from "../lib/exact-json.ts";
import type { TraceHeaders } from "../tracing/span.ts";

export interface StoredRequest {
  readonly request: AsyncJobRequest;
  /** `user_webhook_parameters` exactly as the caller wrote them, so that numbers keep all digits. */
  readonly userParameters: string | null;
  readonly caller: Pick<Caller, "keyId" | "kind" | "owner">;
  readonly requestId: string;
  readonly baseUrl: string;
  /** The trace that the job continues; absent when traces were not exported. */
  readonly trace?: TraceHeaders;
}

export interface StoredResult {
  readonly output?: JobObject["output"];
  readonly error?: JobObject["error"];
  readonly original_response?: unknown;
  /** The span of the job, which its webhook continues. */
  readonly trace?: TraceHeaders;
}

/** `result`: the JSON of an object with members. */
export function withTrace(result: string, trace: TraceHeaders): string {
  return `${result.slice(0, -1)},"trace":${JSON.stringify(trace)}}`;
}

/** Numbers of the vendor's original response keep all digits. Other results are parsed by the faster JSON.parse. */
export function unpackResult(text: string): StoredResult {
  return (text.includes('"original_response"') ? parseExactJson(text) : JSON.parse(text)) as StoredResult;
}

/**
 * The permissions of the key were checked when the job was submitted: revoking the key later does not stop the job. Its limits
 * and tags are those that the key has now, beside the tags of the request. `key`: the caller as the keyring knows it, or null.
 */
export function callerOf({ caller, request }: StoredRequest, key: Caller | null): Caller {
  return {
    ...caller,
    name: key?.name ?? "",
    scopes: new Set(["universal"]),
    allowedModels: null,
    rateLimit: null,
    budget: null,
    team: key === null ? caller.owner : key.team,
    role: null,
    rules: key?.rules ?? [],
    tags: mergeTags(key?.tags ?? {}, request.tags),
  };
}
