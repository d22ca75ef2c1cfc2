// Whether something has arrived on an idle connection that the event loop has not reported yet. A server that closes an idle connection
// just before it is used again has sent its FIN by then: the kernel knows it, and the request goes over another connection instead.

import { dlopen, FFIType } from "bun:ffi";

const peekWithoutWaiting = 0x2 | 0x40; // MSG_PEEK | MSG_DONTWAIT

/** True for a FIN, a reset that left an end behind, or bytes that nothing asked for. Null where the kernel cannot be asked: Linux only. */
export function loadPeekSocket(): ((fd: number) => boolean) | null {
  if (process.platform !== "linux") return null;
  try {
    const { i32, ptr, u64, i64_fast } = FFIType;
    const libc = dlopen("libc.so.6", { recv: { args: [i32, ptr, u64, i32], returns: i64_fast } });
    const byte = new Uint8Array(1);
    // 0 is a FIN, 1 is a byte. -1 is nothing, or a reset, whose error the peek has consumed: the write behind it fails as well.
    return (fd) => libc.symbols.recv(fd, byte, 1, peekWithoutWaiting) >= 0;
  } catch {
    return null; // another C library
  }
}
