/**
 * Releases memory at once instead of at the next garbage collection: a body has many pieces, of up to a megabyte each. A view of a larger
 * buffer is not released.
 */
export function releaseBuffer(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) (bytes.buffer as ArrayBuffer).transfer(0);
}
