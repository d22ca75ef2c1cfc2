// The launcher of an engine process on Linux: gives up the network and most of the file system, then becomes the engine process by
// execve, so that every thread of it is confined from its start. Where the kernel refuses one part, the other stays in force.
//
// Started by the pool: confine.ts <Grants as JSON> <worker.ts> <arguments of worker.ts …>. The worker gets one more argument: what is
// in force, as JSON.

import { dlopen, ptr } from "bun:ffi";
import { closeSync, constants, existsSync, openSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf } from "../../errors.ts";
import { lookUp } from "../../lib/look-up.ts";
import type { Confinement, Grants } from "./confinement.ts";

type Libc = ReturnType<typeof openLibc>;

/** Of prctl(2). */
const [setNoNewPrivileges, setSeccomp, filterMode, dropCapability] = [38, 22, 2n, 24];
const capabilities = 64n;
/** Of landlock(7): the same on x86-64 and arm64. */
const [createRuleset, addRule, restrictSelf] = [444n, 445n, 446n];
const [askVersion, pathBeneath] = [1n, 1n];
const access = {
  execute: 1n << 0n,
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  readFolder: 1n << 3n,
  truncate: 1n << 14n,
};
const reading = access.execute | access.readFile | access.readFolder;
/** The rights of a folder that a file does not have. */
const fileRights = access.execute | access.writeFile | access.readFile | access.truncate;
/** How many rights each version of Landlock knows: later ones are refused by an older kernel. */
const rightsByVersion = [0, 13, 14, 15, 15, 16];
/** Of seccomp(2) and bpf: the number of socket(2), and the architecture for which it is that number. */
const machines: Readonly<Record<string, { readonly architecture: number; readonly socket: number }>> = {
  x64: { architecture: 0xc000003e, socket: 41 },
  arm64: { architecture: 0xc00000b7, socket: 198 },
};
const ioUringSetup = 425;
/** Where the numbers of the x32 interface begin, by which a call would have a second number. */
const x32 = 0x40000000;

const [grantsText = "", workerPath = "", ...workerArguments] = process.argv.slice(2);
const inForce = { network: false, files: false };
const problems: string[] = [];

try {
  const grants = JSON.parse(grantsText) as Grants;
  const libc = openLibc();
  // Without it, the kernel takes neither of the two from a process that is not root.
  if (libc.prctl(setNoNewPrivileges, 1n, 0n, 0n, 0n) !== 0) throw new Error("no_new_privs was refused");
  // A gateway that runs as root would pass its capabilities on, and with them access to the memory of other processes. Other users have
  // no capabilities: the call fails for them without consequence.
  for (let capability = 0n; capability < capabilities; capability++) libc.prctl(dropCapability, capability, 0n, 0n, 0n);
  attempt("files", () => restrictFiles(libc, grants));
  attempt("network", () => denySockets(libc));
  execute(libc, [process.execPath, workerPath, ...workerArguments, report()]);
} catch (error) {
  problems.push(messageOf(error));
}
// Reached only where the launcher could not become the worker: then it does the worker's part in this process.
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
      // It has the other C library, or none.
    }
  }
  throw new Error("no C library was found");
}

/** Landlock: what no rule grants is refused from here on, to this thread and to what it becomes. */
function restrictFiles(libc: Libc, { readable, writable, denied }: Grants): void {
  const version = Number(libc.syscall(createRuleset, 0n, 0n, askVersion, 0n));
  if (version < 1) throw new Error("this kernel has no Landlock, or it is switched off");
  const all = (1n << BigInt(rightsByVersion[Math.min(version, rightsByVersion.length - 1)] ?? 0)) - 1n;
  const attributes = new BigUint64Array([all]);
  const ruleset = Number(libc.syscall(createRuleset, BigInt(ptr(attributes)), 8n, 0n, 0n));
  if (ruleset < 0) throw new Error("Landlock took no rules");
  const hidden = denied.filter((path) => existsSync(path)).map((path) => realpathSync(path));
  for (const path of readable) grant(libc, ruleset, path, reading & all, hidden);
  for (const path of writable) grant(libc, ruleset, path, all, hidden);
  if (libc.syscall(restrictSelf, BigInt(ruleset), 0n, 0n, 0n) !== 0n) throw new Error("Landlock refused its rules");
  closeSync(ruleset);
}

/** The path and everything below it, but for what is hidden. */
function grant(libc: Libc, ruleset: number, path: string, rights: bigint, hidden: readonly string[]): void {
  if (!existsSync(path)) return;
  const real = realpathSync(path);
  if (hidden.some((one) => real === one || real.startsWith(one + sep))) return;
  const isFolder = statSync(real).isDirectory();
  if (isFolder && hidden.some((one) => one.startsWith(real === sep ? sep : real + sep))) {
    for (const name of readdirSync(real)) grant(libc, ruleset, join(real, name), rights, hidden);
    // The runtime lists the folder to find packages. A rule holds for all that is below: the names of what is hidden can be listed.
    addPath(libc, ruleset, real, access.readFolder);
    return;
  }
  addPath(libc, ruleset, real, isFolder ? rights : rights & fileRights);
}

function addPath(libc: Libc, ruleset: number, path: string, rights: bigint): void {
  // O_PATH: the rule needs the place, not the content.
  const descriptor = openSync(path, 0o10000000 | constants.O_NOFOLLOW);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(rights, 0);
  rule.writeInt32LE(descriptor, 8);
  const outcome = libc.syscall(addRule, BigInt(ruleset), pathBeneath, BigInt(ptr(rule)), 0n);
  closeSync(descriptor);
  if (outcome !== 0n) throw new Error(`Landlock took no rule for ${path}`);
}

/** seccomp: socket(2) is refused for every family, and io_uring, which could open one as well. */
function denySockets(libc: Libc): void {
  const machine = lookUp(machines, process.arch);
  if (machine === undefined) throw new Error(`there is no filter for ${process.arch}`);
  const [load, jumpIfEqual, jumpIfAtLeast, answer] = [0x20, 0x15, 0x35, 0x06];
  const [allow, refuse, kill] = [0x7fff0000, 0x00050000 | 13, 0x80000000];
  // Each: what to do, how many to skip when true and when false, and the operand.
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

/** Returns only when it failed. The channel to the pool stays open: it is a descriptor that the environment names. */
function execute(libc: Libc, command: readonly string[]): never {
  const environment = readFileSync("/proc/self/environ", "utf8").split("\0").filter(Boolean);
  const channel = environment.find((one) => one.startsWith("NODE_CHANNEL_FD="))?.split("=")[1];
  const setDescriptorFlags = 2;
  if (channel !== undefined) libc.fcntl(Number(channel), setDescriptorFlags, 0);
  const kept: Buffer[] = [];
  const toText = (text: string) => {
    const bytes = Buffer.from(`${text}\0`);
    kept.push(bytes);
    return ptr(bytes);
  };
  const toList = (texts: readonly string[]) => new BigUint64Array([...texts.map((text) => BigInt(toText(text))), 0n]);
  const [list, variables] = [toList(command), toList(environment)];
  libc.execve(toText(command[0] ?? ""), ptr(list), ptr(variables));
  throw new Error("execve was refused");
}
