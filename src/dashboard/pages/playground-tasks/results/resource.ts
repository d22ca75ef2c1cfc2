// Files that a task made: the address of one on this gateway, and base64 as an address.

/**
 * The path of a result on this gateway. Its full address may name another host, such as the public one of the gateway, which the policy of
 * the page does not load. Null: not a result of this gateway.
 */
export function toOwnAddress(address: unknown): string | null {
  if (typeof address !== "string" || !URL.canParse(address)) return null;
  const { pathname, search } = new URL(address);
  return pathname.startsWith("/v3/resources/") ? pathname + search : null;
}

const signatures: readonly (readonly [start: string, type: string])[] = [
  ["iVBOR", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["Qk", "image/bmp"],
];

/** The picture in base64; null for a format that browsers do not show. */
export function toPictureAddress(base64: unknown): string | null {
  if (typeof base64 !== "string") return null;
  const found = signatures.find(([start]) => base64.startsWith(start));
  return found === undefined ? null : `data:${found[1]};base64,${base64}`;
}

/** Only addresses of the web are links: a provider could send any other scheme. */
export function toWebAddress(address: unknown): string | null {
  if (typeof address !== "string" || !URL.canParse(address)) return null;
  return /^https?:$/.test(new URL(address).protocol) ? address : null;
}
