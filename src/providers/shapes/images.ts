// Images that a vendor generated, and reference images that a caller sends.

import type { InputFile, ResultOf, TaskCall, TaskResult } from "../task.ts";
import { oneImage } from "./inputs.ts";

export interface MadeImage {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** The result of `image/generation`. */
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

export function referenceImagesOf({ files }: TaskCall): readonly InputFile[] {
  return Object.keys(files)
    .filter((member) => member.startsWith("reference_images."))
    .sort((one, another) => one.localeCompare(another, "en", { numeric: true }))
    .map((member) => files[member] as InputFile);
}

/** `1024x768` as numbers; null for names such as `auto`. */
export function sizeOf({ input }: TaskCall): { readonly width: number; readonly height: number } | null {
  const found = /^(\d+)x(\d+)$/.exec(String(input["resolution"] ?? ""));
  return found === null ? null : { width: Number(found[1]), height: Number(found[2]) };
}
