#!/usr/bin/env node
// Runs the Bun that npm brought, also where install scripts are blocked: then the binary lies in its platform package
// instead of in the package `bun`. Plain JavaScript, for any Node from 20 on.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

/** The path of a Bun binary that exists. */
export function findBun() {
  const ending = process.platform === "win32" ? ".exe" : "";
  for (const candidate of candidates(ending)) if (existsSync(candidate)) return candidate;
  throw new Error("Bun was not found. Run `npm ci` in the folder of switchyard.");
}

function* candidates(ending) {
  // A script that ran has moved the binary here, under a name that ends in .exe on every system.
  const placed = packageFolder("bun");
  const platform = { darwin: "darwin", linux: "linux", win32: "windows" }[process.platform];
  const machine = { arm64: "aarch64", x64: "x64" }[process.arch];
  for (const variant of ["", "-musl", "-baseline", "-musl-baseline"]) {
    const folder = packageFolder(`@oven/bun-${platform}-${machine}${variant}`);
    if (folder !== null) yield join(folder, "bin", `bun${ending}`);
  }
  if (placed !== null) yield join(placed, "bin", "bun.exe");
}

function packageFolder(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return null;
  }
}

/** Runs Bun with these arguments as if it were this process: same terminal, same signals, same exit code. */
export function runBun(args) {
  const child = spawn(findBun(), args, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  stopWithNpm(child);
  child.on("error", (error) => {
    console.error(`switchyard: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 1)));
}

/** npm passes a signal to its shell, and the shell ends without passing it on: its orphan goes down by itself. */
function stopWithNpm(child) {
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    child.kill("SIGTERM");
  }, 250);
  timer.unref();
}

if (process.argv[1] && fileURLToPath(import.meta.url) === process.argv[1]) runBun(process.argv.slice(2));
