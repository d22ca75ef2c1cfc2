import type { ProviderRow } from "../provider.ts";
import { toCutOut } from "../shapes/images.ts";
import { fileOf, filePart } from "../shapes/inputs.ts";
import type { ProviderTask } from "../task.ts";

const removeBackground: ProviderTask = {
  task: "image/background_removal",
  docs: "https://docs.photoroom.com/remove-background-api-basic-plan",
  toRequest: async (call) => ({
    path: "/v1/segment",
    headers: { accept: "image/png, application/json" },
    body: { kind: "form", parts: [await filePart("image_file", fileOf(call))] },
  }),
  fromResponse: ({ bytes, mediaType }) => toCutOut({ bytes, mediaType: mediaType || "image/png" }),
};

export const photoroom: ProviderRow = {
  name: "photoroom",
  title: "Photoroom",
  docs: "https://docs.photoroom.com",
  baseUrl: "https://sdk.photoroom.com",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
};
