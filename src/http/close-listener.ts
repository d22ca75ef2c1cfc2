// Closing a listening socket resets every connection that the kernel has accepted for it and the process has not. So before
// ours is closed, the kernel is told to drop new connection requests for it: what is under way is still taken in, and who
// comes now asks again a moment later, at a process that listens on the same port. Linux only; elsewhere nothing is done.

import { dlopen, FFIType, ptr } from "bun:ffi";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const solSocket = 1;
const soAttachFilter = 26;
const listening = "0A";
/** Classic BPF over the TCP header: drop what has SYN and not ACK, pass everything else. */
const dropSyn = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
] as const;

/** Whether new connections to this process's listeners on the port are now left to others. */
export function refuseNewConnections(port: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    const program = new DataView(new ArrayBuffer(dropSyn.length * 8));
    for (const [index, [code, whenTrue, whenFalse, operand]] of dropSyn.entries()) {
      program.setUint16(index * 8, code, true);
      program.setUint8(index * 8 + 2, whenTrue);
      program.setUint8(index * 8 + 3, whenFalse);
      program.setUint32(index * 8 + 4, operand, true);
    }
    const header = new DataView(new ArrayBuffer(16));
    header.setUint16(0, dropSyn.length, true);
    header.setBigUint64(8, BigInt(ptr(program.buffer)), true);
    const { i32, ptr: pointer, u32 } = FFIType;
    const libc = dlopen("libc.so.6", { setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 } });
    const results = findListeners(port).map((fd) =>
      libc.symbols.setsockopt(fd, solSocket, soAttachFilter, ptr(header.buffer), header.byteLength),
    );
    libc.close();
    return results.length > 0 && results.every((result) => result === 0);
  } catch {
    return false; // another C library, or no /proc: the listener is closed as it is
  }
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
    return ""; // the one that listed the folder is gone already
  }
}
