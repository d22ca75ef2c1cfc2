import type { Bucket } from "../shapes/bucket.ts";
import type { ProviderTaskCall } from "../task.ts";

export const bucketSettings = { bucket: "GOOGLE_CLOUD_STORAGE_BUCKET" };

export const storage: Bucket = {
  service: "storage",
  // https://docs.cloud.google.com/storage/docs/json_api/v1/objects/insert
  toUpload: (call, key) => ({ path: `/upload${objectsPath(call)}`, query: { uploadType: "media", name: key } }),
  pathOf: (call, key) => `${objectsPath(call)}/${encodeURIComponent(key)}`,
};

export function objectsPath({ settings: { bucket = "" } }: ProviderTaskCall): string {
  return `/storage/v1/b/${encodeURIComponent(bucket)}/o`;
}

export function addressOf({ settings }: ProviderTaskCall, key: string): string {
  return `gs://${settings["bucket"]}/${key}`;
}
