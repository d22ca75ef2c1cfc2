// The list of models and their licences, engines/models.json, against the files that the engines read.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { listChecksums } from "../../src/engines/local/checksums.ts";
import { isInGroup, listModels, termsOf } from "../../src/engines/local/models.ts";
import { groupsFolder, listGroupFolders } from "../../src/engines/local/resolve-package.ts";

/** Weights and data. Code, such as WebAssembly, is listed by its package. */
const modelFile = /\.(?:onnx|bin|ftz|gz|dic|aff)$/;
const checked = ["core", ...listGroupFolders()].flatMap((group) =>
  Object.keys(listChecksums(group === "core" ? null : join(groupsFolder, group))).map((file) => ({ group, file })),
);

test("every model file that an engine reads is listed with its licence", () => {
  const models = listModels();
  const unlisted = checked.filter(
    ({ group, file }) =>
      modelFile.test(file) &&
      !models.some((model) => isInGroup(model, group) && model.files.some((glob) => new Bun.Glob(glob).match(file))),
  );
  expect(unlisted).toEqual([]);
  expect(checked.filter(({ file }) => modelFile.test(file)).length).toBeGreaterThan(30);
});

test("every listed model has files that are compared with a checksum, a licence and a source", () => {
  for (const model of listModels()) {
    const { name, files, licence, source } = model;
    const own = checked.filter(
      (one) => isInGroup(model, one.group) && files.some((glob) => new Bun.Glob(glob).match(one.file)),
    );
    expect([name, own.length > 0]).toEqual([name, true]);
    expect(licence).not.toBe("");
    expect(source).toMatch(/^https?:\/\//);
  }
});

test("the terms of a group are those of its own models", () => {
  expect(termsOf("vision").join("\n")).toContain("VGGFace2");
  expect(termsOf("speech")).toEqual([]);
});
