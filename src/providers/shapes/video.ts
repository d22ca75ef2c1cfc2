// Video clips that a vendor generated.

import type { TaskInput } from "../../contract/tasks.ts";
import type { ResultOf, TaskCall } from "../task.ts";
import { chooseFrom } from "./inputs.ts";

export type VideoCall = TaskCall<TaskInput<"video/generation_async">>;

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

/** The vendor's value for a size such as `1280x720`. */
export function dimensionOf<T>({ input }: VideoCall, choices: Readonly<Record<string, T>>): T | null {
  return input.dimension ? chooseFrom(choices, input.dimension, "dimension") : null;
}
