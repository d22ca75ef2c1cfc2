import type { RequestHeaders } from "./wire/request-head.ts";

/** Whether the caller asks what was decided on the way, and why. */
export function wantsMetadata(headers: RequestHeaders): boolean {
  return headers.get("x-switchyard-metadata") === "true";
}
