import type { Bucket } from "../shapes/bucket.ts";

export const bucketSettings = { bucket: "AWS_S3_BUCKET" };

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const s3: Bucket = {
  service: "s3",
  toUpload: (call, key) => ({ method: "PUT", path: s3.pathOf(call, key) }),
  pathOf: ({ settings: { bucket = "" } }, key) => `/${[bucket, ...key.split("/")].map(encodeURIComponent).join("/")}`,
};
