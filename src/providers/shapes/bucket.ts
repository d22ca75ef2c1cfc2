// Some vendors read long files only from a bucket of the operator: the gateway uploads the file first, and deletes it when the work ends, times out
// or is cancelled (docs/jobs.md).

import { asText, at } from "../lenient.ts";
import type { ProviderTaskCall, TaskRequest } from "../task.ts";
import { fileOf } from "./inputs.ts";

export interface Bucket {
  readonly service: string;
  pathOf(call: ProviderTaskCall, key: string): string;
  toUpload(call: ProviderTaskCall, key: string): Pick<TaskRequest, "method" | "path" | "query">;
}

/** The state of every request of such a task. */
export interface Stored {
  readonly token: string;
  readonly key: string;
  readonly mediaType: string;
}

export async function uploadFile(bucket: Bucket, call: ProviderTaskCall): Promise<TaskRequest> {
  const [file, token] = [fileOf(call), tokenOf(call)];
  const { mediaType } = file;
  const state: Stored = { token, key: `switchyard/${token}/input`, mediaType };
  return {
    service: bucket.service,
    ...bucket.toUpload(call, state.key),
    body: { kind: "bytes", bytes: await file.read(), mediaType },
    acceptsProviderParams: false,
    isPreparation: true,
    state,
  };
}

export function deleteFile(bucket: Bucket, call: ProviderTaskCall, { state }: TaskRequest): readonly TaskRequest[] {
  const key = asText(at(state, "key"));
  return key === null ? [] : [{ service: bucket.service, method: "DELETE", path: bucket.pathOf(call, key) }];
}

/** A job that is restarted has the same token: it uploads to the same key and requests the same work. */
export function tokenOf({ jobId }: ProviderTaskCall): string {
  return jobId ?? crypto.randomUUID();
}
