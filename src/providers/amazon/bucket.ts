// Long files are taken from a bucket of the operator's, and from nowhere else: they are put there first, and taken away in the end.
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html

import { asText, at } from "../lenient.ts";
import type { InputFile, ProviderTaskCall, TaskRequest } from "../task.ts";

export const bucketSettings = { bucket: "AWS_S3_BUCKET" };

/** What goes along with every request of such a task. */
export interface Stored {
  readonly token: string;
  readonly key: string;
}

/** The job's own, so that a job that is begun again puts the same file to the same place and asks for the same work. */
export function toStored(call: ProviderTaskCall): Stored {
  const token = call.jobId ?? crypto.randomUUID();
  return { token, key: `switchyard/${token}/input` };
}

export async function putFile(file: InputFile, { settings }: ProviderTaskCall, state: Stored): Promise<TaskRequest> {
  return {
    service: "s3",
    method: "PUT",
    path: pathOf(settings, state.key),
    body: { kind: "bytes", bytes: await file.read(), mediaType: file.mediaType },
    acceptsProviderParams: false,
    state,
  };
}

export function getFile({ settings }: ProviderTaskCall, key: string, state: unknown): TaskRequest {
  return { service: "s3", method: "GET", path: pathOf(settings, key), headers: { accept: "*/*" }, state };
}

export function removeFile({ settings }: ProviderTaskCall, asked: TaskRequest): readonly TaskRequest[] {
  const key = asText(at(asked.state, "key"));
  return key === null ? [] : [{ service: "s3", method: "DELETE", path: pathOf(settings, key) }];
}

function pathOf({ bucket = "" }: ProviderTaskCall["settings"], key: string): string {
  return `/${encodeURIComponent(bucket)}/${key.split("/").map(encodeURIComponent).join("/")}`;
}
