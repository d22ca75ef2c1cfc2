// Video clips that a vendor generated.

import { asNumber } from "../lenient.ts";
import type { ResultOf, TaskCall } from "../task.ts";
import { chooseFrom } from "./inputs.ts";

/** The result of `video/generation_async`. */
export function toVideo(
  bytes: Uint8Array,
  mediaType: string,
  seconds: number | null,
): ResultOf<"video/generation_async"> {
  if (bytes.length === 0) throw new TypeError("there is no video in the answer");
  return {
    output: { usage: null },
    units: { request: 1, ...(seconds !== null && { second: seconds }) },
    binaries: [{ base64Path: ["video"], urlPath: ["video_resource_url"], bytes, mediaType }],
    original: null,
  };
}

export function secondsOf({ input }: TaskCall): number | null {
  return asNumber(input["duration"]);
}

/** The vendor's value for a size such as `1280x720`. */
export function dimensionOf<T>({ input }: TaskCall, choices: Readonly<Record<string, T>>): T | null {
  const { dimension } = input;
  return typeof dimension === "string" ? chooseFrom(choices, dimension, "dimension") : null;
}
