// Socket system calls for which Bun has no function.

import { dlopen, FFIType } from "bun:ffi";

// The values of Linux on x64 and arm64.
const solSocket = 1; // SOL_SOCKET
const soReceiveBuffer = 8; // SO_RCVBUF
const peekWithoutWaiting = 0x2 | 0x40; // MSG_PEEK | MSG_DONTWAIT
// The kernel doubles this value to 131,072, the size that it begins with. Half of that is the receive window: a provider 100 ms away can
// still send 0.6 MB per second. Less would be slow on the loopback interface, where one segment has this size.
const receiveBufferBytes = 65_536;

export interface SocketCalls {
  /**
   * Limits the TCP receive buffer. For a fast sender the kernel grows it to megabytes, and Bun reads up to half a megabyte at once, which
   * stays in memory while the caller does not read.
   */
  limitReceiveBuffer(fd: number): void;
  /**
   * Whether an idle connection has input that the event loop has not reported: a FIN, or bytes that belong to no request. This detects a
   * server that closes a connection just before it is reused.
   */
  hasInput(fd: number): boolean;
}

/** Null on systems other than Linux with the GNU C library. */
export function loadSocketCalls(): SocketCalls | null {
  if (process.platform !== "linux") return null;
  try {
    const { i32, ptr, u32, u64, i64_fast } = FFIType;
    const libc = dlopen("libc.so.6", {
      setsockopt: { args: [i32, i32, i32, ptr, u32], returns: i32 },
      recv: { args: [i32, ptr, u64, i32], returns: i64_fast },
    });
    const size = new Int32Array([receiveBufferBytes]);
    const byte = new Uint8Array(1);
    return {
      limitReceiveBuffer: (fd) => void libc.symbols.setsockopt(fd, solSocket, soReceiveBuffer, size, size.byteLength),
      // 0 is a FIN, 1 is a byte. -1 is no input, or a reset, whose error this call consumes; after a reset, the next write fails as well.
      hasInput: (fd) => libc.symbols.recv(fd, byte, 1, peekWithoutWaiting) >= 0,
    };
  } catch {
    return null; // another C library
  }
}
