// Controls the listening sockets of Bun.serve with system calls. Only on Linux.
//
// Closing a listening socket resets every connection that the kernel has completed and the process has not yet accepted. So before it is
// closed, the kernel drops new connection requests: connections in the handshake are still accepted, and a dropped client retries a moment
// later, and reaches another process that listens on the same port.

import { dlopen, FFIType, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export type ListenerControl = NonNullable<ReturnType<typeof openListenerControl>>;

const solSocket = 1;
const soAttachFilter = 26;
const soDetachFilter = 27;
const closeOnExec = 0o2000000;
const listening = "0A";
const filterHeaderBytes = 16;
/** Classic BPF over the TCP header: drop segments with SYN and without ACK, pass everything else. */
const dropSyn = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
] as const;

/** Null if the system does not support it: not Linux, another C library, or no /proc. */
export function openListenerControl(ports: readonly number[]) {
  if (process.platform !== "linux") return null;
  try {
    const sockets = ports.flatMap(findListeners);
    const { i32, ptr: pointer, u32 } = FFIType;
    const library = dlopen("libc.so.6", {
      setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
      accept4: { args: [i32, pointer, pointer, i32], returns: i32 },
      close: { args: [i32], returns: i32 },
    });
    const filter = buildFilter();
    const setOption = (fd: number, option: number) =>
      library.symbols.setsockopt(fd, solSocket, option, ptr(filter), filterHeaderBytes);
    return {
      /** Makes the kernel drop requests for new connections. False when that failed for a socket. */
      refuse(): boolean {
        const results = sockets.map((fd) => setOption(fd, soAttachFilter));
        return results.length > 0 && results.every((result) => result === 0);
      },
      /** Ends `refuse`. */
      admit(): void {
        for (const fd of sockets) setOption(fd, soDetachFilter);
      },
      /** Accepts and closes at most `limit` waiting connections, and returns how many. Needs one free file descriptor. */
      dropWaiting(limit: number): number {
        let dropped = 0;
        for (const fd of sockets) {
          for (; dropped < limit; dropped += 1) {
            const accepted = library.symbols.accept4(fd, null, null, closeOnExec);
            if (accepted < 0) break;
            library.symbols.close(accepted);
          }
        }
        return dropped;
      },
    };
  } catch {
    return null;
  }
}

/** A `sock_fprog`: the number of instructions and their address, and behind it the instructions. */
function buildFilter(): ArrayBuffer {
  const filter = new DataView(new ArrayBuffer(filterHeaderBytes + dropSyn.length * 8));
  filter.setUint16(0, dropSyn.length, true);
  filter.setBigUint64(8, BigInt(ptr(filter.buffer)) + BigInt(filterHeaderBytes), true);
  for (const [index, [code, whenTrue, whenFalse, operand]] of dropSyn.entries()) {
    const at = filterHeaderBytes + index * 8;
    filter.setUint16(at, code, true);
    filter.setUint8(at + 2, whenTrue);
    filter.setUint8(at + 3, whenFalse);
    filter.setUint32(at + 4, operand, true);
  }
  return filter.buffer;
}

function findListeners(port: number): number[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const inodes = new Set<string>();
  for (const table of ["/proc/self/net/tcp", "/proc/self/net/tcp6"]) {
    for (const line of readFileSync(table, "utf8").split("\n").slice(1)) {
      const columns = line.trim().split(/\s+/);
      if (columns[1]?.endsWith(suffix) && columns[3] === listening) inodes.add(`socket:[${columns[9]}]`);
    }
  }
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => inodes.has(linkOf(fd)));
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ""; // the descriptor that listed the folder is already closed
  }
}
