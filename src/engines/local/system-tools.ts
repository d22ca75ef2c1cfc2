// Programs of the operating system that engines run. Engine processes have no PATH and may execute files of the system only, so programs are
// searched in its usual folders.

import { existsSync } from "node:fs";
import { join } from "node:path";

const folders = ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin"];

/** The path of a program; null: it is not installed. */
export function findTool(name: string, searched: readonly string[] = folders): string | null {
  return searched.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
