/** Whether the caller asked which decisions were made for the call. */
export function wantsMetadata(headers: Headers): boolean {
  return headers.get("x-switchyard-metadata") === "true";
}
