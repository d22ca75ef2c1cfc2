const listedTag = /(?:W\/)?("[^"]*")/g;

/** `If-None-Match` compares weakly: a `W/` prefix on either side does not matter (RFC 9110, 13.1.2). */
export function matchesEntityTag(header: string | null, entityTag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [, listed] of header.matchAll(listedTag)) if (listed === entityTag) return true;
  return false;
}
