// The files that a worker may access, and the restrictions that the operating system enforces.

import { createRequire } from "node:module";
import { dirname } from "node:path";

export interface Grants {
  /** Files and folders, including everything below them. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Paths that may not be read even below a readable folder. */
  readonly denied: readonly string[];
}

export interface Confinement {
  /** The process can open no socket. */
  readonly network: boolean;
  /** The process can read only what `Grants` names. */
  readonly files: boolean;
  /** Why a restriction does not apply; null: both apply. */
  readonly problem: string | null;
}

export const unconfined = (problem: string): Confinement => ({ network: false, files: false, problem });

/** System files that the runtime and native libraries read. */
const systemPaths =
  "/usr /lib /lib64 /bin /nix/store /etc/ld.so.cache /etc/localtime /proc /sys/devices/system /sys/fs/cgroup /dev/null /dev/zero /dev/random /dev/urandom".split(
    " ",
  );
const root = Bun.fileURLToPath(new URL("../../../", import.meta.url));

export function grantsFor(scratchFolder: string, denied: readonly string[]): Grants {
  const packageFolders = createRequire(import.meta.url).resolve.paths("x") ?? [];
  return {
    readable: [...systemPaths, process.execPath, root, ...packageFolders],
    writable: [scratchFolder, "/dev/null"],
    denied: [`${root}.env`, `${root}.git`, `${root}switchyard.yaml`, ...denied].filter(
      (path) => !dirname(process.execPath).startsWith(path),
    ),
  };
}
