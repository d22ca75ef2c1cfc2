// Images that a vendor generated, and reference images that a caller sends.

import type { InputFile, ProviderTask, ResultOf, TaskCall, TaskResult } from "../task.ts";
import { defineTask, refuseInput } from "../task.ts";
import { fileOf, oneImage } from "./inputs.ts";
import { postForm } from "./requests.ts";

export interface MadeImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** The result of `image/generation` and `image/variation`. */
export function toImages(images: readonly MadeImage[], units: TaskResult["units"] = {}): ResultOf<"image/generation"> {
  if (images.length === 0) throw new TypeError("there is no image in the answer");
  return {
    output: { items: images.map(() => ({})) },
    units: { image: images.length, request: 1, ...units },
    binaries: images.map(({ bytes, mediaType }, index) => ({
      base64Path: ["items", index, "image"],
      urlPath: ["items", index, "image_resource_url"],
      bytes,
      mediaType,
    })),
  };
}

/** The result of `image/background_removal`. */
export function toCutOut({ bytes, mediaType }: MadeImage): ResultOf<"image/background_removal"> {
  if (bytes.length === 0) throw new TypeError("there is no image in the answer");
  return {
    output: {},
    units: oneImage,
    binaries: [{ base64Path: ["image_b64"], urlPath: ["image_resource_url"], bytes, mediaType }],
  };
}

/** The same from a response that is the image itself. */
export function fromCutOut({ bytes, mediaType }: MadeImage): ResultOf<"image/background_removal"> {
  return toCutOut({ bytes, mediaType: mediaType || "image/png" });
}

/** A vendor that takes the image in a form, and responds with the image without its background. */
export function removesBackground(
  path: string,
  accept: string,
  facts: Pick<ProviderTask, "docs" | "files">,
): ProviderTask<"image/background_removal"> {
  return defineTask("image/background_removal", {
    ...facts,
    toRequest: (call) => postForm(path, { image_file: fileOf(call) }, { headers: { accept } }),
    fromResponse: fromCutOut,
  });
}

export function referenceImagesOf({ files }: TaskCall): readonly InputFile[] {
  return Object.keys(files)
    .filter((member) => member.startsWith("reference_images."))
    .sort((one, another) => one.localeCompare(another, "en", { numeric: true }))
    .map((member) => files[member] as InputFile);
}

/** `1024x768` as numbers; null for names such as `auto`. */
export function sizeOf({ input }: TaskCall): { readonly width: number; readonly height: number } | null {
  return toSize(String(input["resolution"] ?? ""));
}

function toSize(resolution: string): { readonly width: number; readonly height: number } | null {
  const found = /^(\d+)x(\d+)$/.exec(resolution);
  return found === null ? null : { width: Number(found[1]), height: Number(found[2]) };
}

/** The ratio that the caller names (`16:9`) or whose proportions the size has (`1344x768`). Refuses any other one. */
export function findRatio(resolution: string, ratios: readonly string[]): string {
  const size = toSize(resolution);
  const ratio = size === null ? resolution : ratios.find((candidate) => isRatioOf(candidate, size));
  if (ratio !== undefined && ratios.includes(ratio)) return ratio;
  return refuseInput("resolution", `This model has the ratios ${ratios.join(", ")}`, "literal_error");
}

/** Sizes are rounded to pixels, and by many models to multiples of 64. */
function isRatioOf(ratio: string, { width, height }: { readonly width: number; readonly height: number }): boolean {
  const [across = 1, down = 1] = ratio.split(":").map(Number);
  return Math.abs(width / height / (across / down) - 1) < 0.03;
}
