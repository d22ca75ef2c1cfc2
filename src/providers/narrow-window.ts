// How much of a stream the kernel takes in ahead of us. It lets this grow to megabytes for a sender that is fast, and hands up
// to half a megabyte of it to each read, which then waits in our memory for a caller who does not read. A stream needs none
// of that: at the size set here, which is where the kernel begins, a provider 100 ms away can still send 0.6 MB a second.

import { dlopen, FFIType } from "bun:ffi";

const solSocket = 1;
const soReceiveBuffer = 8;
// Less would be slow between processes of one machine, where a single segment is as large as this.
const windowBytes = 65_536;

/** What narrows the socket of that descriptor, for good; null where that cannot be done: Linux only. */
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
