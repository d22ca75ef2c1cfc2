// Detects input on an idle connection that the event loop has not reported yet. When a server closes an idle connection just before it is
// reused, the kernel already has the FIN, and the request can use another connection.

import { dlopen, FFIType } from "bun:ffi";

const peekWithoutWaiting = 0x2 | 0x40; // MSG_PEEK | MSG_DONTWAIT

/** True for a FIN, or for bytes that belong to no request. Null on systems other than Linux. */
export function loadPeekSocket(): ((fd: number) => boolean) | null {
  if (process.platform !== "linux") return null;
  try {
    const { i32, ptr, u64, i64_fast } = FFIType;
    const libc = dlopen("libc.so.6", { recv: { args: [i32, ptr, u64, i32], returns: i64_fast } });
    const byte = new Uint8Array(1);
    // 0 is a FIN, 1 is a byte. -1 is no input, or a reset whose error this call has consumed; the next write fails as well.
    return (fd) => libc.symbols.recv(fd, byte, 1, peekWithoutWaiting) >= 0;
  } catch {
    return null; // another C library
  }
}
