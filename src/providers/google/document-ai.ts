// The request that all processors of Google Document AI have. Document AI answers when it is done, so there is nothing to poll.

import { fileOf, postJson, readBase64 } from "../shapes/inputs.ts";
import type { FileLimits, ProviderTaskCall, TaskRequest } from "../task.ts";

export const documentFiles: FileLimits = {
  maxBytes: 20 * 1_048_576,
  mediaTypes: [
    "application/pdf",
    ...["gif", "tiff", "jpeg", "png", "bmp", "x-ms-bmp", "webp"].map((type) => `image/${type}`),
  ],
};

/** `call.settings.processor` is `projects/…/locations/us/processors/…`. */
export async function processDocument(call: ProviderTaskCall<object>): Promise<TaskRequest> {
  const processor = (call.settings["processor"] ?? "").split("/").map(encodeURIComponent).join("/");
  const file = fileOf(call as ProviderTaskCall);
  const mimeType = file.mediaType === "image/x-ms-bmp" ? "image/bmp" : file.mediaType;
  const rawDocument = { content: await readBase64(file), mimeType };
  // Without images of its pages in the answer, a document may be twice as long.
  const value = { rawDocument, skipHumanReview: true, imagelessMode: true };
  const service = /\/locations\/eu\//.test(processor) ? "documentai-eu" : "documentai-us";
  return postJson(`/v1/${processor}:process`, value, { service });
}
