/** Whether the caller asks what was decided on the way, and why. */
export function wantsMetadata(headers: Headers): boolean {
  return headers.get("x-switchyard-metadata") === "true";
}
