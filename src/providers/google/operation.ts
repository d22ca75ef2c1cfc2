// Work that the vendor does while it is asked whether it is done, and files that it takes from a bucket alone.

import { asObject, asText, at } from "../lenient.ts";
import type { InputFile, NextRequest, ProviderTaskCall, TaskRequest } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";

export const bucketSettings = { bucket: "GOOGLE_CLOUD_STORAGE_BUCKET" };

/** What goes along with every request of a task on a stored file. */
export interface Stored {
  readonly key: string;
}

export function toStored(call: ProviderTaskCall): Stored {
  return { key: `switchyard/${call.jobId ?? crypto.randomUUID()}/input` };
}

/** https://docs.cloud.google.com/storage/docs/json_api/v1/objects/insert */
export async function putFile(file: InputFile, { settings }: ProviderTaskCall, state: Stored): Promise<TaskRequest> {
  return {
    service: "storage",
    path: `/upload/storage/v1/b/${encodeURIComponent(settings["bucket"] ?? "")}/o`,
    query: { uploadType: "media", name: state.key },
    body: { kind: "bytes", bytes: await file.read(), mediaType: file.mediaType },
    acceptsProviderParams: false,
    state,
  };
}

export function getFile({ settings }: ProviderTaskCall, key: string, state: unknown): TaskRequest {
  return { service: "storage", method: "GET", path: pathOf(settings, key), query: { alt: "media" }, state };
}

export function listFiles({ settings }: ProviderTaskCall, prefix: string, state: unknown): TaskRequest {
  const path = `/storage/v1/b/${encodeURIComponent(settings["bucket"] ?? "")}/o`;
  return { service: "storage", method: "GET", path, query: { prefix, fields: "items(name)" }, state };
}

export function removeFile({ settings }: ProviderTaskCall, asked: TaskRequest): readonly TaskRequest[] {
  const key = asText(at(asked.state, "key"));
  return key === null ? [] : [{ service: "storage", method: "DELETE", path: pathOf(settings, key) }];
}

export function addressOf({ settings }: ProviderTaskCall, key: string): string {
  return `gs://${settings["bucket"]}/${key}`;
}

function pathOf({ bucket = "" }: ProviderTaskCall["settings"], key: string): string {
  return `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}`;
}

/** The question for an operation, or null when it is done. Throws what it failed with. */
export function askForOperation(json: unknown, version: string, asked: TaskRequest): NextRequest | null {
  if (at(json, "done") === true) {
    throwIfFailed(asObject(json));
    return null;
  }
  const name = asText(at(json, "name"));
  if (name === null || !/^[\w./-]+$/.test(name)) throw new TypeError("the answer does not say where the operation is");
  const { service, state } = asked;
  return {
    method: "GET",
    path: `/${version}/${name}`,
    state,
    ...(service === undefined ? {} : { service }),
    waitMs: "growing",
  };
}
