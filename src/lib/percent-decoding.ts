// Percent-encoded text (RFC 3986) from people, clients and other servers, which may be malformed.

/** Null: the text has a '%' that begins no valid escape, or its bytes are not UTF-8. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A step of a JSON Pointer in a URI fragment (RFC 6901), such as that of `$ref`. A stray percent sign stands for itself. */
export function decodePointerStep(step: string): string {
  return (decodePercent(step) ?? step).replaceAll("~1", "/").replaceAll("~0", "~");
}
