// Work that the vendor does while it is asked whether it is done, and files that it takes from a bucket alone.

import { asObject, asText, at } from "../lenient.ts";
import type { EngineFile, NextRequest, VendorCall, VendorRequest } from "../task.ts";
import { throwIfFailed } from "./google-json.ts";

export const bucketNeeds = { bucket: "GOOGLE_CLOUD_STORAGE_BUCKET" };

/** What goes along with every request of a task on a stored file. */
export interface Stored {
  readonly key: string;
}

export function toStored(call: VendorCall): Stored {
  return { key: `switchyard/${call.jobId ?? crypto.randomUUID()}/input` };
}

/** https://docs.cloud.google.com/storage/docs/json_api/v1/objects/insert */
export async function putFile(file: EngineFile, { settings }: VendorCall, note: Stored): Promise<VendorRequest> {
  return {
    service: "storage",
    path: `/upload/storage/v1/b/${encodeURIComponent(settings["bucket"] ?? "")}/o`,
    query: { uploadType: "media", name: note.key },
    body: { kind: "bytes", bytes: await file.read(), mediaType: file.mediaType },
    takesParams: false,
    note,
  };
}

export function getFile({ settings }: VendorCall, key: string, note: unknown): VendorRequest {
  return { service: "storage", method: "GET", path: pathOf(settings, key), query: { alt: "media" }, note };
}

export function listFiles({ settings }: VendorCall, prefix: string, note: unknown): VendorRequest {
  const path = `/storage/v1/b/${encodeURIComponent(settings["bucket"] ?? "")}/o`;
  return { service: "storage", method: "GET", path, query: { prefix, fields: "items(name)" }, note };
}

export function removeFile({ settings }: VendorCall, asked: VendorRequest): readonly VendorRequest[] {
  const key = asText(at(asked.note, "key"));
  return key === null ? [] : [{ service: "storage", method: "DELETE", path: pathOf(settings, key) }];
}

export function addressOf({ settings }: VendorCall, key: string): string {
  return `gs://${settings["bucket"]}/${key}`;
}

function pathOf({ bucket = "" }: VendorCall["settings"], key: string): string {
  return `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(key)}`;
}

/** The question for an operation, or null when it is done. Throws what it failed with. */
export function askForOperation(json: unknown, version: string, asked: VendorRequest): NextRequest | null {
  if (at(json, "done") === true) {
    throwIfFailed(asObject(json));
    return null;
  }
  const name = asText(at(json, "name"));
  if (name === null || !/^[\w./-]+$/.test(name)) throw new TypeError("the answer does not say where the operation is");
  const { service, note } = asked;
  return {
    method: "GET",
    path: `/${version}/${name}`,
    note,
    ...(service === undefined ? {} : { service }),
    waitMs: "growing",
  };
}
