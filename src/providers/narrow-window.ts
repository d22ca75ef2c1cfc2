// Limits the TCP receive buffer of streams. For a fast sender the kernel grows it to megabytes and returns up to half a megabyte per read,
// which then stays in memory while the caller does not read. With the size below, which is the kernel's initial one, a provider 100 ms away
// can still send 0.6 MB per second.

import { dlopen, FFIType } from "bun:ffi";

const solSocket = 1;
const soReceiveBuffer = 8;
// Less would be slow on the loopback interface, where one segment has this size.
const windowBytes = 65_536;

/** A function that limits the buffer of a socket, by its descriptor. Null on systems other than Linux. */
export function loadNarrowWindow(): ((fd: number) => void) | null {
  if (process.platform !== "linux") return null;
  try {
    const { i32, ptr, u32 } = FFIType;
    const libc = dlopen("libc.so.6", { setsockopt: { args: [i32, i32, i32, ptr, u32], returns: i32 } });
    const size = new Int32Array([windowBytes]);
    return (fd) => {
      libc.symbols.setsockopt(fd, solSocket, soReceiveBuffer, size, size.byteLength);
    };
  } catch {
    return null; // another C library
  }
}
