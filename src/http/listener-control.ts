// Controls the listening sockets of Bun.serve with system calls. Only on Linux.
//
// The sockets that listen on the same address form a group, and the kernel gives each new connection to one of them, by a hash of the
// addresses. A filter of the group can choose instead: during a reload it keeps new connections away from the sockets that have just been
// opened, then gives all of them to those, in one step for the whole group. A socket's number in the group is the order in which the
// sockets began to listen, until one is closed: the last socket then takes its number.
//
// Closing a listening socket resets every connection that the kernel has completed and the process has not yet accepted. So before it is
// closed, the kernel drops new connection requests: connections in the handshake are still accepted, and a dropped client retries a moment
// later, and reaches another process that listens on the same port.
//
// Bun's own `stop` also closes idle connections, on which a proxy may be about to send a request. `close` closes nothing but the listener.

import { dlopen, FFIType, ptr } from "bun:ffi";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { HandoverMessage } from "../lib/handover.ts";

type Steering = Extract<HandoverMessage, { readonly handover: "steer" }>["to"];

export type ListenerControl = NonNullable<ReturnType<typeof openListenerControl>>;

const solSocket = 1;
const soAttachFilter = 26;
const soDetachFilter = 27;
const soAttachReuseportFilter = 51;
const soDetachReuseportFilter = 68;
const closeOnExec = 0o2000000;
const listening = "0A";
const filterHeaderBytes = 16;
/** Code, jump when true, jump when false, operand. */
type Instruction = readonly [number, number, number, number];

/** Classic BPF over the TCP header: drop segments with SYN and without ACK, pass everything else. */
const dropSyn: readonly Instruction[] = [
  [0x30, 0, 0, 13],
  [0x54, 0, 0, 0x12],
  [0x15, 0, 1, 0x02],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
];

/** Classic BPF for a group: one of `count` sockets at random, beginning with the number `first`. */
function chooseAmong(first: number, count: number): readonly Instruction[] {
  return [
    [0x20, 0, 0, 0xffff_f038], // a random number
    [0x94, 0, 0, count],
    [0x04, 0, 0, first],
    [0x16, 0, 0, 0],
  ];
}

/** Null if the system does not support it: not Linux, another C library, or no /proc. */
export function openListenerControl(ports: readonly number[]) {
  if (process.platform !== "linux") return null;
  try {
    const listeners = ports.flatMap(findListeners);
    const sockets = listeners.map(({ fd }) => fd);
    const { i32, ptr: pointer, u32 } = FFIType;
    const library = dlopen("libc.so.6", {
      setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
      accept4: { args: [i32, pointer, pointer, i32], returns: i32 },
      close: { args: [i32], returns: i32 },
      dup2: { args: [i32, i32], returns: i32 },
    });
    const dropFilter = buildFilter(dropSyn);
    const setOption = (fd: number, option: number, filter = dropFilter) =>
      library.symbols.setsockopt(fd, solSocket, option, ptr(filter), filterHeaderBytes);
    return {
      /** Makes the kernel drop requests for new connections. False when that failed for a socket. */
      refuse(): boolean {
        const results = sockets.map((fd) => setOption(fd, soAttachFilter));
        return results.length > 0 && results.every((result) => result === 0);
      },
      /**
       * Closes the listeners, so that new connections are refused at once. Connections that were accepted stay open. The descriptors become
       * those of /dev/null, because Bun will close them.
       */
      close(): void {
        const nothing = openSync("/dev/null", "r");
        for (const fd of sockets) library.symbols.dup2(nothing, fd);
        closeSync(nothing);
      },
      /** Ends `refuse`. */
      admit(): void {
        for (const fd of sockets) setOption(fd, soDetachFilter);
      },
      /**
       * Which sockets of each group get new connections: only those that listen now, only the `count` that began to listen last, or all.
       * False when the kernel does not support it.
       */
      steer(to: Steering): boolean {
        const results = listeners.map(({ fd, address }) => {
          if (to === "all") return setOption(fd, soDetachReuseportFilter);
          const size = countListeners(address);
          const [first, count] = to === "present" ? [0, size] : [Math.max(0, size - to.last), Math.min(size, to.last)];
          return setOption(fd, soAttachReuseportFilter, buildFilter(chooseAmong(first, Math.max(1, count))));
        });
        return results.every((result) => result === 0);
      },
      /** How many connections the kernel has completed and this process has not yet accepted. */
      countWaiting(): number {
        const own = new Set(listeners.map(({ inode }) => inode));
        return readListeners().reduce((sum, { inode, waiting }) => sum + (own.has(inode) ? waiting : 0), 0);
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
function buildFilter(program: readonly Instruction[]): ArrayBuffer {
  const filter = new DataView(new ArrayBuffer(filterHeaderBytes + program.length * 8));
  filter.setUint16(0, program.length, true);
  filter.setBigUint64(8, BigInt(ptr(filter.buffer)) + BigInt(filterHeaderBytes), true);
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    const at = filterHeaderBytes + index * 8;
    filter.setUint16(at, code, true);
    filter.setUint8(at + 2, whenTrue);
    filter.setUint8(at + 3, whenFalse);
    filter.setUint32(at + 4, operand, true);
  }
  return filter.buffer;
}

interface ListeningSocket {
  readonly fd: number;
  /** Address and port, as the kernel writes them. */
  readonly address: string;
  readonly inode: string;
}

/** The sockets of this process that listen on the port. */
function findListeners(port: number): ListeningSocket[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const addresses = new Map(
    readListeners()
      .filter(({ address }) => address.endsWith(suffix))
      .map(({ inode, address }) => [`socket:[${inode}]`, { inode, address }]),
  );
  return readdirSync("/proc/self/fd")
    .map(Number)
    .flatMap((fd) => {
      const found = addresses.get(linkOf(fd));
      return found === undefined ? [] : [{ fd, ...found }];
    });
}

/** The size of a group. */
function countListeners(address: string): number {
  return readListeners().filter((one) => one.address === address).length;
}

/** The listening sockets of all processes. */
function readListeners() {
  return ["/proc/self/net/tcp", "/proc/self/net/tcp6"].flatMap((table) =>
    readFileSync(table, "utf8")
      .split("\n")
      // The table may have ten thousands of other sockets, which are not worth splitting.
      .filter((line) => line.includes(` ${listening} `))
      .flatMap((line) => {
        const [, address = "", , state, queues = "", , , , , inode = ""] = line.trim().split(/\s+/);
        // Of a listening socket, the second queue holds the connections that wait to be accepted.
        return state === listening ? [{ address, inode, waiting: Number.parseInt(queues.slice(9), 16) }] : [];
      }),
  );
}

function linkOf(fd: number): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return ""; // the descriptor that listed the folder is already closed
  }
}
