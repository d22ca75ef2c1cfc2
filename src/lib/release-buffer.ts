/**
 * Frees the memory of bytes that are used up, at once and not when somebody collects it: pieces of a body may have a megabyte,
 * and a body has many. Bytes that are a view of something larger stay.
 */
export function releaseBuffer(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) (bytes.buffer as ArrayBuffer).transfer(0);
}
