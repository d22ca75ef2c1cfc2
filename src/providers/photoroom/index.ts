import type { ProviderRow } from "../provider.ts";
import { fromCutOut } from "../shapes/images.ts";
import { fileOf } from "../shapes/inputs.ts";
import { postForm } from "../shapes/requests.ts";
import { defineTask } from "../task.ts";

const removeBackground = defineTask({
  task: "image/background_removal",
  docs: "https://docs.photoroom.com/remove-background-api-basic-plan",
  toRequest: (call) =>
    postForm("/v1/segment", { image_file: fileOf(call) }, { headers: { accept: "image/png, application/json" } }),
  fromResponse: fromCutOut,
});

export const photoroom: ProviderRow = {
  name: "photoroom",
  title: "Photoroom",
  docs: "https://docs.photoroom.com",
  baseUrl: "https://sdk.photoroom.com",
  auth: { kind: "header", name: "x-api-key" },
  tasks: [removeBackground],
};
