// The launcher of a worker on Linux: gives up the network and most of the file system, then becomes the worker by execve, so that all threads of
// the worker are confined from the start. If the kernel refuses one of the two restrictions, the other one still applies.
//
// The pool starts it: confine.ts <Grants as JSON> <worker.ts> <arguments of worker.ts …>. The worker gets one more argument: the
// Confinement as JSON.

import { dlopen, ptr } from "bun:ffi";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { Confinement, Grants } from "./confinement.ts";

type Libc = ReturnType<typeof openLibc>;

/** Constants of prctl(2). */
const [setNoNewPrivileges, setSeccomp, filterMode, dropCapability] = [38, 22, 2n, 24];
const capabilities = 64n;
/** System calls and flags of landlock(7), which are the same on x86-64 and arm64. */
const [createRuleset, addRule, restrictSelf] = [444n, 445n, 446n];
const [versionFlag, pathBeneath] = [1n, 1n];
const access = {
  execute: 1n << 0n,
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  readFolder: 1n << 3n,
  truncate: 1n << 14n,
};
const reading = access.execute | access.readFile | access.readFolder;
/** The rights that apply to files. The others apply only to folders. */
const fileRights = access.execute | access.writeFile | access.readFile | access.truncate;
/** The number of rights in each version of Landlock. An older kernel refuses unknown ones. */
const rightsByVersion = [0, 13, 14, 15, 15, 16];
/** The number of socket(2) on each architecture, for the filter of seccomp(2). */
const machines: Readonly<Record<string, { readonly architecture: number; readonly socket: number }>> = {
  x64: { architecture: 0xc000003e, socket: 41 },
  arm64: { architecture: 0xc00000b7, socket: 198 },
};
const ioUringSetup = 425;
/** The first number of the x32 interface, by which each system call has a second number. */
const x32 = 0x40000000;

const [grantsText = "", workerPath = "", ...workerArguments] = process.argv.slice(2);
const inForce = { network: false, files: false };
const problems: string[] = [];

try {
  const grants = JSON.parse(grantsText) as Grants;
  const libc = openLibc();
  // The kernel requires it for both restrictions if the process is not root.
  if (libc.prctl(setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("no_new_privs was refused");
  // A worker of a gateway that runs as root would inherit its capabilities, and could read the memory of other processes. For other users the call
  // fails, which does not matter, because they have no capabilities.
  for (let capability = 0n; capability < capabilities; capability++) libc.prctl(dropCapability, capability, 0n, 0n, 0n);
  attempt("files", () => restrictFiles(libc, grants));
  attempt("network", () => denySockets(libc));
  execute(libc, [process.execPath, workerPath, ...workerArguments, report()]);
} catch (error) {
  problems.push(messageOf(error));
}
// This is reached only if execve failed. Then the worker runs in this process.
process.argv = [process.execPath, workerPath, ...workerArguments, report()];
await import(pathToFileURL(workerPath).href);

function attempt(part: keyof typeof inForce, confine: () => void): void {
  try {
    confine();
    inForce[part] = true;
  } catch (error) {
    problems.push(`${part}: ${messageOf(error)}`);
  }
}

function report(): string {
  const confinement: Confinement = { ...inForce, problem: problems.length === 0 ? null : problems.join("; ") };
  return JSON.stringify(confinement);
}

function openLibc() {
  const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
  for (const name of names) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
        syscall: { args: ["i64", "u64", "u64", "u64", "u64"], returns: "i64" },
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
        execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
      }).symbols;
    } catch {
      // The system has the other C library.
    }
  }
  throw new Error("no C library was found");
}

/** Landlock: from here on, this thread and the worker can access only the granted paths. */
function restrictFiles(libc: Libc, { readable, writable, denied }: Grants): void {
  const version = Number(libc.syscall(createRuleset, 0n, 0n, versionFlag, 0n));
  if (version < 1) throw new Error("this kernel has no Landlock, or it is switched off");
  const all = (1n << BigInt(rightsByVersion[Math.min(version, rightsByVersion.length - 1)] ?? 0)) - 1n;
  const attributes = new BigUint64Array([all]);
  const ruleset = Number(libc.syscall(createRuleset, BigInt(ptr(attributes)), 8n, 0n, 0n));
  if (ruleset < 0) throw new Error("Landlock refused the ruleset");
  const hidden = denied.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  for (const path of readable) grant(libc, ruleset, path, reading & all, hidden);
  for (const path of writable) grant(libc, ruleset, path, all, hidden);
  if (libc.syscall(restrictSelf, BigInt(ruleset), 0n, 0n, 0n) !== 0n) throw new Error("Landlock refused its rules");
  closeSync(ruleset);
}

/** Grants the path and everything below it, except hidden paths. */
function grant(libc: Libc, ruleset: number, path: string, rights: bigint, hidden: readonly string[]): void {
  if (!existsSync(path)) return;
  const real = realpathSync(path);
  if (hidden.some((one) => real === one || real.startsWith(one + sep))) return;
  const isFolder = statSync(real).isDirectory();
  if (isFolder && hidden.some((one) => one.startsWith(real === sep ? sep : real + sep))) {
    for (const name of readdirSync(real)) grant(libc, ruleset, join(real, name), rights, hidden);
    // The runtime lists the folder to find packages. The rule applies to everything below, so the names of hidden files can be listed.
    addPath(libc, ruleset, real, access.readFolder);
    return;
  }
  addPath(libc, ruleset, real, isFolder ? rights : rights & fileRights);
}

function addPath(libc: Libc, ruleset: number, path: string, rights: bigint): void {
  // O_PATH: the rule needs no access to the content.
  const descriptor = openSync(path, 0o10000000 | constants.O_NOFOLLOW);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(rights, 0);
  rule.writeInt32LE(descriptor, 8);
  const outcome = libc.syscall(addRule, BigInt(ruleset), pathBeneath, BigInt(ptr(rule)), 0n);
  closeSync(descriptor);
  if (outcome !== 0n) throw new Error(`Landlock refused the rule for ${path}`);
}

/** seccomp: refuses socket(2) for every address family, and io_uring, which could open sockets, too. */
function denySockets(libc: Libc): void {
  const machine = lookUp(machines, process.arch);
  if (machine === undefined) throw new Error(`there is no filter for ${process.arch}`);
  const [load, jumpIfEqual, jumpIfAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
  const [allow, refuse, kill] = [0x7fff0000, 0x00050000 | 13, 0x80000000];
  // Each instruction: operation, instructions to skip if true and if false, operand.
  const program: readonly (readonly [number, number, number, number])[] = [
    [load, 0, 0, 4],
    [jumpIfEqual, 1, 0, machine.architecture],
    [answer, 0, 0, kill],
    [load, 0, 0, 0],
    [jumpIfAtLeast, 3, 0, x32],
    [jumpIfEqual, 2, 0, machine.socket],
    [jumpIfEqual, 1, 0, ioUringSetup],
    [answer, 0, 0, allow],
    [answer, 0, 0, refuse],
  ];
  const instructions = Buffer.alloc(program.length * 8);
  for (const [index, [code, whenTrue, whenFalse, operand]] of program.entries()) {
    instructions.writeUInt16LE(code, index * 8);
    instructions.writeUInt8(whenTrue, index * 8 + 2);
    instructions.writeUInt8(whenFalse, index * 8 + 3);
    instructions.writeUInt32LE(operand, index * 8 + 4);
  }
  const filter = Buffer.alloc(16);
  filter.writeUInt16LE(program.length, 0);
  filter.writeBigUInt64LE(BigInt(ptr(instructions)), 8);
  if (libc.prctl(setSeccomp, filterMode, BigInt(ptr(filter)), 0n, 0n) !== 0) throw new Error("seccomp was refused");
}

/** Throws if execve failed. The channel to the pool, whose descriptor is in the environment, stays open. */
function execute(libc: Libc, command: readonly string[]): never {
  const environment = readFileSync("/proc/self/environ", "utf8").split("\0").filter(Boolean);
  const channel = environment.find((one) => one.startsWith("NODE_CHANNEL_FD="))?.split("=")[1];
  const setDescriptorFlags = 2;
  if (channel !== undefined) libc.fcntl(Number(channel), setDescriptorFlags, 0);
  // References keep the garbage collector from freeing them.
  const buffers: Buffer[] = [];
  const toText = (text: string) => {
    const bytes = Buffer.from(`${text}\0`);
    buffers.push(bytes);
    return ptr(bytes);
  };
  const toList = (texts: readonly string[]) => new BigUint64Array([...texts.map((text) => BigInt(toText(text))), 0n]);
  const [list, variables] = [toList(command), toList(environment)];
  libc.execve(toText(command[0] ?? ""), ptr(list), ptr(variables));
  throw new Error("execve was refused");
}
