import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Every byte of every file below a folder, as text that can be searched for secrets. */
export async function readFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
  return texts.join("\n");
}
