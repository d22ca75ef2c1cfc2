import { asText, objectsIn } from "../lenient.ts";
import { referenceImagesOf, toImages } from "../shapes/images.ts";
import { filePart, textOf } from "../shapes/inputs.ts";
import type { FormPart, ProviderTask, TaskCall, TaskRequest } from "../task.ts";

const usualModel = "gpt-image-1.5";

export const generateImages: ProviderTask = {
  task: "image/generation",
  docs: "https://developers.openai.com/api/reference/resources/images/methods/generate",
  models: ["gpt-image-2", "gpt-image-1.5", "gpt-image-1", "gpt-image-1-mini", "dall-e-3", "dall-e-2"],
  acceptsAnyModel: true,
  passthroughMembers: [
    ...["background", "moderation", "output_compression", "output_format"],
    ...["quality", "safety_identifier", "style", "user"],
  ],
  toRequest: (call) => {
    const isEdit = call.files["mask"] !== undefined || referenceImagesOf(call).length > 0;
    return isEdit ? toEdit(call) : toGeneration(call);
  },
  fromResponse({ json }) {
    const answer = json as { readonly data?: unknown; readonly output_format?: unknown };
    const mediaType = `image/${asText(answer.output_format) ?? "png"}`;
    const images = objectsIn(answer.data).flatMap(({ b64_json }) => {
      const base64 = asText(b64_json);
      return base64 === null ? [] : [{ bytes: Buffer.from(base64, "base64"), mediaType }];
    });
    return toImages(images);
  },
};

function toGeneration(call: TaskCall): TaskRequest {
  return { path: "/images/generations", body: { kind: "json", value: { prompt: textOf(call), ...settingsOf(call) } } };
}

async function toEdit(call: TaskCall): Promise<TaskRequest> {
  const { mask } = call.files;
  const parts: FormPart[] = [{ name: "prompt", value: textOf(call) }];
  for (const [name, value] of Object.entries(settingsOf(call))) parts.push({ name, value: String(value) });
  for (const image of referenceImagesOf(call)) parts.push(await filePart("image[]", image));
  if (mask !== undefined) parts.push(await filePart("mask", mask));
  return { path: "/images/edits", body: { kind: "form", parts } };
}

function settingsOf({ model, input }: TaskCall): Record<string, string | number> {
  const name = model ?? usualModel;
  return {
    model: name,
    n: Number(input["num_images"] ?? 1),
    ...(typeof input["resolution"] === "string" && { size: input["resolution"] }),
    // The others answer in base64 always, and refuse to be asked for it.
    ...(name.startsWith("dall-e") && { response_format: "b64_json" }),
  };
}
