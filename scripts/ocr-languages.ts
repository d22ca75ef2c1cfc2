// Writes the groups engines/ocr-<language>: tesseract's data for one language each. Run it after a change of this list; it fetches every package.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256Of } from "../src/engines/local/checksums.ts";

const version = "1.0.0";
const languages: Readonly<Record<string, string>> = {
  ara: "Arabic",
  bul: "Bulgarian",
  ces: "Czech",
  chi_sim: "Chinese, simplified",
  chi_tra: "Chinese, traditional",
  deu: "German",
  ell: "Greek",
  fra: "French",
  heb: "Hebrew",
  hin: "Hindi",
  ita: "Italian",
  jpn: "Japanese",
  kor: "Korean",
  nld: "Dutch",
  pol: "Polish",
  por: "Portuguese",
  spa: "Spanish",
  swe: "Swedish",
  tha: "Thai",
  tur: "Turkish",
  ukr: "Ukrainian",
};

const folder = mkdtempSync(join(tmpdir(), "ocr-languages-"));
try {
  for (const [language, name] of Object.entries(languages)) await writeGroup(language, name);
} finally {
  rmSync(folder, { recursive: true });
}

async function writeGroup(language: string, name: string): Promise<void> {
  const packageName = `@tesseract.js-data/${language}`;
  const data = `4.0.0_best_int/${language}.traineddata.gz`;
  const { filename, integrity } = pack(packageName);
  const bytes = run(["tar", "-xOzf", join(folder, filename), `package/${data}`]);
  const group = `switchyard-engines-ocr-${language}`;
  const dependencies = { [packageName]: version };
  await write(language, "package.json", {
    name: group,
    description: `Text in pictures: ${name}, for tesseract.`,
    private: true,
    switchyard: { keep: { [packageName]: [data] } },
    dependencies,
  });
  await write(language, "package-lock.json", {
    name: group,
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": { name: group, dependencies },
      [`node_modules/${packageName}`]: { version, integrity, license: "MIT" },
    },
  });
  await write(language, "checksums.json", { [`${packageName}/${data}`]: sha256Of(bytes) });
  console.log(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB`);
}

function pack(packageName: string): { filename: string; integrity: string } {
  const [packed] = JSON.parse(
    run(["npm", "pack", "--json", "--prefer-offline", `${packageName}@${version}`]).toString(),
  );
  return packed;
}

function run(command: readonly string[]): Buffer {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { cwd: folder });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr}`);
  return stdout;
}

async function write(language: string, file: string, content: object): Promise<void> {
  const target = join(import.meta.dir, "..", "engines", `ocr-${language}`);
  mkdirSync(target, { recursive: true });
  await Bun.write(join(target, file), `${JSON.stringify(content, null, 2)}\n`);
}
