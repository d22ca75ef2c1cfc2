// The launcher of a worker on Linux. It lowers its priority, gives up network access and most of the file system, and replaces itself with the worker
// by execve. Priority and restrictions belong to a thread, and threads that it starts later inherit them. After execve, only this thread is left. It
// starts all threads of the worker, including those of the compiler and the garbage collector. If the kernel refuses one restriction, the other one
// still applies.
//
// The pool starts it: confine.ts <niceness> <Grants as JSON> <worker.ts> <arguments of worker.ts …>. The worker gets one more argument: the
// Confinement as JSON.

import { dlopen, ptr } from "bun:ffi";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { Confinement, Grants } from "./confinement.ts";

type Libc = ReturnType<typeof openLibc>;

/** A Landlock ruleset that is being built. */
interface Ruleset {
  readonly libc: Libc;
  readonly descriptor: number;
  /** Real paths that no rule may grant. */
  readonly hidden: readonly string[];
}

/** PR_SET_SECCOMP, PR_CAPBSET_DROP and PR_SET_NO_NEW_PRIVS of prctl(2). */
const prctlOptions = { setSeccomp: 22, dropCapability: 24, setNoNewPrivileges: 38 };
const seccompFilterMode = 2n;
/** More than the kernel has; they are numbered from 0. */
const maxCapabilities = 64n;
/** System calls of landlock(7), which have the same numbers on x86-64 and arm64. */
const landlock = { createRuleset: 444n, addRule: 445n, restrictSelf: 446n };
/** LANDLOCK_CREATE_RULESET_VERSION and LANDLOCK_RULE_PATH_BENEATH. */
const createRulesetVersion = 1n;
const rulePathBeneath = 1n;
/** Rights of landlock(7). */
const access = {
  execute: 1n << 0n,
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  readFolder: 1n << 3n,
  truncate: 1n << 14n,
};
const reading = access.execute | access.readFile | access.readFolder;
/** The kernel refuses a rule for a file that grants rights of folders. */
const fileRights = access.execute | access.writeFile | access.readFile | access.truncate;
/** The number of rights in each version of Landlock. A kernel refuses rights that it does not know. */
const rightsByVersion = [0, 13, 14, 15, 15, 16];
/** O_PATH, which node:fs does not have: a descriptor that gives no access to the content. */
const pathOnly = 0o10000000;
/** The AUDIT_ARCH constant of each architecture, and its number of socket(2). */
const architectures: Readonly<Record<string, { readonly audit: number; readonly socket: number }>> = {
  x64: { audit: 0xc000003e, socket: 41 },
  arm64: { audit: 0xc00000b7, socket: 198 },
};
/** The number of io_uring_setup(2), which is the same on x86-64 and arm64. */
const ioUringSetup = 425;
/** The x32 ABI of x86-64 gives every system call a second number, from here on. */
const firstX32Call = 0x40000000;
/** Instructions of classic BPF, in which the filter is written. */
const filterOperations = { load: 0x20, jumpIfEqual: 0x15, jumpIfAtLeast: 0x35, decide: 0x06 };
/** A refused call fails with EACCES, which is 13. */
const filterDecisions = { allow: 0x7fff0000, refuse: 0x00050000 | 13, kill: 0x80000000 };
/** Byte offsets in struct seccomp_data, which describes a system call to the filter. */
const callOffsets = { number: 0, architecture: 4 };
/** F_SETFD of fcntl(2). */
const setDescriptorFlags = 2;

const [niceness = "0", grantsText = "", workerPath = "", ...workerArguments] = process.argv.slice(2);
const inForce = { network: false, files: false };
const problems: string[] = [];

try {
  setPriority(Number(niceness));
} catch {
  // Some sandboxes forbid it. The engines then have the same priority as the gateway.
}
try {
  const grants = JSON.parse(grantsText) as Grants;
  const libc = openLibc();
  // Without no_new_privs, only root may set the restrictions.
  if (libc.prctl(prctlOptions.setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("no_new_privs was refused");
  // If the gateway runs as root, its workers would inherit capabilities with which they can read the memory of other processes. For other users
  // the call fails, which does not matter, because they have no capabilities.
  for (let capability = 0n; capability < maxCapabilities; capability++)
    libc.prctl(prctlOptions.dropCapability, capability, 0n, 0n, 0n);
  attempt("files", () => restrictFiles(libc, grants));
  attempt("network", () => denySockets(libc));
  replaceProcess(libc, toCommand(inForce));
} catch (error) {
  problems.push(messageOf(error));
}
// There was no execve, so the worker runs in this process. This thread may be confined, but the others are not.
process.argv = toCommand({ network: false, files: false });
await import(pathToFileURL(workerPath).href);

function attempt(part: keyof typeof inForce, confine: () => void): void {
  try {
    confine();
    inForce[part] = true;
  } catch (error) {
    problems.push(`${part}: ${messageOf(error)}`);
  }
}

function toCommand(applied: typeof inForce): string[] {
  const confinement: Confinement = { ...applied, problem: problems.length === 0 ? null : problems.join("; ") };
  return [process.execPath, workerPath, ...workerArguments, JSON.stringify(confinement)];
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
  const version = Number(libc.syscall(landlock.createRuleset, 0n, 0n, createRulesetVersion, 0n));
  if (version < 1) throw new Error("this kernel has no Landlock, or it is switched off");
  const all = (1n << BigInt(rightsByVersion[Math.min(version, rightsByVersion.length - 1)] ?? 0)) - 1n;
  const attributes = new BigUint64Array([all]);
  const size = BigInt(attributes.byteLength);
  const descriptor = Number(libc.syscall(landlock.createRuleset, BigInt(ptr(attributes)), size, 0n, 0n));
  if (descriptor < 0) throw new Error("Landlock refused the ruleset");
  const hidden = denied.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  const ruleset: Ruleset = { libc, descriptor, hidden };
  for (const path of readable) grant(ruleset, path, reading & all);
  for (const path of writable) grant(ruleset, path, all);
  if (libc.syscall(landlock.restrictSelf, BigInt(descriptor), 0n, 0n, 0n) !== 0n)
    throw new Error("Landlock refused to apply the ruleset");
  closeSync(descriptor);
}

/** Grants the path and everything below it, except hidden paths. */
function grant(ruleset: Ruleset, path: string, rights: bigint): void {
  if (!existsSync(path)) return;
  const real = realpathSync(path);
  const { hidden } = ruleset;
  if (hidden.some((one) => real === one || isBelow(real, one))) return;
  const isFolder = statSync(real).isDirectory();
  if (isFolder && hidden.some((one) => isBelow(one, real))) {
    for (const name of readdirSync(real)) grant(ruleset, join(real, name), rights);
    // The runtime lists the folder to find packages. The rule applies to everything below, so the names of hidden files can be listed.
    addRule(ruleset, real, access.readFolder);
    return;
  }
  addRule(ruleset, real, isFolder ? rights : rights & fileRights);
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder === sep ? sep : folder + sep);
}

function addRule({ libc, descriptor }: Ruleset, path: string, rights: bigint): void {
  const target = openSync(path, pathOnly | constants.O_NOFOLLOW);
  // struct landlock_path_beneath_attr
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(rights, 0);
  rule.writeInt32LE(target, 8);
  const outcome = libc.syscall(landlock.addRule, BigInt(descriptor), rulePathBeneath, BigInt(ptr(rule)), 0n);
  closeSync(target);
  if (outcome !== 0n) throw new Error(`Landlock refused the rule for ${path}`);
}

/** seccomp: refuses socket(2) for every address family, and io_uring, which could also open sockets. */
function denySockets(libc: Libc): void {
  const architecture = lookUp(architectures, process.arch);
  if (architecture === undefined) throw new Error(`there is no filter for ${process.arch}`);
  const { load, jumpIfEqual, jumpIfAtLeast, decide } = filterOperations;
  const { allow, refuse, kill } = filterDecisions;
  // struct sock_filter: operation, instructions to skip if true and if false, operand.
  const program: readonly (readonly [number, number, number, number])[] = [
    [load, 0, 0, callOffsets.architecture],
    [jumpIfEqual, 1, 0, architecture.audit],
    [decide, 0, 0, kill],
    [load, 0, 0, callOffsets.number],
    [jumpIfAtLeast, 3, 0, firstX32Call],
    [jumpIfEqual, 2, 0, architecture.socket],
    [jumpIfEqual, 1, 0, ioUringSetup],
    [decide, 0, 0, allow],
    [decide, 0, 0, refuse],
  ];
  const instructions = Buffer.alloc(program.length * 8);
  for (const [index, [operation, skipIfTrue, skipIfFalse, operand]] of program.entries()) {
    instructions.writeUInt16LE(operation, index * 8);
    instructions.writeUInt8(skipIfTrue, index * 8 + 2);
    instructions.writeUInt8(skipIfFalse, index * 8 + 3);
    instructions.writeUInt32LE(operand, index * 8 + 4);
  }
  // struct sock_fprog
  const filter = Buffer.alloc(16);
  filter.writeUInt16LE(program.length, 0);
  filter.writeBigUInt64LE(BigInt(ptr(instructions)), 8);
  if (libc.prctl(prctlOptions.setSeccomp, seccompFilterMode, BigInt(ptr(filter)), 0n, 0n) !== 0)
    throw new Error("seccomp was refused");
}

/** execve(2). Throws if the kernel refuses it. */
function replaceProcess(libc: Libc, command: readonly string[]): never {
  // From /proc, because the runtime hides NODE_CHANNEL_FD, the descriptor of the channel to the pool.
  const environment = readFileSync("/proc/self/environ", "utf8").split("\0").filter(Boolean);
  const channel = environment.find((one) => one.startsWith("NODE_CHANNEL_FD="))?.split("=")[1];
  // Clears close-on-exec, so that the worker keeps the channel.
  if (channel !== undefined) libc.fcntl(Number(channel), setDescriptorFlags, 0);
  // The references keep the garbage collector from freeing the strings.
  const strings: Buffer[] = [];
  const toPointer = (text: string) => {
    const bytes = Buffer.from(`${text}\0`);
    strings.push(bytes);
    return ptr(bytes);
  };
  const toPointers = (texts: readonly string[]) =>
    new BigUint64Array([...texts.map((text) => BigInt(toPointer(text))), 0n]);
  const [argumentPointers, variablePointers] = [toPointers(command), toPointers(environment)];
  libc.execve(toPointer(process.execPath), ptr(argumentPointers), ptr(variablePointers));
  throw new Error("execve was refused");
}
