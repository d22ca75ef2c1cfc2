// Clips that a vendor made.

import type { TaskDraft } from "../../contract/tasks.ts";
import { asNumber } from "../lenient.ts";
import { type ProviderTaskCall, refuseInput, type TaskResult } from "../task.ts";

/** The result of `video/generation_async`. */
export function toVideo(
  bytes: Uint8Array,
  mediaType: string,
  seconds: number | null,
): TaskResult<TaskDraft<"video/generation_async">> {
  if (bytes.length === 0) throw new TypeError("there is no video in the answer");
  return {
    output: { usage: null },
    units: { request: 1, ...(seconds !== null && { second: seconds }) },
    binaries: [{ base64Path: ["video"], urlPath: ["video_resource_url"], bytes, mediaType }],
    original: null,
  };
}

export function secondsOf({ input }: ProviderTaskCall): number | null {
  return asNumber(input["duration"]);
}

/** `1280x720`, among those that the vendor makes. */
export function dimensionOf<T>({ input }: ProviderTaskCall, known: Readonly<Record<string, T>>): T | null {
  const wanted = input["dimension"];
  if (typeof wanted !== "string") return null;
  const found = Object.hasOwn(known, wanted) ? known[wanted] : undefined;
  if (found === undefined)
    refuseInput("dimension", `This provider makes ${Object.keys(known).join(", ")}`, "literal_error");
  return found;
}
